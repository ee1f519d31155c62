import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { gzipSync, zipSync } from "fflate";
import { InputError, LimitError } from "../../src/errors.ts";
import { readEventLog } from "../../src/event_log/read.ts";
import type { SparkEvent } from "../../src/spark/events.ts";
import { expectedRun, keepEvents, part, RUN_NAMES, runParts } from "../support/runs.ts";

const encoder = new TextEncoder();

function stream(
  ...chunks: (string | Uint8Array)[]
): ReadableStream<Uint8Array> {
  return ReadableStream.from(
    chunks.map((chunk) => typeof chunk === "string" ? encoder.encode(chunk) : chunk),
  );
}

const LOG_START = '{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}\n';

function appStart(id: string, attempt?: string, time = 1000): string {
  return JSON.stringify({
    Event: "SparkListenerApplicationStart",
    "App Name": "test",
    "App ID": id,
    Timestamp: time,
    User: "user",
    "App Attempt ID": attempt,
  }) + "\n";
}

const APP_END = '{"Event":"SparkListenerApplicationEnd","Timestamp":2000}\n';
const UNPERSIST = '{"Event":"SparkListenerUnpersistRDD","RDD ID":7}\n';

for (const name of RUN_NAMES) {
  Deno.test(`readEventLog() reads every event of ${name}`, async () => {
    const sink = keepEvents();
    const report = await readEventLog(runParts(name), sink);
    // Counted in the log's lines when the run was recorded.
    assertEquals(report.events, expectedRun(name).events);
    assertEquals(report.malformed.count, 0);
    const starts = sink.events.filter(({ kind }) => kind === "logStart");
    assertEquals(starts, [{
      kind: "logStart",
      sparkVersion: expectedRun(name).spark,
    }]);
  });
}

Deno.test("readEventLog() gives the same events for every size of chunk", async () => {
  const [{ open }] = runParts("cache_evictions");
  const bytes = new Uint8Array(await new Response(open()).arrayBuffer());
  const whole = keepEvents();
  await readEventLog(stream(bytes), whole);
  for (const size of [97, 1000, 4096]) {
    const sink = keepEvents();
    const chunks = [];
    for (let at = 0; at < bytes.length; at += size) {
      chunks.push(bytes.subarray(at, at + size));
    }
    await readEventLog(stream(...chunks), sink);
    assertEquals(sink.events, whole.events);
  }
});

Deno.test("readEventLog() tells the codec from the content, also of a codec within a codec", async () => {
  const [{ open }] = runParts("codec_zstd");
  const zstd = new Uint8Array(await new Response(open()).arrayBuffer());
  const report = await readEventLog(
    [part("misleading.lz4", gzipSync(zstd))],
    keepEvents(),
  );
  assertEquals(report.parts, [{
    name: "misleading.lz4",
    codecs: ["gzip", "zstd"],
  }]);
  assertEquals(report.events, expectedRun("codec_zstd").events);
});

