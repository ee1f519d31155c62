/** Small workloads for tests of the simulation, in the form that the simulation runs. */
import {
  type ConsumerDemand,
  emptyWorkload,
  type Rdd,
  type StageDemand,
  type Workload,
} from "../../src/simulator/workload.ts";
import { STORAGE_LEVELS, type StorageLevel } from "../../src/spark/storage_level.ts";

export const MIB = 1024 * 1024;

/** A column with one value for all partitions. */
export function column(length: number, value: number): Float64Array {
  return new Float64Array(length).fill(value);
}

/** A demand of tasks that all do the same. */
export function demandOf(partitions: number, fields: Partial<StageDemand> = {}): StageDemand {
  const zeros = column(partitions, 0);
  return {
    name: "count at Test.scala:1",
    details: "",
    recordedStageId: null,
    computeMs: column(partitions, 100),
    deserializeMs: column(partitions, 5),
    resultSerializationMs: zeros,
    speculativeComputeMs: null,
    commitMs: null,
    resultBytes: column(partitions, 1000),
    valueBytes: null,
    serializedTaskBytes: null,
    inputBytes: zeros,
    inputRecords: zeros,
    outputBytes: zeros,
    outputRecords: zeros,
    shuffleReadBytes: zeros,
    shuffleReadRecords: zeros,
    shuffleWriteBytes: zeros,
    shuffleWriteRecords: zeros,
    consumers: [],
    broadcastIds: [],
    ...fields,
  };
}

/** An RDD; cached when a level is given. */
export function rddOf(id: number, numPartitions: number, fields: Partial<Rdd> = {}): Rdd {
  return {
    id,
    name: `rdd${id}`,
    callSite: "rdd at Test.scala:1",
    scope: null,
    numPartitions,
    storageLevel: null,
    dependencies: [],
    deserializedBytes: null,
    serializedBytes: null,
    diskBytes: null,
    elements: null,
    computeMs: null,
    inputBytes: null,
    shuffleReadBytes: null,
    shuffleReadRecords: null,
    consumers: [],
    unpersistBeforeJob: null,
    alwaysSerialized: false,
    preferredHosts: null,
    ...fields,
  };
}

/** A cached RDD whose partitions all have the same size. */
export function cachedRdd(
  id: number,
  numPartitions: number,
  bytes: number,
  level: StorageLevel = STORAGE_LEVELS.MEMORY_ONLY,
): Rdd {
  return rddOf(id, numPartitions, {
    storageLevel: level,
    deserializedBytes: column(numPartitions, bytes),
    serializedBytes: column(numPartitions, bytes),
    computeMs: column(numPartitions, 50),
  });
}

/** A consumer of each task. */
export function consumerOf(partitions: number, fields: Partial<ConsumerDemand> = {}): ConsumerDemand {
  return {
    kind: "UnsafeExternalSorter",
    name: "Sort",
    start: 0,
    fillEnd: 0.8,
    release: 1,
    tungsten: true,
    records: column(partitions, 1e6),
    bytes: column(partitions, 100 * MIB),
    absentIn: null,
    keys: null,
    diskBytesPerByte: null,
    parameters: {},
    ...fields,
  };
}

/** One job that follows the one before. */
export function jobOf(id: number, rddId: number, demand: number): Workload["jobs"][number] {
  return {
    id,
    kind: "result",
    rddId,
    shuffleId: null,
    partitions: null,
    demand,
    afterJobs: id === 0 ? [] : [id - 1],
    delayMs: 10,
    cancelAfterMs: null,
    failureHandled: false,
    name: "count at Test.scala:1",
    group: null,
    pool: null,
    description: null,
    sqlExecutionId: null,
  };
}

/** A cluster of executors on hosts of their own, with so much unified memory each. */
export function clusterOf(count: number, options: { cores?: number; memory?: number } = {}): Workload["cluster"] {
  return {
    ...emptyWorkload("").cluster,
    master: "spark://master:7077",
    executors: Array.from({ length: count }, (_, i) => ({
      id: String(i),
      host: `host${i}`,
      cores: options.cores ?? 2,
      maxOnHeapMemory: options.memory ?? 200 * MIB,
      maxOffHeapMemory: 0,
      addedMs: 0,
      removedMs: null,
      removedReason: null,
    })),
  };
}

/** A workload of these parts. */
export function workloadOf(fields: Partial<Workload>): Workload {
  return { ...emptyWorkload("test"), sparkVersion: "3.5.1", cluster: clusterOf(2), ...fields };
}

/** Two stages: a map stage of `maps` tasks and a result stage of `reduces`. */
export function shuffleWorkload(maps: number, reduces: number, fields: Partial<Workload> = {}): Workload {
  return workloadOf({
    rdds: [rddOf(0, maps), rddOf(1, reduces, { dependencies: [{ kind: "shuffle", shuffleId: 0 }] })],
    shuffles: [{ id: 0, rddId: 0, numReducers: reduces, demand: 0, reducerShares: null }],
    demands: [
      demandOf(maps, { shuffleWriteBytes: column(maps, MIB) }),
      demandOf(reduces, { shuffleReadBytes: column(reduces, (MIB * maps) / reduces) }),
    ],
    jobs: [jobOf(0, 1, 1)],
    ...fields,
  });
}
