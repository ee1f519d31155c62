/**
 * Which executors have been idle for too long (ExecutorAllocationManager.removeTimes up to 2.4,
 * org.apache.spark.scheduler.dynalloc.ExecutorMonitor since 3.0).
 *
 * @module
 */
import type { AllocationSettings } from "./allocation_settings.ts";
import { KeyOrder } from "./hash_map_order.ts";
import type { NameTable } from "./names.ts";

/** One executor. */
interface Tracked {
  running: number;
  /** When it became idle; null: it runs tasks. */
  idleSinceMs: number | null;
  /** When it may be removed. */
  timeoutAtMs: number;
  isPendingRemoval: boolean;
  /** It has a shuffle that an active job needs. */
  hasActiveShuffle: boolean;
  /** Shuffles that it has written. */
  readonly shuffles: Set<number>;
}

/** Idle times of executors. */
export class IdleExecutors {
  readonly #settings: AllocationSettings;
  readonly #names: NameTable;
  readonly #nowMs: () => number;
  /** Whether an executor has cached blocks now. */
  readonly #hasCachedBlocks: (executor: number) => boolean;
  readonly #executors = new Map<number, Tracked>();
  /** Order in which Spark 2.4 walks its map of times. */
  readonly #timed: KeyOrder;
  /** No executor times out before. */
  #nextTimeoutMs = Infinity;

  constructor(
    settings: AllocationSettings,
    context: {
      readonly executors: NameTable;
      readonly nowMs: () => number;
      readonly hasCachedBlocks: (executor: number) => boolean;
    },
  ) {
    this.#settings = settings;
    this.#names = context.executors;
    this.#nowMs = context.nowMs;
    this.#hasCachedBlocks = context.hasCachedBlocks;
    this.#timed = new KeyOrder(settings.rules.scheduler.hashOrder);
  }

  /** Executors there are, those on their way out included. */
  get size(): number {
    return this.#executors.size;
  }

  /** No executor times out before, ms; -Infinity: not known. */
  get nextTimeoutMs(): number {
    return this.#nextTimeoutMs;
  }

  get pendingRemovals(): number {
    let pending = 0;
    for (const { isPendingRemoval } of this.#executors.values()) if (isPendingRemoval) pending++;
    return pending;
  }

  get #followsBlocks(): boolean {
    return this.#settings.rules.scheduler.allocationTracksAttempts;
  }

  /** An executor registered, or runs its first task. */
  add(executor: number): void {
    if (this.#executors.has(executor)) return;
    const tracked: Tracked = {
      running: 0,
      idleSinceMs: null,
      timeoutAtMs: Infinity,
      isPendingRemoval: false,
      hasActiveShuffle: false,
      shuffles: new Set(),
    };
    this.#executors.set(executor, tracked);
    if (this.#followsBlocks) this.#becomeIdle(executor, tracked);
    // Up to 2.4 a new executor gives all idle ones without a time a new one.
    else for (const [id, each] of this.#executors) if (each.running === 0) this.#becomeIdle(id, each);
  }

  remove(executor: number): void {
    this.#untime(executor);
    this.#executors.delete(executor);
    this.#nextTimeoutMs = -Infinity;
  }

  taskStarted(executor: number): void {
    this.add(executor);
    const tracked = this.#executors.get(executor)!;
    tracked.running++;
    tracked.idleSinceMs = null;
    tracked.timeoutAtMs = Infinity;
    this.#untime(executor);
  }

  taskEnded(executor: number): void {
    const tracked = this.#executors.get(executor);
    if (tracked === undefined) return;
    tracked.running = Math.max(0, tracked.running - 1);
    if (tracked.running === 0) this.#becomeIdle(executor, tracked);
  }

  #becomeIdle(executor: number, tracked: Tracked): void {
    // Up to 2.4 the time is set once, and not again while a removal is on its way.
    if (!this.#followsBlocks && (tracked.isPendingRemoval || this.#timed.has(executor))) return;
    tracked.idleSinceMs = this.#nowMs();
    this.#updateTimeout(executor, tracked);
  }

  /** Cached blocks of an executor came or went: since 3.0 its timeout follows. */
  blocksChanged(executor: number): void {
    const tracked = this.#executors.get(executor);
    if (tracked !== undefined && this.#followsBlocks) this.#updateTimeout(executor, tracked);
  }

  #updateTimeout(executor: number, tracked: Tracked): void {
    if (tracked.idleSinceMs === null) return;
    const { idleTimeoutMs, cachedIdleTimeoutMs, shuffleTimeoutMs } = this.#settings;
    const cached = this.#hasCachedBlocks(executor);
    let timeoutMs = cached ? cachedIdleTimeoutMs : idleTimeoutMs;
    if (this.#followsBlocks) {
      timeoutMs = Math.max(timeoutMs, idleTimeoutMs);
      if (tracked.shuffles.size > 0) timeoutMs = Math.max(timeoutMs, shuffleTimeoutMs ?? 0);
    }
    tracked.timeoutAtMs = tracked.idleSinceMs + timeoutMs;
    this.#nextTimeoutMs = Math.min(this.#nextTimeoutMs, tracked.timeoutAtMs);
    if (!this.#timed.has(executor)) this.#timed.add(executor, this.#names.hashOf(executor));
  }

  #untime(executor: number): void {
    if (this.#timed.has(executor)) this.#timed.delete(executor);
  }

  /** A map task of a shuffle succeeded there (with shuffle tracking). */
  wroteShuffle(executor: number, shuffleId: number): void {
    const tracked = this.#executors.get(executor);
    if (tracked === undefined || tracked.shuffles.has(shuffleId)) return;
    tracked.shuffles.add(shuffleId);
    tracked.hasActiveShuffle = true;
  }

  /** Jobs came or went: which shuffles are needed by an active one. */
  activeShufflesChanged(isActive: (shuffleId: number) => boolean): void {
    for (const [executor, tracked] of this.#executors) {
      tracked.hasActiveShuffle = [...tracked.shuffles].some(isActive);
      this.#updateTimeout(executor, tracked);
    }
    this.#nextTimeoutMs = -Infinity;
  }

  /** The executor is being killed. */
  killed(executor: number): void {
    const tracked = this.#executors.get(executor);
    if (tracked !== undefined) tracked.isPendingRemoval = true;
  }

  /**
   * Executors whose time is over, in Spark's order: by name since 3.0; up to 2.4 in that of its hash map, and their time
   * is then forgotten, whether they are removed or not.
   */
  timedOut(): number[] {
    const nowMs = this.#nowMs();
    if (nowMs < this.#nextTimeoutMs) return [];
    const over: number[] = [];
    this.#nextTimeoutMs = Infinity;
    this.#timed.some((executor) => {
      const tracked = this.#executors.get(executor)!;
      if (tracked.isPendingRemoval || tracked.hasActiveShuffle) return false;
      if (tracked.timeoutAtMs <= nowMs) over.push(executor);
      else this.#nextTimeoutMs = Math.min(this.#nextTimeoutMs, tracked.timeoutAtMs);
      return false;
    });
    if (!this.#followsBlocks) {
      for (const executor of over) this.#untime(executor);
      return over;
    }
    // They stay due until they are killed or run a task.
    if (over.length > 0) this.#nextTimeoutMs = nowMs;
    const name = (executor: number) => this.#names.nameOf(executor);
    return over.sort((a, b) => name(a) < name(b) ? -1 : 1);
  }
}
