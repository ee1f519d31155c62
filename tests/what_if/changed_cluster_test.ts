import { assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import type { Cluster } from "../../src/simulator/workload.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import { changedCluster } from "../../src/what_if/changed_cluster.ts";

const executor = (id: string, host = "localhost") => ({
  id,
  host,
  cores: 2,
  maxOnHeapMemory: 213909504,
  maxOffHeapMemory: 0,
  addedMs: 10,
  removedMs: null,
  removedReason: null,
});

const clusterOf = (master: string, executors = [executor("0"), executor("1")]): Cluster => ({
  master,
  executors,
  driver: { host: "localhost", maxOnHeapMemory: 455501414, maxOffHeapMemory: 0 },
  collector: "g1",
  heapCommitted: "small",
});

const recorded = SparkConf.from({ "spark.executor.memory": "640m", "spark.executor.cores": "2" }, "3.5.9");

function under(cluster: Cluster, conf: Record<string, string | null>, executors: number | null = null) {
  const warnings: { code: string; message: string; count: number }[] = [];
  const after = recorded.with(conf);
  return { ...changedCluster(cluster, { before: recorded, conf: after, executors, warnings }), warnings };
}

Deno.test("nothing changes without changes", () => {
  const cluster = clusterOf("local-cluster[2,2,2048]");
  assertEquals(under(cluster, {}).executors, cluster.executors);
});

Deno.test("memory that settings change is computed anew", () => {
  const cluster = clusterOf("local-cluster[2,2,2048]");
  const maxima = (conf: Record<string, string>) => under(cluster, conf).executors.map((e) => e.maxOnHeapMemory);
  assertEquals(maxima({ "spark.memory.fraction": "0.8" }), [null, null]);
  assertEquals(maxima({ "spark.executor.memory": "1g" }), [null, null]);
  assertEquals(maxima({ "spark.driver.memory": "4g" }), [213909504, 213909504]);
  assertEquals(under(cluster, { "spark.driver.memory": "4g" }).driver.maxOnHeapMemory, null);
});

Deno.test("a worker takes as many executors as its cores and memory hold", () => {
  // a1-cache-bytes-cores1 of the recorded runs: four executors of one core, 2048 MiB hold three of 640.
  const executors = (conf: Record<string, string>) =>
    under(clusterOf("local-cluster[2,2,2048]"), conf).executors.map(({ id, cores }) => `${id}:${cores}`);
  assertEquals(executors({ "spark.executor.cores": "1" }), ["0:1", "1:1", "2:1", "3:1"]);
  assertEquals(executors({ "spark.executor.cores": "1", "spark.executor.memory": "1500m" }), ["0:1", "1:1"]);
  assertEquals(executors({ "spark.executor.cores": "1", "spark.cores.max": "3" }), ["0:1", "1:1", "2:1"]);
});

Deno.test("without spark.executor.cores a worker gives all of its cores to one executor", () => {
  const { executors } = under(clusterOf("local-cluster[2,6,2048]"), { "spark.executor.cores": null });
  assertEquals(executors.map(({ cores }) => cores), [6, 6]);
});

Deno.test("an executor larger than every worker is never started", () => {
  const { executors, warnings } = under(clusterOf("local-cluster[2,2,2048]"), { "spark.executor.memory": "3g" });
  assertEquals([executors.length, warnings.map(({ code }) => code)], [0, ["cluster.no_executor"]]);
});

Deno.test("a standalone cluster's workers are known by what they gave", () => {
  const cluster = clusterOf("spark://m:7077", [executor("1", "a"), executor("0", "b")]);
  assertEquals(
    under(cluster, { "spark.executor.cores": "1" }).executors.map(({ host, cores }) => [host, cores]),
    [["a", 1], ["a", 1], ["b", 1], ["b", 1]],
  );
});

Deno.test("YARN and Kubernetes start spark.executor.instances", () => {
  const cluster = clusterOf("yarn", [executor("1", "a"), executor("2", "b")]);
  const { executors } = under(cluster, { "spark.executor.instances": "5", "spark.executor.cores": "4" });
  assertEquals(executors.map(({ host, cores }) => `${host}${cores}`).sort(), ["a4", "a4", "a4", "b4", "b4"]);
});

Deno.test("a number of executors is asked for directly", () => {
  assertEquals(under(clusterOf("yarn"), {}, 3).executors.length, 3);
  assertEquals(under(clusterOf("yarn"), {}, 1).executors.map(({ id }) => id), ["0"]);
  for (const executors of [0, -1, 1.5, 1e9]) {
    assertThrows(() => under(clusterOf("yarn"), {}, executors), InputError, "Cannot run on");
  }
});

Deno.test("in local mode the driver's memory counts", () => {
  const cluster = clusterOf("local[2]", [executor("driver")]);
  const maxima = (conf: Record<string, string>) => under(cluster, conf).executors.map((e) => e.maxOnHeapMemory);
  assertEquals(maxima({ "spark.executor.memory": "4g" }), [213909504]);
  assertEquals(maxima({ "spark.driver.memory": "4g" }), [null]);
});

Deno.test("JVM options that name another collector change what Spark sees of the heap", () => {
  const cluster = { ...clusterOf("local-cluster[2,2,2048]"), collector: "g1" as const };
  const options = "spark.executor.extraJavaOptions";
  const parallel = under(cluster, { [options]: "-XX:+UseParallelGC" });
  assertEquals([parallel.collector, parallel.executors[0].maxOnHeapMemory], ["parallel", null]);
  assertEquals(under(cluster, { [options]: "-Dlog=x" }).collector, "g1");
  const before = recorded.with({ [options]: "-XX:+UseParallelGC" });
  const without = changedCluster({ ...cluster, collector: "parallel" }, {
    before,
    conf: recorded,
    executors: null,
    warnings: [],
  });
  // Spark 3.5 runs on Java 8 to 17; from 9 on the JVM's own choice is G1.
  assertEquals(without.collector, recorded.rules.memory.usualCollector);
});
