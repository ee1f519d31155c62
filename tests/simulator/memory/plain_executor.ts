import {
  type ExecutionMemory,
  type MemoryMode,
  OFF_HEAP,
  ON_HEAP,
  WAITING,
} from "../../../src/simulator/memory/execution_memory.ts";

/** One memory mode's two pools and the tasks in the execution pool, as plain numbers. */
class Pools {
  storageUsed = 0;
  executionUsed = 0;
  readonly tasks = new Map<number, number>();

  constructor(
    readonly max: number,
    readonly region: number,
    public storagePool = region,
    public executionPool = max - region,
  ) {}
}

/**
 * The execution memory of an executor from arithmetic alone, without cached blocks: SEMANTICS section 5 in the
 * fewest lines, so that consumers can be tested without the kernel. Waiters are kept, and served by `serve`.
 */
export class PlainExecutor implements ExecutionMemory {
  readonly waiting: {
    taskAttemptId: number;
    numBytes: number;
    mode: MemoryMode;
  }[] = [];
  readonly log: [
    kind: "acquire" | "release",
    taskAttemptId: number,
    bytes: number,
    granted: number,
  ][] = [];
  readonly #pools: readonly [Pools, Pools];

  constructor(options: {
    onHeap: number;
    offHeap?: number;
    storageFraction?: number;
  }) {
    const fraction = options.storageFraction ?? 0;
    const offHeap = options.offHeap ?? 0;
    this.#pools = [
      new Pools(options.onHeap, Math.trunc(options.onHeap * fraction)),
      new Pools(offHeap, Math.trunc(offHeap * fraction)),
    ];
  }

  acquireExecutionMemory(
    numBytes: number,
    taskAttemptId: number,
    mode: MemoryMode,
  ): number {
    const granted = this.#try(numBytes, taskAttemptId, mode);
    this.log.push(["acquire", taskAttemptId, numBytes, granted]);
    if (granted === WAITING) {
      this.waiting.push({ taskAttemptId, numBytes, mode });
    }
    return granted;
  }

  /** Tries the waiters again, first come first served; returns those that are served. */
  serve(): { taskAttemptId: number; granted: number }[] {
    const served: { taskAttemptId: number; granted: number }[] = [];
    for (const waiter of [...this.waiting]) {
      const granted = this.#try(
        waiter.numBytes,
        waiter.taskAttemptId,
        waiter.mode,
      );
      if (granted === WAITING) continue;
      this.waiting.splice(this.waiting.indexOf(waiter), 1);
      served.push({ taskAttemptId: waiter.taskAttemptId, granted });
    }
    return served;
  }

  releaseExecutionMemory(
    numBytes: number,
    taskAttemptId: number,
    mode: MemoryMode,
  ): void {
    this.log.push(["release", taskAttemptId, numBytes, 0]);
    const pools = this.#pools[mode];
    const held = pools.tasks.get(taskAttemptId) ?? 0;
    const released = Math.min(numBytes, held);
    pools.executionUsed -= released;
    if (held === released) pools.tasks.delete(taskAttemptId);
    else pools.tasks.set(taskAttemptId, held - released);
  }

  releaseAllExecutionMemoryForTask(taskAttemptId: number): number {
    let released = 0;
    for (const mode of [ON_HEAP, OFF_HEAP] as const) {
      const held = this.executionMemoryUsageForTask(taskAttemptId, mode);
      this.releaseExecutionMemory(held, taskAttemptId, mode);
      released += held;
    }
    return released;
  }

  executionMemoryUsageForTask(taskAttemptId: number, mode: MemoryMode): number {
    return this.#pools[mode].tasks.get(taskAttemptId) ?? 0;
  }

  executionMemoryUsed(mode: MemoryMode): number {
    return this.#pools[mode].executionUsed;
  }

  storageMemoryUsed(mode: MemoryMode): number {
    return this.#pools[mode].storageUsed;
  }

  #try(numBytes: number, taskAttemptId: number, mode: MemoryMode): number {
    const pools = this.#pools[mode];
    if (!pools.tasks.has(taskAttemptId)) pools.tasks.set(taskAttemptId, 0);
    const need = numBytes - (pools.executionPool - pools.executionUsed);
    const reclaimable = pools.storagePool - pools.storageUsed;
    if (need > 0 && reclaimable > 0) {
      const moved = Math.min(need, reclaimable);
      pools.storagePool -= moved;
      pools.executionPool += moved;
    }
    const active = pools.tasks.size;
    const held = pools.tasks.get(taskAttemptId)!;
    const maxPerTask = Math.floor(
      (pools.max - Math.min(pools.storageUsed, pools.region)) / active,
    );
    const minPerTask = Math.floor(pools.executionPool / (2 * active));
    const granted = Math.min(
      numBytes,
      Math.max(0, maxPerTask - held),
      pools.executionPool - pools.executionUsed,
    );
    if (granted < numBytes && held + granted < minPerTask) return WAITING;
    pools.executionUsed += granted;
    pools.tasks.set(taskAttemptId, held + granted);
    return granted;
  }
}
