/**
 * The executors that an application gets under changed settings.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import { executorsFor } from "../simulator/executor_places.ts";
import { groupBy } from "../simulator/group_by.ts";
import { type Cluster, EXECUTOR_STARTUP_MS, type ExecutorProvision, type ExecutorSpec } from "../simulator/workload.ts";
import { size } from "../report/verdict/finding.ts";
import type { SparkConf } from "../spark/conf.ts";
import { localMaster } from "../spark/master.ts";
import { BYTE_UNITS } from "../spark/sizes.ts";
import { collectorOf } from "../spark/sizing.ts";
import { checkPositiveNumbers } from "../spark/startup.ts";
import type { ChangeWarning } from "./apply_changes.ts";

/** Settings before and after. */
export interface ClusterChange {
  readonly before: SparkConf;
  readonly conf: SparkConf;
  /** Number of executors asked for; null: what the settings give. */
  readonly executors: number | null;
  /** Tasks of the largest stage. */
  readonly widestStage: number;
  readonly warnings: ChangeWarning[];
}

/** Executors that one simulation may have. */
const MAX_EXECUTORS = 10_000;

/** Settings from which a JVM's unified memory is made, by role. */
const EXECUTOR_MEMORY = memorySettings("executor");
const DRIVER_MEMORY = memorySettings("driver");
const OFF_HEAP = ["spark.memory.offHeap.size", "spark.memory.offHeap.enabled"];

/**
 * Executors under changed settings: how many fit on each worker by cores and memory (Master.scheduleExecutorsOnWorkers
 * for local-cluster and standalone, spark.executor.instances for YARN and Kubernetes), each with its cores; unified
 * memory is recomputed from the settings where one of them changed it.
 *
 * @throws {InputError} `executors.count` for a number that cannot be simulated.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "../spark/conf.ts";
 * import { changedCluster } from "./changed_cluster.ts";
 *
 * const executor = (id: string) => ({
 *   id, host: "h", cores: 2, maxOnHeapMemory: 455501414, maxOffHeapMemory: 0, addedMs: 0, removedMs: null,
 *   removedReason: null,
 * });
 * const driver = { host: "h", maxOnHeapMemory: null, maxOffHeapMemory: null };
 * const cluster = {
 *   master: "local-cluster[2,2,2048]", executors: [executor("0"), executor("1")], provision: null, driver,
 *   collector: "g1" as const, heapCommitted: "small" as const,
 * };
 * const before = SparkConf.from({ "spark.executor.cores": "2", "spark.executor.memory": "640m" }, "3.5.9");
 * const conf = before.with({ "spark.executor.cores": "1" });
 * const { executors } = changedCluster(cluster, { before, conf, executors: null, widestStage: 8, warnings: [] });
 * assertEquals(executors.map(({ id, cores }) => [id, cores]), [["0", 1], ["1", 1], ["2", 1], ["3", 1]]);
 * ```
 */
export function changedCluster(cluster: Cluster, change: ClusterChange): Cluster {
  const { before, conf } = change;
  const local = localMaster(cluster.master) !== null;
  const sized = cluster.executors.map((executor) =>
    withMemory(executor, before, conf, local ? DRIVER_MEMORY : EXECUTOR_MEMORY)
  );
  if (!local) checkPositiveNumbers(conf);
  const provision = local ? null : changedProvision(cluster, change);
  const wanted = local ? null : checkedCount(shape(cluster, change, provision !== null));
  const arranged = wanted === null ? sized : arrange(sized, wanted);
  const executors = provision !== null ? asPlaces(arranged) : switchedOff(change) ? asPermanent(arranged) : arranged;
  const driverOnHeap = changed(before, conf, DRIVER_MEMORY) ? null : cluster.driver.maxOnHeapMemory;
  const driverOffHeap = changed(before, conf, OFF_HEAP) ? null : cluster.driver.maxOffHeapMemory;
  return {
    ...cluster,
    executors,
    provision,
    collector: collectorUnder(cluster, change, local ? "driver" : "executor"),
    driver: { ...cluster.driver, maxOnHeapMemory: driverOnHeap, maxOffHeapMemory: driverOffHeap },
  };
}

