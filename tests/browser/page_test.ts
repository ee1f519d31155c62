import { assert, assertEquals } from "@std/assert";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { accessibilityProblems } from "./support/accessibility.ts";
import { launchChromium, servePage } from "./support/browser.ts";

const PAGES = ["/", "/learn"] as const;

/** A page that collects what must not happen: errors, CSP violations, requests to other hosts. */
async function openPage(
  context: BrowserContext,
  url: string,
): Promise<{ page: Page; problems: string[] }> {
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("request", (request) => {
    const other = new URL(request.url());
    if (
      /^https?:$/.test(other.protocol) && other.origin !== new URL(url).origin
    ) {
      problems.push(`request to ${other.origin}`);
    }
  });
  await page.goto(url);
  return { page, problems };
}

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
