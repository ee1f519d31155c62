import { assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
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
  const run = (lines: object[]) => [...BIG_MEMORY_TRACE.replay(HEADER, lines, {})].slice(1);
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

Deno.test("a big trace's header is computed, and refused where the version refuses its layout", () => {
  const [{ output }] = BIG_MEMORY_TRACE.replay({ ...HEADER, cores: 1 }, [], {});
  const { regionOn, pageSizeBytes, init } = output as Record<string, unknown>;
  assertEquals([regionOn, pageSizeBytes, (init as number[]).slice(0, 4)], [500, 1048576, [500, 0, 500, 0]]);
  const records = [...BIG_MEMORY_TRACE.replay({ ...HEADER, frac: 1 }, [[1, 0, 0, 0]], { sparkVersion: "3.0.3" })];
  assertEquals(records.map(({ output }) => output), [
    { refused: "java.lang.IllegalArgumentException: Storage fraction must be in [0,1)" },
  ]);
});

Deno.test("what the format cannot tell is bad input with its line", () => {
  const header = { ...HEADER, off: 1000, codes: ["putBytes", "unlockRead", "acqExec"] };
  const fails = (lines: object[], sparkVersion: string) => {
    const error = assertThrows(() => [...BIG_MEMORY_TRACE.replay(header, lines, { sparkVersion })], InputError);
    return [(error as InputError).code, (error as InputError).line, (error as InputError).message];
  };
  // 1.6 stores nothing off-heap, so that there is no block to unlock
  assertEquals(fails([[0, 0, 100, 1], [1, 0, 0, 1]], "1.6.3"), [
    "replay.line",
    3,
    "Cannot replay line 3: under the rules of Spark 1.6.3 it must not throw, which the format cannot tell: " +
    "java.lang.IllegalStateException: Block rdd_0_0 not found: received [1,0,0,1]",
  ]);
  assertEquals(fails([[2, 1, 1000, 0], [2, 2, 100, 0]], "2.4.0")[1], 3); // it waits
  assertEquals(fails([[7, 0, 0, 0]], "2.4.0")[1], 2);
  assertEquals(fails([[0, 5, 100, 0]], "2.4.0")[1], 2);
});

Deno.test("removals, releases and tasks of a big trace are the recorded format's numbers", () => {
  const codes = ["putBytes", "remove", "lockRead", "acqExec", "relExec", "relAllExec"];
  const lines = [[0, 0, 300, 0], [2, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [3, 7, 400, 0], [4, 7, 100, 0], [
    5,
    7,
    0,
    0,
  ]];
  const records = [...BIG_MEMORY_TRACE.replay({ ...HEADER, codes }, lines, {})].slice(1);
  // stored; locked; a locked block stays (2), one that is not there (0); 400 granted of the 700 that are free; what is left
  assertEquals(records.map(({ output }) => (output as number[])[4]), [1, 1, 2, 0, 400, 0, 300]);
});
