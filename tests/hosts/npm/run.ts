/**
 * The npm package: built, packed, installed in an empty project, plain and in TypeScript, run in Node, Bun and workerd,
 * and bundled for browsers. What it prints is what the same code gives in Deno; the command gives the same bytes. Ends with `N passed, N failed`.
 *
 * @module
 */
import { createApp } from "../../../routes/mod.ts";
import { Checks } from "../../support/checks.ts";
import { type Ran, runProgram } from "../../support/programs.ts";
import { buildNpm } from "../../support/build_npm.ts";
import { InputError, jobSpecFromTemplate, sizing, SparkConf } from "../../../src/mod.ts";
import { summarize, sweep, whatIf, workloadFromEventLog, workloadFromJobSpec } from "../../../src/mod.ts";

const HERE = import.meta.dirname!;
const ROOT = `${HERE}/../../..`;
const LOG = `${ROOT}/tests/testdata/runs/cache_evictions/app-20261130174132-0000.gz`;
const TOOLS = ["typescript@5.9.3", "@types/node@20.19.9", "esbuild@0.28.2", "workerd@1.20261117.1", "bun@1.4.5"];

const checks = new Checks();

function run(cwd: string, program: string, ...args: string[]): Promise<Ran> {
  return runProgram(program, args, { cwd });
}

function plainExpected(): string {
  const workload = workloadFromJobSpec(jobSpecFromTemplate("cached-iterative").spec);
  const { predicted } = whatIf(workload, null, { conf: { "spark.executor.memory": "2g" } });
  return `${predicted.storage.blocksEvicted}\n600\n`;
}

async function typedExpected(): Promise<string> {
  const bytes = await Deno.readFile(LOG);
  const observed = await summarize(new Blob([bytes]).stream());
  const workload = await workloadFromEventLog(new Blob([bytes]).stream());
  let text = `${observed.storage.blocksEvicted} ${workload.sparkVersion}\n`;
  for (const { id, figures } of sweep(workload, { "spark.memory.fraction": ["0.4", "0.6"] })) {
    text += `${id} ${figures?.blocksEvicted}\n`;
  }
  try {
    sizing({ conf: SparkConf.from({ "spark.executor.memory": "100m" }) });
  } catch (error) {
    text += `${(error as InputError).code}\n`;
  }
  return text;
}

async function serviceExpected(): Promise<string> {
  const app = createApp();
  const body = JSON.stringify({ template: "sort", executors: 2, seed: 7 });
  const answer = await app.request("/v1/simulations", { method: "POST", body });
  const { outcome, execution } = await answer.json();
  const { templates } = await (await app.request("/v1/templates")).json();
  const names = templates.map(({ name }: { name: string }) => name).join(" ");
  return `${answer.status} ${outcome.status} ${execution.memoryBytesSpilled}\n${names}\n`;
}

