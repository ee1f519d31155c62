import { assertEquals } from "@std/assert";
import { tenLinesOf } from "./hosts/ten_lines.ts";
import { neutralTrace } from "./hosts/trace/neutral.ts";

const HOSTS = new URL("hosts/", import.meta.url);
const TRACE = new URL("trace/trace.txt", HOSTS);

/** Each host and its one program. */
const PROGRAMS = {
  python: "replay.py",
  go: "replay.go",
  rust: "src/main.rs",
  java: "src/main/java/hosts/Replay.java",
  node: "replay.mjs",
  browser: "replay.html",
} as const;

Deno.test("the trace for other hosts is the recorded one", async () => {
  const file = await Deno.open(new URL("testdata/memory/batch/single_01_storage.jsonl.gz", import.meta.url));
  const recorded = await new Response(file.readable.pipeThrough(new DecompressionStream("gzip"))).text();
  const trace = await Deno.readTextFile(TRACE);
  assertEquals(trace, neutralTrace(recorded));
  // 5 tasks that waited and 30 exceptions of Spark's
  assertEquals(trace.split("\n").filter((line) => /^(fails|waits)$/.test(line.split(" ").at(-1)!)).length, 35);
});

Deno.test("neutralTrace() names blocks by their order and sets the task of unrolling before it", () => {
  const trace = [
    { heap: 1000, off: 0, frac: 0.5, unrollThreshold: 6, checkPeriod: 16, growth: 1.5 },
    { i: 0, op: "putBytes", b: "rdd_3_1", n: 64, m: "ON", r: true, s: [500, 64] },
    { i: 1, op: "acqExec", t: 1, n: 10, m: "OFF", r: "blocked", s: [500, 64] },
    { i: 2, op: "reserveUnroll", b: "test_1", t: 5, n: 10, m: "ON", r: true, s: [500, 74] },
    { i: 3, op: "unlockRead", b: "rdd_3_1", x: "java.lang.AssertionError", s: [500, 65] },
    { dump: 2 },
  ];
  assertEquals(
    neutralTrace(trace.map((line) => JSON.stringify(line)).join("\n")),
    "createExecutor 1000 500 0 0 0\ndeclareBlock 3 -1\nOP_PUT_BYTES 0 0 0 64 = 1\n" +
      "OP_ACQUIRE_EXECUTION_MEMORY 1 0 1 10 = waits\nOP_SET_TASK_CONTEXT 0 0 5 0 = 0\n" +
      "OP_RESERVE_UNROLL_MEMORY 0 0 1 10 = 1\nOP_UNLOCK 0 0 0 0 = fails\nstate 500 65\n",
  );
});

Deno.test("the kernel gives Spark's answers and state to the host without a library around it", async () => {
  const { code, stdout, stderr } = await new Deno.Command("deno", {
    args: ["run", "--allow-read", "hosts/node/replay.mjs", "../assembly/build/kernel.wasm", "hosts/trace/trace.txt"],
    cwd: import.meta.dirname,
  }).output();
  const decoder = new TextDecoder();
  assertEquals(code, 0, decoder.decode(stderr));
  assertEquals(decoder.decode(stdout).split("\n")[0], (await Deno.readTextFile(TRACE)).trimEnd().split("\n").at(-1));
});

Deno.test("each host's program has under 60 lines, and its README one in ten", async () => {
  for (const [host, file] of Object.entries(PROGRAMS)) {
    const program = await Deno.readTextFile(new URL(`${host}/${file}`, HOSTS));
    assertEquals(program.trimEnd().split("\n").length < 60, true, file);
  }
  for (const host of [...Object.keys(PROGRAMS), "bun"]) {
    const { lines } = tenLinesOf(await Deno.readTextFile(new URL(`${host}/README.md`, HOSTS)));
    assertEquals(lines <= 10, true, `${host}: ${lines} lines`);
  }
});
