import { assertAlmostEquals, assertEquals } from "@std/assert";
import { SparkConf } from "../../src/spark/conf.ts";
import { coalescedShares, coalescingOf, likelyShares, sizeDeviation } from "../../src/what_if/coalesced_partitions.ts";

const MiB = 1 << 20;
const prefix = "spark.sql.adaptive.coalescePartitions";

function coalescing(settings: Record<string, string>, version = "3.5.9") {
  return coalescingOf(SparkConf.from(settings, version), 4);
}

const shares = (
  sizes: number[],
  settings: Record<string, string>,
) => [...coalescedShares(sizes.map((size) => size * MiB), coalescing(settings))];

Deno.test("a task reads neighbours while they stay below the target", () => {
  // Tasks of 6 + 4, 1 + 9, 1, 20 and 2 + 7 MiB: the partition that would pass 10 MiB begins the next task.
  const settings = {
    [`${prefix}.parallelismFirst`]: "false",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "10m",
  };
  assertEquals(shares([6, 4, 1, 9, 1, 20, 2, 7], settings), [0.2, 0.2, 0.02, 0.4, 0.18]);
});

Deno.test("partitions without data take no task, unless there is no data at all", () => {
  const settings = { [`${prefix}.parallelismFirst`]: "false", "spark.sql.adaptive.advisoryPartitionSizeInBytes": "4m" };
  assertEquals(shares([0, 4, 0, 0, 4, 0], settings), [0.5, 0.5]);
  assertEquals(shares([0, 0, 0], settings), [1]);
});

Deno.test("which setting names the number of partitions and the least that are left", () => {
  assertEquals(coalescing({}).planned, 200);
  assertEquals(coalescing({ [`${prefix}.initialPartitionNum`]: "50" }).planned, 50);
  const off = { [`${prefix}.initialPartitionNum`]: "50", [`${prefix}.enabled`]: "false" };
  assertEquals(coalescing(off), { ...coalescing(off), planned: 200, enabled: false });
  assertEquals(coalescing({}).minPartitions, 4);
  assertEquals(coalescing({ "spark.default.parallelism": "9" }).minPartitions, 9);
  assertEquals(coalescing({ [`${prefix}.parallelismFirst`]: "false" }).minPartitions, 1);
  assertEquals(coalescing({ [`${prefix}.minPartitionNum`]: "3" }).minPartitions, 3);
});

Deno.test("older versions", () => {
  // Adaptive execution was off by default before 3.2 (SPARK-33679), and merged without a least size (SPARK-35968).
  assertEquals(coalescing({}, "3.1.3").enabled, false);
  assertEquals(coalescing({ "spark.sql.adaptive.enabled": "true" }, "3.1.3").minBytes, 16);
  assertEquals(coalescing({}, "3.2.0").minBytes, MiB);
  assertEquals(coalescing({ "spark.sql.adaptive.enabled": "true" }, "2.4.0").enabled, false);
});

Deno.test("the number of tasks that is likely when sizes differ by chance", () => {
  const tasks = (partitions: number, seed: number) =>
    likelyShares({ total: 80e6, partitions, deviation: 0.04, seed }, coalescing({})).length;
  // Spark 3.5.9 with 4 cores: sorts and joins of 8 partitions ran in 5, 6, 6, 6 and 7 tasks, of 32 in 5.
  for (const seed of [1, 2, 3, 4, 5]) assertEquals([tasks(8, seed), tasks(32, seed)], [6, 5]);
  const shares = likelyShares({ total: 80e6, partitions: 32, deviation: 0.04, seed: 9 }, coalescing({}));
  assertAlmostEquals(shares.reduce((a, b) => a + b), 1, 1e-12);
  assertEquals(shares, likelyShares({ total: 80e6, partitions: 32, deviation: 0.04, seed: 9 }, coalescing({})));
});

Deno.test("the deviation of a range-partitioned sort's eight partitions", () => {
  // What the six tasks of a recorded sort read; two of them read two partitions each.
  const read = [10360844, 9923661, 19674873, 19355720, 10558018, 9524303];
  // 1.044, 1.000, 1.982, 1.950, 1.064 and 0.960 sizes instead of 1, 1, 2, 2, 1, 1.
  assertAlmostEquals(sizeDeviation(read, 8), 0.0388, 0.0001);
  assertEquals(sizeDeviation([], 8), 0);
});
