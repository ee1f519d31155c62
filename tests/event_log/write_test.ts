import { assertEquals } from "@std/assert";
import { readEventLog } from "../../src/event_log/read.ts";
import { EventLogWriter } from "../../src/event_log/write.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import type { SparkEvent } from "../../src/spark/events.ts";
import { keepEvents, part, RUN_NAMES, runParts, runText } from "../support/runs.ts";

function written(events: readonly SparkEvent[], sparkVersion?: string): string {
  const lines: string[] = [];
  const writer = new EventLogWriter((line) => lines.push(line), { sparkVersion });
  for (const event of events) writer.event(event);
  return lines.join("");
}

async function read(log: string): Promise<SparkEvent[]> {
  const sink = keepEvents();
  await readEventLog([part("log", log)], sink);
  return sink.events;
}

async function eventsOf(run: string): Promise<SparkEvent[]> {
  const sink = keepEvents();
  await readEventLog(runParts(run), sink);
  return sink.events;
}

function summaryOf(events: readonly SparkEvent[]) {
  const summarizer = new Summarizer({ source: "observed" });
  for (const event of events) summarizer.event(event);
  return summarizer.summary();
}

for (const name of RUN_NAMES) {
  Deno.test(`what EventLogWriter writes of ${name} is read back as the same events and Summary`, async () => {
    const events = await eventsOf(name);
    const again = await read(written(events));
    const named = (event: SparkEvent) => event.kind !== "warning";
    assertEquals(again.filter(named), events.filter(named));
    assertEquals(summaryOf(again), summaryOf(events));
  });
}

/** Names of an object's fields in order, into its parts; what the writer leaves empty is not looked into. */
function fieldsOf(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return value.slice(0, 1).flatMap((item) => fieldsOf(item, `${path}[]`));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const below = `${path}/${name}`;
    const open = /(Properties|Information|Entries|Log Urls|Accumulables|Stack Trace|Accumulator Updates|metadata)$/;
    return [below, ...open.test(name) ? [] : fieldsOf(inner, below)];
  });
}

async function linesOf(run: string): Promise<Record<string, unknown>[]> {
  return (await runText(run)).trimEnd().split("\n").map((line) => JSON.parse(line));
}

for (
  const name of ["cache_evictions", "fetch_failure", "max_result_size", "spark_2_4_max_result_size", "storage_region"]
) {
  Deno.test(`EventLogWriter writes the fields of ${name} in Spark's order`, async () => {
    const real = (await linesOf(name)).filter(({ Event }) => Event !== "SparkListenerExecutorMetricsUpdate");
    const mine = written(await eventsOf(name)).trimEnd().split("\n").map((line) => JSON.parse(line));
    assertEquals(mine.length, real.length);
    for (const [i, line] of real.entries()) {
      // Spark 3.5 fills these where the driver or the cluster manager knows them; the events do not carry them.
      const known = fieldsOf(line).filter((field) => !/\/(Request Time|details|physicalPlanDescription)$/.test(field));
      const own = fieldsOf(mine[i]).filter((field) => !/\/(details|physicalPlanDescription)$/.test(field));
      assertEquals(own, known, `line ${i + 1}: ${line.Event}`);
    }
  });
}

Deno.test("EventLogWriter writes a 3.5 task event byte for byte as Spark does", async () => {
  const text = await runText("cache_evictions");
  const real = text.split("\n").filter((line) => line.startsWith('{"Event":"SparkListenerTaskStart"'));
  const mine = written(await eventsOf("cache_evictions")).split("\n")
    .filter((line) => line.startsWith('{"Event":"SparkListenerTaskStart"'));
  assertEquals(mine, real);
});

