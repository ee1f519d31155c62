import { assertEquals } from "@std/assert";
import { SparkConf } from "../../src/spark/conf.ts";
import { changedPartitions } from "../../src/what_if/changed_partitions.ts";
import { workloadOfLog } from "../support/event_logs.ts";
import { column, demandOf, jobOf, rddOf, workloadOf } from "../support/workloads.ts";

const recorded = SparkConf.from({ "spark.sql.shuffle.partitions": "8" }, "3.5.9");

async function under(conf: Record<string, string>) {
  const workload = await workloadOfLog("sql_join");
  const { cluster } = workload;
  return changedPartitions(workload, { before: recorded, conf: recorded.with(conf), cluster, warnings: [] });
}

const sum = (column: Iterable<number>) => [...column].reduce((a, b) => a + b, 0);

Deno.test("without adaptive execution nothing is coalesced and a query is one job", async () => {
  // b6-sqljoin-noaqe of the recorded runs: two jobs; 4 + 4 + 8 + 1 tasks each.
  const { jobs, rdds } = await under({ "spark.sql.adaptive.enabled": "false" });
  assertEquals(jobs.map(({ id, kind, afterJobs }) => [id, kind, afterJobs]), [[3, "result", []], [7, "result", [3]]]);
  assertEquals(rdds.filter(({ name }) => name === "ShuffledRowRDD").map((rdd) => rdd.numPartitions), [
    8,
    8,
    1,
    8,
    8,
    1,
  ]);
});

Deno.test("without adaptive execution each range of a sort is read by a task, as many as there were keys", async () => {
  const workload = await workloadOfLog("broadcast_joins");
  const conf = recorded.with({ "spark.sql.adaptive.enabled": "false" });
  const { jobs, demands } = changedPartitions(workload, {
    before: recorded,
    conf,
    cluster: workload.cluster,
    warnings: [],
  });
  // Run x3-tpch-noaqe of Spark 3.5.9: five names were sorted by eight ranges, which are five.
  const sorted = jobs.filter(({ demand }) => demands[demand].consumers.some(({ name }) => /^Sort .* true/.test(name)));
  assertEquals(sorted.map(({ demand }) => demands[demand].computeMs.length), [5]);
});

Deno.test("a stage's work is kept when its tasks are merged or split", async () => {
  const before = await workloadOfLog("sql_join");
  for (const partitions of ["3", "20"]) {
    const after = await under({ "spark.sql.shuffle.partitions": partitions });
    const stage = (w: typeof before) => w.demands[w.shuffles[2].demand];
    assertEquals(sum(stage(after).shuffleReadBytes), sum(stage(before).shuffleReadBytes));
  }
});

const readers = async (conf: Record<string, string>) =>
  (await under(conf)).rdds.filter(({ name }) => name === "ShuffledRowRDD").map(({ numPartitions }) => numPartitions);

Deno.test("adaptive execution merges small partitions as long as every core has a task", async () => {
  // Four cores: the target is a fourth of the bytes, tasks fall short of it by chance, and what is left makes a fifth task
  // or, below 1 MiB, joins the fourth. Spark 3.5.9 read 16.5, 16.8, 16.8 and 17.1 MB in 4 tasks of the same join's 200
  // partitions, and 20.1, 19.3, 17.8, 17.9 and 4.7 MB in 5 tasks of a sort's 32.
  assertEquals(await readers({ "spark.sql.shuffle.partitions": "200" }), [4, 4, 1, 4, 4, 1]);
  assertEquals(await readers({ "spark.sql.shuffle.partitions": "3" }), [3, 3, 1, 3, 3, 1]);
  // Not below 1 MiB, as the driver knows the sizes: each block to the next power of 1.1 (MapStatus). Two partitions of
  // 334 kB are less, so a task reads three: Spark 3.5.9 ran this join in 63 tasks.
  const most = "spark.sql.adaptive.coalescePartitions.minPartitionNum";
  const [tasks, ...others] = await readers({ "spark.sql.shuffle.partitions": "200", [most]: "200" });
  assertEquals(tasks >= 61 && tasks <= 67, true, `${tasks} tasks`);
  assertEquals(others, [tasks, 1, tasks, tasks, 1]);
});

