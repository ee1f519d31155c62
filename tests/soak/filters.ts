/**
 * `sweep --stdin` and `summarize --stdin` as filters of bounded memory: far more than fits the heap that they are given
 * goes through them, a line for each line, in order. Ends with `N passed, N failed`.
 *
 * @module
 */
const ROOT = new URL("../../", import.meta.url);
const LOG = new URL("tests/testdata/runs/cache_evictions/app-20261130174132-0000.gz", ROOT).pathname;
/** Of the old generation: less than what goes through. */
const HEAP_MIB = 48;
const LINES = 30_000;
/** A name as long as this comes in and goes out in each line: 90 MB in all. */
const NAME = "n".repeat(3000);

/** Every 50th line is a log, the others name a file that is not there. */
async function* lines(): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for (let i = 0; i < LINES; i++) {
    const conf = { "spark.memory.fraction": `0.${1 + i % 8}` };
    yield encoder.encode(
      JSON.stringify({ id: `${i} ${NAME}`, input: i % 50 === 0 ? LOG : `missing ${i}`, conf }) + "\n",
    );
  }
}

/** What is wrong with a filter, or null. */
async function problemOf(args: readonly string[]): Promise<string | null> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", `--v8-flags=--max-old-space-size=${HEAP_MIB}`, "src/cli/main.ts", ...args],
    cwd: ROOT,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const errors = new Response(child.stderr).text();
  const fed = ReadableStream.from(lines()).pipeTo(child.stdin).catch(() => {});
  let count = 0;
  let rest = "";
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    const complete = (rest + text).split("\n");
    rest = complete.pop()!;
    for (const line of complete) {
      if (!line.startsWith(`{"id":"${count} n`)) return `line ${count + 1} is ${line.slice(0, 80)}`;
      count++;
    }
  }
  await fed;
  const { code } = await child.status;
  return count === LINES ? null : `exit ${code} after ${count} of ${LINES} lines: ${(await errors).slice(-500)}`;
}

let failed = 0;
for (const args of [["sweep", "--stdin", "--jobs", "1"], ["summarize", "--stdin"]]) {
  const problem = await problemOf(args);
  if (problem === null) continue;
  console.log(`${args.join(" ")}: ${problem}`);
  failed++;
}
console.log(`${2 - failed} passed, ${failed} failed`);
Deno.exitCode = failed === 0 ? 0 : 1;
