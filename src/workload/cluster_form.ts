/**
 * The cluster of a job spec, as the simulator has it and back.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import { executorsFor } from "../simulator/executor_places.ts";
import {
  type Cluster,
  EXECUTOR_STARTUP_MS,
  type ExecutorProvision,
  type ExecutorSpec,
  type UnmanagedMemory,
} from "../simulator/workload.ts";
import { localMaster } from "../spark/master.ts";
import { rulesFor } from "../spark/versions.ts";
import type { ClusterSpec, ExecutorSpecInput, UnmanagedMemorySpec } from "./job_spec_types.ts";
import { checkCount, type JobSpecLimits } from "./limits.ts";
import { scalar } from "./quantity.ts";
import { unknownReference } from "./spec_errors.ts";

/** What a cluster depends on besides its own spec. */
export interface ClusterContext {
  readonly conf: Readonly<Record<string, string>>;
  readonly sparkVersion: string;
  readonly pointer: string;
  readonly limits: JobSpecLimits;
  /** Tasks of the largest stage. */
  readonly widestStage: number;
}

/** Host of the driver and, in local mode, of its executor. */
const DRIVER_HOST = "driver-host";

/**
 * The cluster that a spec asks for. A number of executors becomes executors "0", "1", ... (the ids of a standalone
 * cluster) on hosts "host-0", "host-1", ... in turn; `local[N]` becomes one executor "driver" of N cores, as Spark's
 * LocalSchedulerBackend registers it. With spark.dynamicAllocation.enabled they are the places that there are for executors
 * (unless `allocation` says `fixed`): without a number as many as the largest stage could use.
 *
 * @throws {InputError} `job_spec.range`, `job_spec.duplicate`, `job_spec.form`, `job_spec.unknown_reference`.
 * @throws {LimitError} `limit.executors`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { clusterFromSpec } from "./cluster_form.ts";
 * import { limitsOf } from "./limits.ts";
 *
 * const context = { conf: {}, sparkVersion: "3.5.9", pointer: "/cluster", limits: limitsOf(), widestStage: 12 };
 * const { executors } = clusterFromSpec({ executors: 3, cores: 4, hosts: 2 }, context);
 * assertEquals(executors.map(({ id, host, cores }) => [id, host, cores]), [
 *   ["0", "host-0", 4],
 *   ["1", "host-1", 4],
 *   ["2", "host-0", 4],
 * ]);
 * ```
 */
export function clusterFromSpec(
  spec: ClusterSpec,
  context: ClusterContext,
): Cluster {
  const master = spec.master ?? context.conf["spark.master"] ??
    "spark://master:7077";
  const driverHost = spec.driver?.host ?? DRIVER_HOST;
  const provision = provisionOf(spec, master, context);
  const executors = executorsOf(spec, { master, driverHost, isDynamic: provision !== null }, context);
  return {
    master,
    executors,
    provision,
    driver: {
      host: driverHost,
      maxOnHeapMemory: spec.driver?.maxOnHeapMemory ?? null,
      maxOffHeapMemory: spec.driver?.maxOffHeapMemory ?? null,
    },
    collector: spec.collector ?? rulesFor(context.sparkVersion).memory.usualCollector,
    heapCommitted: spec.heapCommitted ?? "small",
    ...(spec.unmanagedMemory === undefined ? {} : {
      unmanagedMemory: unmanagedOf(spec.unmanagedMemory, {
        executors: provision === null ? executors : null,
        context,
      }),
    }),
  };
}

/** Whether spark.dynamicAllocation.enabled counts, and how long executors then take to come. */
function provisionOf(spec: ClusterSpec, master: string, context: ClusterContext): ExecutorProvision | null {
  const { conf, pointer } = context;
  const isOn = conf["spark.dynamicAllocation.enabled"]?.trim().toLowerCase() === "true" && localMaster(master) === null;
  if (spec.allocation === "dynamic" && !isOn) {
    throw new InputError(
      "job_spec.form",
      `Cannot use the job spec: ${pointer}/allocation: must be fixed without spark.dynamicAllocation.enabled and in ` +
        "local mode: received dynamic",
      { pointer: `${pointer}/allocation` },
    );
  }
  if (!isOn || spec.allocation === "fixed") return null;
  const { executorStartupMs } = spec;
  if (executorStartupMs === undefined) return { startupMs: EXECUTOR_STARTUP_MS };
  return { startupMs: scalar(executorStartupMs, "ms", `${pointer}/executorStartupMs`) };
}

/** Places for all tasks of the largest stage at once, within spark.dynamicAllocation.maxExecutors. */
function placesFor(cores: number, { conf, widestStage, limits }: ClusterContext): number {
  const whole = (key: string, otherwise: number) => {
    const text = conf[key]?.trim() ?? "";
    return /^\d{1,10}$/.test(text) ? Number(text) : otherwise;
  };
  const useful = executorsFor(widestStage, { cores, taskCpus: Math.max(1, whole("spark.task.cpus", 1)) });
  const least = ["dynamicAllocation.minExecutors", "dynamicAllocation.initialExecutors", "executor.instances"]
    .map((name) => whole(`spark.${name}`, 0));
  const most = Math.min(limits.executors, Math.max(1, whole("spark.dynamicAllocation.maxExecutors", Infinity)));
  return Math.min(most, Math.max(1, ...least, useful));
}

