/**
 * A browser and a server for the browser tests: Debian's chromium through playwright-core, the page on a free port.
 *
 * @module
 */
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { createApp } from "../../../routes/app.ts";
import { mountPage } from "../../../routes/page/mod.ts";

const CHROMIUM_FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts chromium with a fresh profile. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: CHROMIUM_FLAGS,
  });
}

/** Serves the service with its page, on a port of its own. */
export function servePage(): { origin: string; stop: () => Promise<void> } {
  const app = createApp({ page: mountPage, compress: true });
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (request) => app.fetch(request),
  );
  return {
    origin: `http://127.0.0.1:${server.addr.port}`,
    stop: () => server.shutdown(),
  };
}

/** A page that collects what must not happen: errors, CSP violations, requests to other hosts. */
export async function openPage(
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
