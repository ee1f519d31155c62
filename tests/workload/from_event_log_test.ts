import { assert, assertEquals } from "@std/assert";
import { WorkloadBuilder } from "../../src/workload/from_event_log.ts";
import { jobSpecFromWorkload, parseJobSpec, workloadFromJobSpec } from "../../src/workload/job_spec.ts";
import { workloadFromEventLog } from "../../src/workload/workload_from_event_log.ts";
import type { Workload } from "../../src/simulator/workload.ts";
import { REFERENCE_SPARK_VERSION } from "../../src/spark/spark_version.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import { textReport } from "../../src/report/text.ts";
import { simulate } from "../../src/simulator/simulate.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import { cachedRdd, demandOf, jobOf, MIB, workloadOf } from "../support/workloads.ts";
import { readEventLog } from "../../src/event_log/read.ts";
import { logText, workloadOfLog } from "../support/event_logs.ts";

Deno.test("a log without jobs gives a workload without demands", () => {
  const builder = new WorkloadBuilder();
  builder.event({ kind: "applicationStart", appName: "idle", appId: null, time: 5, user: "", appAttemptId: null });
  const workload = builder.workload();
  assertEquals([workload.name, workload.jobs, workload.demands], ["idle", [], []]);
});

/** The lines of a log of one RDD job a line, each with these job ids. */
async function damaged(change: (lines: string[]) => string[]): Promise<Workload> {
  const lines = change((await logText("task_failures")).trimEnd().split("\n"));
  return await workloadFromEventLog(new Blob([lines.join("\n")]).stream());
}

/** What is made of a log is a job spec, as the page and POST /v1/event-logs give it. */
function sentBack(workload: Workload): Workload {
  return workloadFromJobSpec(parseJobSpec(JSON.parse(JSON.stringify(jobSpecFromWorkload(workload)))).spec);
}

// DAGScheduler.submitJob posts JobStart with no stages and JobEnd of an RDD without partitions.
Deno.test("jobs after one without stages follow those before it", async () => {
  const job = (id: number, time: number) => [
    JSON.stringify({
      "Event": "SparkListenerJobStart",
      "Job ID": id,
      "Submission Time": time,
      "Stage Infos": [],
      "Stage IDs": [],
    }),
    JSON.stringify({
      "Event": "SparkListenerJobEnd",
      "Job ID": id,
      "Completion Time": time,
      "Job Result": { "Result": "JobSucceeded" },
    }),
  ];
  const whole = await damaged((lines) => lines);
  const workload = await damaged((lines) => {
    const at = lines.findLastIndex((line) => line.includes("SparkListenerJobStart"));
    return [...lines.slice(0, at), ...job(1000, JSON.parse(lines[at])["Submission Time"]), ...lines.slice(at)];
  });
  assertEquals(workload.jobs, whole.jobs);
  assertEquals(sentBack(workload).jobs, whole.jobs);
});

Deno.test("a job that a log tells twice is one job", async () => {
  const workload = await damaged((lines) => [...lines, ...lines]);
  assertEquals(workload.jobs.map(({ id }) => id), (await damaged((lines) => lines)).jobs.map(({ id }) => id));
  assertEquals(sentBack(workload).jobs, workload.jobs);
});

Deno.test("the workload of a log that lacks its beginning, or its end, is a job spec", async () => {
  const headless = await damaged((lines) => lines.slice(2));
  assertEquals([headless.sparkVersion, sentBack(headless).sparkVersion], ["", REFERENCE_SPARK_VERSION]);
  // Tasks without an end get the median of the others, in whole bytes.
  const cut = await damaged((lines) => lines.slice(0, lines.length - 14));
  for (const { resultBytes, computeMs } of cut.demands) {
    assertEquals([...resultBytes, ...computeMs].every(Number.isInteger), true);
  }
  assertEquals(sentBack(cut).demands.length, cut.demands.length);
});

