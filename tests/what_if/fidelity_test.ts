import { assertEquals } from "@std/assert";
import { compareFigures, fidelityText, type RunFigures, tallyOf } from "../../src/what_if/fidelity.ts";

const run = (figures: Partial<RunFigures> = {}): RunFigures => ({
  succeeded: true,
  message: "",
  direct: 48,
  indirect: 0,
  dropped: 0,
  evicted: 24,
  cachedInMemory: 18,
  memorySpilled: 0,
  diskSpilled: 0,
  spilledTasks: 0,
  spilledStages: 0,
  stageAttempts: 6,
  durationMs: 1000,
  ...figures,
});

const wrong = (predicted: RunFigures, measured: RunFigures, base: RunFigures | null) =>
  compareFigures(predicted, measured, base).filter(({ right }) => !right).map((
    { figure, changed },
  ) => [figure, changed]);

Deno.test("blocks may be off by one an executor, result paths not at all", () => {
  assertEquals(wrong(run({ evicted: 22, cachedInMemory: 20 }), run(), null), []);
  assertEquals(wrong(run({ evicted: 21, indirect: 1 }), run(), null), [["indirect", false], ["evicted", false]]);
});

Deno.test("spilling or not must be right, the bytes within a tenth, of a replay within a twentieth", () => {
  const spilled = run({ memorySpilled: 1000, spilledTasks: 2 });
  assertEquals(wrong(run(), spilled, run()), [["memorySpilled", true], ["spilledTasks", true]]);
  const near = run({ memorySpilled: 1080, spilledTasks: 2 });
  assertEquals(wrong(near, spilled, run()), []);
  assertEquals(wrong(near, spilled, null), [["memorySpilled", false]]);
});

Deno.test("of a failed run the outcome and the kind of message count", () => {
  const message = "Total size of serialized results of 7 tasks (10.1 MiB) is bigger than spark.driver.maxResultSize";
  const failed = run({ succeeded: false, message, direct: 0 });
  const predicted = run({ succeeded: false, message: message.replace("7 tasks", "8 tasks"), direct: 5 });
  assertEquals(compareFigures(predicted, failed, run()).map(({ figure, right }) => [figure, right]), [
    ["succeeded", true],
    ["message", true],
  ]);
  assertEquals(wrong(run(), failed, run()), [["succeeded", true], ["message", false]]);
});

Deno.test("time is judged by its direction, where it changes by more than a busy machine makes it", () => {
  const figures = (durationMs: number) => run({ durationMs });
  assertEquals(wrong(figures(900), figures(1900), figures(1000)), []);
  assertEquals(wrong(figures(900), figures(2500), figures(1000)), [["durationMs", true]]);
  assertEquals(wrong(figures(1200), figures(2500), figures(1000)), []);
});

Deno.test("echoing the log gets none of the figures that change", () => {
  const base = run();
  const measured = run({ evicted: 0, cachedInMemory: 24 });
  const { same, changed } = tallyOf([{ from: "a", of: "b", results: compareFigures(base, measured, base) }]);
  assertEquals([changed, same.right === same.all], [{ right: 0, all: 2 }, true]);
});

Deno.test("the report names every wrong figure", () => {
  const results = compareFigures(run({ evicted: 0 }), run(), null);
  assertEquals(
    fidelityText([{ from: "a", of: "a", results }]).split("\n").at(-2),
    "  replay of a: evicted 0, measured 24 (as before)",
  );
});

Deno.test("a failure whose message is of no known kind is judged by its outcome alone", () => {
  const failed = run({ succeeded: false, message: "something else" });
  assertEquals(compareFigures(failed, failed, null).map(({ figure }) => figure), ["succeeded"]);
});
