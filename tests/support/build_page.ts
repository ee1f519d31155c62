/**
 * `deno task build:page`: bundles routes/page/ for the browser into routes/page/build/, which is committed, so that
 * serving the page needs neither a build nor files. With `--check` it builds aside and fails when a byte differs from
 * what is committed. Prints what the browser loads first, gzip'd, against its budget.
 *
 * @module
 */
import { gzipSync } from "node:zlib";

const ROOT = new URL("../../", import.meta.url);
const PAGE = new URL("routes/page/", ROOT);
const BUILD = new URL("build/", PAGE);

/** Entries of the bundle; an asset has its entry's name and a hash. */
const ENTRIES = [
  "analyse.ts",
  "learn.ts",
  "worker.ts",
  "explainer.ts",
  "sw.ts",
  "ui/theme.ts",
  "styles/page.css",
];

/** Packages whose code is in the bundle and whose licences therefore travel with it. */
const PACKAGES = ["uplot", "@dagrejs/dagre", "fflate", "fzstd", "valibot"];

/** What the first load of `/` may weigh, gzip'd: page, styles, scripts, worker. */
const FIRST_LOAD_BUDGET = 300 * 1024;

/** One file that the page is served from: media type and text, or base64 for bytes. */
interface Asset {
  readonly type: string;
  readonly text?: string;
  readonly base64?: string;
}

const JS = "text/javascript; charset=utf-8";

async function bundle(): Promise<Map<string, string>> {
  const out = await Deno.makeTempDir();
  try {
    const { code, stderr } = await new Deno.Command("deno", {
      args: ["bundle", "--quiet", "--platform", "browser", "--minify"]
        .concat(
          "--outdir",
          out,
          ENTRIES.map((entry) => `routes/page/${entry}`),
        ),
      cwd: ROOT,
      stderr: "piped",
    }).output();
    if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
    const files = new Map<string, string>();
    for (const entry of ENTRIES) {
      const name = entry.replace(/\.ts$/, ".js");
      files.set(
        name.split("/").at(-1)!,
        await Deno.readTextFile(`${out}/${name}`),
      );
    }
    return files;
  } finally {
    await Deno.remove(out, { recursive: true });
  }
}

async function shortHash(text: string): Promise<string> {
  const digest = await crypto.subtle.digest(
    "SHA-256",
    new TextEncoder().encode(text),
  );
  return [...new Uint8Array(digest).subarray(0, 5)]
    .map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(binary);
}

/** The licences of the packages in the bundle, from the packages themselves. */
async function notices(imports: Record<string, string>): Promise<string> {
  const parts = [
    "The scripts of this page contain these packages, under these licences.\n",
  ];
  for (const name of PACKAGES.filter((name) => name in imports)) {
    let folder = new URL(".", import.meta.resolve(name));
    let licence: string | null = null;
    for (let up = 0; up < 4 && licence === null; up++) {
      licence = await Deno.readTextFile(new URL("LICENSE", folder)).catch(() => null) ??
        await Deno.readTextFile(new URL("LICENSE.md", folder)).catch(() => null);
      folder = new URL("..", folder);
    }
    if (licence === null) throw new Error(`${name} has no licence file`);
    parts.push(`${imports[name].replace(/^npm:/, "")}\n\n${licence.trim()}\n`);
  }
  return parts.join(`\n${"-".repeat(72)}\n\n`);
}

/** The sample logs by id, from the recorded runs of the tests. */
async function samples(): Promise<Map<string, Asset>> {
  const index: { id: string; log: string }[] = JSON.parse(
    await Deno.readTextFile(new URL("samples.json", PAGE)),
  );
  const found = new Map<string, Asset>();
  for (const { id, log } of index) {
    const bytes = await Deno.readFile(new URL(`tests/testdata/runs/${log}`, ROOT));
    found.set(id, { type: "application/octet-stream", base64: toBase64(bytes) });
  }
  return found;
}

interface Page {
  readonly path: string;
  readonly title: string;
  readonly description: string;
}

function fillPage(
  layout: string,
  parts: {
    name: string;
    page: Page;
    main: string;
    asset: (n: string) => string;
  },
): string {
  const { name, page, main, asset } = parts;
  return layout
    .replace("{{main}}", () => main.trim())
    .replaceAll("{{title}}", page.title)
    .replaceAll("{{description}}", page.description)
    .replace("{{asset script}}", `{{asset ${name}.js}}`)
    .replace(
      /\{\{current (\w+)\}\}/g,
      (_, current) => current === name ? ' aria-current="page"' : "",
    )
    .replace(/\{\{asset ([\w.-]+)\}\}/g, (_, wanted) => asset(wanted));
}

