import { assert, assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import type { Cluster, ExecutorSpec } from "../../src/simulator/workload.ts";
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

const clusterOf = (master: string, executors: readonly ExecutorSpec[] = [executor("0"), executor("1")]): Cluster => ({
  master,
  executors,
  provision: null,
  driver: { host: "localhost", maxOnHeapMemory: 455501414, maxOffHeapMemory: 0 },
  collector: "g1",
  heapCommitted: "small",
});

const recorded = SparkConf.from({ "spark.executor.memory": "640m", "spark.executor.cores": "2" }, "3.5.9");

function under(cluster: Cluster, conf: Record<string, string | null>, executors: number | null = null) {
  const warnings: { code: string; message: string; count: number }[] = [];
  const after = recorded.with(conf);
  return {
    ...changedCluster(cluster, { before: recorded, conf: after, executors, widestStage: 20, warnings }),
    warnings,
  };
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
  const why = (conf: Record<string, string>) => {
    const { executors, warnings } = under(clusterOf("local-cluster[2,2,2048]"), conf);
    assertEquals([executors.length, warnings.map(({ code }) => code)], [0, ["cluster.no_executor"]]);
    return warnings[0].message;
  };
  assertEquals(
    why({ "spark.executor.memory": "3g" }),
    "No executor can be started for want of memory: an executor takes 3.0 GiB (spark.executor.memory), a worker has 2.0 GiB",
  );
  assertEquals(
    why({ "spark.executor.cores": "4" }),
    "No executor can be started for want of cores: an executor takes 4 (spark.executor.cores), a worker has 2",
  );
  assert(why({ "spark.executor.cores": "2", "spark.cores.max": "1" }).includes("spark.cores.max is below"));
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
    widestStage: 20,
    warnings: [],
  });
  // Spark 3.5 runs on Java 8 to 17; from 9 on the JVM's own choice is G1.
  assertEquals(without.collector, recorded.rules.memory.usualCollector);
});

const dynamic = SparkConf.from({
  "spark.dynamicAllocation.enabled": "true",
  "spark.shuffle.service.enabled": "true",
  "spark.executor.cores": "2",
}, "3.5.9");

/** Executors of a YARN log with dynamic allocation: two at a time, three in all. */
const comingAndGoing = clusterOf("yarn", [
  { ...executor("1", "a"), addedMs: 5000, removedMs: 70_000, removedReason: "Executor killed by driver." },
  { ...executor("2", "b"), addedMs: 6000 },
  { ...executor("3", "a"), addedMs: 90_000 },
]);

function changedFrom(
  before: SparkConf,
  cluster: Cluster,
  conf: Record<string, string | null>,
  executors: number | null = null,
) {
  const warnings: { code: string; message: string; count: number }[] = [];
  const changed = changedCluster(cluster, { before, conf: before.with(conf), executors, widestStage: 20, warnings });
  return { ...changed, codes: warnings.map(({ code }) => code) };
}

Deno.test("recorded executors come and go as they did while no setting of dynamic allocation changes", () => {
  const { executors, provision, codes } = changedFrom(dynamic, comingAndGoing, { "spark.memory.fraction": "0.8" });
  assertEquals(provision, null);
  assertEquals(executors.map(({ addedMs, removedMs }) => [addedMs, removedMs]), [[5000, 70_000], [6000, null], [
    90_000,
    null,
  ]]);
  assertEquals(codes, []);
});

Deno.test("a changed setting of dynamic allocation makes executors follow it", () => {
  const timeout = { "spark.dynamicAllocation.executorIdleTimeout": "10s" };
  const { executors, provision, codes } = changedFrom(dynamic, comingAndGoing, timeout);
  assertEquals(provision, { startupMs: 3000 });
  // 20 tasks of the largest stage, 2 at a time on an executor; nobody says how many YARN could hold.
  assertEquals([executors.length, codes], [10, ["allocation.dynamic", "allocation.places"]]);
  assertEquals(executors.slice(0, 4).map(({ host, addedMs, removedMs }) => [host, addedMs, removedMs]), [
    ["a", 0, null],
    ["b", 0, null],
    ["a", 0, null],
    ["b", 0, null],
  ]);
  const limited = changedFrom(dynamic, comingAndGoing, { "spark.dynamicAllocation.maxExecutors": "4" });
  assertEquals(limited.executors.length, 4);
  const asked = changedFrom(dynamic, comingAndGoing, timeout, 3);
  assertEquals([asked.executors.length, asked.codes], [3, ["allocation.dynamic"]]);
});

Deno.test("dynamic allocation can be switched on, within what the workers hold", () => {
  const cluster = clusterOf("local-cluster[2,4,4096]");
  const on = { "spark.dynamicAllocation.enabled": "true" };
  const { executors, provision } = changedFrom(recorded, cluster, on);
  assertEquals([provision?.startupMs, executors.length], [3000, 4]);
  // In local mode it does nothing (Utils.isDynamicAllocationEnabled).
  assertEquals(changedFrom(recorded, clusterOf("local[2]", [executor("driver")]), on).provision, null);
});

Deno.test("dynamic allocation can be switched off: the configured executors are there all the time", () => {
  const off = { "spark.dynamicAllocation.enabled": "false" };
  // SchedulerBackendUtils.DEFAULT_NUMBER_EXECUTORS
  const { executors, provision } = changedFrom(dynamic, comingAndGoing, off);
  assertEquals([provision, executors.map(({ addedMs, removedMs }) => [addedMs, removedMs])], [
    null,
    [[5000, null], [5000, null]],
  ]);
  const five = changedFrom(dynamic, comingAndGoing, { ...off, "spark.executor.instances": "5" });
  assertEquals(five.executors.length, 5);
  // A standalone application takes all cores that the workers have; here they had 2 each at a time.
  const standalone = changedFrom(dynamic, { ...comingAndGoing, master: "spark://m:7077" }, off);
  assertEquals(standalone.executors.map(({ host }) => host).sort(), ["a", "b"]);
});

Deno.test("a local cluster of more workers than there may be executors is refused", () => {
  const error = assertThrows(
    () => under(clusterOf("local-cluster[1000000,2,2048]"), { "spark.executor.memory": "1g" }),
    InputError,
  );
  assertEquals(Object.values(error.parameters).includes(1_000_000), true, JSON.stringify(error.parameters));
});