Deno.test("take computes the partitions that its tasks had", async () => {
  const { jobs } = await workloadOfLog("take_first");
  assertEquals(jobs.slice(0, 6).map(({ partitions }) => partitions), [
    [0],
    [0],
    [1],
    [0],
    [1, 2, 3, 4],
    [5, 6, 7, 8, 9],
  ]);
  assertEquals(jobs.slice(6).every(({ partitions }) => partitions === null), true);
});

Deno.test("what a cached RDD costs to compute is not its stage's demand", async () => {
  const { rdds, demands } = await workloadOfLog("take_first");
  const cached = rdds.find(({ storageLevel }) => storageLevel !== null)!;
  // The job's data: 20 partitions of 20,971 records each (4 MiB / 200).
  assertEquals(cached.elements, new Float64Array(20).fill(20971));
  // Partition 0: 212 ms in the task that computed it, of which tasks that find blocks take some.
  assert(cached.computeMs![0] > 100 && cached.computeMs![0] < 212);
  // The last stage, a count of found blocks, took 1 to 20 ms a task.
  assert(demands.at(-1)!.computeMs.every((ms) => ms <= 20));
  assertEquals(demands.at(-1)!.inputBytes, new Float64Array(20));
});

Deno.test("serialized sizes come from blocks that tasks fetched from other executors", async () => {
  const { rdds } = await workloadOfLog("take_first");
  const cached = rdds.find(({ storageLevel }) => storageLevel !== null)!;
  // Tasks 21 and 22 read partitions 7 and 9 remotely: 1,526,737 and 1,526,716 bytes (their TaskEnd).
  assertEquals([cached.serializedBytes![7], cached.serializedBytes![9]], [1526737, 1526716]);
  assertEquals(cached.deserializedBytes![7], 2912928);
});

Deno.test("an unpersisted RDD is known with the job before which it went", async () => {
  const { rdds } = await workloadOfLog("unpersist");
  assertEquals(
    rdds.filter(({ storageLevel }) => storageLevel !== null).map((rdd) => [rdd.id, rdd.unpersistBeforeJob]),
    [[1, 3], [3, null], [5, null]],
  );
});

Deno.test("jobs of streaming queries and of Spark Streaming are jobs like others", async () => {
  const log = await logText("streaming");
  const observed = new Summarizer({ source: "observed" });
  await readEventLog(new Blob([log]).stream(), observed);
  const { jobs, results } = observed.summary();
  // By the log: 15 jobs, 61 tasks. The first batch is query 2, the first of Spark Streaming came at 03:53:50.
  assertEquals([jobs.length, results.direct], [15, 61]);
  assertEquals(jobs[0].description?.split("\n")[0], "query 2 (WriteToDataSourceV2): t");
  assertEquals(jobs[8].description, "Streaming job from [output operation 0, batch time 03:53:50]");
  const workload = await workloadOfLog("streaming");
  assertEquals(workload.jobs.length, 15);
  const simulated = new Summarizer({ source: "simulated" });
  simulate(workload, { conf: SparkConf.from(workload.conf, workload.sparkVersion), sink: simulated });
  const { outcome, results: replayed } = simulated.summary();
  assertEquals([outcome.status, replayed.direct], ["succeeded", 61]);
});

Deno.test("broadcasts are known with the job before which they left the executors", async () => {
  const { broadcasts } = await workloadOfLog("broadcasts");
  // The program unpersists broadcast 0 before job 2 and destroys broadcast 1 before job 3.
  assertEquals(
    broadcasts.filter(({ pieceBytes }) => pieceBytes > 1e6).map(({ id, removeBeforeJob }) => [id, removeBeforeJob]),
    [[0, 2], [1, 3]],
  );
});

