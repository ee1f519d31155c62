import { assertEquals, assertThrows } from "@std/assert";
import { MalformedEvent } from "../../src/event_log/json_fields.ts";
import { stageInfoOf } from "../../src/event_log/stage_json.ts";

const LEVEL = { "Use Disk": false, "Use Memory": true, Deserialized: true, Replication: 1 };
const rdd = (scope?: string) => ({
  "RDD ID": 7,
  Name: "ShuffledRDD",
  ...scope === undefined ? {} : { Scope: scope },
  "Parent IDs": [6],
  "Storage Level": LEVEL,
  "Number of Partitions": 4,
});
const stage = (...rdds: unknown[]) => ({ "Stage ID": 3, "Number of Tasks": 4, "RDD Info": rdds });

Deno.test("an RDD's scope is the name in Spark's JSON in a text, however it is written", () => {
  const scopes = [
    '{"id":"12","name":"groupByKey"}',
    '{"name":"a \\"b\\"","id":"1"}',
    "no JSON",
    '{"id":"1"}',
    undefined,
  ];
  assertEquals(
    scopes.map((scope) => stageInfoOf(stage(rdd(scope))).rddInfos[0].scope),
    ["groupByKey", 'a "b"', null, null, null],
  );
});

Deno.test("RDDs of the same list are described once", () => {
  const json = stage(rdd());
  const [first, again] = [stageInfoOf(json), stageInfoOf(json)];
  assertEquals(first.rddInfos === again.rddInfos, true);
  assertEquals(first.rddInfos[0].storageLevel.useMemory, true);
});

Deno.test("a stage without what every Spark writes is malformed", () => {
  for (
    const json of [
      { "Number of Tasks": 1 },
      { "Stage ID": 1 },
      { ...stage(), "RDD Info": [1] },
      stage({ ...rdd(), "RDD ID": "7" }),
    ]
  ) {
    assertThrows(() => stageInfoOf(json), MalformedEvent);
  }
});
