import { assert, assertEquals, assertMatch } from "@std/assert";
import { servePage } from "./support/browser.ts";
import { Firefox } from "./support/firefox.ts";
import { ensureFirefox } from "./support/install.ts";

const text = (selector: string) => `(document.querySelector(${JSON.stringify(selector)})?.innerText ?? "")`;
const click = (selector: string, label: string) =>
  `[...document.querySelectorAll(${JSON.stringify(selector)})].find((e) => e.innerText.includes(${
    JSON.stringify(label)
  })).click()`;

/** Moves a slider step by step until its field shows a text. */
const slide = (id: string, value: string) =>
  `(() => {
  const range = document.getElementById("${id}-range");
  const field = document.getElementById("${id}");
  for (let i = 0; i <= Number(range.max) && field.value !== "${value}"; i++) {
    range.value = String(i);
    range.dispatchEvent(new Event("input", { bubbles: true }));
  }
})()`;

const missing = await ensureFirefox();
if (missing !== null) console.log(`Firefox is left out: ${missing}`);

Deno.test({ name: "the page in Firefox", ignore: missing !== null }, async (t) => {
  const server = servePage();
  const firefox = await Firefox.launch();
  try {
    await t.step("a recorded run is read, its verdict shown, the model replays it", async () => {
      await firefox.goto(`${server.origin}/`);
      await firefox.evaluate(click(".sample", "Three cached RDDs"));
      await firefox.until(`${text(".what-if-status")}.includes("As recorded")`);
      assertMatch(String(await firefox.evaluate(text(".finding-sentence"))), /^24 cached blocks were evicted/);
      assert(Number(await firefox.evaluate("document.querySelectorAll('canvas').length")) >= 4);
    });

    await t.step("a slider moves and the figures change", async () => {
      await firefox.evaluate(slide("set-memory", "2g"));
      await firefox.until(`${text(".what-if-status")}.includes("Simulated in")`);
      await firefox.until(`${text(".tiles")}.includes("was 24")`);
      assertMatch(String(await firefox.evaluate("location.hash")), /spark.executor.memory=2g/);
    });

    await t.step("a sweep fills its grid", async () => {
      await firefox.evaluate(click("#sweep button", "Run the sweep"));
      await firefox.until(`${text("#sweep")}.includes("Choose one to see it in full")`, 60_000);
      assert(Number(await firefox.evaluate("document.querySelectorAll('table.heat td button').length")) > 4);
    });

    await t.step("a lesson is gone through", async () => {
      await firefox.goto(`${server.origin}/learn#lesson=region`);
      for (let i = 0; i < 2; i++) {
        await firefox.evaluate("document.querySelector('[aria-label=\"One step on\"]').click()");
      }
      await firefox.evaluate(click(".ask button", "All of it is evicted"));
      await firefox.until(`${text(".step")}.includes("That is it")`);
    });

    await t.step("no error, and nothing was sent to another host", () => {
      assertEquals(firefox.problems, []);
      const hosts = firefox.requests.map((url) => new URL(url)).filter(({ protocol }) => protocol.startsWith("http"));
      assertEquals(hosts.filter(({ origin }) => origin !== server.origin).map(String), []);
    });
  } finally {
    await firefox.close();
    await server.stop();
  }
});
