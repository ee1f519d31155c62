/** The blocks of the model: one access order over both modes, as Spark's MemoryStore has it, and the read locks. */

import { MemoryError, type MemoryMode } from "../../src/kernel.ts";

export interface Entry {
  readonly size: number;
  readonly mode: MemoryMode;
  readonly deserialized: boolean;
  readonly useDisk: boolean;
}

/** Declared blocks, blocks in memory in access order, known blocks with their readers. */
export class BlockStore {
  /** RDD of each declared block; null when it is of none. */
  readonly #rdds = new Map<number, number | null>();
  readonly #freeIds: number[] = [];
  /** Eldest first: a Map keeps the order of insertion. */
  readonly entries = new Map<number, Entry>();
  /** Read locks of every known block: those in memory, and those that were dropped to disk. */
  readonly readers = new Map<number, number>();

  declare(rdd: number): number {
    const id = this.#freeIds.pop() ?? this.#rdds.size;
    this.#rdds.set(id, rdd < 0 ? null : rdd);
    return id;
  }

  forget(id: number): void {
    this.checkDeclared(id);
    if (this.readers.has(id)) throw new MemoryError("BLOCK_IN_USE");
    this.#rdds.delete(id);
    this.#freeIds.push(id);
  }

  checkDeclared(id: number): void {
    if (!this.#rdds.has(id)) throw new MemoryError("BAD_BLOCK");
  }

  rddOf(id: number): number | null {
    return this.#rdds.get(id) ?? null;
  }

  /** Makes a block the youngest. */
  touch(id: number): void {
    const entry = this.entries.get(id)!;
    this.entries.delete(id);
    this.entries.set(id, entry);
  }

  isLocked(id: number): boolean {
    return (this.readers.get(id) ?? 0) > 0;
  }

  /**
   * The blocks that eviction for `forBlock` (null: for nobody) would drop to free `space` bytes, eldest first; null
   * when there are not enough.
   */
  victims(space: number, mode: MemoryMode, forBlock: number | null): number[] | null {
    const rdd = forBlock === null ? null : this.rddOf(forBlock);
    const selected: number[] = [];
    let freed = 0;
    for (const [id, entry] of this.entries) {
      if (freed >= space) break;
      if (entry.mode !== mode || this.isLocked(id)) continue;
      if (rdd !== null && rdd === this.rddOf(id)) continue;
      selected.push(id);
      freed += entry.size;
    }
    return freed >= space ? selected : null;
  }
}
