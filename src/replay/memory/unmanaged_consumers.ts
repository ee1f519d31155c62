/**
 * The registry of unmanaged memory consumers (UnifiedMemoryManager's companion object, since 4.1, SPARK-53001).
 *
 * @module
 */
import { type MemoryMode, OFF_HEAP, ON_HEAP } from "../../kernel.ts";

/** Java's Long.MIN_VALUE: in traces, a consumer whose getMemBytesUsed throws. */
const THROWS = -(2 ** 63);
/** What a consumer says when it is no longer active. */
const INACTIVE = -1;

interface Consumer {
  readonly mode: MemoryMode;
  bytesUsed: number;
}

/**
 * Consumers and the two cached counters that a poll fills from them. Between polls the counters stand still.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { ON_HEAP } from "../../kernel.ts";
 * import { UnmanagedConsumers } from "./unmanaged_consumers.ts";
 *
 * const consumers = new UnmanagedConsumers();
 * consumers.register("RocksDB:a", 300, ON_HEAP);
 * assertEquals(consumers.used, [0, 0]);
 * assertEquals(consumers.poll(), 1);
 * assertEquals(consumers.used, [300, 0]);
 * ```
 */
export class UnmanagedConsumers {
  /** The cached counters: on-heap, off-heap. */
  readonly used: [number, number] = [0, 0];
  readonly #registered = new Map<string, Consumer>();
  /** Every consumer that there ever was, so that it can be told of after its removal. */
  readonly #all = new Map<string, Consumer>();

  /** Registers a consumer; one with the same id is replaced. */
  register(id: string, bytesUsed: number, mode: MemoryMode): void {
    const consumer = { mode, bytesUsed };
    this.#registered.set(id, consumer);
    this.#all.set(id, consumer);
  }

  /** Sets what a consumer will say at the next poll; false when there never was such a consumer. */
  setBytesUsed(id: string, bytesUsed: number): boolean {
    const consumer = this.#all.get(id);
    if (consumer === undefined) return false;
    consumer.bytesUsed = bytesUsed;
    return true;
  }

  /** Unregisters a consumer; the counters keep its bytes until the next poll. False when there never was such a one. */
  unregister(id: string): boolean {
    this.#registered.delete(id);
    return this.#all.has(id);
  }

  /** Removes all consumers and zeroes the counters at once. */
  clear(): void {
    this.#registered.clear();
    this.used.fill(0);
  }

  /** Asks every consumer and sets the counters; inactive ones are removed. Gives the number of consumers left. */
  poll(): number {
    const sums: [number, number] = [0, 0];
    for (const [id, { mode, bytesUsed }] of this.#registered) {
      if (bytesUsed === INACTIVE) this.#registered.delete(id);
      else if (bytesUsed !== THROWS && bytesUsed > 0) sums[mode] += bytesUsed;
    }
    this.used[ON_HEAP] = sums[ON_HEAP];
    this.used[OFF_HEAP] = sums[OFF_HEAP];
    return this.#registered.size;
  }

  /** Consumers that are registered. */
  get count(): number {
    return this.#registered.size;
  }
}
