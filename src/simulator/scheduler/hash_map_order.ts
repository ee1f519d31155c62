/**
 * The order in which scala.collection.mutable.HashMap iterates over its keys.
 *
 * Spark's task set manager walks such maps where the order has consequences: pending tasks by executor and by host,
 * task infos by task id.
 *
 * @module
 */
import { bucket212, type ScalaCollections } from "./hash_set_order.ts";

const NONE = -1;
/** Seed of a Scala 2.12 HashMap: bit count of its first table's length less 1; it stays when the table grows. */
const SEED_212 = 4;

/** Keys (dense non-negative integers), each with the hash code that Scala places it by, in Scala's order of iteration. */
export class KeyOrder {
  readonly #scala213: boolean;
  /** First key of each bucket. */
  #heads = new Int32Array(16).fill(NONE);
  /** By key: the next key of the same bucket, and the hash. */
  #next = new Int32Array(16);
  #hashes = new Int32Array(16);
  #present = new Uint8Array(16);
  #size = 0;
  /** No bucket before this one in the order of iteration has a key. */
  #first: number;

  constructor(collections: ScalaCollections) {
    this.#scala213 = collections === "2.13";
    this.#first = this.#scala213 ? 15 : 0;
  }

  has(key: number): boolean {
    return key < this.#present.length && this.#present[key] === 1;
  }

  /** Adds a key that is not there. */
  add(key: number, hash: number): void {
    this.#reserve(key);
    this.#present[key] = 1;
    if (this.#scala213) {
      if (this.#size + 1 >= Math.floor(this.#heads.length * 0.75)) {
        this.#grow213();
      }
      this.#hashes[key] = hash ^ (hash >>> 16);
      this.#insertSorted(key);
      this.#size++;
    } else {
      this.#hashes[key] = hash;
      this.#insertFirst(key);
      this.#size++;
      if (this.#size > Math.floor(this.#heads.length * 0.75)) this.#grow212();
    }
  }

  /** Removes a key that is there. */
  delete(key: number): void {
    const bucket = this.#bucketOf(key);
    if (this.#heads[bucket] === key) {
      this.#heads[bucket] = this.#next[key];
    } else {
      let before = this.#heads[bucket];
      while (this.#next[before] !== key) before = this.#next[before];
      this.#next[before] = this.#next[key];
    }
    this.#present[key] = 0;
    this.#size--;
  }

  /** Visits the keys in order until `visit` returns true; whether one did. The map must not change meanwhile. */
  some(visit: (key: number) => boolean): boolean {
    if (this.#size === 0) return false;
    const heads = this.#heads;
    const step = this.#scala213 ? 1 : -1;
    while (heads[this.#first] === NONE) this.#first += step;
    for (
      let bucket = this.#first;
      bucket >= 0 && bucket < heads.length;
      bucket += step
    ) {
      for (let key = heads[bucket]; key !== NONE; key = this.#next[key]) {
        if (visit(key)) return true;
      }
    }
    return false;
  }

  #bucketOf(key: number): number {
    return this.#scala213
      ? this.#hashes[key] & (this.#heads.length - 1)
      : bucket212(this.#hashes[key], this.#heads.length, SEED_212);
  }

  #noteBucket(bucket: number): void {
    const earlier = this.#scala213 ? bucket < this.#first : bucket > this.#first;
    if (earlier) this.#first = bucket;
  }

  /** Scala 2.12 puts a new entry at the head of its bucket. */
  #insertFirst(key: number): void {
    const bucket = this.#bucketOf(key);
    this.#next[key] = this.#heads[bucket];
    this.#heads[bucket] = key;
    this.#noteBucket(bucket);
  }

  /** Scala 2.13 keeps a bucket sorted by hash; an equal hash goes behind. */
  #insertSorted(key: number): void {
    const bucket = this.#bucketOf(key);
    let before = NONE;
    let after = this.#heads[bucket];
    while (after !== NONE && this.#hashes[after] <= this.#hashes[key]) {
      before = after;
      after = this.#next[after];
    }
    this.#next[key] = after;
    if (before === NONE) this.#heads[bucket] = key;
    else this.#next[before] = key;
    this.#noteBucket(bucket);
  }

  /** Scala 2.12 moves the entries from the last bucket to the first, each to the head of its new bucket. */
  #grow212(): void {
    const old = this.#heads;
    this.#heads = new Int32Array(old.length * 2).fill(NONE);
    this.#first = 0;
    for (let bucket = old.length - 1; bucket >= 0; bucket--) {
      let key = old[bucket];
      while (key !== NONE) {
        const after = this.#next[key];
        this.#insertFirst(key);
        key = after;
      }
    }
  }

  /** Scala 2.13 splits each bucket, keeping the order. */
  #grow213(): void {
    const old = this.#heads;
    this.#heads = new Int32Array(old.length * 2).fill(NONE);
    this.#first = this.#heads.length - 1;
    for (const head of old) {
      let key = head;
      while (key !== NONE) {
        const after = this.#next[key];
        this.#insertSorted(key);
        key = after;
      }
    }
  }

  #reserve(key: number): void {
    if (key < this.#next.length) return;
    const length = Math.max(key + 1, this.#next.length * 2);
    const grown = <T extends Int32Array | Uint8Array>(old: T, fresh: T): T => {
      fresh.set(old);
      return fresh;
    };
    this.#next = grown(this.#next, new Int32Array(length));
    this.#hashes = grown(this.#hashes, new Int32Array(length));
    this.#present = grown(this.#present, new Uint8Array(length));
  }
}

/**
 * The keys in the order of a HashMap into which they were put one by one (no key twice).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { mapKeyOrder } from "./hash_map_order.ts";
 *
 * assertEquals(mapKeyOrder("2.12", [0, 1]), [1, 0]); // real Scala 2.12.7: message of trace b13
 * assertEquals(mapKeyOrder("2.13", [1, 0]), [0, 1]);
 * ```
 */
export function mapKeyOrder(
  collections: ScalaCollections,
  keys: ArrayLike<number>,
): number[] {
  const order = new KeyOrder(collections);
  for (let i = 0; i < keys.length; i++) order.add(i, keys[i]);
  const found: number[] = [];
  order.some((position) => {
    found.push(keys[position]);
    return false;
  });
  return found;
}
