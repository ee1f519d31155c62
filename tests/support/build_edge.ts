/**
 * `deno task build:edge`: bundles the service for Cloudflare Workers, Vercel, Node and Bun into dist/, prints the sizes
 * and fails when the service without the page's assets exceeds its budget.
 *
 * @module
 */

/** gzip'd size of the service without page assets and kernel file that must not be exceeded. */
export const SERVICE_BUDGET_BYTES = 300 * 1024;
/** Size that the kernel file is meant to stay below. */
const KERNEL_BUDGET_BYTES = 24 * 1024;

const ROOT = new URL("../../", import.meta.url);
const KERNEL = "assembly/build/kernel.wasm";

/** What is built: entry, file in dist/, and whether the kernel goes beside it as a file. */
const TARGETS = [
  { entry: "cloudflare.ts", file: "cloudflare/worker.js", platform: "browser", kernelImport: "./kernel.wasm" },
  { entry: "vercel.ts", file: "vercel/api/index.js", platform: "browser", kernelImport: "./kernel.wasm?module" },
  { entry: "web.ts", file: "web/service.js", platform: "browser", kernelImport: null },
  { entry: "node.ts", file: "node/server.mjs", platform: "deno", kernelImport: null },
  { entry: "bun.ts", file: "bun/server.mjs", platform: "deno", kernelImport: null },
] as const;

/** Bundles a module of the project, minified; the kernel file stays an import. */
async function bundle(entry: string, platform: "browser" | "deno"): Promise<string> {
  const file = await Deno.makeTempFile({ suffix: ".js" });
  try {
    const { code, stderr } = await new Deno.Command("deno", {
      args: ["bundle", "--quiet", "--platform", platform, "--minify", "--external", "*.wasm", "-o", file, entry],
      cwd: ROOT,
    }).output();
    if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
    return await Deno.readTextFile(file);
  } finally {
    await Deno.remove(file);
  }
}

async function gzipped(text: string): Promise<number> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return (await new Response(stream).arrayBuffer()).byteLength;
}

/**
 * Builds everything into a folder.
 *
 * @returns gzip'd bytes by file, and of the service without the page.
 */
export async function buildEdge(out: URL): Promise<{ files: Record<string, number>; serviceBytes: number }> {
  const files: Record<string, number> = {};
  for (const { entry, file, platform, kernelImport } of TARGETS) {
    let text = await bundle(`routes/entries/${entry}`, platform);
    const target = new URL(file, out);
    await Deno.mkdir(new URL(".", target), { recursive: true });
    if (kernelImport !== null) {
      text = text.replace(/(["'])[^"']*kernel\.wasm\1/, JSON.stringify(kernelImport));
      await Deno.copyFile(new URL(KERNEL, ROOT), new URL("kernel.wasm", target));
    }
    await Deno.writeTextFile(target, text);
    files[file] = await gzipped(text);
  }
  for (const [from, to] of [["wrangler.jsonc", "cloudflare/wrangler.jsonc"], ["vercel.json", "vercel/vercel.json"]]) {
    await Deno.copyFile(new URL(`routes/deploy/${from}`, ROOT), new URL(to, out));
  }
  return { files, serviceBytes: await gzipped(await bundle("routes/app.ts", "browser")) };
}

if (import.meta.main) {
  const { files, serviceBytes } = await buildEdge(new URL("dist/", ROOT));
  const kernelBytes = (await Deno.stat(new URL(KERNEL, ROOT))).size;
  const kib = (bytes: number) => `${(bytes / 1024).toFixed(1).padStart(7)} KiB`;
  for (const [file, bytes] of Object.entries(files)) console.log(`dist/${file.padEnd(24)}${kib(bytes)} gzip'd`);
  console.log(
    `service without page          ${kib(serviceBytes)} gzip'd of ${SERVICE_BUDGET_BYTES / 1024} KiB\n` +
      `kernel.wasm                   ${kib(kernelBytes)} of ${KERNEL_BUDGET_BYTES / 1024} KiB`,
  );
  if (serviceBytes > SERVICE_BUDGET_BYTES) {
    console.error("over the budget");
    Deno.exitCode = 1;
  }
}
