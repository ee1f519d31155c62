/**
 * Sets of non-negative integers that iterate in the order of scala.collection.mutable.HashSet[Int].
 *
 * Spark's scheduler walks such sets where the order decides what happens next: stages of a job, waiting children,
 * failed stages, running tasks, speculatable tasks. The order differs between Scala 2.12 (Spark up to 3.5 as
 * published with it; 2.11 is the same) and Scala 2.13 (Spark 4). Hash of an element is the integer itself: Stage.hashCode is its id.
 *
 * @module
 */

/** Whose mutable collections decide the order of iteration. */
export type ScalaCollections = "2.12" | "2.13";

/** A set of non-negative integers with Scala's order of iteration. */
export interface IntSet {
  readonly size: number;
  has(value: number): boolean;
  /** True when it was not there. */
  add(value: number): boolean;
  /** True when it was there. */
  delete(value: number): boolean;
  /** Empties it; the table keeps its length, as in Scala. */
  clear(): void;
  /** The elements in the order of iteration. */
  toArray(): number[];
}

/** Multiplier of scala.util.hashing.byteswap32. */
const BYTESWAP = 0x9e3775cd;

function bitCount(value: number): number {
  let count = 0;
  for (let rest = value; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/**
 * Bucket of a hash in Scala 2.12's hash tables of a power-of-two length: the highest bits of the hash, scrambled and
 * rotated by a seed.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { bucket212 } from "./hash_set_order.ts";
 *
 * assertEquals(bucket212(0, 32, 5), 0);
 * ```
 */
export function bucket212(hash: number, length: number, seed: number): number {
  const scrambled = Math.imul(hash, BYTESWAP);
  const swapped = (scrambled << 24) | ((scrambled << 8) & 0xff0000) |
    ((scrambled >>> 8) & 0xff00) | (scrambled >>> 24);
  const mixed = Math.imul(swapped, BYTESWAP);
  const rotated = (mixed >>> seed) | (mixed << (32 - seed));
  return rotated >>> (Math.clz32(length) + 1);
}

const EMPTY = -1;

/** HashSet of Scala 2.12: open addressing with linear probing (FlatHashTable), at most 45 % full. */
class FlatIntSet implements IntSet {
  #table = new Int32Array(32).fill(EMPTY);
  #seed = 5;
  #threshold = 14;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  #slotOf(value: number): number {
    const mask = this.#table.length - 1;
    let slot = bucket212(value, this.#table.length, this.#seed);
    while (this.#table[slot] !== EMPTY && this.#table[slot] !== value) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  has(value: number): boolean {
    return this.#table[this.#slotOf(value)] === value;
  }

  add(value: number): boolean {
    const slot = this.#slotOf(value);
    if (this.#table[slot] === value) return false;
    this.#table[slot] = value;
    this.#size++;
    if (this.#size >= this.#threshold) this.#grow();
    return true;
  }

  delete(value: number): boolean {
    const table = this.#table;
    let hole = this.#slotOf(value);
    if (table[hole] !== value) return false;
    const mask = table.length - 1;
    for (let slot = (hole + 1) & mask; table[slot] !== EMPTY; slot = (slot + 1) & mask) {
      const home = bucket212(table[slot], table.length, this.#seed);
      if (home !== slot && this.#precedes(home, hole)) {
        table[hole] = table[slot];
        hole = slot;
      }
    }
    table[hole] = EMPTY;
    this.#size--;
    return true;
  }

  /** Whether slot `a` comes before slot `b`, or is the same, going round the table the short way. */
  #precedes(a: number, b: number): boolean {
    const half = this.#table.length >> 1;
    return a <= b ? b - a < half : a - b > half;
  }

  #grow(): void {
    const old = this.#table;
    this.#table = new Int32Array(old.length * 2).fill(EMPTY);
    this.#seed = bitCount(this.#table.length - 1);
    this.#threshold = Math.floor(this.#table.length * 450 / 1000);
    this.#size = 0;
    for (const value of old) if (value !== EMPTY) this.add(value);
  }

  clear(): void {
    this.#table.fill(EMPTY);
    this.#size = 0;
  }

  toArray(): number[] {
    const values: number[] = [];
    for (const value of this.#table) if (value !== EMPTY) values.push(value);
    return values;
  }
}

/**
 * HashSet of Scala 2.13: buckets by the lowest bits of hash ^ (hash >>> 16), each sorted by that. So the order depends
 * on the elements and on the length of the table alone.
 */
class ChainedIntSet implements IntSet {
  readonly #values = new Set<number>();
  #length = 16;

  get size(): number {
    return this.#values.size;
  }

  has(value: number): boolean {
    return this.#values.has(value);
  }

  add(value: number): boolean {
    // It grows before it looks whether the element is there.
    if (this.#values.size + 1 >= Math.floor(this.#length * 0.75)) {
      this.#length *= 2;
    }
    if (this.#values.has(value)) return false;
    this.#values.add(value);
    return true;
  }

  delete(value: number): boolean {
    return this.#values.delete(value);
  }

  clear(): void {
    this.#values.clear();
  }

  toArray(): number[] {
    const mask = this.#length - 1;
    const improved = (value: number) => value ^ (value >>> 16);
    return [...this.#values].sort((a, b) => {
      const x = improved(a);
      const y = improved(b);
      return (x & mask) - (y & mask) || x - y;
    });
  }
}

/**
 * An empty set, as `new mutable.HashSet[Int]`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { newIntSet } from "./hash_set_order.ts";
 *
 * const stages = newIntSet("2.12");
 * for (const id of [4, 5, 6]) stages.add(id);
 * assertEquals(stages.toArray(), [5, 6, 4]); // real Scala 2.12.7: conformance trace a71
 * ```
 */
export function newIntSet(collections: ScalaCollections): IntSet {
  return collections === "2.12" ? new FlatIntSet() : new ChainedIntSet();
}

/**
 * The elements in the order of a new set into which they were put one by one: what `set.filter(...)` and
 * `set.map(...)` yield.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { freshSetOrder } from "./hash_set_order.ts";
 *
 * assertEquals(freshSetOrder("2.13", [6, 5, 4]), [4, 5, 6]);
 * ```
 */
export function freshSetOrder(
  collections: ScalaCollections,
  values: Iterable<number>,
): number[] {
  const set = newIntSet(collections);
  for (const value of values) set.add(value);
  return set.toArray();
}
