/**
 * The package on Deno: the command as `deno install -g` makes it from a clone; what `deno publish` would
 * upload, and that these files alone, served over HTTP as JSR does, are a working library, service and command.
 * Ends with `N passed, N failed`.
 *
 * @module
 */
import { Checks } from "../../support/checks.ts";
import { type ProgramOptions, type Ran, runProgram } from "../../support/programs.ts";

const ROOT = new URL("../../../", import.meta.url);
const MAIN = new URL("src/cli/main.ts", ROOT).pathname;
const DENO = Deno.execPath();

const checks = new Checks();

/** Messages come without colours, however the terminal is. */
function run(program: string, args: readonly string[], options: ProgramOptions = {}): Promise<Ran> {
  return runProgram(program, args, { ...options, env: { NO_COLOR: "1", ...options.env } });
}

/** Commands, each run as installed and from the source. */
const COMMANDS: readonly (readonly string[])[] = [
  ["--help"],
  ["sizing", "--conf", "spark.executor.memory=4g", "--format", "json"],
  ["summarize", "--format", "json"],
  ["sweep", "template:sort", "--vary", "spark.executor.memory=1g,2g", "--jobs", "2", "--format", "ndjson"],
  ["summarize", "no-such-file"],
];

/** `deno install -g` of a clone, into a folder of its own. */
async function checkInstalled(folder: string): Promise<void> {
  const installed = await run(DENO, [
    ...["install", "-g", "--quiet", "--root", folder, "--config", "deno.json"],
    ...["--allow-read", "--allow-env=INIT_CWD", "-n", "sparkmem", MAIN],
  ], { cwd: ROOT });
  checks.check("deno install", installed.code === 0, installed);
  for (const command of COMMANDS) {
    const theirs = await run(`${folder}/bin/sparkmem`, command, { cwd: folder });
    const ours = await run(DENO, ["run", "-A", "--quiet", MAIN, ...command], { cwd: folder });
    const same = ours.code === theirs.code && ours.stdout === theirs.stdout && ours.stderr === theirs.stderr;
    checks.check(`installed: sparkmem ${command.join(" ")}`, same, theirs);
  }
}

/** Paths that `deno publish` would upload. */
async function publishedFiles(): Promise<string[]> {
  const dry = await run(DENO, ["publish", "--dry-run", "--allow-dirty"], { cwd: ROOT });
  checks.check("deno publish --dry-run", dry.code === 0 && /Success/.test(dry.stderr + dry.stdout), dry);
  const files = [...(dry.stdout + dry.stderr).matchAll(/^\s+(file:\S+) \(/gm)].map(([, url]) =>
    url.slice(ROOT.href.length)
  );
  const wanted = [
    "src/mod.ts",
    "routes/mod.ts",
    "assembly/build/kernel.wasm",
    "assembly/build/kernel.wasm.sha256",
    "LICENSE",
  ];
  const listed = files.join("\n");
  checks.check("published files", wanted.every((file) => files.includes(file)), listed);
  checks.check("nothing for the web page alone", !files.some((file) => file.startsWith("routes/page/")), listed);
  return files;
}

/** What a user's program does with the package at an address. */
const program = (base: string) => `
  import { jobSpecFromTemplate, whatIf, workloadFromJobSpec } from "${base}src/mod.ts";
  import { createApp } from "${base}routes/mod.ts";
  import { createClient } from "${base}routes/client.ts";
  const { spec } = jobSpecFromTemplate("cached-iterative");
  console.log(whatIf(workloadFromJobSpec(spec), null, {}).replayed.outcome.status);
  const client = createClient("http://localhost", { fetch: createApp().request });
  const answer = await client.v1.simulations.$post({ json: { template: "sort" } });
  console.log((await answer.json()).outcome.status);
`;

/** The published files and nothing else, from a server. The import map stands for what JSR makes of bare names. */
async function checkServed(files: readonly string[], folder: string): Promise<void> {
  const published = new Set(files);
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async ({ url }) => {
    const path = new URL(url).pathname.slice(1);
    if (!published.has(path)) return new Response("not published", { status: 404 });
    const type = path.endsWith(".ts") ? "application/typescript" : "application/octet-stream";
    return new Response(await Deno.readFile(new URL(path, ROOT)), { headers: { "content-type": type } });
  });
  try {
    const base = `http://127.0.0.1:${server.addr.port}/`;
    const { denoDir } = JSON.parse((await run(DENO, ["info", "--json"])).stdout);
    await Deno.mkdir(`${folder}/cache`);
    await Deno.symlink(`${denoDir}/npm`, `${folder}/cache/npm`);
    const env = { DENO_DIR: `${folder}/cache` };
    const { imports } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
    await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify({ imports, nodeModulesDir: "none" }));
    await Deno.writeTextFile(`${folder}/program.ts`, program(base));
    const host = `127.0.0.1:${server.addr.port}`; // jsr.io is allowed without being said
    const used = await run(DENO, ["run", "--quiet", "--check", `--allow-import=${host}`, "program.ts"], {
      cwd: folder,
      env,
    });
    checks.check("library and service from a server", used.stdout === "succeeded\nsucceeded\n", used);

    const main = ["--config", "deno.json", `${base}src/cli/main.ts`];
    const allowed = ["run", "--quiet", "--no-prompt", "--allow-read", "--allow-env=INIT_CWD", `--allow-import=${host}`];
    const withNet = [...allowed, `--allow-net=${host}`, ...main];
    const example = await run(DENO, [...withNet, "summarize", "--format", "json"], { cwd: folder, env });
    const here = await run(DENO, ["run", "-A", "--quiet", MAIN, "summarize", "--format", "json"]);
    checks.check("the bundled example from a server", example.code === 0 && example.stdout === here.stdout, example);
    const refused = await run(DENO, [...allowed, ...main, "summarize"], { cwd: folder, env });
    checks.check(
      "... and the refusal without network",
      refused.code === 2 && /--allow-net=127/.test(refused.stderr),
      refused,
    );
    const sweep = await run(DENO, [...withNet, ...COMMANDS[3]], { cwd: folder, env });
    const expected = await run(DENO, ["run", "-A", "--quiet", MAIN, ...COMMANDS[3]]);
    checks.check("workers from a server", sweep.code === 0 && sweep.stdout === expected.stdout, sweep);
  } finally {
    await server.shutdown();
  }
}

const folder = await Deno.makeTempDir();
try {
  await checkInstalled(folder);
  await checkServed(await publishedFiles(), folder);
} finally {
  await Deno.remove(folder, { recursive: true });
}
checks.end();
