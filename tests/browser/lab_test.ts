import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { Page } from "playwright-core";
import { FETCH_LESSON } from "../../routes/page/lab/fetch_lesson.ts";
import { MEMORY_LESSONS } from "../../routes/page/lab/memory_lessons.ts";
import { RESULT_LESSON } from "../../routes/page/lab/result_lesson.ts";
import { accessibilityProblems } from "./support/accessibility.ts";
import { launchChromium, openPage, servePage } from "./support/browser.ts";

const step = (page: Page, label: string) => page.getByRole("button", { name: label, exact: true }).click();
const press = (page: Page, label: string) => page.getByRole("button", { name: label, exact: true }).click();
const said = (page: Page) => page.locator(".step-said").innerText();

Deno.test("the memory lab", async (t) => {
  const server = servePage();
  const browser = await launchChromium();
  const context = await browser.newContext();
  const { page, problems } = await openPage(context, `${server.origin}/learn`);
  try {
    for (const lesson of MEMORY_LESSONS) {
      await t.step(`lesson “${lesson.title}” can be gone through, with its questions`, async () => {
        await page.getByRole("button", { name: lesson.title }).click();
        for (let i = 0; i < lesson.operations.length; i++) {
          await step(page, "One step on");
          const question = lesson.questions[i];
          if (question === undefined) continue;
          assertStringIncludes(await page.locator(".ask").innerText(), question.text.slice(0, 40));
          await press(page, question.choices[question.right]);
          assertStringIncludes(await page.locator(".step .note.good").first().innerText(), "That is it");
        }
        assertStringIncludes(await page.locator(".step").innerText(), lesson.takeaway.slice(0, 40));
        assertEquals(new URL(page.url()).hash, `#lesson=${lesson.id}&step=${lesson.operations.length}`);
      });
    }

    for (const story of [RESULT_LESSON, FETCH_LESSON]) {
      await t.step(`lesson “${story.title}” can be gone through, with its questions`, async () => {
        await page.getByRole("button", { name: story.title }).click();
        for (const { question, answer } of story.steps()) {
          await step(page, "One step on");
          if (question !== undefined) await press(page, question.choices[question.right]);
          assertStringIncludes(await page.locator(".step-head").innerText(), answer);
        }
        assertStringIncludes(await page.locator(".step").innerText(), story.takeaway.slice(0, 40));
        assertEquals(await accessibilityProblems(page), []);
      });
    }

    await t.step("a wrong answer is corrected", async () => {
      await page.goto(`${server.origin}/learn#lesson=region&step=2`);
      await page.reload();
      await press(page, MEMORY_LESSONS[0].questions[1].choices[0]);
      assertStringIncludes(await page.locator(".step .note.warn").innerText(), "all of it is evicted");
      assertEquals(await page.locator(".seg.block").count(), 0);
    });

    await t.step("the address opens a lesson at a step", async () => {
      await page.goto(`${server.origin}/learn#lesson=no-wake&step=3`);
      await page.reload();
      assertEquals(await page.locator(".scrub-at").innerText(), "3 / 7");
      assertStringIncludes(await page.locator(".task-card").nth(1).innerText(), "waits for 100");
    });

    await t.step("free play: every operation, explained with its numbers", async () => {
      await page.getByRole("button", { name: "Free play" }).click();
      await press(page, "Put");
      assertEquals(
        await said(page),
        "rdd_1_0 needs 400; the storage pool has 500 free.",
      );
      await page.locator("#op-0-n").fill("700");
      await press(page, "Acquire");
      assertStringIncludes(await said(page), "has 500 free, so it takes 100 of free storage");
      for (const label of ["Begin reading", "Contains?", "Size", "Read", "End reading", "Put the values", "Reserve"]) {
        await press(page, label);
      }
      await page.locator("#op-0-t").fill("2");
      await press(page, "Acquire");
      assertStringIncludes(await page.locator(".step-head").innerText(), "waits");
      await press(page, "Interrupt");
      await press(page, "End the task");
      for (const label of ["Acquire storage", "Release storage", "Acquire unroll", "Release unroll"]) {
        await press(page, label);
      }
      await press(page, "Remove");
      await press(page, "Release all storage");
      await press(page, "Clear the store");
      assertStringIncludes(await page.locator(".mem-title.storage").innerText(), "0 used");
    });

    await t.step("going back and doing something else leaves out what came after", async () => {
      await press(page, "To the start");
      await press(page, "Put");
      assertEquals(await page.locator(".scrub-at").innerText(), "1 / 1");
    });

    await t.step("a field that is no number is said, and nothing happens", async () => {
      await page.locator("#op-0-n").fill("-5");
      await press(page, "Acquire");
      assertStringIncludes(await page.locator(".ops [role=alert]").innerText(), "whole number");
      assertEquals(await page.locator(".scrub-at").innerText(), "1 / 1");
    });

    await t.step("a recorded trace is opened and stepped through", async () => {
      const file = new URL("../testdata/memory/random/multi_11_contend.jsonl.gz", import.meta.url);
      await page.locator("input[type=file]").setInputFiles(file.pathname);
      await page.getByText("Recorded trace, 2,000 operations").waitFor();
      await press(page, "To the end");
      assertEquals(await page.locator(".scrub-at").innerText(), "2000 / 2000");
      await press(page, "One step back");
      assertEquals(await page.locator(".scrub-at").innerText(), "1999 / 2000");
      assertEquals(await accessibilityProblems(page), []);
    });

    await t.step("traces of the scheduler and of task memory are opened as well", async () => {
      const open = (path: string) =>
        page.locator("input[type=file]").setInputFiles(new URL(`../testdata/${path}`, import.meta.url).pathname);
      await open(
        "spilling/handmade/h29_releases_after_clean_up_warning_nothing_released_freeing_a_page_afterwards_fails.jsonl.gz",
      );
      await page.getByText("Recorded trace, 10 steps").waitFor();
      await press(page, "To the end");
      assertStringIncludes(await page.locator(".story-drawing").innerText(), "on-heap execution used");
      await open("../browser/support/scheduler_trace.jsonl");
      await page.getByText("Recorded trace, 8 steps").waitFor();
      for (let i = 0; i < 5; i++) await press(page, "One step on");
      assertStringIncludes(
        await page.locator(".step").innerText(),
        "The output of map 0 for shuffle 0 at e1 is forgotten.",
      );
      assertEquals(await accessibilityProblems(page), []);
    });

    await t.step("the keyboard alone goes through a lesson", async () => {
      await page.goto(`${server.origin}/learn#lesson=shares`);
      await page.reload();
      await page.keyboard.press("Tab");
      assertEquals(await page.evaluate("document.activeElement.textContent"), "Skip to the content");
      const focusedLabel = () => page.evaluate("document.activeElement.getAttribute('aria-label')");
      for (let i = 0; i < 40 && await focusedLabel() !== "Step"; i++) await page.keyboard.press("Tab");
      await page.keyboard.press("ArrowRight");
      assertEquals(await page.locator(".scrub-at").innerText(), "1 / 4");
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      assert(await page.locator(".step .note.warn").count() > 0);
    });

    await t.step("nothing went wrong on the way", () => assertEquals(problems, []));
  } finally {
    await browser.close();
    await server.stop();
  }
});
