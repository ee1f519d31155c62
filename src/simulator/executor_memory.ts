/**
 * How much memory an executor of the workload has under the given settings.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type { SparkConf } from "../spark/conf.ts";
import { localMaster } from "../spark/master.ts";
import { type Role, sizing } from "../spark/sizing.ts";
import { OFF_HEAP, ON_HEAP } from "../kernel/types.ts";
import type { ExecutorMemoryOptions, MemoryMode } from "../kernel/types.ts";
import type { ExecutorSpec, Workload } from "./workload.ts";

/** Memory of one executor, bytes. */
export interface ExecutorMemoryLayout {
  readonly kernel: ExecutorMemoryOptions;
  readonly tungstenMemoryMode: MemoryMode;
  readonly pageSizeBytes: number;
}

/**
 * The pools of an executor: what its block manager announced where the workload says so, else what the settings give.
 *
 * @throws {InputError} what Spark refuses at start; `executor.memory` for a size that no block manager announces.
 */
export function executorMemoryLayout(spec: ExecutorSpec, workload: Workload, conf: SparkConf): ExecutorMemoryLayout {
  const { collector, heapCommitted, master } = workload.cluster;
  const role: Role = localMaster(master) === null ? "executor" : "driver";
  const sized = sizing({ conf, role, collector, heapCommitted, cores: spec.cores });
  const storageFraction = conf.getDouble("spark.memory.storageFraction");
  const maxHeapMemory = spec.maxOnHeapMemory ?? sized.unifiedMemory;
  const maxOffHeapMemory = spec.maxOffHeapMemory ?? sized.offHeap.size;
  const onHeapStorageRegionSize = Math.trunc(maxHeapMemory * storageFraction);
  checkAnnounced(spec, "maxOnHeapMemory", conf.rules.memory.refusesEmptyExecutionPool ? 1 : 0);
  checkAnnounced(spec, "maxOffHeapMemory", 0);
  return {
    kernel: {
      maxHeapMemory,
      onHeapStorageRegionSize,
      maxOffHeapMemory,
      offHeapStorageRegionSize: Math.trunc(maxOffHeapMemory * storageFraction),
      rules: conf.rules.memory,
    },
    tungstenMemoryMode: sized.offHeap.enabled ? OFF_HEAP : ON_HEAP,
    pageSizeBytes: sized.pageSize,
  };
}

/** What a block manager announced comes from a log, which may be damaged: it must be memory that can be managed. */
function checkAnnounced(spec: ExecutorSpec, field: "maxOnHeapMemory" | "maxOffHeapMemory", least: number): void {
  const received = spec[field];
  if (received === null || Number.isSafeInteger(received) && received >= least) return;
  throw new InputError(
    "executor.memory",
    `Cannot start executor ${spec.id}: ${field} must be whole bytes from ${least} to 2^53 - 1: received ${received}`,
    { parameters: { executorId: spec.id, field, received } },
  );
}
