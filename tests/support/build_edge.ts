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

/** An entry and what becomes of it. */
interface Target {
  readonly entry: string;
  /** The entry's file in dist/. */
  readonly file: string;
  readonly platform: "browser" | "deno";
  /** How the kernel's file beside it is imported; null where the kernel comes as base64. */
  readonly kernelImport: string | null;
  /** What is loaded on the first request for it are files of their own, beside the entry's. */
  readonly split: boolean;
}

/** What is built. One file where the runtime takes a script (edge-runtime) or bundles again (Vercel). */
const TARGETS: readonly Target[] = [
  {
    entry: "cloudflare.ts",
    file: "cloudflare/worker.js",
    platform: "browser",
    kernelImport: "./kernel.wasm",
    split: true,
  },
  {
    entry: "vercel.ts",
    file: "vercel/api/index.js",
    platform: "browser",
    kernelImport: "./kernel.wasm?module",
    split: false,
  },
  { entry: "web.ts", file: "web/service.js", platform: "browser", kernelImport: null, split: false },
  { entry: "node.ts", file: "node/server.mjs", platform: "deno", kernelImport: null, split: true },
  { entry: "bun.ts", file: "bun/server.mjs", platform: "deno", kernelImport: null, split: true },
];

/** Bundles a module of the project, minified, into files by name, the entry's first; the kernel file stays an import. */
async function bundle(
  entry: string,
  { platform, split }: Pick<Target, "platform" | "split">,
): Promise<Map<string, string>> {
  const folder = await Deno.makeTempDir();
  try {
    const { code, stderr } = await new Deno.Command("deno", {
      args: ["bundle", "--quiet", "--platform", platform, "--minify", "--external", "*.wasm"]
        .concat(split ? ["--code-splitting"] : [], ["--outdir", folder, entry]),
      cwd: ROOT,
    }).output();
    if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
    const main = entry.slice(entry.lastIndexOf("/") + 1).replace(/\.ts$/, ".js");
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name !== main).sort();
    const files = new Map<string, string>();
    for (const name of [main, ...names]) files.set(name, await Deno.readTextFile(`${folder}/${name}`));
    return files;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function gzipped(texts: Iterable<string>): Promise<number> {
  let bytes = 0;
  for (const text of texts) {
    const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
    bytes += (await new Response(stream).arrayBuffer()).byteLength;
  }
  return bytes;
}

/** Writes a target's files, none of an earlier build beside them. */
async function buildTarget({ entry, file, kernelImport, ...how }: Target, out: URL): Promise<number> {
  const target = new URL(file, out);
  const folder = new URL(".", target);
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  await Deno.mkdir(folder, { recursive: true });
  const [[, main], ...others] = await bundle(`routes/entries/${entry}`, how);
  let text = main;
  if (kernelImport !== null) {
    text = text.replace(/(["'])[^"']*kernel\.wasm\1/, JSON.stringify(kernelImport));
    await Deno.copyFile(new URL(KERNEL, ROOT), new URL("kernel.wasm", target));
  }
  await Deno.writeTextFile(target, text);
  for (const [name, other] of others) await Deno.writeTextFile(new URL(name, target), other);
  return await gzipped([text, ...others.map(([, other]) => other)]);
}

/**
 * Builds everything into a folder.
 *
 * @returns gzip'd bytes by target, and of the service without the page.
 */
export async function buildEdge(out: URL): Promise<{ files: Record<string, number>; serviceBytes: number }> {
  const files: Record<string, number> = {};
  for (const target of TARGETS) files[target.file] = await buildTarget(target, out);
  for (const [from, to] of [["wrangler.jsonc", "cloudflare/wrangler.jsonc"], ["vercel.json", "vercel/vercel.json"]]) {
    await Deno.copyFile(new URL(`routes/deploy/${from}`, ROOT), new URL(to, out));
  }
  const service = await bundle("routes/app.ts", { platform: "browser", split: false });
  return { files, serviceBytes: await gzipped(service.values()) };
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