Deno.test("what a program does between jobs comes back from the log of its simulated run: persist, unpersist, destroy", () => {
  const rdds = [
    { ...cachedRdd(1, 4, MIB), persistBeforeJob: 1 },
    { ...cachedRdd(2, 4, MIB), unpersistBeforeJob: 3 },
  ];
  const broadcasts = [{ id: 100, pieceBytes: MIB, valueBytes: MIB, removeBeforeJob: 2 }];
  const given = workloadOf({
    rdds,
    broadcasts,
    demands: [{ ...demandOf(4), broadcastIds: [100] }, demandOf(4)],
    jobs: [jobOf(0, 1, 0), jobOf(1, 1, 1), jobOf(2, 2, 1), jobOf(3, 2, 1)],
  });
  const builder = new WorkloadBuilder();
  simulate(given, { conf: SparkConf.from(given.conf, given.sparkVersion), sink: builder });
  const found = builder.workload();
  assertEquals(
    found.rdds.map(({ id, persistBeforeJob, unpersistBeforeJob }) => [id, persistBeforeJob, unpersistBeforeJob]),
    [
      [1, 1, null],
      [2, undefined, 3],
    ],
  );
  assertEquals(found.broadcasts.find(({ id }) => id === 100)?.removeBeforeJob, 2);
});

Deno.test("collections of RDD jobs come back from the log of a simulated run, by the operations that made their RDDs", () => {
  const collection = (kind: "ExternalAppendOnlyMap" | "ExternalSorter") => ({ kind, bytes: 8e6, records: 10_000 });
  const stage = (id: string, parents: string[], ...kinds: ("ExternalAppendOnlyMap" | "ExternalSorter")[]) => ({
    id,
    parents,
    tasks: 4,
    computeMs: 500,
    shuffleWriteBytes: 1e6,
    shuffleWriteRecords: 10_000,
    memory: kinds.map(collection),
  });
  const workload = workloadFromJobSpec({
    stages: [
      stage("a", []),
      stage("grouped", ["a"], "ExternalAppendOnlyMap"),
      stage("combining", [], "ExternalSorter"),
      stage("reduced", ["combining"], "ExternalAppendOnlyMap"),
      stage("cogrouped", ["grouped", "reduced"], "ExternalAppendOnlyMap"),
      stage("sorted", ["cogrouped"], "ExternalSorter"),
    ],
  });
  const builder = new WorkloadBuilder();
  simulate(workload, { conf: SparkConf.from(workload.conf, workload.sparkVersion), sink: builder });
  const found = builder.workload().demands.flatMap(({ consumers }) => consumers);
  assertEquals(
    found.map(({ kind, name, bytes }) => [kind, name.replace(/ \(rdd \d+\)/, ""), bytes[0] > 7e6 && bytes[0] < 17e6])
      .sort(),
    [
      ["ExternalAppendOnlyMap", "cogroup", true],
      ["ExternalAppendOnlyMap", "groupByKey", true],
      ["ExternalAppendOnlyMap", "reduceByKey", true],
      ["ExternalSorter", "map side of reduceByKey", true],
      ["ExternalSorter", "sortByKey", true],
    ],
  );
});

Deno.test("adaptive execution's map stages are jobs that write the shuffles which later jobs read", async () => {
  const { jobs, shuffles, rdds } = await workloadOfLog("sql_join");
  assertEquals(jobs.map(({ kind }) => kind), [
    "mapStage",
    "mapStage",
    "mapStage",
    "result",
    "mapStage",
    "mapStage",
    "mapStage",
    "result",
  ]);
  assertEquals(jobs.map(({ afterJobs }) => afterJobs), [[], [], [0, 1], [2], [3], [3], [4, 5], [6]]);
  // Exchanges of 8 partitions, read by 7 tasks, and the final single one.
  assertEquals(shuffles.map(({ numReducers }) => numReducers), [8, 8, 1, 8, 8, 1]);
  assertEquals(
    rdds.filter(({ name }) => name === "ShuffledRowRDD").map(({ numPartitions }) => numPartitions),
    [7, 7, 1, 7, 7, 1],
  );
});