const DYNAMIC = "spark.dynamicAllocation.enabled";

/** Settings besides spark.dynamicAllocation.* by which dynamic allocation asks for executors. */
const ALLOCATION_SETTINGS = ["spark.executor.instances", "spark.shuffle.service.enabled"];

/**
 * Whether executors come and go by the backlog: those of a log do as they were recorded unless a setting of dynamic
 * allocation is what changes.
 */
function changedProvision({ provision }: Cluster, change: ClusterChange): ExecutorProvision | null {
  const { before, conf, warnings } = change;
  if (!conf.getBoolean(DYNAMIC)) return null;
  if (provision !== null) return provision;
  const keys = Object.keys({ ...before.toJSON(), ...conf.toJSON() })
    .filter((key) => key.startsWith("spark.dynamicAllocation."));
  if (!changed(before, conf, [...keys, ...ALLOCATION_SETTINGS])) return null;
  warnings.push({
    code: "allocation.dynamic",
    message: "Executors come and go by backlog and idle time, not as they were recorded: each comes " +
      `${EXECUTOR_STARTUP_MS} ms after it is asked for, which is an assumption`,
    count: 1,
  });
  return { startupMs: EXECUTOR_STARTUP_MS };
}

function switchedOff({ before, conf }: ClusterChange): boolean {
  return before.getBoolean(DYNAMIC) && !conf.getBoolean(DYNAMIC);
}

/** Places for executors, one on each host before the second on any. */
function asPlaces(executors: readonly ExecutorSpec[]): ExecutorSpec[] {
  const onHost = new Map<string, number>();
  return executors.map((executor) => {
    const turn = onHost.get(executor.host) ?? 0;
    onHost.set(executor.host, turn + 1);
    return { turn, place: { ...executor, addedMs: 0, removedMs: null, removedReason: null } };
  }).sort((a, b) => a.turn - b.turn).map(({ place }) => place);
}

/** Executors that are there from the first one's time to the end. */
function asPermanent(executors: readonly ExecutorSpec[]): ExecutorSpec[] {
  const addedMs = executors.reduce((first, executor) => Math.min(first, executor.addedMs), executors[0]?.addedMs ?? 0);
  return executors.map((executor) => ({ ...executor, addedMs, removedMs: null, removedReason: null }));
}

function memorySettings(role: string): string[] {
  return [
    `spark.${role}.memory`,
    "spark.memory.fraction",
    `spark.${role}.defaultJavaOptions`,
    `spark.${role}.extraJavaOptions`,
  ];
}

/** The collector that changed JVM options name; the JVM's usual one where they no longer name any. */
function collectorUnder({ collector }: Cluster, change: ClusterChange, role: "driver" | "executor") {
  const [before, after] = [change.before, change.conf].map((conf) => collectorOf(conf, role));
  if (before === after) return collector;
  const named = after ?? change.conf.rules.memory.usualCollector;
  return named === "parallel" || named === "serial" ? named : "g1";
}

function changed(before: SparkConf, conf: SparkConf, keys: readonly string[]): boolean {
  return keys.some((key) => before.get(key) !== conf.get(key));
}

function withMemory(
  executor: ExecutorSpec,
  before: SparkConf,
  conf: SparkConf,
  keys: readonly string[],
): ExecutorSpec {
  return {
    ...executor,
    maxOnHeapMemory: changed(before, conf, keys) ? null : executor.maxOnHeapMemory,
    maxOffHeapMemory: changed(before, conf, OFF_HEAP) ? null : executor.maxOffHeapMemory,
  };
}

/** Executors by host, and the cores of each. */
interface Shape {
  readonly byHost: readonly (readonly [host: string, count: number])[];
  readonly cores: number;
}

function checkedCount(shape: Shape | null): Shape | null {
  const count = shape?.byHost.reduce((sum, [, count]) => sum + count, 0) ?? 1;
  if (count <= MAX_EXECUTORS) return shape;
  throw badCount(count);
}