Deno.test("readEventLog() opens a zip archive of a rolling log, as the History Server gives it", async () => {
  const entries: Record<string, Uint8Array> = {};
  for (const { name, open } of runParts("spark_4_1_rolling")) {
    const inner = name.replace(/^.*spark_4_1_rolling\//, "");
    entries[inner] = new Uint8Array(await new Response(open()).arrayBuffer());
  }
  const report = await readEventLog(stream(zipSync(entries)), keepEvents());
  assertEquals(report.events, expectedRun("spark_4_1_rolling").events);
  assertEquals(
    report.parts.map(({ name }) => name.replace(/^.*\//, "").slice(0, 8)),
    [
      "events_1",
      "events_2",
    ],
  );
});

Deno.test("readEventLog() counts malformed lines with their numbers and goes on", async () => {
  const sink = keepEvents();
  const report = await readEventLog(
    stream(
      LOG_START,
      "{nonsense\n",
      UNPERSIST,
      '{"Event":"SparkListenerUnpersistRDD","RDD ID":"x"}\n',
      "[1]\n",
      UNPERSIST,
    ),
    sink,
  );
  assertEquals(report.malformed, { count: 3, lines: [2, 4, 5] });
  assertEquals(
    sink.events.filter(({ kind }) => kind === "unpersistRdd").length,
    2,
  );
  const malformed = report.warnings.find(({ code }) => code === "log.malformed_line")!;
  assertEquals(malformed.count, 3);
  assertStringIncludes(malformed.message, "line 2, 4, 5");
});

Deno.test("readEventLog() says when the last line is cut off, and does not call it malformed", async () => {
  const report = await readEventLog(
    stream(LOG_START, UNPERSIST.slice(0, 20)),
    keepEvents(),
  );
  assertEquals(report.malformed.count, 0);
  assertEquals(report.warnings[0].code, "log.cut_line");
});

Deno.test("readEventLog() reads a last line without an end", async () => {
  const report = await readEventLog(
    stream(LOG_START, UNPERSIST.trimEnd()),
    keepEvents(),
  );
  assertEquals(report.events, {
    SparkListenerLogStart: 1,
    SparkListenerUnpersistRDD: 1,
  });
});

Deno.test("readEventLog() skips unknown events and says which; Spark's own that are not used pass silently", async () => {
  const report = await readEventLog(
    stream(
      LOG_START + appStart("app-1"),
      '{"Event":"com.example.Custom"}\n{"Event":"com.example.Custom"}\n',
      '{"Event":"org.apache.spark.sql.streaming.StreamingQueryListener$QueryIdleEvent"}\n',
      APP_END,
    ),
    keepEvents(),
  );
  assertEquals(report.warnings, [{
    kind: "warning",
    code: "log.unknown_event",
    message: "events that are not Spark's own, left out: Custom",
    count: 2,
  }]);
});

Deno.test("readEventLog() uses what a cut-off compressed log has", async () => {
  for (
    const name of [
      "spark_4_1_rolling",
      "codec_lz4",
      "codec_lzf",
      "codec_snappy",
      "cache_evictions",
    ]
  ) {
    const { open } = runParts(name).find(({ name }) => !/appstatus|events_2/.test(name))!;
    const bytes = new Uint8Array(await new Response(open()).arrayBuffer());
    const report = await readEventLog(
      stream(bytes.subarray(0, Math.floor(bytes.length * 0.8))),
      keepEvents(),
    );
    const codes = report.warnings.map(({ code }) => code);
    assertEquals(codes.includes("log.truncated"), true, `${name}: ${codes}`);
    assertEquals(report.events.SparkListenerTaskEnd > 20, true, name);
  }
});

Deno.test("readEventLog() reads a damaged compressed log up to the damage", async () => {
  for (const name of ["codec_lz4", "codec_lzf", "codec_snappy"]) {
    const [{ open }] = runParts(name);
    const bytes = new Uint8Array(await new Response(open()).arrayBuffer());
    // Snappy and LZF blocks have no checksum: their lengths are damaged, lz4's is found anywhere.
    const at = Math.floor(bytes.length * 0.7);
    bytes.fill(0xff, at, at + 400);
    const report = await readEventLog(stream(bytes), keepEvents());
    assertEquals(
      report.warnings.some(({ code }) => code === "log.corrupt"),
      true,
      name,
    );
    assertEquals(report.events.SparkListenerTaskEnd > 10, true, name);
  }
});

Deno.test("readEventLog() refuses what is no event log", async () => {
  for (const input of ["", "hello\nworld\n", "\u0000\u0001\u0002", "{}"]) {
    const error = await assertRejects(
      () => readEventLog(stream(input), keepEvents()),
      InputError,
    );
    assertEquals(error.code, "event_log.no_events");
  }
});

Deno.test("readEventLog() refuses several applications in one, and several attempts in one stream", async () => {
  const several = await assertRejects(
    () =>
      readEventLog(
        stream(LOG_START, appStart("app-1"), appStart("app-2")),
        keepEvents(),
      ),
    InputError,
  );
  assertEquals(several.code, "event_log.several_applications");
  const attempts = await assertRejects(
    () =>
      readEventLog(
        stream(appStart("app-1", "1"), appStart("app-1", "2")),
        keepEvents(),
      ),
    InputError,
  );
  assertEquals(attempts.code, "event_log.several_attempts");
});

Deno.test("readEventLog() reads the last of several attempts that come as files", async () => {
  const sink = keepEvents();
  const report = await readEventLog([
    part(
      "application_1_2",
      LOG_START + appStart("application_1", "2", 3000) + UNPERSIST + APP_END,
    ),
    part(
      "application_1_1",
      LOG_START + appStart("application_1", "1", 1000) + APP_END,
    ),
  ], sink);
  assertEquals(report.parts.map(({ name }) => name), ["application_1_2"]);
  assertEquals(report.warnings.map(({ code }) => code), [
    "log.several_attempts",
  ]);
});

Deno.test("readEventLog() stops at each limit with its code", async () => {
  const taskEnd = runParts("cache_evictions");
  const cases = [
    [{ bytes: 1000 }, "limit.bytes"],
    [{ decompressedBytes: 1000 }, "limit.decompressed_bytes"],
    [{ lineBytes: 1000 }, "limit.line_bytes"],
    [{ tasks: 10 }, "limit.tasks"],
  ] as const;
  for (const [limits, code] of cases) {
    const error = await assertRejects(
      () => readEventLog(taskEnd, keepEvents(), { limits }),
      LimitError,
    );
    assertEquals(error.code, code);
  }
});

Deno.test("readEventLog() ends with the signal's reason, and reports progress", async () => {
  const abort = new AbortController();
  const progress: number[] = [];
  await assertRejects(
    () =>
      readEventLog(
        stream(LOG_START, UNPERSIST, UNPERSIST, UNPERSIST),
        keepEvents(),
        {
          signal: abort.signal,
          onProgress: ({ lines }) => {
            progress.push(lines);
            if (lines === 2) abort.abort(new Error("enough"));
          },
        },
      ),
    Error,
    "enough",
  );
  assertEquals(progress, [1, 2]);
});

Deno.test("readEventLog() releases its input when it fails", async () => {
  let cancelled = false;
  const source = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(encoder.encode(LOG_START)),
    cancel: () => void (cancelled = true),
  });
  await assertRejects(
    () => readEventLog(source, keepEvents(), { limits: { bytes: 1000 } }),
    LimitError,
  );
  assertEquals(cancelled, true);
});

Deno.test("readEventLog() opens a file that comes alone only once, as a pipe wants it", async () => {
  let opened = 0;
  const log = part("log", LOG_START + UNPERSIST);
  const report = await readEventLog([{
    name: "log",
    open() {
      opened++;
      return log.open();
    },
  }], keepEvents());
  assertEquals([opened, report.lines], [1, 2]);
});

Deno.test("readEventLog() reads from a source that uses its memory again for each piece", async () => {
  for (const run of ["cache_evictions", "codec_lz4", "codec_snappy", "codec_lzf", "codec_zstd"]) {
    const [{ open }] = runParts(run);
    const bytes = new Uint8Array(await new Response(open()).arrayBuffer());
    for (const size of [100, 40_000]) {
      const buffer = new Uint8Array(size);
      let at = 0;
      const source = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (at >= bytes.length) return controller.close();
          const piece = bytes.subarray(at, at + size);
          buffer.fill(0);
          buffer.set(piece);
          at += size;
          controller.enqueue(buffer.subarray(0, piece.length));
        },
      }, { highWaterMark: 0 });
      const report = await readEventLog(source, keepEvents());
      assertEquals(report.events, expectedRun(run).events, `${run} in pieces of ${size}`);
    }
  }
});

