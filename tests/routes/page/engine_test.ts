import { assert, assertEquals, assertRejects } from "@std/assert";
import { PageEngine } from "../../../routes/page/engine.ts";
import type { Progress } from "../../../routes/page/protocol.ts";
import { InputError } from "../../../src/errors.ts";
import { readEventLog } from "../../../src/event_log/read.ts";
import { Summarizer } from "../../../src/report/summarize.ts";
import { runWorkload } from "../../../src/what_if/run_workload.ts";
import { applyChanges } from "../../../src/what_if/apply_changes.ts";
import { WorkloadBuilder } from "../../../src/workload/from_event_log.ts";

const LOG = new URL("../../testdata/runs/cache_evictions/app-20261130174132-0000.gz", import.meta.url);

const work = (told: (progress: Progress) => void = () => {}) => ({
  onProgress: told,
  signal: new AbortController().signal,
});

async function opened(): Promise<PageEngine> {
  const engine = new PageEngine(() => 0);
  await engine.open([{ name: "log", file: new Blob([await Deno.readFile(LOG)]) }], work());
  return engine;
}

Deno.test("what the page shows is what the library says of the same log", async () => {
  const summarizer = new Summarizer({ source: "observed" });
  const builder = new WorkloadBuilder();
  await readEventLog((await Deno.open(LOG)).readable, {
    event: (event) => {
      summarizer.event(event);
      builder.event(event);
    },
  });
  const changes = { conf: { "spark.executor.memory": "1g" } };
  const engine = new PageEngine(() => 0);
  const log = await engine.open([{ name: "log", file: new Blob([await Deno.readFile(LOG)]) }], work());
  assertEquals(log.observed.summary, summarizer.summary());
  assertEquals((await engine.replay(work())).run.summary, runWorkload(applyChanges(builder.workload(), {})));
  const { summary } = await engine.predict(changes, false, work());
  assertEquals(summary, runWorkload(applyChanges(builder.workload(), changes)));
});

Deno.test("a prediction is the same with charts, without, and the second time", async () => {
  const engine = await opened();
  const changes = { conf: { "spark.executor.memory": "700m" }, executors: 3 };
  const first = await engine.predict(changes, false, work());
  const second = await engine.predict(changes, true, work());
  assertEquals(first.summary, second.summary);
  assertEquals(first.differences, second.differences);
  assertEquals(first.run, null);
  assert(second.run!.charts.executors.some(({ points }) => points.length > 10));
});

Deno.test("a sweep tells each combination, refused ones with Spark's words", async () => {
  const engine = await opened();
  const told: Progress[] = [];
  const vary = { executors: ["2", "4"], "spark.executor.memory": ["300m", "1g"] };
  const { results, pareto } = await engine.sweep({ storageLevel: "MEMORY_ONLY" }, vary, work((p) => told.push(p)));
  assertEquals(told.map(({ done, total }) => [done, total]), [[1, 4], [2, 4], [3, 4], [4, 4]]);
  assertEquals(told.map(({ result }) => result), [...results]);
  assertEquals(results.map(({ status }) => status), ["refused", "succeeded", "refused", "succeeded"]);
  assertEquals(results[1].settings, { storageLevel: "MEMORY_ONLY", executors: "2", "spark.executor.memory": "1g" });
  assert(pareto.every((id) => id === "1" || id === "3"));
  await assertRejects(() => engine.sweep({}, { executors: Array(401).fill("1") }, work()), InputError, "400");
});

Deno.test("work ends when it is cancelled", async () => {
  const engine = await opened();
  const control = new AbortController();
  const vary = { executors: ["1", "2", "3"] };
  const sweeping = engine.sweep({}, vary, { signal: control.signal, onProgress: () => control.abort() });
  const error = await sweeping.then(() => null, (error) => error);
  assertEquals((error as DOMException).name, "AbortError");
  await engine.replay(work());
});

Deno.test("a recommendation counts the runs that it takes", async () => {
  const engine = await opened();
  let runs = 0;
  const { recommended, violations } = await engine.recommend(work(({ done }) => runs = done));
  assert(runs > 2);
  assert(Object.keys(recommended.conf).length > 0);
  assert(violations.length > 0);
});

Deno.test("the simulated event log is read back as the run that was predicted", async () => {
  const engine = await opened();
  const changes = { conf: { "spark.executor.memory": "1g" } };
  const { summary } = await engine.predict(changes, false, work());
  const summarizer = new Summarizer({ source: "observed" });
  await readEventLog((await engine.eventLog(changes, work())).stream(), summarizer);
  const read = summarizer.summary();
  assertEquals(read.durationMs, summary.durationMs);
  assertEquals(read.stages.map(({ durationMs }) => durationMs), summary.stages.map(({ durationMs }) => durationMs));
});

Deno.test("without a log there is nothing to simulate", async () => {
  await assertRejects(() => new PageEngine(() => 0).replay(work()), InputError, "a log must be open");
});

Deno.test("another Spark version is tried rule by rule once the prediction is shown with charts", async () => {
  const engine = await opened();
  const changes = { sparkVersion: "4.1" };
  const told = async (withCharts: boolean) =>
    (await engine.predict(changes, withCharts, work())).differences.find(({ code }) => code === "whatif.version");
  assertEquals(await told(false), undefined);
  assert((await told(true))!.sentence.includes("rules and defaults differ between Spark 3.5.9 and 4.1"));
});

Deno.test("reading and simulating let the worker hear what it is told, and end when that is to stop", async () => {
  // A clock that goes on by a second a look: every chunk takes a turn.
  let now = 0;
  const engine = new PageEngine(() => now += 1000);
  await engine.open([{ name: "log", file: new Blob([await Deno.readFile(LOG)]) }], work());
  const control = new AbortController();
  const stopped = engine.sweep({}, { executors: ["1", "2"] }, { signal: control.signal, onProgress: () => {} });
  control.abort(new Error("stopped"));
  await assertRejects(() => stopped, Error, "stopped");
});
