/**
 * What the lab knows of one executor's memory between two steps, and what a step was.
 *
 * @module
 */

/** A block in memory. */
export interface LabBlock {
  readonly name: string;
  readonly size: number;
  /** How many hold it locked for reading. */
  readonly readers: number;
  /** The RDD it is a partition of, or null. */
  readonly rddId: number | null;
}

/** A task that holds memory, waits for some, or counts as active. */
export interface LabTask {
  readonly id: number;
  readonly executionBytes: number;
  readonly unrollBytes: number;
  /** Counts in N: it is in the execution pool's map. */
  readonly isActive: boolean;
  /** What it waits for, in bytes, and the index of the operation that asked. */
  readonly waitsFor: number | null;
  readonly waitsAt: number | null;
}

/** The pools of one memory mode, bytes. */
export interface LabPools {
  readonly max: number;
  readonly region: number;
  readonly storagePoolSize: number;
  readonly storageMemoryUsed: number;
  readonly unrollMemoryUsed: number;
  readonly executionPoolSize: number;
  readonly executionMemoryUsed: number;
  /** Eldest first. */
  readonly blocks: readonly LabBlock[];
  readonly tasks: readonly LabTask[];
}

/** Both modes. */
export interface LabState {
  readonly on: LabPools;
  /** Of size 0 when there is no off-heap memory. */
  readonly off: LabPools;
}

/** How the executor is laid out: the header of a trace. */
export interface LabHeader {
  /** On-heap memory of the manager, bytes. */
  readonly heap: number;
  /** Off-heap memory, bytes. */
  readonly off: number;
  /** spark.memory.storageFraction. */
  readonly frac: number;
  /** spark.storage.unrollMemoryThreshold, .unrollMemoryCheckPeriod, .unrollMemoryGrowthFactor. */
  readonly unrollThreshold: number;
  readonly checkPeriod: number;
  readonly growth: number;
  /** The version whose rules hold; without it 2.4.0. */
  readonly spark?: string;
  readonly unmanagedPollMs?: number;
}

/** An operation as the traces name it: its arguments and nothing of its outcome. */
export interface LabOperation {
  readonly op: string;
  /** Memory mode. */
  readonly m?: "ON" | "OFF";
  /** Task attempt id. */
  readonly t?: number;
  /** Block name. */
  readonly b?: string;
  /** Bytes. */
  readonly n?: number;
  /** unrollPut: elements, bytes of each, precise size (below 0: their sum). */
  readonly cnt?: number;
  readonly el?: number;
  readonly p?: number;
  /** cancel: index of the acquire that waits. */
  readonly at?: number;
  /** setDrop, unmReg: how. */
  readonly mode?: string;
  /** In which order the waiting acquires are woken: their operations' indexes. */
  readonly wk?: readonly (readonly [number, number])[];
}

/** Something that a step caused besides its own answer, in order. */
export type LabEvent =
  | { readonly kind: "evicted"; readonly block: string }
  | { readonly kind: "granted"; readonly task: number; readonly bytes: number }
  | { readonly kind: "waitsOn"; readonly task: number }
  | { readonly kind: "failed"; readonly task: number };

/** How an operation ended: its answer as in the traces, or what Spark throws, class and message. */
export type LabOutcome =
  | { readonly answer: unknown; readonly error: null }
  | { readonly answer: null; readonly error: string };

/** One step. */
export interface LabStep {
  readonly index: number;
  readonly operation: LabOperation;
  readonly outcome: LabOutcome;
  readonly events: readonly LabEvent[];
  readonly before: LabState;
  readonly after: LabState;
}

/** The pools of a memory mode. */
export function poolsOf(state: LabState, mode: "ON" | "OFF"): LabPools {
  return mode === "ON" ? state.on : state.off;
}