/** A log as Spark 1.6 writes it: optional parts of the metrics, other names, updated blocks in every task. */
const SPARK_1_6 = [
  { Event: "SparkListenerLogStart", "Spark Version": "1.6.3" },
  {
    Event: "SparkListenerBlockManagerAdded",
    "Block Manager ID": { "Executor ID": "driver", Host: "localhost", Port: 1 },
    "Maximum Memory": 536870912,
    Timestamp: 1000,
  },
  { Event: "SparkListenerEnvironmentUpdate", "Spark Properties": { "spark.master": "local[2]" } },
  { Event: "SparkListenerApplicationStart", "App Name": "old", "App ID": "local-1", Timestamp: 1000, User: "u" },
  {
    Event: "SparkListenerJobStart",
    "Job ID": 0,
    "Submission Time": 1100,
    "Stage Infos": [],
    "Stage IDs": [0],
  },
  {
    Event: "SparkListenerTaskStart",
    "Stage ID": 0,
    "Stage Attempt ID": 0,
    "Task Info": {
      "Task ID": 0,
      Index: 0,
      Attempt: 0,
      "Launch Time": 1200,
      "Executor ID": "driver",
      Host: "localhost",
    },
  },
  {
    Event: "SparkListenerTaskEnd",
    "Stage ID": 0,
    "Stage Attempt ID": 0,
    "Task Type": "ResultTask",
    "Task End Reason": { Reason: "Success" },
    "Task Info": {
      "Task ID": 0,
      Index: 0,
      Attempt: 0,
      "Launch Time": 1200,
      "Executor ID": "driver",
      Host: "localhost",
      Locality: "PROCESS_LOCAL",
      Speculative: false,
      "Getting Result Time": 0,
      "Finish Time": 1300,
      Failed: false,
      Accumulables: [{ ID: 1, Name: "peakExecutionMemory", Update: "4194304", Value: "4194304", Internal: true }],
    },
    "Task Metrics": {
      "Host Name": "localhost",
      "Executor Run Time": 90,
      "Result Size": 900,
      "Memory Bytes Spilled": 0,
      "Disk Bytes Spilled": 0,
      "Input Metrics": { "Data Read Method": "Memory", "Bytes Read": 64, "Records Read": 2 },
      "Updated Blocks": [{
        "Block ID": "rdd_1_0",
        Status: {
          "Storage Level": {
            "Use Disk": false,
            "Use Memory": true,
            "Use ExternalBlockStore": false,
            Deserialized: true,
            Replication: 1,
          },
          "Memory Size": 64,
          "ExternalBlockStore Size": 0,
          "Disk Size": 0,
        },
      }],
    },
  },
  { Event: "SparkListenerJobEnd", "Job ID": 0, "Completion Time": 1400, "Job Result": { Result: "JobSucceeded" } },
  { Event: "SparkListenerApplicationEnd", Timestamp: 1500 },
].map((event) => JSON.stringify(event) + "\n").join("");

Deno.test("readEventLog() reads what Spark 1.6 wrote", async () => {
  const sink = keepEvents();
  const report = await readEventLog([part("local-1", SPARK_1_6)], sink);
  assertEquals(report.warnings, []);
  const end = sink.events.find(({ kind }) => kind === "taskEnd") as Extract<SparkEvent, { kind: "taskEnd" }>;
  assertEquals(end.metrics?.peakExecutionMemory, 4194304);
  assertEquals(end.metrics?.inputBytes, 64);
  assertEquals(end.metrics?.updatedBlocks?.map(({ blockId }) => blockId), ["rdd_1_0"]);
});

Deno.test("a folder of Spark 1.2 and before says its version in a file's name", async () => {
  const sink = keepEvents();
  const empty = ["SPARK_VERSION_1.2.0", "APPLICATION_COMPLETE"].map((name) => part(`app-1/${name}`, ""));
  await readEventLog([...empty, part("app-1/EVENT_LOG_1", appStart("app-1"))], sink);
  assertEquals(sink.events[0], { kind: "logStart", sparkVersion: "1.2.0" });
  assertEquals(sink.events[1].kind, "applicationStart");
});