/** The package's own modules for workerd, bundled by a bundler that knows the condition, run in workerd. */
async function checkWorkerd(project: string): Promise<void> {
  const bundled = await run(
    project,
    "node_modules/.bin/esbuild",
    ...[
      "worker.mjs",
      "--bundle",
      "--format=esm",
      "--conditions=workerd",
      "--external:*.wasm",
      "--outfile=worker/worker.js",
    ],
  );
  checks.check("esbuild", bundled.code === 0, bundled);
  await Deno.copyFile(`${project}/node_modules/@sparkmem/sparkmem/kernel.wasm`, `${project}/worker/kernel.wasm`);
  await Deno.copyFile(`${ROOT}/routes/deploy/wrangler.jsonc`, `${project}/worker/wrangler.jsonc`);
  const worker = new Deno.Command("node", {
    args: ["hosts/edge/workerd.mjs", "worker", "workerd"],
    cwd: project,
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  try {
    const { value } = await worker.stdout.pipeThrough(new TextDecoderStream()).getReader().read();
    const address = value!.trim();
    const workload = workloadFromJobSpec(jobSpecFromTemplate("cached-iterative").spec);
    const { predicted } = whatIf(workload, null, { conf: { "spark.executor.memory": "2g" } });
    const library = await (await fetch(address)).text();
    checks.check("library in workerd", library === JSON.stringify(predicted.storage), library);
    const request = { method: "POST", body: JSON.stringify({ template: "sort", seed: 7 }) };
    const service = await (await fetch(new URL("/v1/simulations", address), request)).text();
    const expected = await (await createApp().request("/v1/simulations", request)).text();
    checks.check("service in workerd", service === expected, service);
  } finally {
    worker.kill("SIGTERM");
    await worker.status;
  }
}

/** Commands, each run with the package and in Deno. */
const COMMANDS: readonly (readonly string[])[] = [
  ["--help"],
  ["summarize", "--format", "json"],
  ["summarize", LOG],
  ["summarize", "no-such-file"],
  ["whatif", LOG, "--conf", "spark.executor.memory=1g", "--format", "json"],
  ["simulate", "template:sort", "--format", "eventlog"],
  ["sweep", "template:sort", "--vary", "spark.executor.memory=1g,2g,4g", "--jobs", "2", "--format", "ndjson"],
  ["recommend", LOG, "--format", "json"],
  ["explain", "java.lang.OutOfMemoryError: Unable to acquire 16384 bytes of memory, got 0"],
  ["sizing", "--conf", "spark.executor.memory=4g"],
  ["replay", `${ROOT}/tests/testdata/memory/random/single_32_mixed.jsonl.gz`],
];

const folder = await Deno.makeTempDir();
try {
  const file = await buildNpm(new URL(`file://${folder}/built/`));
  const project = `${folder}/project`;
  await Deno.mkdir(project);
  await Deno.writeTextFile(`${project}/package.json`, '{ "private": true, "type": "module" }');
  const installed = await run(project, "npm", "install", "--no-fund", "--no-audit", file, ...TOOLS);
  checks.check("npm install", installed.code === 0, installed);
  for (const name of ["plain.mjs", "typed.ts", "service.ts", "worker.mjs"]) {
    await Deno.copyFile(`${HERE}/${name}`, `${project}/${name}`);
  }
  for (const file of ["hosts/edge/workerd.mjs", "support/workerd.mjs"]) {
    await Deno.mkdir(`${project}/${file.slice(0, file.lastIndexOf("/"))}`, { recursive: true });
    await Deno.copyFile(`${HERE}/../../${file}`, `${project}/${file}`);
  }

  const plain = await run(project, "node", "plain.mjs");
  checks.check("plain", plain.stdout === plainExpected(), plain);
  const compiled = await run(
    project,
    "node_modules/.bin/tsc",
    ...["--strict", "--module", "nodenext", "--target", "es2022", "--types", "node", "typed.ts", "service.ts"],
  );
  checks.check("tsc", compiled.code === 0, compiled);
  const typed = await run(project, "node", "typed.js", LOG);
  checks.check("typed", typed.stdout === await typedExpected(), typed);
  const service = await run(project, "node", "service.js");
  checks.check("service and client", service.stdout === await serviceExpected(), service);
  const rebuilt = await run(project, "npm", "rebuild", "bun");
  checks.check("npm rebuild bun", rebuilt.code === 0, rebuilt);
  for (const [program, expected] of [["plain.mjs", plainExpected()], ["service.js", await serviceExpected()]]) {
    const inBun = await run(project, "node_modules/.bin/bun", program);
    checks.check(`${program} in Bun`, inBun.stdout === expected, inBun);
    const bundle = ["--bundle", "--format=esm", "--platform=browser", "--minify", `--outfile=bundled/${program}`];
    const bundled = await run(project, "node_modules/.bin/esbuild", program, ...bundle);
    checks.check(`${program} bundled for browsers`, bundled.code === 0, bundled);
    const alone = await run(`${project}/bundled`, "node", program);
    checks.check(`${program} from one file`, alone.stdout === expected, alone);
  }
  await checkWorkerd(project);

  for (
    const [condition, name, entry] of [
      ["browser", "", "src/mod.js"],
      ["browser", "/service", "routes/mod.js"],
      ["workerd", "", "workerd.js"],
      ["workerd", "/service", "workerd_service.js"],
      ["default", "/client", "routes/client.js"],
      ["default", "/kernel.wasm", "kernel.wasm"],
    ]
  ) {
    const resolve = `console.log(import.meta.resolve('@sparkmem/sparkmem${name}'))`;
    const resolved = await run(project, "node", "--conditions", condition, "--input-type=module", "-e", resolve);
    checks.check(`${condition} ${name}`, resolved.stdout.trimEnd().endsWith(`@sparkmem/sparkmem/${entry}`), resolved);
  }
  const packageFolder = `${project}/node_modules/@sparkmem/sparkmem`;
  const sum = await run(packageFolder, "sha256sum", "--check", "kernel.wasm.sha256");
  checks.check("checksum", sum.stdout === "kernel.wasm: OK\n", sum);

  for (const command of COMMANDS) {
    const ours = await run(project, Deno.execPath(), "run", "-A", "--quiet", `${ROOT}/src/cli/main.ts`, ...command);
    const theirs = await run(project, "node_modules/.bin/sparkmem", ...command);
    const same = ours.code === theirs.code && ours.stdout === theirs.stdout && ours.stderr === theirs.stderr;
    checks.check(`sparkmem ${command.join(" ")}`, same, theirs);
  }
} finally {
  await Deno.remove(folder, { recursive: true });
}
checks.end();
