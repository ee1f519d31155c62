import { assertEquals } from "@std/assert";
import { SparkConf } from "../../src/spark/conf.ts";
import { changedPartitions } from "../../src/what_if/changed_partitions.ts";
import { workloadOfLog } from "../support/event_logs.ts";

const recorded = SparkConf.from({ "spark.sql.shuffle.partitions": "8" }, "3.5.9");

async function under(conf: Record<string, string>) {
  return changedPartitions(await workloadOfLog("sql_join"), recorded, recorded.with(conf), []);
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

Deno.test("a stage's work is kept when its tasks are merged or split", async () => {
  const before = await workloadOfLog("sql_join");
  for (const partitions of ["3", "20"]) {
    const after = await under({ "spark.sql.shuffle.partitions": partitions });
    const stage = (w: typeof before) => w.demands[w.shuffles[2].demand];
    assertEquals(sum(stage(after).shuffleReadBytes), sum(stage(before).shuffleReadBytes));
  }
});

Deno.test("adaptive execution does not coalesce to more tasks than it did", async () => {
  const counts = async (partitions: string) =>
    (await under({ "spark.sql.shuffle.partitions": partitions })).rdds.filter(({ name }) => name === "ShuffledRowRDD")
      .map(({ numPartitions }) => numPartitions);
  assertEquals(await counts("200"), [7, 7, 1, 7, 7, 1]);
  assertEquals(await counts("3"), [3, 3, 1, 3, 3, 1]);
});

Deno.test("every changed stage is marked as assumed", async () => {
  const { evidence } = await under({ "spark.sql.shuffle.partitions": "3" });
  const marked = evidence.filter(({ field, grade }) => field === "tasks" && grade === "assumed");
  assertEquals(marked.map(({ subject }) => subject.split(" (")[0]), ["stage 4", "stage 13"]);
});
