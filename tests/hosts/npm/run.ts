/**
 * The npm package: built, packed, installed in an empty Node project, plain and in TypeScript, and run. What it prints is
 * what the same code gives in Deno; the command gives the same bytes. Ends with `N passed, N failed`.
 *
 * @module
 */
import { buildNpm } from "../../support/build_npm.ts";
import { InputError, jobSpecFromTemplate, sizing, SparkConf } from "../../../src/mod.ts";
import { summarize, sweep, whatIf, workloadFromEventLog, workloadFromJobSpec } from "../../../src/mod.ts";

const HERE = import.meta.dirname!;
const ROOT = `${HERE}/../../..`;
const LOG = `${ROOT}/tests/testdata/runs/cache_evictions/app-20261130174132-0000.gz`;
const TOOLS = ["typescript@5.9.3", "@types/node@20.19.9"];

interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(cwd: string, program: string, ...args: string[]): Promise<Result> {
  const { code, stdout, stderr } = await new Deno.Command(program, { args, cwd, stdin: "null" }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

let passed = 0;
let failed = 0;
function check(what: string, holds: boolean, { code, stdout, stderr }: Result): void {
  if (holds) passed++;
  else {
    failed++;
    console.log(`${what}: exit ${code}: ${(stdout + stderr).slice(-2000)}`);
  }
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
  check("npm install", installed.code === 0, installed);
  for (const name of ["plain.mjs", "typed.ts"]) await Deno.copyFile(`${HERE}/${name}`, `${project}/${name}`);

  const plain = await run(project, "node", "plain.mjs");
  check("plain", plain.stdout === plainExpected(), plain);
  const compiled = await run(
    project,
    "node_modules/.bin/tsc",
    ...["--strict", "--module", "nodenext", "--target", "es2022", "--types", "node", "typed.ts"],
  );
  check("tsc", compiled.code === 0, compiled);
  const typed = await run(project, "node", "typed.js", LOG);
  check("typed", typed.stdout === await typedExpected(), typed);

  for (const [condition, entry] of [["browser", "src/mod.js"], ["workerd", "workerd.js"]]) {
    const resolve = "console.log(import.meta.resolve('@sparkmem/sparkmem'))";
    const resolved = await run(project, "node", "--conditions", condition, "--input-type=module", "-e", resolve);
    check(condition, resolved.stdout.trimEnd().endsWith(`@sparkmem/sparkmem/${entry}`), resolved);
  }
  const packageFolder = `${project}/node_modules/@sparkmem/sparkmem`;
  const sum = await run(packageFolder, "sha256sum", "--check", "kernel.wasm.sha256");
  check("checksum", sum.stdout === "kernel.wasm: OK\n", sum);

  for (const command of COMMANDS) {
    const ours = await run(project, Deno.execPath(), "run", "-A", "--quiet", `${ROOT}/src/cli/main.ts`, ...command);
    const theirs = await run(project, "node_modules/.bin/sparkmem", ...command);
    const same = ours.code === theirs.code && ours.stdout === theirs.stdout && ours.stderr === theirs.stderr;
    check(`sparkmem ${command.join(" ")}`, same, theirs);
  }
} finally {
  await Deno.remove(folder, { recursive: true });
}
console.log(`${passed} passed, ${failed} failed`);
Deno.exitCode = failed === 0 ? 0 : 1;
