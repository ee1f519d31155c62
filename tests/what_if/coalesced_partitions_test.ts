import { assertAlmostEquals, assertEquals } from "@std/assert";
import { SparkConf } from "../../src/spark/conf.ts";
import { coalescedShares, coalescingOf, likelyShares, sizeDeviation } from "../../src/what_if/coalesced_partitions.ts";

const MiB = 1 << 20;
const ADAPTIVE = { "spark.sql.adaptive.enabled": "true" };
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

Deno.test("a task below the least size goes on past the target, the last one joins the one before it", () => {
  // Spark 3.5.9, 4 cores, 8 partitions of 0.34 MiB (202,419 rows; a sort-merge join): tasks of 3 and 5 partitions, and
  // of 8 partitions of 0.49 MiB (412,500 rows) too. A target of 0.9 MiB would give tasks of 2.
  const close = (sizes: number[], expected: number[], version = "3.5.9") => {
    const found = coalescedShares(sizes.map((size) => size * MiB), coalescing({ ...ADAPTIVE }, version));
    assertEquals([...found].map((share) => Math.round(share * 1000) / 1000), expected, version);
  };
  close(Array(8).fill(0.34), [0.375, 0.625], "3.5.9");
  close(Array(8).fill(0.495), [0.375, 0.625], "3.2.4");
  close(Array(8).fill(0.505), [0.25, 0.25, 0.25, 0.25], "3.1.3");
  // With a target of 1.475: 0.5 goes to the smaller of its neighbours, 1.2 before it.
  close([1.2, 0.5, 3, 1.2], [0.288, 0.508, 0.203]);
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
  assertEquals(coalescing({ "spark.sql.adaptive.enabled": "true" }, "3.1.3").minBytes, 0);
  assertEquals(coalescing({}, "3.2.0").minBytes, MiB);
  assertEquals(coalescing({ "spark.sql.adaptive.enabled": "true" }, "2.4.0").enabled, false);
});

/** Four map tasks of 20 MB; by default of so many records that chance moves none between partitions. */
const maps = (records = 1e9) => [{ bytes: Array(4).fill(20e6), records: Array(4).fill(records) }];

Deno.test("the number of tasks that is likely when sizes differ by chance", () => {
  const tasks = (partitions: number, seed: number) =>
    likelyShares({ partitions, sizes: null, deviation: 0.04, seed, maps: maps(200_000) }, coalescing({})).length;
  // Spark 3.5.9 with 4 cores: sorts and joins of 8 partitions ran in 5, 6, 6, 6 and 7 tasks, of 32 in 5.
  for (const seed of [1, 2, 3, 4, 5]) {
    assertEquals(
      [[5, 6, 7].includes(tasks(8, seed)), tasks(32, seed)],
      [true, 5],
      `${tasks(8, seed)} ${tasks(32, seed)}`,
    );
  }
  const spread = { partitions: 32, sizes: null, deviation: 0.04, seed: 9, maps: maps() };
  const shares = likelyShares(spread, coalescing({}));
  assertAlmostEquals(shares.reduce((a, b) => a + b), 1, 1e-12);
  assertEquals(shares, likelyShares(spread, coalescing({})));
});

Deno.test("the driver merges by sizes that it knows to the next power of 1.1", () => {
  // Blocks of 2.5 MB +- 1 % all count as 1.1^155 = 2,605,350 bytes: pairs are equal to the mean, and fit.
  const tasks = (sizes: number[]) =>
    likelyShares({ partitions: 8, sizes, deviation: 0, seed: 1, maps: maps() }, coalescing({})).length;
  assertEquals(tasks([1.01, 1.01, 1.01, 1.01, 0.99, 0.99, 0.99, 0.99]), 4);
  // 2.36 MB is below 1.1^154 = 2,368,500: what counts less leaves pairs of the others above the mean.
  assertEquals(tasks([1.02, 1.02, 1.02, 1.02, 1.02, 1.02, 0.944, 0.936]), 7);
});

Deno.test("the deviation of a range-partitioned sort's eight partitions", () => {
  // What the six tasks of a recorded sort read; two of them read two partitions each.
  const read = [10360844, 9923661, 19674873, 19355720, 10558018, 9524303];
  // 1.044, 1.000, 1.982, 1.950, 1.064 and 0.960 sizes instead of 1, 1, 2, 2, 1, 1.
  assertAlmostEquals(sizeDeviation(read, 8), 0.0388, 0.0001);
  assertEquals(sizeDeviation([], 8), 0);
});
