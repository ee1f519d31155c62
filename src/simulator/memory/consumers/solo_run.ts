/**
 * One consumer alone in a task that may hold so much: what it would spill.
 *
 * @module
 */
import type { ConsumerKind } from "../../workload.ts";
import type { ExecutionMemory, MemoryMode } from "../execution_memory.ts";
import type { SpillRules } from "../spill_rules.ts";
import { TaskMemoryManager } from "../task_memory_manager.ts";
import { type ConsumerSettings, makeConsumer } from "./mod.ts";
import type { ConsumerInput } from "./stepped_consumer.ts";

/** What a task runs with. */
export interface TaskSettings {
  readonly pageSizeBytes: number;
  readonly tungstenMemoryMode: MemoryMode;
  /** Default: those of 2.4.0. */
  readonly rules?: SpillRules;
  readonly consumers?: ConsumerSettings;
}

/** How a run came out; bytes. */
export interface SoloResult {
  readonly memoryBytesSpilled: number;
  readonly diskBytesSpilled: number;
  readonly spillCount: number;
  readonly peakExecutionMemory: number;
  /** Most that the task held after a request, in both modes. */
  readonly peakHeld: number;
  /** It could not go on. */
  readonly failed: boolean;
}

/** Execution memory of a single task up to a limit. */
class LimitedMemory implements ExecutionMemory {
  readonly #limit: number;
  readonly #held: [number, number] = [0, 0];

  constructor(limit: number) {
    this.#limit = limit;
  }

  acquireExecutionMemory(numBytes: number, _task: number, mode: MemoryMode): number {
    const granted = Math.max(0, Math.min(numBytes, this.#limit - this.#held[mode]));
    this.#held[mode] += granted;
    return granted;
  }

  releaseExecutionMemory(numBytes: number, _task: number, mode: MemoryMode): void {
    this.#held[mode] -= numBytes;
  }

  releaseAllExecutionMemoryForTask(): number {
    const held = this.#held[0] + this.#held[1];
    this.#held.fill(0);
    return held;
  }

  executionMemoryUsageForTask(_task: number, mode: MemoryMode): number {
    return this.#held[mode];
  }

  executionMemoryUsed(mode: MemoryMode): number {
    return this.#held[mode];
  }

  storageMemoryUsed(): number {
    return 0;
  }
}

/**
 * Runs one consumer in a task that may hold up to `limit` bytes in each mode.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { ON_HEAP } from "../execution_memory.ts";
 * import { soloRun } from "./solo_run.ts";
 *
 * // A sort of Spark 3.5.9 (runs of this project's recordings): 970151 rows of 64 bytes, 84.15 MiB for the task.
 * const input = { name: "Sort", records: 970151, bytes: 970151 * 64, parameters: { radixSort: 1 } };
 * const task = { pageSizeBytes: 8388592, tungstenMemoryMode: ON_HEAP };
 * const { memoryBytesSpilled, peakExecutionMemory } = soloRun("UnsafeExternalSorter", input, 88237670, task);
 * assertEquals([memoryBytesSpilled, peakExecutionMemory], [41942960, 58720176]); // as recorded
 * ```
 */
export function soloRun(
  kind: ConsumerKind,
  input: ConsumerInput,
  limit: number,
  settings: TaskSettings,
): SoloResult {
  const task = new TaskMemoryManager(new LimitedMemory(limit), 0, settings);
  const consumer = makeConsumer(kind, task, input, { settings: settings.consumers });
  let result = consumer.step();
  while (result === "progress") result = consumer.step();
  const { memoryBytesSpilled, diskBytesSpilled, spillCount, peakExecutionMemory } = consumer;
  return {
    memoryBytesSpilled,
    diskBytesSpilled,
    spillCount,
    peakExecutionMemory,
    peakHeld: task.peakOnHeapMemory + task.peakOffHeapMemory,
    failed: result === "failed",
  };
}
