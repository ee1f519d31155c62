import { assertEquals, assertRejects } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { orderParts } from "../../src/event_log/parts.ts";
import { part } from "../support/runs.ts";

const names = (ordered: { parts: readonly { name: string }[] }) => ordered.parts.map(({ name }) => name);
const start = (time: number, id = "app-1", attempt?: string) =>
  `{"Event":"SparkListenerApplicationStart","App Name":"t","App ID":"${id}","Timestamp":${time},"User":"u"${
    attempt === undefined ? "" : `,"App Attempt ID":"${attempt}"`
  }}\n`;

Deno.test("orderParts() puts rolled files in the order of their numbers, not of their names", async () => {
  const ordered = await orderParts(
    [10, 2, 1, 9, 3, 8, 7, 6, 5, 4].map((i) => part(`d/events_${i}_app-1.zstd`, "")),
  );
  assertEquals(
    names(ordered),
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((i) => `d/events_${i}_app-1.zstd`),
  );
  assertEquals(ordered.warnings, []);
});

Deno.test("orderParts() begins with the last compacted file, which stands for its own number and all before", async () => {
  const ordered = await orderParts([
    part("events_1_app-1", ""),
    part("events_2_app-1.compact", ""),
    part("events_2_app-1", ""),
    part("events_4_app-1.zstd.compact", ""),
    part("events_4_app-1.zstd", ""),
    part("events_5_app-1.zstd", ""),
  ]);
  assertEquals(names(ordered), [
    "events_4_app-1.zstd.compact",
    "events_5_app-1.zstd",
  ]);
  assertEquals(ordered.warnings.map(({ code }) => code), ["log.compacted"]);
});

Deno.test("orderParts() says which rolled files are missing", async () => {
  const ordered = await orderParts([
    part("events_2_app-1", ""),
    part("events_5_app-1", ""),
  ]);
  assertEquals(ordered.warnings.map(({ code, count }) => [code, count]), [[
    "log.missing_parts",
    3,
  ]]);
});

Deno.test("orderParts() leaves status files, checksums and hidden files out", async () => {
  const ordered = await orderParts([
    part("appstatus_app-1", ""),
    part(".events_1_app-1.crc", ""),
    part("events_1_app-1", ""),
    part("._events_1_app-1", ""),
    part("_SUCCESS", ""),
  ]);
  assertEquals(names(ordered), ["events_1_app-1"]);
  assertEquals(ordered.inProgress, false);
});

Deno.test("orderParts() knows the marker files of Spark 1.0 to 1.2", async () => {
  const ordered = await orderParts([
    part("EVENT_LOG_1", ""),
    part("SPARK_VERSION_1.2.1", ""),
    part("COMPRESSION_CODEC_org.apache.spark.io.SnappyCompressionCodec", ""),
    part("APPLICATION_COMPLETE", ""),
  ]);
  assertEquals(names(ordered), ["EVENT_LOG_1"]);
  assertEquals(ordered.sparkVersion, "1.2.1");
});

Deno.test("orderParts() orders files of other names by the time of their first event", async () => {
  const ordered = await orderParts([
    part(
      "eventlog",
      '{"Event":"SparkListenerJobStart","Job ID":1,"Submission Time":3000,"Stage IDs":[]}\n',
    ),
    part(
      "eventlog-2021-06-14--21-00",
      '{"Event":"SparkListenerUnpersistRDD","RDD ID":1}\n{"Event":"SparkListenerJobEnd","Completion Time":2000}\n',
    ),
    part("eventlog-2021-06-14--20-00", start(1000)),
  ]);
  assertEquals(names(ordered), [
    "eventlog-2021-06-14--20-00",
    "eventlog-2021-06-14--21-00",
    "eventlog",
  ]);
});

Deno.test("orderParts() reads the last attempt, by its number, with what follows it", async () => {
  const ordered = await orderParts([
    part("a_10", start(5000, "app-1", "10")),
    part("a_9", start(4000, "app-1", "9")),
    part(
      "more",
      '{"Event":"SparkListenerJobEnd","Job ID":0,"Completion Time":6000}\n',
    ),
    part(
      "before",
      '{"Event":"SparkListenerJobEnd","Job ID":0,"Completion Time":4500}\n',
    ),
  ]);
  assertEquals(names(ordered), ["a_10", "more"]);
  assertEquals(ordered.warnings.map(({ code, count }) => [code, count]), [[
    "log.several_attempts",
    1,
  ]]);
});

Deno.test("orderParts() reads a log once that was given twice", async () => {
  const ordered = await orderParts([
    part("app-1", start(1000)),
    part("copy of app-1", start(1000)),
  ]);
  assertEquals(ordered.parts.length, 1);
  assertEquals(ordered.warnings.map(({ code }) => code), [
    "log.duplicate_part",
  ]);
});

Deno.test("orderParts() refuses the logs of two applications", async () => {
  const error = await assertRejects(
    () =>
      orderParts([
        part("app-1", start(1000)),
        part("app-2", start(1000, "app-2")),
      ]),
    InputError,
  );
  assertEquals(error.code, "event_log.several_applications");
  assertEquals(error.parameters.applications, ["app-1", "app-2"]);
});

Deno.test("orderParts() refuses to read nothing", async () => {
  const error = await assertRejects(
    () => orderParts([part("appstatus_app-1", "")]),
    InputError,
  );
  assertEquals(error.code, "event_log.empty");
});

Deno.test("orderParts() sees from the name that Spark had not closed the log", async () => {
  assertEquals(
    (await orderParts([part("app-1.zstd.inprogress", "")])).inProgress,
    true,
  );
  assertEquals((await orderParts([part("app-1.zstd", "")])).inProgress, false);
});
