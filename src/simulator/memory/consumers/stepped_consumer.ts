/**
 * A model of one of Spark's memory consumers, run in steps: a step goes to the next request that the real consumer
 * would make of its task's memory manager, so a task costs as many steps as it makes requests, however many rows it has.
 *
 * @module
 */
import type { MemoryMode } from "../execution_memory.ts";
import { MemoryConsumer } from "../memory_consumer.ts";
import type { TaskMemoryManager } from "../task_memory_manager.ts";

/**
 * What a step came to: the consumer stands before its next request (`progress`, see
 * {@linkcode SteppedConsumer.nextAt}), its request waits for other tasks (`waiting`; step again once
 * {@linkcode TaskMemoryManager.resume} has ended), the task has to fail (`failed`, see
 * {@linkcode TaskMemoryManager.failure}), or the consumer has given back all its memory (`done`).
 */
export type StepResult = "progress" | "waiting" | "failed" | "done";

/** What a consumer is doing: taking its input in, or handing its output on. */
export type Phase = "fill" | "read";

/** What one task feeds a consumer with; free of settings. */
export interface ConsumerInput {
  /** For messages: plan node or RDD name. */
  readonly name: string;
  readonly records: number;
  /** In the form in which the consumer holds them: UnsafeRow bytes, or estimated bytes of objects. */
  readonly bytes: number;
  /** Distinct keys; default: one for each record. */
  readonly keys?: number;
  /** What a byte in memory becomes on disk when spilled; default 1. */
  readonly diskBytesPerByte?: number;
  /** Further figures of a kind, documented by its model. */
  readonly parameters?: Readonly<Record<string, number>>;
}

/** One spill, told when it happens; bytes. */
export interface SpillReport {
  readonly consumer: SteppedConsumer;
  /** Who asked for memory; the consumer itself when it spilled for its own request. */
  readonly trigger: MemoryConsumer;
  /** What it adds to the task's memoryBytesSpilled. */
  readonly memoryBytes: number;
  /** What it adds to the task's diskBytesSpilled. */
  readonly diskBytes: number;
}

/** What the one who runs a consumer tells it. */
export interface ConsumerHost {
  /** How far the consumer is in its phase, 0 to 1; default: where its last step left it. */
  position?(consumer: SteppedConsumer): number;
  spilled?(report: SpillReport): void;
}

/** Base of the models. */
export abstract class SteppedConsumer extends MemoryConsumer {
  phase: Phase = "fill";
  /** Where in its phase the next request comes, 0 to 1; the phase ends at 1. */
  nextAt = 0;
  memoryBytesSpilled = 0;
  diskBytesSpilled = 0;
  spillCount = 0;
  readonly name: string;
  readonly input: ConsumerInput;
  readonly host: ConsumerHost;

  constructor(
    taskMemoryManager: TaskMemoryManager,
    mode: MemoryMode,
    input: ConsumerInput,
    options: { host?: ConsumerHost; pageSize?: number } = {},
  ) {
    super(taskMemoryManager, mode, { pageSize: options.pageSize });
    this.name = input.name;
    this.input = input;
    this.host = options.host ?? {};
  }

  /** What its operator adds to the task's peakExecutionMemory metric; bytes. */
  abstract get peakExecutionMemory(): number;

  /** Makes the next request, then goes on to where the one after it comes. The end gives back all memory. */
  abstract step(): StepResult;

  /** Counts a spill and tells of it. */
  protected countSpill(
    trigger: MemoryConsumer,
    memoryBytes: number,
    diskBytes: number,
  ): void {
    this.spillCount++;
    this.memoryBytesSpilled += memoryBytes;
    this.diskBytesSpilled += diskBytes;
    this.host.spilled?.({ consumer: this, trigger, memoryBytes, diskBytes });
  }

  /** How far the consumer is in its phase. */
  protected position(): number {
    return this.host.position?.(this) ?? this.nextAt;
  }
}
