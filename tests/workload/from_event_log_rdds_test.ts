import { assertEquals } from "@std/assert";
import { simulate } from "../../src/simulator/simulate.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import { WorkloadBuilder } from "../../src/workload/from_event_log.ts";
import { workloadFromJobSpec } from "../../src/workload/job_spec.ts";
import { LogFindings } from "../../src/workload/from_event_log_findings.ts";
import { rddsOf } from "../../src/workload/from_event_log_rdds.ts";
import { collectedLog } from "../support/event_logs.ts";

Deno.test("only cached RDDs have sizes and costs", async () => {
  const rdds = rddsOf(new LogFindings(await collectedLog("unpersist")));
  assertEquals(rdds.map(({ id }) => id), [0, 1, 2, 3, 4, 5]);
  for (const rdd of rdds) {
    const cached = rdd.storageLevel !== null;
    assertEquals([rdd.deserializedBytes !== null, rdd.computeMs !== null], [cached, cached]);
  }
});

Deno.test("elements of blocks that no task found are as large as in RDDs made at the same place", async () => {
  const [first, , last] = rddsOf(new LogFindings(await collectedLog("unpersist")))
    .filter(({ storageLevel }) => storageLevel !== null);
  assertEquals([first.elements, last.elements], [new Float64Array(8).fill(320), new Float64Array(8).fill(320)]);
});

Deno.test("a cached RDD that was computed from a shuffle reads it again when a partition is missing", () => {
  // What the model computes from a spec is read back from its own log.
  const spec = workloadFromJobSpec({
    cluster: { executors: 1, cores: 2 },
    cached: [{ name: "grouped", partitions: 2, bytes: "1m", computeMs: 700 }],
    stages: [
      { id: "load", tasks: 4, shuffleWriteBytes: 1_000_000, shuffleWriteRecords: 100 },
      { id: "use", parents: ["load"], caches: ["grouped"], computeMs: 50 },
      { id: "again", reads: ["grouped"], computeMs: 50 },
    ],
    jobs: [{ stage: "use" }, { stage: "again" }],
  });
  const original = spec.rdds.find(({ name }) => name === "grouped")!;
  const builder = new WorkloadBuilder();
  const conf = SparkConf.from({ "spark.eventLog.logBlockUpdates.enabled": "true" }, "3.5.9");
  builder.event({ kind: "logStart", sparkVersion: "3.5.9" });
  simulate(spec, { conf, sink: builder });
  const found = builder.workload().rdds.find(({ name }) => name === "grouped")!;
  assertEquals(found.numPartitions, 2);
  // 4 x 1,000,000 bytes and 400 records for two reducers
  assertEquals([found.shuffleReadBytes, original.shuffleReadBytes], [
    Float64Array.of(2_000_000, 2_000_000),
    Float64Array.of(2_000_000, 2_000_000),
  ]);
  assertEquals(found.shuffleReadRecords, original.shuffleReadRecords);
});
