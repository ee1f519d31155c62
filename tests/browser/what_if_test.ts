import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Page } from "playwright-core";
import { readEventLog } from "../../src/event_log/read.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import { accessibilityProblems } from "./support/accessibility.ts";
import { launchChromium, openPage, servePage } from "./support/browser.ts";

const tile = (page: Page, name: string) => page.locator(".tile", { hasText: name }).locator("dd");

const simulated = (page: Page) => page.locator(".what-if-status", { hasText: "Simulated in" }).waitFor();

/** Sets a range as a user who drags it does: many inputs. */
const drag = (page: Page, id: string, text: string) =>
  page.locator(`#${id}-range`).evaluate((range: HTMLInputElement, wanted: string) => {
    const field = document.getElementById(range.id.replace("-range", "")) as HTMLInputElement;
    for (let i = Number(range.min); i <= Number(range.max); i++) {
      range.value = String(i);
      range.dispatchEvent(new Event("input", { bubbles: true }));
      if (field.value === wanted) return;
    }
    throw new Error(`The slider has no step ${wanted}`);
  }, text);

Deno.test("what if", async (t) => {
  const server = servePage();
  const browser = await launchChromium();
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, acceptDownloads: true });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const { page, problems } = await openPage(context, `${server.origin}/`);
  const clipboard = () => page.evaluate("navigator.clipboard.readText()") as Promise<string>;
  try {
    await t.step("the model replays the recorded run", async () => {
      await page.getByText("Three cached RDDs").click();
      await page.getByText("As recorded, replayed by the model").waitFor();
      // What the real run did: see tests/testdata/runs/cache_evictions/expected.json.
      assertEquals(await tile(page, "Evictions").innerText(), "24");
    });

    await t.step("a slider moves, the run is simulated again, the figures and the charts change", async () => {
      await drag(page, "set-memory", "2g");
      await simulated(page);
      assertEquals((await tile(page, "Evictions").innerText()).replace(/\s+/g, " "), "0 was 24");
      await page.getByRole("button", { name: "Predicted", pressed: true }).waitFor();
      assertStringIncludes(await page.locator("#compare").innerText(), "0 cached blocks evicted instead of 24");
      assertEquals(await page.locator("#memory .mark-count").count(), 0);
    });

    await t.step("what is shown can be switched between the three runs", async () => {
      await page.getByRole("button", { name: "Observed", exact: true }).click();
      assertStringIncludes(await page.locator("#memory").innerText(), "12 evictions");
      await page.getByRole("button", { name: "Replayed", exact: true }).click();
      assertStringIncludes(await page.locator("#memory").innerText(), "boundary of the pools");
    });

    await t.step("the link carries the scenario, not the log", async () => {
      await page.getByRole("button", { name: "Copy link" }).click();
      await page.getByText("Copied: a link").waitFor();
      const link = await clipboard();
      assertEquals(new URL(link).hash, "#run=cache&spark.executor.memory=2g");
      const other = await openPage(context, link);
      await simulated(other.page);
      assertStringIncludes(await tile(other.page, "Evictions").innerText(), "was 24");
      assertEquals(other.problems, []);
      await other.page.close();
    });

    await t.step("the settings are copied as options of spark-submit", async () => {
      await page.locator("#set-level").selectOption("MEMORY_AND_DISK");
      await page.getByRole("button", { name: "Copy as --conf" }).click();
      await page.getByText("Copied: the options").waitFor();
      assertEquals(
        await clipboard(),
        "--conf spark.executor.memory=2g\n# persist(StorageLevel.MEMORY_AND_DISK)",
      );
    });

    await t.step("what Spark refuses is said in its words", async () => {
      await page.getByRole("button", { name: "As recorded", exact: true }).first().click();
      await page.locator("#set-memory").fill("300m");
      await page.locator("#set-memory").press("Enter");
      await page.locator("#what-if .note.bad").waitFor();
      assertMatch(await page.locator("#what-if .note.bad").innerText(), /must be at least 471859200/);
    });

    await t.step("any other property can be set", async () => {
      await page.getByRole("button", { name: "As recorded", exact: true }).first().click();
      await page.getByText("Other settings").click();
      await page.locator("#other-key").fill("spark.task.maxDirectResultSize");
      await page.locator("#other-value").fill("100b");
      await page.getByRole("button", { name: "Set", exact: true }).click();
      await simulated(page);
      const indirect = page.locator("#compare tr", { hasText: "Results indirect" });
      await indirect.locator("strong").waitFor();
      assertEquals(await indirect.locator("strong").innerText(), "48");
    });

    await t.step("another Spark version is tried rule by rule, and stands in the link", async () => {
      await page.getByRole("button", { name: "As recorded", exact: true }).first().click();
      await page.locator("#set-version").selectOption("4.1");
      await page.locator("#compare", { hasText: "rules and defaults differ between Spark 3.5.9 and 4.1" }).waitFor();
      await page.getByRole("button", { name: "Copy link" }).click();
      await page.getByText("Copied: a link").waitFor();
      assertEquals(new URL(await clipboard()).hash, "#run=cache&spark=4.1");
    });

    await t.step("a verdict's advice leads to its control", async () => {
      await page.getByRole("button", { name: "As recorded", exact: true }).first().click();
      const advice = page.locator(".finding-settings li", { hasText: "spark.executor.memory" });
      await advice.getByRole("button", { name: "Try it" }).click();
      assertEquals(await page.evaluate("document.activeElement.id"), "set-memory-range");
    });

    await t.step("a sweep fills its grid, a cell is chosen, the Pareto line is drawn", async () => {
      await page.locator("#sweep-across-values").fill("640m, 1g, 2g");
      await page.locator("#sweep-down").selectOption("executors");
      await page.locator("#sweep-down-values").fill("2, 4");
      await page.getByRole("button", { name: "Run the sweep" }).click();
      await page.getByText("6 combinations. Choose one").waitFor();
      await page.locator("#sweep").getByRole("button", { name: "Evictions" }).click();
      const cells = await page.locator("table.heat tbody button").allInnerTexts();
      assertEquals(cells.length, 6);
      assertEquals(cells[2], "0");
      assert(Number(cells[0]) > 0, cells.join());
      await page.locator("#sweep canvas").waitFor();
      assert(await page.locator(".pareto-list li").count() >= 1);
      await page.locator("table.heat tbody button").nth(2).click();
      await simulated(page);
      assertEquals(await page.locator("#set-memory").inputValue(), "2g");
    });

    await t.step("settings are recommended, with reasons, and put into the panel", async () => {
      await page.getByRole("button", { name: "Find settings" }).click();
      await page.locator("#advice table").first().waitFor();
      assertStringIncludes(await page.locator("#advice .reason").innerText(), "--conf spark.");
      await page.getByRole("button", { name: "Show what it changes" }).click();
      await page.locator(".tiles", { hasText: "was 24" }).waitFor();
    });

    await t.step("a sweep's cell is chosen again, so that what follows has known settings", async () => {
      await page.locator("table.heat tbody button").nth(2).click();
      await simulated(page);
      assertEquals(await page.locator("#set-memory").inputValue(), "2g");
    });

    await t.step("the page has no accessibility problem while a prediction is shown", async () => {
      await page.getByRole("button", { name: "Predicted", pressed: true }).waitFor();
      assertEquals(await accessibilityProblems(page), []);
    });

    await t.step("the simulated event log is a log of Spark's", async () => {
      const waiting = page.waitForEvent("download");
      await page.getByRole("button", { name: "Simulated log" }).click();
      const path = await (await waiting).path();
      const summarizer = new Summarizer({ source: "observed" });
      const file = await Deno.open(path);
      await readEventLog(file.readable, summarizer);
      assertEquals(summarizer.summary().outcome.status, "succeeded");
      assertEquals(summarizer.summary().stages.length, 6);
    });

    await t.step("the report is one file with everything in it", async () => {
      const waiting = page.waitForEvent("download");
      await page.getByRole("button", { name: "Report" }).click();
      const path = await (await waiting).path();
      const html = await Deno.readTextFile(path);
      // Not assertStringIncludes: it would print the whole file.
      assert(html.includes("24 cached blocks were evicted"));
      assert(html.includes("--conf spark.executor.memory=2g"));
      assert((html.match(/<img src="data:image\/png;base64,/g) ?? []).length >= 5);
      assertEquals(/(?:src|href)="(?!data:)/.test(html), false);
      assertEquals(/<script/i.test(html), false);
      const report = await context.newPage();
      await report.setContent(html);
      assertEquals(await accessibilityProblems(report), []);
      await report.close();
    });

    await t.step("back at the start, an open link to another log says what it needs", async () => {
      const other = await openPage(context, `${server.origin}/#app=app-1&spark.executor.memory=3g`);
      assertStringIncludes(await other.page.locator("#problem").innerText(), "for application app-1");
      await other.page.close();
    });

    await t.step("nothing went wrong on the way, nothing was sent anywhere", () => assertEquals(problems, []));
  } finally {
    await browser.close();
    await server.stop();
  }
});
