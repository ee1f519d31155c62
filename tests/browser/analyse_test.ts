import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { zipSync } from "fflate";
import { Buffer } from "node:buffer";
import type { Page } from "playwright-core";
import { accessibilityProblems } from "./support/accessibility.ts";
import { launchChromium, openPage, servePage } from "./support/browser.ts";

const RUNS = new URL("../testdata/runs/", import.meta.url);

const openLog = async (page: Page, ...names: string[]) => {
  await page.locator("#files").setInputFiles(names.map((name) => new URL(name, RUNS).pathname));
  await page.waitForSelector(".run");
};

Deno.test("analysing a log", async (t) => {
  const server = servePage();
  const browser = await launchChromium();
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const { page, problems } = await openPage(context, `${server.origin}/`);
  try {
    await t.step("a pasted message is explained before any log is open", async () => {
      await page.locator("#message").fill(
        "org.apache.spark.SparkException: Job aborted due to stage failure: Total size of serialized results of 2572 " +
          "tasks (1062.8 MB) is bigger than spark.driver.maxResultSize (1024.0 MB)",
      );
      await page.getByRole("button", { name: "Explain" }).click();
      await page.locator(".explained").first().waitFor();
      assertStringIncludes(await page.locator(".explained").first().innerText(), "spark.driver.maxResultSize");
      await page.locator("#message").fill("hello");
      await page.getByRole("button", { name: "Explain" }).click();
      await page.getByText("No known message").waitFor();
    });

    await t.step("a dropped log is read and its verdict comes first", async () => {
      // What a drop gives is built in the page: browsers let no script drop a real file.
      const bytes = [...await Deno.readFile(new URL("cache_evictions/app-20261130174132-0000.gz", RUNS))];
      const transfer = await page.evaluateHandle((bytes: number[]) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([new Uint8Array(bytes)], "app-20261130174132-0000.gz"));
        return transfer;
      }, bytes);
      await page.dispatchEvent("#drop", "drop", { dataTransfer: transfer });
      await page.waitForSelector(".run");
      assertEquals(
        await page.locator(".finding-sentence").first().innerText(),
        "24 cached blocks were evicted from memory (480.1 MiB): the cached data does not fit.",
      );
      assertStringIncludes(await page.locator(".run-facts").innerText(), "app-20261130174132-0000");
    });

    await t.step("every section is there, as a chart and as a table", async () => {
      for (const id of ["memory", "rdds", "tasks", "stages", "results"]) {
        const section = page.locator(`#${id}`);
        await section.getByRole("button", { name: "Table" }).click();
        assert(await section.locator("table tbody tr").count() > 0, id);
        await section.getByRole("button", { name: "Chart" }).click();
        await section.locator("canvas, .graph").first().waitFor();
      }
    });

    await t.step("a chart is read by keyboard", async () => {
      await page.locator("#memory .plot-canvas").first().focus();
      for (let i = 0; i < 6; i++) await page.keyboard.press("ArrowRight");
      assertStringIncludes(await page.locator("#memory .plot [role=status]").first().innerText(), "storage");
      await page.keyboard.press("Escape");
    });

    await t.step("settings say where their values come from", async () => {
      const settings = page.locator("#settings");
      assertStringIncludes(await settings.locator("table").innerText(), "set in the run");
      await page.locator("#settings-search").fill("memory.storageFraction");
      assertStringIncludes(await settings.locator("table").innerText(), "default of Spark 3.5.9");
    });

    await t.step("an open log has no accessibility problem", async () => {
      assertEquals(await accessibilityProblems(page), []);
    });

    await t.step("several files of a rolling log are one run", async () => {
      await page.getByRole("button", { name: "Open another" }).click();
      const folder = "spark_4_1_rolling/eventlog_v2_app-20261130185537-0000";
      await openLog(
        page,
        `${folder}/events_2_app-20261130185537-0000.zstd`,
        `${folder}/events_1_app-20261130185537-0000.zstd`,
        `${folder}/appstatus_app-20261130185537-0000`,
      );
      assertStringIncludes(await page.locator(".run-facts").innerText(), "4.1.4");
    });

    await t.step("a zip as the History Server gives it is one run", async () => {
      await page.getByRole("button", { name: "Open another" }).click();
      const log = "cache_evictions/app-20261130174132-0000.gz";
      const plain = await new Response(
        (await Deno.open(new URL(log, RUNS))).readable.pipeThrough(new DecompressionStream("gzip")),
      ).bytes();
      const zip = zipSync({ "app-20261130174132-0000": plain });
      await page.locator("#files").setInputFiles({
        name: "eventLogs-app-20261130174132-0000.zip",
        mimeType: "application/zip",
        buffer: Buffer.from(zip),
      });
      await page.getByText("24 cached blocks were evicted").first().waitFor();
    });

    await t.step("reading can be cancelled, and goes on with the next log", async () => {
      await page.getByRole("button", { name: "Open another" }).click();
      // Large enough that reading is not over before the cancel is heard.
      await page.evaluate(() => {
        const line = JSON.stringify({ Event: "SparkListenerUnknown", filler: "x".repeat(1000) }) + "\n";
        const file = new File(Array.from({ length: 300 }, () => line.repeat(1000)), "large");
        const transfer = new DataTransfer();
        transfer.items.add(file);
        document.getElementById("drop")!.dispatchEvent(
          new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }),
        );
      });
      await page.locator("#progress-text", { hasText: /of .* events/ }).waitFor();
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.locator("#start").waitFor({ state: "visible" });
      assertEquals(await page.locator("#problem").isVisible(), false);
      await openLog(page, "disk_level/app-20261130180003-0000.gz");
      assertStringIncludes(await page.locator(".finding-sentence").first().innerText(), "24 of them to disk");
    });

    await t.step("a recorded run is opened from the list, on a phone too", async () => {
      await page.getByRole("button", { name: "Open another" }).click();
      await page.setViewportSize({ width: 360, height: 740 });
      await page.getByText("A lost executor").click();
      await page.waitForSelector(".run");
      await page.locator(".graph-node").first().click();
      assertStringIncludes(await page.locator(".stage-details").innerText(), "Attempt 0");
      assertEquals(await page.evaluate("document.documentElement.scrollWidth"), 360);
      await page.setViewportSize({ width: 1280, height: 900 });
    });

    await t.step("what is no log is said, and the page goes on", async () => {
      await page.getByRole("button", { name: "Open another" }).click();
      await page.locator("#files").setInputFiles({
        name: "notes.txt",
        mimeType: "text/plain",
        buffer: Buffer.from("dear diary"),
      });
      await page.locator("#problem").waitFor({ state: "visible" });
      assertStringIncludes(await page.locator("#problem").innerText(), "Cannot read the event log");
      await openLog(page, "max_result_size/app-20261130174421-0000.gz");
      assertStringIncludes(await page.locator(".finding-sentence").first().innerText(), "spark.driver.maxResultSize");
    });

    await t.step("nothing went wrong on the way, nothing was sent anywhere", () => assertEquals(problems, []));
  } finally {
    await browser.close();
    await server.stop();
  }
});