function badCount(executors: number): InputError {
  return new InputError(
    "executors.count",
    `Cannot run on ${executors} executors: must be a whole number from 1 to ${MAX_EXECUTORS}`,
    { parameters: { executors } },
  );
}

/** The new shape, or null when nothing changes it. */
function shape(cluster: Cluster, change: ClusterChange, isDynamic: boolean): Shape | null {
  const { before, conf, executors } = change;
  const first = cluster.executors[0];
  if (first === undefined) return null;
  const hosts = [...new Set(cluster.executors.map(({ host }) => host))];
  if (executors !== null) {
    if (!Number.isInteger(executors) || executors < 1) throw badCount(executors);
    return { byHost: deal(hosts, executors), cores: newCores(change, first.cores) };
  }
  const localCluster = /^local-cluster\[\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\]$/.exec(cluster.master);
  const anew = switchedOff(change) || isDynamic && cluster.provision === null;
  // With dynamic allocation the number in the settings is that of the start.
  const keys = ["spark.executor.cores", "spark.cores.max", ...isDynamic ? [] : ["spark.executor.instances"]];
  if (localCluster !== null) {
    if (!anew && !changed(before, conf, [...keys, "spark.executor.memory"])) return null;
    const [workers, cores, memory] = localCluster.slice(1).map(Number);
    if (workers > MAX_EXECUTORS) throw badCount(workers);
    const worker = { cores, memory: memory * BYTE_UNITS.MiB };
    return standalone(
      Array.from({ length: workers }, (_, i) => ({ host: hosts[i % hosts.length], ...worker })),
      change,
    );
  }
  if (cluster.master.startsWith("spark:")) {
    if (!anew && !changed(before, conf, keys)) return null;
    return standalone(knownWorkers(cluster), change);
  }
  if (!anew && !changed(before, conf, keys)) return null;
  const cores = newCores(change, first.cores);
  return { byHost: deal(hosts, numExecutors(cluster, change, isDynamic ? cores : null)), cores };
}

/** SchedulerBackendUtils.DEFAULT_NUMBER_EXECUTORS */
const DEFAULT_NUMBER_EXECUTORS = 2;

/**
 * Executors on YARN and Kubernetes, whose size no log tells: the configured number, or with dynamic allocation (`cores` of
 * an executor) as many as the largest stage could use.
 */
function numExecutors({ executors }: Cluster, change: ClusterChange, cores: number | null): number {
  const { conf, warnings, widestStage } = change;
  const instances = conf.getIntOption("spark.executor.instances");
  if (cores === null) return instances ?? (switchedOff(change) ? DEFAULT_NUMBER_EXECUTORS : executors.length);
  const useful = executorsFor(widestStage, { cores, taskCpus: conf.getInt("spark.task.cpus") });
  const most = Math.min(conf.getInt("spark.dynamicAllocation.maxExecutors"), MAX_EXECUTORS);
  const places = Math.max(1, Math.min(most, Math.max(useful, Math.ceil(mostCores(executors) / cores), instances ?? 0)));
  warnings.push({
    code: "allocation.places",
    message:
      `How many executors the cluster could hold is not known: ${places} are taken to fit, as many as the largest ` +
      "stage could use; a number of executors asked for is the limit instead",
    count: 1,
  });
  return places;
}

/** Cores of an executor: the recorded ones where the setting is the same. */
function newCores({ before, conf }: ClusterChange, recorded: number): number {
  if (before.get("spark.executor.cores") === conf.get("spark.executor.cores")) return recorded;
  return conf.getIntOption("spark.executor.cores") ?? recorded;
}

interface Worker {
  readonly host: string;
  readonly cores: number;
  /** Bytes; Infinity where the log does not tell. */
  readonly memory: number;
}

/** Workers of a standalone cluster as far as the log shows them: what their executors used at a time. */
function knownWorkers({ executors }: Cluster): Worker[] {
  return [...groupBy(executors, ({ host }) => host)].map(([host, own]) => ({
    host,
    cores: mostCores(own),
    memory: Infinity,
  }));
}