Deno.test("both sides of a join are merged alike, and what is merged is read by one task", async () => {
  const { rdds, demands, shuffles } = await under({ "spark.sql.shuffle.partitions": "32" });
  const [left, right] = rdds.filter(({ name }) => name === "ShuffledRowRDD");
  assertEquals(left.numPartitions, right.numPartitions);
  const { shuffleReadBytes } = demands[shuffles[2].demand];
  assertEquals(shuffleReadBytes.length, left.numPartitions);
  // 66.8 MB in 32 partitions of 2.09 MB: eight make the target, and chance decides whether they still fit.
  const [first] = [...shuffleReadBytes].map((bytes) => Math.round(bytes / (66_792_409 / 32)));
  assertEquals(first === 7 || first === 8, true, `${first} partitions`);
});

Deno.test("merging that is switched off or on", async () => {
  const key = "spark.sql.adaptive.coalescePartitions.enabled";
  assertEquals(await readers({ [key]: "false" }), [8, 8, 1, 8, 8, 1]);
  const off = await under({ [key]: "false" });
  const back = changedPartitions(off, {
    before: recorded.with({ [key]: "false" }),
    conf: recorded,
    cluster: off.cluster,
    warnings: [],
  });
  const [tasks] = back.rdds.filter(({ name }) => name === "ShuffledRowRDD").map(({ numPartitions }) => numPartitions);
  assertEquals(tasks >= 4 && tasks < 8, true, `${tasks} tasks`);
});

Deno.test("every changed stage is marked as assumed", async () => {
  const { evidence } = await under({ "spark.sql.shuffle.partitions": "3" });
  const marked = evidence.filter(({ field, grade }) => field === "tasks" && grade === "assumed");
  assertEquals(marked.map(({ subject }) => subject.split(" (")[0]), ["stage 4", "stage 13"]);
});

Deno.test("a union has the partitions of both its exchanges, one after the other; an action on some keeps those that are left", () => {
  const read = (shuffleId: number) => ({ dependencies: [{ kind: "shuffle" as const, shuffleId }] });
  const range = (rddId: number, outStart: number) => ({
    kind: "narrow" as const,
    rddId,
    mapping: "range" as const,
    outStart,
  });
  const workload = workloadOf({
    rdds: [
      rddOf(0, 2),
      rddOf(1, 8, { name: "ShuffledRowRDD", ...read(0) }),
      rddOf(2, 8, { name: "ShuffledRowRDD", ...read(1) }),
      rddOf(3, 16, { name: "UnionRDD", dependencies: [range(1, 0), range(2, 8)] }),
    ],
    shuffles: [0, 1].map((id) => ({ id, rddId: 0, numReducers: 8, demand: 0, reducerShares: null })),
    demands: [demandOf(2, { shuffleWriteBytes: column(2, 800) }), demandOf(16, { shuffleReadBytes: column(16, 200) })],
    jobs: [{ ...jobOf(0, 3, 1), partitions: [0, 15] }, { ...jobOf(1, 3, 1), partitions: [15] }],
  });
  const plain = SparkConf.from(
    { "spark.sql.adaptive.enabled": "false", "spark.sql.shuffle.partitions": "8" },
    "3.5.9",
  );
  const changed = (partitions: string) => {
    const conf = plain.with({ "spark.sql.shuffle.partitions": partitions });
    const { rdds, jobs, demands } = changedPartitions(workload, {
      before: plain,
      conf,
      cluster: workload.cluster,
      warnings: [],
    });
    return {
      partitions: rdds.map(({ numPartitions }) => numPartitions),
      starts: rdds[3].dependencies.map((dependency) => "outStart" in dependency ? dependency.outStart : null),
      jobs: jobs.map(({ partitions }) => partitions),
      bytes: sum(demands[1].shuffleReadBytes),
    };
  };
  // 16 x 200 bytes stay what the union's tasks read together
  assertEquals(changed("20"), { partitions: [2, 20, 20, 40], starts: [0, 20], jobs: [[0, 15], [15]], bytes: 3200 });
  assertEquals(changed("2"), { partitions: [2, 2, 2, 4], starts: [0, 2], jobs: [[0], [0]], bytes: 3200 });
});
