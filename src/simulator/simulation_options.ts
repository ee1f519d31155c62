/**
 * What a simulation is run with.
 *
 * @module
 */
import type { Kernel } from "../kernel.ts";
import type { SparkConf } from "../spark/conf.ts";
import type { EventSink } from "../spark/events.ts";
import type { StorageLevel } from "../spark/storage_level.ts";
import type { CostModel } from "./cost_model.ts";

/** Limits of a run; crossing one is a LimitError. */
export interface SimulationLimits {
  /** Events of the queue. */
  readonly maxEvents: number;
  /** Virtual time, ms. */
  readonly maxVirtualMs: number;
  /** Pieces of all broadcasts. */
  readonly maxBroadcastPieces: number;
}

/** A billion events, ten years, and two million pieces (8 TiB in pieces of 4 MiB). */
export const DEFAULT_SIMULATION_LIMITS: SimulationLimits = Object.freeze({
  maxEvents: 1e9,
  maxVirtualMs: 10 * 365 * 86_400_000,
  maxBroadcastPieces: 2_000_000,
});

/** What a simulation is run with. */
export interface SimulationOptions {
  /** The settings, and the version whose rules and defaults hold. */
  readonly conf: SparkConf;
  /** Takes the events. */
  readonly sink: EventSink;
  /** Level for all RDDs that are cached, in place of their own. */
  readonly storageLevel?: StorageLevel;
  /** Seed of what Spark leaves to chance: the order of offers, replicas. The workload's own unless said. */
  readonly seed?: number;
  /** Instance of the kernel that holds the executors' memory; a new one unless said. Executors that live at the end stay in it. */
  readonly kernel?: Kernel;
  /** Speeds that no log records; DEFAULT_COST_MODEL unless said. */
  readonly cost?: CostModel;
  /** When to give the run up; DEFAULT_SIMULATION_LIMITS where they are not said. */
  readonly limits?: Partial<SimulationLimits>;
  /** Tell the pools of an executor whenever they change (memoryState events, for charts). */
  readonly memoryStates?: boolean;
}