/** Most cores that executors have at a time. */
function mostCores(executors: readonly ExecutorSpec[]): number {
  const changes = executors.flatMap(({ addedMs, removedMs, cores }) =>
    (removedMs ?? Infinity) <= addedMs ? [] : [
      { timeMs: addedMs, cores },
      { timeMs: removedMs ?? Infinity, cores: -cores },
    ]
  );
  // Who goes makes room for who comes at the same time.
  changes.sort((a, b) => a.timeMs === b.timeMs ? a.cores - b.cores : a.timeMs - b.timeMs);
  let now = 0;
  let most = 0;
  for (const { cores } of changes) most = Math.max(most, now += cores);
  return executors.reduce((least, { cores }) => Math.max(least, cores), most);
}

/**
 * Executors that the standalone master starts: without spark.executor.cores one a worker with all of its cores, with it
 * as many as fit, spread over the workers until spark.cores.max is reached (Master.scheduleExecutorsOnWorkers).
 */
function standalone(workers: readonly Worker[], { conf, warnings }: ClusterChange): Shape {
  // Not set means all cores of the worker here, whatever the default elsewhere (StandaloneSchedulerBackend).
  const asked = conf.contains("spark.executor.cores") ? conf.getInt("spark.executor.cores") : null;
  const memory = conf.getSizeAsBytes("spark.executor.memory");
  const cores = asked ?? Math.max(...workers.map((worker) => worker.cores));
  const fits = workers.map((worker) => {
    const byMemory = Math.floor(worker.memory / memory);
    return asked === null ? Math.min(1, byMemory) : Math.min(Math.floor(worker.cores / cores), byMemory);
  });
  let left = Math.floor((conf.getIntOption("spark.cores.max") ?? Infinity) / cores);
  const given = workers.map(() => 0);
  for (let progress = true; progress && left > 0;) {
    progress = false;
    for (let i = 0; i < workers.length && left > 0; i++) {
      if (given[i] >= fits[i]) continue;
      given[i]++;
      left--;
      progress = true;
    }
  }
  if (given.every((n) => n === 0)) {
    warnings.push({ code: "cluster.no_executor", message: noExecutor(workers, cores, memory), count: 1 });
  }
  return { byHost: workers.map(({ host }, i) => [host, given[i]] as const), cores };
}

/** Why no worker starts an executor, in the numbers that the master compares. */
function noExecutor(workers: readonly Worker[], cores: number, memory: number): string {
  const most = (of: (worker: Worker) => number) => Math.max(...workers.map(of));
  const has = [most((worker) => worker.cores), most((worker) => worker.memory)];
  const lacks = memory > has[1]
    ? `memory: an executor takes ${size(memory)} (spark.executor.memory), a worker has ${size(has[1])}`
    : cores > has[0]
    ? `cores: an executor takes ${cores} (spark.executor.cores), a worker has ${has[0]}`
    : "cores: spark.cores.max is below the cores of one executor";
  return `No executor can be started for want of ${lacks}`;
}

/** As evenly as it goes over the hosts. */
function deal(hosts: readonly string[], count: number): [string, number][] {
  return hosts.map((host, i) => [host, Math.floor(count / hosts.length) + (i < count % hosts.length ? 1 : 0)]);
}

/** Executors of a shape: recorded ones are kept as long as there are any, others are copies of one on their host. */
function arrange(recorded: readonly ExecutorSpec[], { byHost, cores }: Shape): ExecutorSpec[] {
  const byHostBefore = groupBy(recorded, ({ host }) => host);
  const left = groupBy(recorded, ({ host }) => host);
  const ids = new Set(recorded.map(({ id }) => id));
  let nextId = 0;
  const freshId = () => {
    while (ids.has(String(nextId))) nextId++;
    ids.add(String(nextId));
    return String(nextId);
  };
  const arranged: ExecutorSpec[] = [];
  for (const [host, count] of byHost) {
    for (let i = 0; i < count; i++) {
      const kept = left.get(host)?.shift();
      const like = byHostBefore.get(host)?.[0] ?? recorded[0];
      arranged.push(kept === undefined ? { ...like, id: freshId(), host, cores } : { ...kept, cores });
    }
  }
  return arranged.sort((a, b) => a.addedMs - b.addedMs);
}
