import { assertEquals } from "@std/assert";
import { EventReader } from "../../src/event_log/event_reader.ts";
import { keepEvents } from "../support/runs.ts";

function read(lines: unknown[]) {
  const sink = keepEvents();
  const reader = new EventReader(sink, {});
  for (const line of lines) {
    const bytes = new TextEncoder().encode(
      typeof line === "string" ? line : JSON.stringify(line),
    );
    reader.line(bytes, 0, bytes.length);
  }
  return { reader, events: sink.events };
}

const TASK_END = {
  Event: "SparkListenerTaskEnd",
  "Stage ID": 0,
  "Task Type": "ResultTask",
  "Task End Reason": { Reason: "Success" },
  "Task Info": {
    "Task ID": 1,
    Index: 0,
    "Launch Time": 1,
    "Executor ID": "1",
    "Finish Time": 2,
  },
  "Task Metrics": { "Updated Blocks": [] },
};

function updatedBlocks(version: string, properties: Record<string, string>) {
  const { events } = read([
    { Event: "SparkListenerLogStart", "Spark Version": version },
    { Event: "SparkListenerEnvironmentUpdate", "Spark Properties": properties },
    TASK_END,
  ]);
  const end = events.find(({ kind }) => kind === "taskEnd") as {
    metrics: { updatedBlocks: unknown };
  };
  return end.metrics.updatedBlocks;
}

Deno.test("EventReader tells a task that changed no block from one of which Spark does not record it", () => {
  const key = "spark.taskMetrics.trackUpdatedBlockStatuses";
  assertEquals(updatedBlocks("2.2.3", {}), []);
  assertEquals(updatedBlocks("2.3.0", {}), null); // SPARK-20084
  assertEquals(updatedBlocks("3.5.9", { [key]: "true" }), []);
  assertEquals(updatedBlocks("3.5.9", { [key]: "false" }), null);
});

Deno.test("EventReader numbers lines, empty ones included, and takes line ends of Windows", () => {
  const { reader, events } = read([
    "",
    '{"Event":"SparkListenerUnpersistRDD","RDD ID":7}\r',
    "x",
    "\r",
  ]);
  assertEquals(events, [{ kind: "unpersistRdd", rddId: 7 }]);
  assertEquals(reader.lines, 4);
  assertEquals(reader.malformed, { count: 1, lines: [3] });
});

Deno.test("EventReader keeps the numbers of the first ten malformed lines", () => {
  const { reader } = read(Array(25).fill("x"));
  assertEquals(reader.malformed, {
    count: 25,
    lines: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
  });
  assertEquals(
    reader.warnings()[0].message,
    "lines that are not events, left out: line 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...",
  );
});

Deno.test("EventReader takes a second start of the same application for a duplicate", () => {
  const start = {
    Event: "SparkListenerApplicationStart",
    "App Name": "a",
    "App ID": "app-1",
    Timestamp: 1,
    User: "u",
  };
  const { reader, events } = read([start, start]);
  assertEquals(events.length, 1);
  assertEquals(
    reader.warnings().some(({ code }) => code === "log.duplicate_application_start"),
    true,
  );
});
