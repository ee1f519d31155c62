/**
 * What the parts of a simulation share.
 *
 * @module
 */
import type { EventSink } from "../spark/events.ts";
import type { BlockManagerMaster } from "./block_manager_master.ts";
import type { Broadcasts } from "./broadcasts.ts";
import type { CostModel } from "./cost_model.ts";
import type { Executor } from "./executor.ts";
import type { Lineage } from "./lineage.ts";
import type { ConsumerSettings } from "./memory/consumers/mod.ts";
import type { SpillRules } from "./memory/spill_rules.ts";
import type { MapOutputs } from "./shuffle_fetch.ts";
import type { Task } from "./task.ts";
import type { StorageLevel } from "../spark/storage_level.ts";
import type { Fault, Workload } from "./workload.ts";

/** The parts by name. */
export interface SimulationEnvironment {
  readonly workload: Workload;
  readonly lineage: Lineage;
  readonly master: BlockManagerMaster;
  /** By dense index. */
  readonly executors: readonly Executor[];
  readonly sink: EventSink;
  readonly cost: CostModel;
  readonly spillRules: SpillRules;
  readonly consumerSettings: ConsumerSettings;
  /** Peaks on and off the heap are measured (since 4.0). */
  readonly recordsPeaksByMode: boolean;
  /** Tasks record the blocks that they change: before 2.3, later with spark.taskMetrics.trackUpdatedBlockStatuses. */
  readonly tracksUpdatedBlocks: boolean;
  readonly mapOutputs: MapOutputs;
  readonly broadcasts: Broadcasts;
  /** spark.broadcast.blockSize, bytes. */
  readonly broadcastBlockSize: number;
  /** Level at which an RDD is cached now; null when it is not (never, or unpersisted). Dense index. */
  storageLevel(rdd: number): StorageLevel | null;
  /** Faults that concern the tasks of one demand (index into Workload.demands). */
  faultsOf(demand: number): readonly Fault[];
  /** By how much a host is slower than others; 1 for most. */
  slowness(host: string): number;
  /** Virtual time, ms. */
  now(): number;
  /** A whole number from 0 to n - 1, the same for the same seed. */
  random(n: number): number;
  /**
   * Steps taken within an event, for the budget of events.
   *
   * @throws {LimitError} `limit.events`.
   */
  countWork(steps: number): void;
  /** Whether the driver allows an attempt to commit its output now. */
  canCommit(task: Task): boolean;
  resumeWaiting(task: Task, granted: number): void;
  /** A block that a task waited to read is written, or will not be. */
  resumeReader(task: Task): void;
}
