/**
 * Opens replay.html in chromium and prints what it shows: run.ts KERNEL.WASM TRACE.TXT. Another page, which shows
 * something when it is done: run.ts KERNEL.WASM PAGE.HTML
 *
 * @module
 */
import { launchChromium, openPage } from "../../browser/support/browser.ts";

const [kernel, file] = Deno.args;
const isPage = file.endsWith(".html");
const FILES: Readonly<Record<string, readonly [file: string | URL, type: string]>> = {
  "/page.html": [isPage ? file : new URL("replay.html", import.meta.url), "text/html"],
  "/kernel.wasm": [kernel, "application/wasm"],
  "/trace.txt": [file, "text/plain"],
};

const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async ({ url }) => {
  const found = FILES[new URL(url).pathname];
  if (found === undefined) return new Response(null, { status: 204 }); // what the browser asks for by itself
  return new Response(await Deno.readFile(found[0]), { headers: { "content-type": found[1] } });
});
const browser = await launchChromium();
try {
  const url = `http://127.0.0.1:${server.addr.port}/page.html?trace=trace.txt`;
  const { page, problems } = await openPage(await browser.newContext(), url);
  const output = isPage ? page.locator("body", { hasText: /\d/ }) : page.locator("#output", { hasText: "per second" });
  while (problems.length === 0 && await output.count() === 0) await page.waitForTimeout(50);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  console.log((await output.innerText()).trimEnd());
} finally {
  await browser.close();
  await server.shutdown();
}