Deno.test("jobs of a SQL execution are called by it: its number, the operator that gives its result, what Spark says of it", async () => {
  const { jobs } = await workloadOfLog("sql_join");
  // The execution ends in an aggregation of one row, at the line of the program that collects it.
  assertEquals(jobs[3].description, "query 0 (SortAggregate): collect at Jobs.scala:96");
  assertEquals(jobs[4].description, "query 1 (SortAggregate): collect at Jobs.scala:98");
  const summarizer = new Summarizer({ source: "observed" });
  await readEventLog(new Blob([await logText("sql_join")]).stream(), summarizer);
  const summary = summarizer.summary();
  assertEquals(
    summary.jobs.map(({ description }) => description),
    jobs.map(({ description }) => description ?? undefined),
  );
  assert(textReport(summary, []).includes("  3 query 0 (SortAggregate): collect at Jobs.scala:96 "));
});

Deno.test("exceptions of tasks are faults with as many attempts as failed", async () => {
  const { faults, demands } = await workloadOfLog("task_failures");
  assertEquals(
    faults.map((fault) => fault.kind === "taskException" ? [fault.partition, fault.attempts] : null),
    [[1, 2], [4, 2], [7, 2]],
  );
  assertEquals(faults.every((fault) => fault.kind === "taskException" && fault.demand === 0), true);
  assertEquals(demands[0].name, "mapPartitionsWithIndex at Jobs.scala:167");
});

Deno.test("a slow original's time is longer than its copy's", async () => {
  const [demand] = (await workloadOfLog("speculation")).demands;
  assert(demand.computeMs[2] > 4 * demand.speculativeComputeMs![2]);
});

Deno.test("large tasks are guessed at from the driver's pace", async () => {
  const [demand] = (await workloadOfLog("big_task")).demands;
  // Spark 3.5.9 counts 2,106,548 bytes for task 0.0 (its message under rpc.message.maxSize=1).
  const bytes = demand.serializedTaskBytes![0];
  assert(bytes > 1024 * 1024 && bytes < 4 * 1024 * 1024, String(bytes));
});

Deno.test("stages read the broadcasts that were fetched while their tasks ran", async () => {
  const { demands, broadcasts } = await workloadOfLog("broadcasts");
  assertEquals(demands.map(({ broadcastIds }) => broadcastIds), [[0, 1, 2], [3], [4], [5]]);
  // 24 MiB of random bytes in pieces of 4 MiB and what the stream adds.
  assertEquals(broadcasts[0].pieceBytes, 6 * 4194304 + 16197);
});

Deno.test("evidence says for every cached RDD where its sizes come from", async () => {
  const { evidence } = await workloadOfLog("unpersist");
  assertEquals(
    evidence.filter(({ field }) => field === "deserializedBytes").map(({ grade }) => grade),
    ["observed", "observed", "observed"],
  );
});

Deno.test("barrier stages of a log run as ordinary ones, with a counted warning", async () => {
  // The log of a run in which RDDInfo says so, as RDD.barrier() makes it.
  const text = (await logText("task_failures")).replaceAll('"Barrier":false', '"Barrier":true');
  const builder = new WorkloadBuilder();
  await readEventLog(new Blob([text]).stream(), builder);
  const told = builder.workload().warnings.filter(({ code }) => code === "workload.barrier");
  // Its two stages.
  assertEquals(told.map(({ count }) => count), [2]);
});

Deno.test("a log of FAIR scheduling says nothing of the pools' weights: that is a warning", () => {
  const codes = (mode: string) => {
    const builder = new WorkloadBuilder();
    const sparkProperties = { "spark.scheduler.mode": mode };
    builder.event({ kind: "environmentUpdate", sparkProperties, jvmInformation: {}, systemProperties: {} });
    return builder.workload().warnings.map(({ code }) => code);
  };
  assertEquals([codes("FIFO"), codes("fair")], [[], ["workload.pools"]]);
});
