/**
 * The pages of a task: which numbers are taken, which pages are there (the page table of TaskMemoryManager).
 *
 * @module
 */
import type { MemoryBlock } from "./memory_consumer.ts";

/** Pages that a task can hold at a time (TaskMemoryManager.PAGE_TABLE_SIZE). */
export const PAGE_TABLE_SIZE = 8192;
/** Page number of a block that was freed (MemoryBlock.FREED_IN_TMM_PAGE_NUMBER). */
export const FREED_PAGE = -3;
/** Page numbers in a word of bits. */
const WORD = 30;
const ALL_FREE = 2 ** WORD - 1;

/**
 * A page table.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { PageTable } from "./page_table.ts";
 *
 * const table = new PageTable();
 * const first = table.add(100)!;
 * table.add(100);
 * table.remove(first);
 * assertEquals(table.add(50)?.pageNumber, 0); // the lowest that is free
 * ```
 */
export class PageTable {
  /** By page number. */
  readonly #pages: (MemoryBlock | null)[] = [];
  /** A bit for each number that is free, 30 to a word: so many stay small integers in every engine. */
  readonly #free: number[] = [ALL_FREE, ALL_FREE];
  /** No number in a word below this is free. */
  #lowest = 0;

  /** A page under the lowest free number; null when all are taken. */
  add(size: number): MemoryBlock | null {
    const free = this.#free;
    let word = this.#lowest;
    while (word < free.length && free[word] === 0) word++;
    this.#lowest = word;
    if (word === free.length) free.push(ALL_FREE);
    const bit = free[word] & -free[word];
    const pageNumber = word * WORD + 31 - Math.clz32(bit);
    if (pageNumber >= PAGE_TABLE_SIZE) return null;
    free[word] ^= bit;
    const page = { size, pageNumber };
    this.#pages[pageNumber] = page;
    return page;
  }

  /** Takes a page out; false when a clean-up did so before. */
  remove(page: MemoryBlock): boolean {
    const { pageNumber } = page;
    if (pageNumber < 0) return false;
    const word = Math.trunc(pageNumber / WORD);
    this.#pages[pageNumber] = null;
    this.#free[word] |= 1 << (pageNumber - word * WORD);
    if (word < this.#lowest) this.#lowest = word;
    page.pageNumber = FREED_PAGE;
    return true;
  }

  /** Frees all pages. Their numbers stay taken, as in Spark. */
  clear(): void {
    for (const page of this.#pages) {
      // After a clean-up the lower numbers stay taken without pages: the array has holes.
      if (page) page.pageNumber = FREED_PAGE;
    }
    // Not shortened: a later page has a higher number, and the table has no holes.
    this.#pages.fill(null);
  }
}