function executorsOf(
  spec: ClusterSpec,
  { master, driverHost, isDynamic }: { master: string; driverHost: string; isDynamic: boolean },
  context: ClusterContext,
): ExecutorSpec[] {
  if (typeof spec.executors === "object") {
    return listedExecutors(spec.executors, context);
  }
  const local = /^local(?:\[(\d+|\*)(?:,\d+)?\])?$/.exec(master);
  if (local !== null) {
    return [newExecutor(
      "driver",
      driverHost,
      localCores(local[1], spec, context.pointer),
    )];
  }
  const cores = spec.cores ?? confCount(context, "spark.executor.cores") ?? 1;
  const count = spec.executors ??
    (isDynamic ? placesFor(cores, context) : confCount(context, "spark.executor.instances") ?? 2);
  checkCount(
    "executors",
    count,
    context.limits,
    `${context.pointer}/executors`,
  );
  const hosts = typeof spec.hosts === "object" ? spec.hosts : Array.from(
    { length: Math.min(spec.hosts ?? count, count) },
    (_, i) => `host-${i}`,
  );
  return Array.from(
    { length: count },
    (_, i) => newExecutor(String(i), hosts[i % hosts.length], cores),
  );
}

/** `local` is one thread, `local[*]` as many as the machine has, which only the user knows. */
function localCores(
  threads: string | undefined,
  spec: ClusterSpec,
  pointer: string,
): number {
  if (spec.executors !== undefined && spec.executors !== 1) {
    throw new InputError(
      "job_spec.form",
      `Cannot use the job spec: ${pointer}/executors: must be 1 in local mode: received ${spec.executors}`,
      {
        parameters: { executors: spec.executors },
        pointer: `${pointer}/executors`,
      },
    );
  }
  if (spec.cores !== undefined) return spec.cores;
  if (threads === "*") {
    throw new InputError(
      "job_spec.missing",
      `Cannot use the job spec: ${pointer}/cores: must be given with local[*]: received nothing`,
      { pointer: `${pointer}/cores` },
    );
  }
  const cores = threads === undefined ? 1 : Number(threads);
  if (!(cores >= 1 && cores <= MAX_CORES)) throw badCores(cores, pointer);
  return cores;
}

/** The most cores that one executor may have here. */
export const MAX_CORES = 4096;

function badCores(cores: number, pointer: string): InputError {
  return new InputError(
    "job_spec.range",
    `Cannot use the job spec: ${pointer}: cores must be in [1, ${MAX_CORES}]: received ${cores}`,
    { parameters: { min: 1, max: MAX_CORES, cores }, pointer },
  );
}

/** A positive count from the settings, null when it is absent or nothing that a count can be (Spark itself refuses those). */
function confCount(context: ClusterContext, key: string): number | null {
  const text = context.conf[key];
  if (text === undefined || !/^\d{1,9}$/.test(text.trim())) return null;
  const count = Number(text);
  if (count < 1) return null;
  if (key === "spark.executor.cores" && count > MAX_CORES) {
    throw badCores(count, `${context.pointer}/cores`);
  }
  return count;
}

function newExecutor(id: string, host: string, cores: number): ExecutorSpec {
  return {
    id,
    host,
    cores,
    maxOnHeapMemory: null,
    maxOffHeapMemory: null,
    addedMs: 0,
    removedMs: null,
    removedReason: null,
  };
}

function listedExecutors(
  list: readonly ExecutorSpecInput[],
  { pointer, limits }: ClusterContext,
): ExecutorSpec[] {
  checkCount("executors", list.length, limits, `${pointer}/executors`);
  const ids = new Set<string>();
  return list.map((executor, i) => {
    if (ids.has(executor.id)) {
      throw new InputError(
        "job_spec.duplicate",
        `Cannot use the job spec: executor ids must differ: received ${executor.id} twice`,
        {
          parameters: { id: executor.id },
          pointer: `${pointer}/executors/${i}/id`,
        },
      );
    }
    ids.add(executor.id);
    return {
      id: executor.id,
      host: executor.host,
      cores: executor.cores,
      maxOnHeapMemory: executor.maxOnHeapMemory ?? null,
      maxOffHeapMemory: executor.maxOffHeapMemory ?? null,
      addedMs: executor.addedMs ?? 0,
      removedMs: executor.removedMs ?? null,
      removedReason: executor.removedReason ?? null,
    };
  });
}

/** Where executors come by dynamic allocation their ids are not known beforehand. */
function unmanagedOf(
  specs: readonly UnmanagedMemorySpec[],
  { executors, context }: { executors: readonly ExecutorSpec[] | null; context: ClusterContext },
): UnmanagedMemory[] {
  return specs.map(({ executor = null, atMs = 0, bytes, memoryMode }, i) => {
    const pointer = `${context.pointer}/unmanagedMemory/${i}`;
    if (executor !== null && executors?.every(({ id }) => id !== executor)) {
      throw unknownReference("executor", executor, `${pointer}/executor`);
    }
    return {
      executorId: executor,
      atMs: scalar(atMs, "ms", `${pointer}/atMs`),
      bytes: scalar(bytes, "bytes", `${pointer}/bytes`),
      memoryMode,
    };
  });
}

/** The spec that gives this cluster again: every executor one by one. */
export function clusterToSpec(cluster: Cluster): ClusterSpec {
  return {
    master: cluster.master,
    executors: cluster.executors,
    allocation: cluster.provision === null ? "fixed" : "dynamic",
    ...(cluster.provision === null ? {} : { executorStartupMs: cluster.provision.startupMs }),
    driver: cluster.driver,
    collector: cluster.collector,
    heapCommitted: cluster.heapCommitted,
    ...(cluster.unmanagedMemory === undefined ? {} : {
      unmanagedMemory: cluster.unmanagedMemory.map(({ executorId, ...step }) => ({ executor: executorId, ...step })),
    }),
  };
}