Deno.test("EventLogWriter leaves out what only a simulation has, and what a version does not have", async () => {
  const at = { time: 1, executorId: "1" };
  const events: SparkEvent[] = [
    { kind: "memoryWait", ...at, taskId: 1, numBytes: 1, waitMs: 1 },
    { kind: "blockRemoved", ...at, blockId: "rdd_1_1" },
    { kind: "blockReadBack", ...at, blockId: "rdd_1_1", memorySize: 1, offHeap: false },
    { kind: "warning", code: "x", message: "x", count: 1 },
    { kind: "resourceProfileAdded", id: 0, executorResources: { cores: 1 }, taskResources: { cpus: 1 } },
    { kind: "stageExecutorMetrics", executorId: "1", stageId: 0, stageAttemptId: 0, metrics: {} },
    { kind: "applicationEnd", time: 5, exitCode: 3 },
  ];
  const names = (version: string) =>
    written(events, version).trimEnd().split("\n").map((line) => JSON.parse(line))
      .map(({ Event, ExitCode }) => `${Event.replace("SparkListener", "")}${ExitCode ?? ""}`);
  assertEquals(names("2.4.0"), ["ApplicationEnd"]);
  assertEquals(names("3.5.9"), ["ResourceProfileAdded", "StageExecutorMetrics", "ApplicationEnd"]);
  assertEquals(names("4.0.0"), ["ResourceProfileAdded", "StageExecutorMetrics", "ApplicationEnd3"]);
  assertEquals(await read(written(events, "4.0.0")).then((all) => all[2]), events[6]);
});

Deno.test("EventLogWriter escapes every text", async () => {
  const events: SparkEvent[] = [{
    kind: "applicationStart",
    appName: 'a "b"\n\u0000\u2028',
    appId: "app-1",
    time: 1,
    user: "\\",
    appAttemptId: null,
  }, {
    kind: "executorRemoved",
    time: 2,
    executorId: '1"',
    reason: "\t",
  }];
  assertEquals((await read(written(events))).slice(0, 2), events);
});

Deno.test("EventLogWriter marks the metrics of plans as SQL's and adds up their updates", async () => {
  const plan = {
    nodeName: "Sort",
    simpleString: "",
    children: [],
    metrics: [{ name: "spill size", accumulatorId: 9, metricType: "size" }],
  };
  const taskEnd = (await eventsOf("cache_evictions")).find(({ kind }) => kind === "taskEnd") as Extract<
    SparkEvent,
    { kind: "taskEnd" }
  >;
  const ended = {
    ...taskEnd,
    accumulables: [{ id: 9, name: "spill size", update: 5 }, { id: 10, name: "mine", update: 1 }],
  };
  const lines = written([
    { kind: "sqlExecutionStart", executionId: 0, description: "", time: 1, plan },
    ended,
    ended,
  ]).trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals(lines[2]["Task Info"].Accumulables, [
    {
      ID: 9,
      Name: "spill size",
      Update: "5",
      Value: "10",
      Internal: true,
      "Count Failed Values": true,
      Metadata: "sql",
    },
    { ID: 10, Name: "mine", Update: "1", Value: "2", Internal: false, "Count Failed Values": false },
  ]);
});

Deno.test("a speculative copy is written under its class's full name, as Jackson does, and read again", async () => {
  const event = { kind: "speculativeTaskSubmitted", stageId: 3, stageAttemptId: 1 } as const;
  const log = written([event]);
  assertEquals(
    log,
    '{"Event":"org.apache.spark.scheduler.SparkListenerSpeculativeTaskSubmitted","stageId":3,"stageAttemptId":1}\n',
  );
  assertEquals((await read(log)).filter(({ kind }) => kind !== "warning"), [event]);
});

Deno.test("Spark 2.4 writes no update of an adaptive plan: the event came with 3.0", () => {
  const plan = { nodeName: "Scan", simpleString: "Scan", children: [], metadata: {}, metrics: [] };
  const event = { kind: "sqlAdaptiveExecutionUpdate", executionId: 1, physicalPlanDescription: "", plan } as const;
  assertEquals(written([event as unknown as SparkEvent], "2.4.0"), "");
  assertEquals(
    written([event as unknown as SparkEvent], "3.5.9").includes("SparkListenerSQLAdaptiveExecutionUpdate"),
    true,
  );
});
