/**
 * What a recorded peak of a consumer with pages and an array consists of.
 *
 * @module
 */
import type { ConsumerKind } from "../../workload.ts";
import { PointerArray } from "./pointer_array.ts";

/** A peak that is to be taken apart. */
export interface RecordedPeak {
  readonly kind: ConsumerKind;
  readonly peakMemory: number;
  readonly pageSizeBytes: number;
  /** Records that went in; those of the peak are fewer where something was spilled. */
  readonly records: number;
  readonly spilled: boolean;
  readonly initialBufferSize: number;
  readonly parameters: Readonly<Record<string, number>>;
}

/** Pages and array of a peak. */
export interface PagesAndArray {
  readonly pages: number;
  readonly arrayBytes: number;
  /** Records in those pages: at least and at most. */
  readonly leastRecords: number;
  readonly mostRecords: number;
  /** What the peak tells of the kind: how a sorter sorts. */
  readonly parameters: Readonly<Record<string, number>>;
}

/** Largest array looked for, in doublings of the first. */
const MAX_DOUBLINGS = 20;
/** Keys that an aggregation's map, and a hash join's, are made for. */
const AGGREGATION_CAPACITY = 1 << 14;
const RELATION_CAPACITY = 128;

/**
 * Takes a peak apart: an array that fits the records, and whole pages. null where no array leaves whole pages.
 *
 * Where nothing was spilled the array is the one that holds all records. Where something was, it is any that could be
 * full when memory ran out, the largest that fits.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { pagesAndArray } from "./recorded_pages.ts";
 *
 * // 999814 rows on Spark 3.5.9: an array of 32 MiB would be too small for radix sort beside whole pages of 8 MiB.
 * const found = pagesAndArray({
 *   kind: "UnsafeExternalSorter", peakMemory: 109051760, pageSizeBytes: 8388592, records: 999814, spilled: false,
 *   initialBufferSize: 4096, parameters: {},
 * });
 * assertEquals([found?.pages, found?.arrayBytes], [9, 33554432]);
 * ```
 */
export function pagesAndArray(peak: RecordedPeak): PagesAndArray | null {
  const candidates = layoutsOf(peak).flatMap((layout) => {
    const { peakMemory, pageSizeBytes, records, spilled } = peak;
    const rest = peakMemory - layout.arrayBytes;
    if (rest < 0 || rest % pageSizeBytes !== 0) return [];
    const fits = spilled
      ? layout.leastRecords < records
      : layout.leastRecords < records && records <= layout.mostRecords;
    if (!fits) return [];
    return [{
      pages: rest / pageSizeBytes,
      arrayBytes: layout.arrayBytes,
      leastRecords: spilled ? layout.leastRecords + 1 : records,
      mostRecords: spilled ? Math.min(layout.mostRecords, records) : records,
      parameters: layout.parameters,
    }];
  });
  return candidates.findLast(({ pages }) => pages > 0) ?? null;
}

interface Layout {
  readonly arrayBytes: number;
  /** The array before this one is full with so many. */
  readonly leastRecords: number;
  readonly mostRecords: number;
  readonly parameters: Readonly<Record<string, number>>;
}

/** Arrays that a kind can have, ascending. */
function layoutsOf({ kind, initialBufferSize, parameters }: RecordedPeak): Layout[] {
  switch (kind) {
    case "UnsafeExternalSorter":
      return sorterLayouts(initialBufferSize * 2, 2, parameters.radixSort);
    case "ShuffleExternalSorter":
      return sorterLayouts(initialBufferSize, 1, 1);
    case "HashAggregation":
      return mapLayouts(AGGREGATION_CAPACITY);
    case "HashedRelation":
      return mapLayouts(RELATION_CAPACITY);
    default:
      return [];
  }
}

/** Without knowing how it sorts, both ways, TimSort's larger room last. */
function sorterLayouts(firstLongs: number, longsPerRecord: 1 | 2, radixSort: number | undefined): Layout[] {
  const ways = radixSort === undefined ? [1, 0] : [radixSort];
  const layouts: Layout[] = [];
  for (let doublings = 0; doublings <= MAX_DOUBLINGS; doublings++) {
    const arrayBytes = firstLongs * 8 * 2 ** doublings;
    for (const way of ways) {
      const leastRecords = doublings === 0 ? 0 : roomOf(arrayBytes / 2, longsPerRecord, way);
      const mostRecords = roomOf(arrayBytes, longsPerRecord, way);
      layouts.push({
        arrayBytes,
        leastRecords,
        mostRecords,
        parameters: longsPerRecord === 2 ? { radixSort: way } : {},
      });
    }
  }
  return layouts;
}

function roomOf(arrayBytes: number, longsPerRecord: 1 | 2, radixSort: number): number {
  const array = new PointerArray(longsPerRecord, radixSort === 1);
  array.block = { size: arrayBytes, pageNumber: 0 };
  return array.room;
}

function mapLayouts(firstCapacity: number): Layout[] {
  return Array.from({ length: MAX_DOUBLINGS + 1 }, (_, doublings) => {
    const capacity = firstCapacity * 2 ** doublings;
    return {
      arrayBytes: capacity * 16,
      leastRecords: doublings === 0 ? 0 : capacity / 4 - 1,
      mostRecords: capacity / 2,
      parameters: {},
    };
  });
}

/**
 * Size of a record of which so many fill so many pages: the middle of what is possible, in whole words.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { recordBytesFromPages } from "./recorded_pages.ts";
 *
 * // 999814 rows in 9 pages of 8388592 bytes: 64 bytes and 4 for the length.
 * const found = { pages: 9, arrayBytes: 33554432, leastRecords: 999814, mostRecords: 999814, parameters: {} };
 * assertEquals(recordBytesFromPages("UnsafeExternalSorter", found, 8388592), 64);
 * ```
 */
export function recordBytesFromPages(kind: ConsumerKind, found: PagesAndArray, pageSizeBytes: number): number {
  const { pages, leastRecords, mostRecords } = found;
  const overhead = kind === "HashAggregation" || kind === "HashedRelation" ? 16 : 4;
  const mostBytes = pages * pageSizeBytes / leastRecords;
  const leastBytes = Math.max(1, pages - 1) * pageSizeBytes / mostRecords;
  const middle = (mostBytes + leastBytes) / 2 - overhead;
  return Math.max(8, Math.round(middle / 8) * 8);
}

/**
 * Largest less smallest key of a hash relation on long keys whose array was made dense, from the metric "data size of
 * build side"; null where it was not.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { keyRangeOf } from "./recorded_pages.ts";
 *
 * // Spark 3.5.9: rows of 24 bytes, a page of 16 MiB, and keys from about -10^6 to 10^6.
 * assertEquals(keyRangeOf({ buildBytes: 32777152, records: 499765, recordBytes: 24 }), 1999991);
 * // Its neighbours have half as many rows, for which a dense array would be larger.
 * assertEquals(keyRangeOf({ buildBytes: 16777216, records: 250679, recordBytes: 24 }), null);
 * ```
 */
export function keyRangeOf(
  build: { readonly buildBytes: number; readonly records: number; readonly recordBytes: number },
): number | null {
  let pageBytes = 1 << 20;
  while (pageBytes < build.records * (build.recordBytes + 8)) pageBytes *= 2;
  const arrayBytes = build.buildBytes - pageBytes;
  if (arrayBytes <= 0 || arrayBytes % 8 !== 0) return null;
  const doublings = Math.clz32(1) - Math.clz32(arrayBytes / 8);
  return arrayBytes / 8 === 2 ** doublings ? null : arrayBytes / 8 - 1;
}
