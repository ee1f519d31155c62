/**
 * Opens replay.html in chromium and prints what it shows: run.ts KERNEL.WASM TRACE.TXT
 *
 * @module
 */
import { launchChromium, openPage } from "../../browser/support/browser.ts";

const [kernel, trace] = Deno.args;
const FILES: Readonly<Record<string, readonly [file: string | URL, type: string]>> = {
  "/replay.html": [new URL("replay.html", import.meta.url), "text/html"],
  "/kernel.wasm": [kernel, "application/wasm"],
  "/trace.txt": [trace, "text/plain"],
};

const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async ({ url }) => {
  const found = FILES[new URL(url).pathname];
  if (found === undefined) return new Response("not found", { status: 404 });
  return new Response(await Deno.readFile(found[0]), { headers: { "content-type": found[1] } });
});
const browser = await launchChromium();
try {
  const url = `http://127.0.0.1:${server.addr.port}/replay.html?trace=trace.txt`;
  const { page, problems } = await openPage(await browser.newContext(), url);
  const output = page.locator("#output", { hasText: "operations per second" });
  while (problems.length === 0 && await output.count() === 0) await page.waitForTimeout(50);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  console.log((await output.textContent())!.trimEnd());
} finally {
  await browser.close();
  await server.shutdown();
}
