/**
 * Memory that consumers outside the memory manager hold in an executor, as Spark sees it: polled from time to time
 * (UnifiedMemoryManager's poller, since 4.1, SPARK-53001).
 *
 * @module
 */
import { OFF_HEAP, ON_HEAP } from "../kernel/types.ts";
import type { SparkConf } from "../spark/conf.ts";
import type { EventSink } from "../spark/events.ts";
import type { Executor } from "./executor.ts";
import type { UnmanagedMemory } from "./workload.ts";

const INTERVAL = "spark.memory.unmanagedMemoryPollingInterval";

/** What the poller works with. */
export interface UnmanagedMemoryHost {
  readonly conf: SparkConf;
  readonly sink: EventSink;
  /** What the workload says; empty where it says nothing. */
  readonly recorded: readonly UnmanagedMemory[];
  /** Since the start of the application, ms. */
  elapsedMs(): number;
  after(delayMs: number, work: () => void): void;
}

/** Sets the counters of each executor's memory manager when a poll sees that they have changed. */
export class UnmanagedMemoryPoller {
  readonly #host: UnmanagedMemoryHost;
  readonly #intervalMs: number;

  constructor(host: UnmanagedMemoryHost) {
    this.#host = host;
    const { conf } = host;
    const polls = conf.rules.memory.unmanagedConsumers && conf.reads(INTERVAL);
    this.#intervalMs = polls ? conf.getTimeAsMs(INTERVAL) : 0;
  }

  /** Says where settings and workload do not go together. */
  start(): void {
    const { conf, recorded, sink } = this.#host;
    const known = recorded.length > 0;
    if (known === this.#intervalMs > 0) return;
    const message = !known
      ? `${INTERVAL}: what consumers outside the memory manager hold is in no log, and the spec does not say it: they ` +
        "count as holding nothing"
      : conf.rules.memory.unmanagedConsumers
      ? `The memory of consumers outside the memory manager has no effect, as ${INTERVAL} is 0`
      : `The memory of consumers outside the memory manager has no effect: Spark ${conf.sparkVersion} does not look at it`;
    sink.event({ kind: "warning", code: "simulation.unmanagedMemory", message, count: 1 });
  }

  /** An executor's process has begun: its first poll is at once, the others an interval apart. */
  executorStarted(executor: Executor): void {
    const { recorded } = this.#host;
    if (this.#intervalMs === 0) return;
    for (const mode of ["ON_HEAP", "OFF_HEAP"] as const) {
      const steps = recorded
        .filter((step) => step.memoryMode === mode && (step.executorId ?? executor.id) === executor.id)
        .sort((a, b) => a.atMs - b.atMs);
      this.#schedule(executor, steps);
    }
  }

  #schedule(executor: Executor, steps: readonly UnmanagedMemory[]): void {
    const { after, elapsedMs } = this.#host;
    const startMs = elapsedMs();
    const seenAt = (step: UnmanagedMemory) =>
      Math.ceil(Math.max(0, step.atMs - startMs) / this.#intervalMs) * this.#intervalMs;
    for (const [i, step] of steps.entries()) {
      // A poll sees only the last of what happened before it.
      if (i + 1 < steps.length && seenAt(steps[i + 1]) === seenAt(step)) continue;
      after(seenAt(step), () => {
        if (!executor.alive) return;
        executor.memory.setUnmanagedMemory(step.memoryMode === "ON_HEAP" ? ON_HEAP : OFF_HEAP, step.bytes);
      });
    }
  }
}
