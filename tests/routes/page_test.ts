import { assert, assertEquals, assertMatch } from "@std/assert";
import { Hono } from "hono";
import { PageEngine, settingRows } from "../../routes/page/engine.ts";
import { mountPage, PAGE_CSP } from "../../routes/page/mod.ts";
import samples from "../../routes/page/samples.json" with { type: "json" };
import { SparkConf } from "../../src/spark/conf.ts";

const app = new Hono();
mountPage(app);

/** Addresses that a page names. */
async function addressesOf(path: string): Promise<string[]> {
  const html = await (await app.request(path)).text();
  return [...html.matchAll(/(?:src|href|data-worker|data-explainer)="([^"#]+)"/g)].map(([, address]) => address);
}

Deno.test("the pages are served with a strict policy, their assets for ever", async () => {
  for (const path of ["/", "/learn"]) {
    const response = await app.request(path);
    assertEquals(response.headers.get("content-security-policy"), PAGE_CSP);
    assertEquals(response.headers.get("cache-control"), "no-cache");
    for (const address of await addressesOf(path)) {
      if (!address.startsWith("assets/")) continue;
      const asset = await app.request(`/${address}`);
      assertEquals(asset.status, 200, address);
      assertMatch(asset.headers.get("cache-control")!, /immutable/);
      assert((await asset.text()).length > 0);
    }
  }
  assertEquals((await app.request("/assets/nothing.js")).status, 404);
  assertEquals((await app.request("/assets/toString")).status, 404);
});

Deno.test("the pages hold no inline script or style and name no other host", async () => {
  for (const path of ["/", "/learn"]) {
    const html = await (await app.request(path)).text();
    assertEquals([...html.matchAll(/<script(?![^>]*src=)[^>]*>|<style|\son\w+=|\sstyle=/g)].map(String), []);
    assertEquals((await addressesOf(path)).filter((address) => /^(https?:)?\/\//.test(address)), []);
  }
});

Deno.test("the service worker keeps what the pages need, and nothing else", async () => {
  const script = await (await app.request("/sw.js")).text();
  const kept: string[] = JSON.parse(/KEEP=(\[.*?\])/.exec(script)![1]);
  for (const address of [...await addressesOf("/"), ...await addressesOf("/learn")]) {
    if (address === "docs") continue;
    assert(kept.includes(address), address);
  }
  for (const address of kept) {
    assertEquals((await app.request(`/${address.replace("./", "")}`)).status, 200, address);
  }
});

Deno.test("each recorded run of the page is a log that the engine reads", async () => {
  for (const { id } of samples) {
    const response = await app.request(`/samples/${id}`);
    assertEquals(response.status, 200);
    const log = await new PageEngine(() => 0).open([{ name: id, file: await response.blob() }], {
      onProgress: () => {},
      signal: new AbortController().signal,
    });
    assert(log.observed.findings.length > 0, id);
    assert(log.observed.charts.timelines.length > 0, id);
  }
  assertEquals((await app.request("/samples/other")).status, 404);
});

Deno.test("settings are those that were set, and the defaults of what the version reads", () => {
  const rows = settingRows(SparkConf.from({ "spark.executor.memory": "4g", "my.own": "x" }, "3.5.1"));
  const row = (key: string) => rows.find((found) => found.key === key);
  assertEquals(row("spark.executor.memory"), {
    key: "spark.executor.memory",
    value: "4g",
    source: "set",
    defaultValue: "1g",
  });
  assertEquals(row("my.own")?.source, "set");
  assertEquals(row("spark.memory.fraction"), {
    key: "spark.memory.fraction",
    value: "0.6",
    source: "default",
    defaultValue: null,
  });
  assertEquals(row("spark.memory.useLegacyMode"), undefined);
});

Deno.test("reading can be cancelled", async () => {
  const control = new AbortController();
  control.abort();
  const file = await (await app.request(`/samples/${samples[0].id}`)).blob();
  const options = { onProgress: () => {}, signal: control.signal };
  const error = await new PageEngine(() => 0).open([{ name: "log", file }], options).then(() => null, (error) => error);
  assertEquals((error as DOMException).name, "AbortError");
});
