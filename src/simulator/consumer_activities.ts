/**
 * A task's memory consumers as steps of its computing.
 *
 * @module
 */
import { makeConsumer } from "./memory/consumers/mod.ts";
import type { ConsumerHost, SpillReport, SteppedConsumer } from "./memory/consumers/stepped_consumer.ts";
import { WAITING } from "./memory/execution_memory.ts";
import type { Activity, StepOutcome, TaskFailure } from "./process.ts";
import { WAIT } from "./process.ts";
import type { Task } from "./task.ts";
import type { ConsumerDemand, ConsumerKind } from "./workload.ts";

/** Kinds that take nothing before a record comes. */
const TAKES_NOTHING_EMPTY: ReadonlySet<ConsumerKind> = new Set<ConsumerKind>([
  "ExternalAppendOnlyMap",
  "ExternalSorter",
  "Raw",
]);

/** The consumers of one task, without those that take no memory in it. */
export function consumerActivities(
  task: Task,
  demands: readonly ConsumerDemand[],
  partition: number,
): ConsumerActivity[] {
  const activities: ConsumerActivity[] = [];
  for (const demand of demands) {
    if (demand.records[partition] > 0 || startsEmpty(demand, partition)) {
      activities.push(new ConsumerActivity(task, demand, partition));
    }
  }
  return activities;
}

/** Whether an operator runs in a partition in which no row reaches it. */
function startsEmpty({ kind, absentIn }: ConsumerDemand, partition: number): boolean {
  return !TAKES_NOTHING_EMPTY.has(kind) && !(absentIn?.includes(partition) ?? false);
}

/** One consumer: it fills from `start` to `fillEnd` of the computing, and is read and let go until `release`. */
export class ConsumerActivity implements Activity, ConsumerHost {
  next = 0;
  readonly #task: Task;
  readonly #demand: ConsumerDemand;
  readonly #consumer: SteppedConsumer;

  constructor(task: Task, demand: ConsumerDemand, partition: number) {
    this.#task = task;
    this.#demand = demand;
    this.next = demand.start;
    const input = {
      name: demand.name,
      records: demand.records[partition],
      bytes: demand.bytes[partition],
      keys: demand.keys?.[partition],
      diskBytesPerByte: demand.diskBytesPerByte ?? undefined,
      parameters: demand.parameters,
    };
    this.#consumer = makeConsumer(demand.kind, task.memoryManager, input, {
      host: this,
      settings: task.environment.consumerSettings,
      tungsten: demand.tungsten,
    });
  }

  step(): StepOutcome {
    this.#task.executor.requester = this.#task;
    return this.#went(this.#consumer.step());
  }

  resume(granted: number): StepOutcome {
    const { executor, memoryManager } = this.#task;
    executor.requester = this.#task;
    if (memoryManager.resume(granted) === WAITING) return WAIT;
    return this.#went(this.#consumer.step());
  }

  /** How far the consumer is in its phase: others may make it spill in between its own steps. */
  position(consumer: SteppedConsumer): number {
    const from = this.#from(consumer.phase);
    const until = this.#until(consumer.phase);
    const at = until > from ? (this.#task.position - from) / (until - from) : 1;
    return Math.min(1, Math.max(0, at));
  }

  spilled({ consumer, trigger, memoryBytes, diskBytes }: SpillReport): void {
    const { environment, executor, metrics, id } = this.#task;
    metrics.memoryBytesSpilled += memoryBytes;
    metrics.diskBytesSpilled += diskBytes;
    const { cost } = environment;
    const ms = memoryBytes / cost.spillBytesPerMs + diskBytes / cost.diskBytesPerMs;
    this.#task.spillMs += ms;
    this.#task.mergeMs += ms;
    environment.sink.event({
      kind: "spill",
      time: environment.now(),
      executorId: executor.id,
      taskId: id.tid,
      consumer: consumer.name,
      memoryBytes,
      diskBytes,
      trigger: trigger.name,
    });
  }

  #went(result: ReturnType<SteppedConsumer["step"]>): StepOutcome {
    switch (result) {
      case "waiting":
        return WAIT;
      case "failed":
        return this.#failed();
      case "done":
        this.#task.metrics.peakExecutionMemory! += this.#consumer.peakExecutionMemory;
        this.next = Infinity;
        return null;
      case "progress":
        this.next = this.#place();
        return null;
    }
  }

  /** Place of the consumer's next request in the computing. */
  #place(): number {
    const { phase, nextAt } = this.#consumer;
    const from = this.#from(phase);
    return from + nextAt * (this.#until(phase) - from);
  }

  /** Where a phase begins. What is full may have to wait for another consumer before it is read (`readFrom`). */
  #from(phase: SteppedConsumer["phase"]): number {
    const { start, fillEnd, release, parameters } = this.#demand;
    return phase === "fill" ? start : Math.min(parameters.readFrom ?? fillEnd, release);
  }

  /** Where a phase ends. */
  #until(phase: SteppedConsumer["phase"]): number {
    return phase === "fill" ? this.#demand.fillEnd : this.#demand.release;
  }

  #failed(): TaskFailure {
    const { environment, executor, id, memoryManager } = this.#task;
    const { className, message, outOfMemory } = memoryManager.failure!;
    if (outOfMemory !== null) {
      environment.sink.event({
        kind: "outOfMemory",
        time: environment.now(),
        executorId: executor.id,
        taskId: id.tid,
        consumer: outOfMemory.consumer,
        requested: outOfMemory.required,
        granted: outOfMemory.got,
      });
    }
    const description = message ?? "null";
    return {
      reason: { reason: "ExceptionFailure", className, description, fullStackTrace: `${className}: ${description}` },
    };
  }
}
