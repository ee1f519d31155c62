/**
 * A request of a task that was not met at once, and the consumers that may be made to spill for it.
 *
 * @module
 */
import type { MemoryConsumer } from "./memory_consumer.ts";
import type { SpillRules } from "./spill_rules.ts";

/** What a request is for; decides how it is completed. */
export type RequestKind = "memory" | "tablePage" | "page" | "array";

/**
 * Where a request stands: before or in its first call of the memory manager, at a consumer that spills, or in the call
 * after a spill that freed something.
 */
export type RequestPhase = "first" | "spilling" | "reacquiring";

/**
 * A request under way.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { rulesFor } from "../../spark/versions.ts";
 * import { ON_HEAP } from "./execution_memory.ts";
 * import type { MemoryConsumer } from "./memory_consumer.ts";
 * import { MemoryRequest } from "./memory_request.ts";
 *
 * const held = (used: number) => ({ used, mode: ON_HEAP }) as MemoryConsumer;
 * const [small, fitting, large, requester] = [held(10), held(60), held(90), held(5)];
 * const { spilling } = rulesFor("2.4.0");
 * const request = new MemoryRequest("memory", 50, 0, requester);
 * request.collect([small, fitting, large, requester], spilling);
 * const order = [];
 * while (request.choose(spilling)) {
 *   order.push(request.victim);
 *   request.strike();
 * }
 * // The smallest that suffices, then the next that does, then the largest of the rest, the requester last.
 * assertEquals(order, [fitting, large, small, requester]);
 * ```
 */
export class MemoryRequest {
  phase: RequestPhase = "first";
  /** Bytes granted so far. */
  got = 0;
  /** The others are through: the consumer itself spills (until 3.2). */
  own = false;
  /** Consumers that may still be asked, and the bytes they held when the search began; ascending, equals by order. */
  readonly #candidates: MemoryConsumer[] = [];
  readonly #keys: number[] = [];
  #chosen = 0;

  constructor(
    readonly kind: RequestKind,
    /** Bytes asked for. */
    readonly required: number,
    /** Bytes without which the consumer cannot go on. */
    readonly needed: number,
    readonly consumer: MemoryConsumer,
    /** The request for which a consumer spills that makes this one; null for a task's own. */
    readonly outer: MemoryRequest | null = null,
  ) {}

  get missing(): number {
    return this.required - this.got;
  }

  /** The consumer that spills, or spilled last. */
  get victim(): MemoryConsumer {
    return this.#candidates[this.#chosen];
  }

  /** Who may be asked: those that hold memory of the same mode now. */
  collect(consumers: readonly MemoryConsumer[], { selfSpill }: SpillRules): void {
    const { consumer } = this;
    for (const other of consumers) {
      if (other.used <= 0 || other.mode !== consumer.mode) continue;
      if (other === consumer && selfSpill !== "asConsumer") continue;
      const key = other === consumer ? 0 : other.used;
      let at = this.#keys.length;
      for (; at > 0 && this.#keys[at - 1] > key; at--) {
        this.#keys[at] = this.#keys[at - 1];
        this.#candidates[at] = this.#candidates[at - 1];
      }
      this.#keys[at] = key;
      this.#candidates[at] = other;
    }
  }

  /**
   * Picks the consumer to spill: of those that held at least what is missing the one with least, else the one with most;
   * of equals the last. At the end the requester itself, where it is not one of them. False when none is left.
   */
  choose({ selfSpill, largestFirst }: SpillRules): boolean {
    if (this.#keys.length === 0) {
      if (this.own || selfSpill === "asConsumer") return false;
      this.own = true;
      this.#candidates.push(this.consumer);
      this.#keys.push(this.consumer.used);
    }
    this.#chosen = this.own || !largestFirst ? 0 : this.#place();
    return true;
  }

  /** The chosen one is not asked again. */
  strike(): void {
    for (let i = this.#chosen + 1; i < this.#keys.length; i++) {
      this.#keys[i - 1] = this.#keys[i];
      this.#candidates[i - 1] = this.#candidates[i];
    }
    this.#keys.pop();
    this.#candidates.pop();
  }

  #place(): number {
    const keys = this.#keys;
    const { missing } = this;
    let at = 0;
    while (at < keys.length - 1 && keys[at] < missing) at++;
    while (at < keys.length - 1 && keys[at + 1] === keys[at]) at++;
    return at;
  }
}
