import { assert, assertEquals } from "@std/assert";
import type { Browser } from "playwright-core";
import { accessibilityProblems } from "./support/accessibility.ts";
import { launchChromium, openPage, servePage } from "./support/browser.ts";

const PAGES = ["/", "/learn"] as const;

Deno.test("the pages", async (t) => {
  const server = servePage();
  const browser: Browser = await launchChromium();
  try {
    for (const path of PAGES) {
      for (const colorScheme of ["light", "dark"] as const) {
        await t.step(
          `${path} has no serious accessibility problem (${colorScheme})`,
          async () => {
            const context = await browser.newContext({ colorScheme });
            const { page, problems } = await openPage(
              context,
              server.origin + path,
            );
            assertEquals(await accessibilityProblems(page), []);
            assertEquals(problems, []);
            await context.close();
          },
        );
      }
      await t.step(`${path} fits a phone's width`, async () => {
        const context = await browser.newContext({
          viewport: { width: 360, height: 740 },
        });
        const { page } = await openPage(context, server.origin + path);
        const width = await page.evaluate(
          "document.documentElement.scrollWidth",
        );
        assertEquals(width, 360);
        await context.close();
      });
    }
    await t.step(
      "a page that was open loads again without a network",
      async () => {
        const context = await browser.newContext();
        const { page } = await openPage(context, `${server.origin}/`);
        await page.evaluate("navigator.serviceWorker.ready");
        await page.waitForFunction(
          "caches.keys().then((names) => names.length > 0)",
        );
        await page.reload();
        await context.setOffline(true);
        await page.reload();
        assertEquals(await page.locator("#drop").count(), 1);
        await page.getByText("A lost executor").click();
        await page.waitForSelector(".run");
        await page.goto(`${server.origin}/learn`);
        assert((await page.title()).startsWith("Learn"));
        await context.close();
      },
    );
  } finally {
    await browser.close();
    await server.stop();
  }
});