/** All that is served, in the order in which it is written. */
async function build(): Promise<{
  pages: Map<string, string>;
  assets: Map<string, Asset>;
  samples: Map<string, Asset>;
  serviceWorker: string;
}> {
  const config = JSON.parse(
    await Deno.readTextFile(new URL("deno.json", ROOT)),
  );
  const bundled = await bundle();
  const assets = new Map<string, Asset>();
  const names = new Map<string, string>();
  const add = async (name: string, type: string, text: string) => {
    const hashed = name.replace(/(\.\w+)$/, `-${await shortHash(text)}$1`);
    names.set(name, `assets/${hashed}`);
    assets.set(hashed, { type, text });
  };
  const read = (path: string) => Deno.readTextFile(new URL(path, PAGE));
  await add("icon.svg", "image/svg+xml", (await read("html/icon.svg")).trim());
  await add(
    "notices.txt",
    "text/plain; charset=utf-8",
    await notices(config.imports),
  );
  for (const [name, text] of bundled) {
    if (name === "sw.js") continue;
    await add(
      name,
      name.endsWith(".css") ? "text/css; charset=utf-8" : JS,
      text,
    );
  }
  const asset = (name: string) => {
    const found = names.get(name);
    if (found === undefined) throw new Error(`No asset ${name}`);
    return found;
  };
  const layout = await read("html/layout.html");
  const described: Record<string, Page> = JSON.parse(
    await read("html/pages.json"),
  );
  const pages = new Map<string, string>();
  for (const [name, page] of Object.entries(described)) {
    const main = await read(`html/${name}.html`);
    pages.set(page.path, fillPage(layout, { name, page, main, asset }));
  }
  const recorded = await samples();
  const keep = ["./", "learn"]
    .concat([...assets.keys()].map((name) => `assets/${name}`), [...recorded.keys()].map((id) => `samples/${id}`));
  const version = await shortHash(JSON.stringify([keep, [...pages.values()]]));
  const serviceWorker = `const KEEP=${JSON.stringify(keep)},VERSION="${version}";` +
    bundled.get("sw.js");
  return { pages, assets, samples: recorded, serviceWorker };
}

function generated(declarations: Record<string, unknown>): string {
  const lines = [
    `// Made by \`deno task build:page\` with Deno ${Deno.version.deno}; not to be edited.`,
  ];
  for (const [name, value] of Object.entries(declarations)) {
    if (value instanceof Map) {
      lines.push(`export const ${name} = {`);
      for (const [key, entry] of value) {
        lines.push(`${JSON.stringify(key)}: ${JSON.stringify(entry)},`);
      }
      lines.push("};");
    } else lines.push(`export const ${name} = ${JSON.stringify(value)};`);
  }
  return lines.join("\n") + "\n";
}

function reportSize(built: Awaited<ReturnType<typeof build>>): boolean {
  let total = 0;
  const weigh = (name: string, text: string) => {
    const size = gzipSync(text, { level: 6 }).length;
    total += size;
    console.log(
      `${name.padEnd(28)} ${(size / 1024).toFixed(1).padStart(7)} KiB gzip'd`,
    );
  };
  weigh("/", built.pages.get("/")!);
  for (const [name, asset] of built.assets) {
    // What other pages load, or what is loaded only when it is used.
    if (/^(learn|notices|explainer)/.test(name)) continue;
    weigh(name, asset.text!);
  }
  console.log(
    `first load ${(total / 1024).toFixed(1)} KiB of ${FIRST_LOAD_BUDGET / 1024} KiB`,
  );
  return total <= FIRST_LOAD_BUDGET;
}

const built = await build();
const files: [string, string][] = [
  [
    "assets.js",
    generated({
      PAGES: built.pages,
      ASSETS: built.assets,
      SERVICE_WORKER: built.serviceWorker,
    }),
  ],
  ["samples.js", generated({ SAMPLES: built.samples })],
];
const withinBudget = reportSize(built);
let same = true;
for (const [name, text] of files) {
  const target = new URL(name, BUILD);
  if (!Deno.args.includes("--check")) {
    await Deno.mkdir(BUILD, { recursive: true });
    await Deno.writeTextFile(target, text);
    continue;
  }
  const committed = await Deno.readTextFile(target).catch(() => "");
  const madeWith = /with Deno (\S+);/.exec(committed)?.[1];
  if (committed !== "" && madeWith !== Deno.version.deno) {
    // The bundler comes with Deno: another version may order or minify differently.
    console.log(`${name} was made with Deno ${madeWith}: not compared`);
  } else if (committed !== text) {
    console.error(
      `routes/page/build/${name} is stale: run deno task build:page`,
    );
    same = false;
  }
}
if (!withinBudget) console.error("The first load is over its budget");
Deno.exit(same && withinBudget ? 0 : 1);
