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
  readonly #pages: (MemoryBlock | null)[] = [];
  /** 1 for a number that is taken. */
  #taken = new Uint8Array(64);
  /** No number below this is free. */
  #lowest = 0;

  /** A page under the lowest free number; null when all are taken. */
  add(size: number): MemoryBlock | null {
    let pageNumber = this.#lowest;
    while (pageNumber < this.#taken.length && this.#taken[pageNumber] === 1) pageNumber++;
    if (pageNumber >= PAGE_TABLE_SIZE) return null;
    if (pageNumber >= this.#taken.length) {
      const larger = new Uint8Array(this.#taken.length * 2);
      larger.set(this.#taken);
      this.#taken = larger;
    }
    this.#taken[pageNumber] = 1;
    this.#lowest = pageNumber + 1;
    const page = { size, pageNumber };
    this.#pages[pageNumber] = page;
    return page;
  }

  /** Takes a page out; false when a clean-up did so before. */
  remove(page: MemoryBlock): boolean {
    const { pageNumber } = page;
    if (pageNumber < 0) return false;
    this.#pages[pageNumber] = null;
    this.#taken[pageNumber] = 0;
    if (pageNumber < this.#lowest) this.#lowest = pageNumber;
    page.pageNumber = FREED_PAGE;
    return true;
  }

  /** Frees all pages. Their numbers stay taken, as in Spark. */
  clear(): void {
    for (const page of this.#pages) {
      if (page !== null) page.pageNumber = FREED_PAGE;
    }
    this.#pages.fill(null);
  }
}
