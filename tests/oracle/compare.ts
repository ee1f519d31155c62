/**
 * New random traces of the real Spark against the engine: not the recorded ones, as many as one likes.
 *
 * `SPARKMEM_ORACLE=DIR deno run -A tests/oracle/compare.ts [--seed N] [--traces N] [--operations N] [--record]`, where DIR holds the
 * built harnesses `memory`, `scheduler` and `spilling` (each `build.sh`, spilling also `build.sh 35`; Java 17 and Maven). A trace
 * that differs is kept and named; exit status 1. It becomes a recorded scenario in tests/testdata.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { runMain } from "../../src/cli/main.ts";
import { captureIo } from "../support/capture_io.ts";
import { recordNumbers } from "../support/numbers.ts";

/** A harness of the real Spark that makes random traces. */
interface Generator {
  readonly name: string;
  readonly folder: string;
  readonly env?: Record<string, string>;
  /** Of the traces, where they do not tell. */
  readonly sparkVersion?: string;
  args(out: string, options: { seed: number; traces: number; operations: number }): string[];
}

const gen: Generator["args"] = (
  out,
  { seed, traces, operations },
) => ["gen", out, `${seed}`, `${traces}`, `${operations}`];
const scheduler = (part: string): Generator => ({
  name: `scheduler-${part}`,
  folder: "scheduler",
  args: (out, { seed, traces }) => [`gen-${part}`, out, "random", `${traces}`, `${seed}`],
});

/** The harnesses: memory manager and store, DAG scheduler (a), task scheduler (b), both (d), task memory manager. */
const GENERATORS: readonly Generator[] = [
  { name: "memory", folder: "memory", args: gen },
  scheduler("a"),
  scheduler("b"),
  scheduler("d"),
  { name: "spilling-2.4.0", folder: "spilling", args: gen },
  { name: "spilling-3.5.9", folder: "spilling", env: { S: "35" }, sparkVersion: "3.5.9", args: gen },
];

async function make(oracle: string, generator: Generator, args: string[]): Promise<void> {
  const folder = `${oracle}/${generator.folder}`;
  const { code, stderr } = await new Deno.Command(`${folder}/oracle.sh`, { args, env: generator.env, stdout: "null" })
    .output();
  if (code === 0) return;
  throw new Error(`Cannot make traces with ${folder}: is it built? ${new TextDecoder().decode(stderr).slice(-500)}`);
}

/** Runs the traces of a folder through the engine; gives the number of traces and operations, and what differs. */
async function compare(
  out: string,
  version: readonly string[],
): Promise<{ traces: number; operations: number; different: string[] }> {
  let operations = 0;
  const different: string[] = [];
  const files = [...Deno.readDirSync(out)].filter(({ name }) => /\.jsonl(\.gz)?$/.test(name)).map(({ name }) =>
    `${out}/${name}`
  );
  for (const file of files) {
    const { io, out: printed } = captureIo();
    const status = await runMain(["replay", ...version, file], io);
    operations += Number(/(\d+) operations compared/.exec(printed.stdout)?.[1] ?? 0);
    if (status === 0) continue;
    different.push(file);
    console.error(printed.stdout + printed.stderr);
  }
  return { traces: files.length, operations, different };
}

async function main(): Promise<number> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: Deno.args,
    options: { seed: text, traces: text, operations: text, only: text, record: { type: "boolean" } },
  });
  const oracle = Deno.env.get("SPARKMEM_ORACLE");
  if (oracle === undefined) {
    console.error("Cannot compare: SPARKMEM_ORACLE must name the folder of the built harnesses");
    return 2;
  }
  const seed = Number(values.seed ?? 1);
  const options = { seed, traces: Number(values.traces ?? 50), operations: Number(values.operations ?? 500) };
  const numbers: Record<string, number> = { seed };
  let kept = 0;
  for (const generator of GENERATORS.filter(({ name }) => values.only === undefined || name.startsWith(values.only))) {
    const { sparkVersion } = generator;
    const out = await Deno.makeTempDir({ prefix: `sparkmem-${generator.name}-` });
    await make(oracle, generator, generator.args(out, options));
    const { traces, operations, different } = await compare(
      out,
      sparkVersion === undefined ? [] : ["--spark-version", sparkVersion],
    );
    console.log(`${generator.name}: ${traces} traces, ${operations} operations, ${different.length} traces differ`);
    numbers[`${generator.name} traces`] = traces;
    numbers[`${generator.name} operations`] = operations;
    numbers[`${generator.name} traces that differ`] = different.length;
    kept += different.length;
    if (different.length === 0) await Deno.remove(out, { recursive: true });
    else console.error(`kept: ${different.join(" ")}`);
  }
  if (values.record) recordNumbers("tests/oracle/compare.ts", numbers);
  return kept === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exitCode = await main();
