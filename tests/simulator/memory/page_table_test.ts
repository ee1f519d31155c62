import { assertEquals } from "@std/assert";
import { FREED_PAGE, PAGE_TABLE_SIZE, PageTable } from "../../../src/simulator/memory/page_table.ts";

Deno.test("after a clean-up numbers stay taken, and another clean-up finds the pages since", () => {
  // Trace h29 of the recordings: releases after the clean-up of a task.
  const table = new PageTable();
  const first = table.add(10)!;
  table.clear();
  assertEquals([first.pageNumber, table.remove(first)], [FREED_PAGE, false]);
  const second = table.add(20)!;
  assertEquals(second.pageNumber, 1);
  table.clear();
  assertEquals(second.pageNumber, FREED_PAGE);
});

Deno.test("there are 8,192 pages, and the lowest free number is the next", () => {
  const table = new PageTable();
  const pages = Array.from({ length: PAGE_TABLE_SIZE }, () => table.add(1)!);
  assertEquals([pages.at(-1)!.pageNumber, table.add(1)], [PAGE_TABLE_SIZE - 1, null]);
  for (const freed of [4000, 31, 29]) table.remove(pages[freed]);
  assertEquals([29, 31, 4000], [0, 1, 2].map(() => table.add(1)!.pageNumber));
});
