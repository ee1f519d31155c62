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
  /**
   * By page number. What was freed stays for the next page of that number: pages come and go by the thousand, and all
   * that a new object of one brings is work for the garbage collector.
   */
  readonly #pages: MemoryBlock[] = [];
  /** A bit for each number that is free, of the first 30: so many stay small integers in every engine. Few tasks need more. */
  #free = ALL_FREE;
  /** The same for further numbers, 30 to a word. */
  readonly #furtherFree: number[] = [];
  /** No number in a further word below this is free. */
  #lowest = 0;

  /** A page under the lowest free number; null when all are taken. */
  add(size: number): MemoryBlock | null {
    const pageNumber = this.#free !== 0 ? this.#take() : this.#takeFurther();
    if (pageNumber === this.#pages.length) {
      const page = { size, pageNumber };
      this.#pages.push(page);
      return page;
    }
    if (pageNumber < 0) return null;
    const page = this.#pages[pageNumber];
    page.size = size;
    page.pageNumber = pageNumber;
    return page;
  }

  /** Takes a page out; false when a clean-up did so before. */
  remove(page: MemoryBlock): boolean {
    const { pageNumber } = page;
    if (pageNumber < 0) return false;
    page.pageNumber = FREED_PAGE;
    if (pageNumber < WORD) {
      this.#free |= 1 << pageNumber;
      return true;
    }
    const word = Math.trunc(pageNumber / WORD) - 1;
    this.#furtherFree[word] |= 1 << (pageNumber % WORD);
    if (word < this.#lowest) this.#lowest = word;
    return true;
  }

  /** Frees all pages. Their numbers stay taken, as in Spark. */
  clear(): void {
    for (const page of this.#pages) page.pageNumber = FREED_PAGE;
  }

  /** The lowest free number of the first 30, of which one is free. */
  #take(): number {
    const bit = this.#free & -this.#free;
    this.#free ^= bit;
    return 31 - Math.clz32(bit);
  }

  /** The lowest free number behind the first 30; -1 when all are taken. */
  #takeFurther(): number {
    const free = this.#furtherFree;
    let word = this.#lowest;
    while (word < free.length && free[word] === 0) word++;
    this.#lowest = word;
    if (word === free.length) free.push(ALL_FREE);
    const bit = free[word] & -free[word];
    const pageNumber = (word + 1) * WORD + 31 - Math.clz32(bit);
    if (pageNumber >= PAGE_TABLE_SIZE) return -1;
    free[word] ^= bit;
    return pageNumber;
  }
}
