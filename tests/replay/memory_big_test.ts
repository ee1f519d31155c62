import { assertEquals } from "@std/assert";
import { BIG_MEMORY_TRACE } from "../../src/replay/memory_big.ts";

const HEADER = {
  heap: 1000,
  off: 0,
  frac: 0.5,
  unrollThreshold: 100,
  checkPeriod: 16,
  growth: 1.5,
  codes: ["putBytes", "get", "remove", "lockRead", "unlockRead", "acqStorage", "relStorage"],
  blocks: ["rdd_0_0", "rdd_1_0"],
};

Deno.test("a big trace's lines and checkpoints are compared", () => {
  const run = (lines: object[]) => [...BIG_MEMORY_TRACE.replay(HEADER, lines, {})];
  assertEquals(run([[0, 0, 700, 0], [0, 1, 600, 0], [1, 0, 0, 0]]).map(({ output }) => output), [
    [0, 0, 700, 0, 1],
    [0, 1, 600, 0, 1, [0]],
    [1, 0, 0, 0, 0],
  ]);
  const [put, evicting, checkpoint] = run([
    [0, 0, 700, 0, 0],
    [0, 1, 600, 0, 1],
    { cp: 2, h: "0", h2: "0", s: [] },
  ]);
  assertEquals(put.differences, [{ what: "result", recorded: 0, computed: 1 }]);
  assertEquals(evicting.differences, [{ what: "evicted", recorded: [], computed: [0] }]);
  assertEquals(checkpoint.differences.map(({ what }) => what), ["h", "h2", "s"]);
});
