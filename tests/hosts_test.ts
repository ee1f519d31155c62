import { assertEquals } from "@std/assert";
import { neutralTrace } from "./hosts/trace/neutral.ts";

Deno.test("the trace for other hosts is the recorded one", async () => {
  const file = await Deno.open(new URL("testdata/memory/random/single_32_mixed.jsonl.gz", import.meta.url));
  const recorded = await new Response(file.readable.pipeThrough(new DecompressionStream("gzip"))).text();
  const trace = await Deno.readTextFile(new URL("hosts/trace/trace.txt", import.meta.url));
  assertEquals(trace, neutralTrace(recorded));
  assertEquals(trace.split("\n").filter((line) => /^(fails|waits)$/.test(line.split(" ").at(-1)!)).length, 9);
});

Deno.test("neutralTrace() declares each block before its first use and leaves outcomes out of the calls", () => {
  const trace = [
    { heap: 1000, off: 0, frac: 0.5, unrollThreshold: 6, checkPeriod: 16, growth: 1.5 },
    { i: 0, op: "putBytes", b: "rdd_3_1", n: 64, m: "ON", r: true, s: [500, 64] },
    { i: 1, op: "acqExec", t: 1, n: 10, m: "ON", r: "blocked", s: [500, 64] },
    { i: 2, op: "unlockRead", b: "rdd_3_1", x: "java.lang.AssertionError", s: [500, 65] },
    { dump: 2 },
  ];
  assertEquals(
    neutralTrace(trace.map((line) => JSON.stringify(line)).join("\n")),
    "createExecutor 1000 500 0 0 0 = 0\ndeclareBlock 3 = 0\nputBytes 0 64 0 0 = 1\n" +
      "acquireExecutionMemory 10 1 0 = waits\nunlock 0 = fails\nstate 500 65\n",
  );
});
