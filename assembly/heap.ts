/**
 * The allocator: segments of 2^k bytes, k from 6 to 31, from a bump pointer and a list of free segments per size.
 *
 * Tables grow by doubling and executors come and go, so that a freed segment fits the next request of its size; there
 * is nothing to split or merge, and no growth when executors are created and destroyed for ever.
 */

/** Smallest segment: a cache line. */
const MIN_SHIFT: i32 = 6;
const SIZES: i32 = 32;
const PAGE: i64 = 65536;

/** First free segment per size, 0 when there is none; a free segment's first word is the next one. */
const FREE: usize = memory.data(SIZES * sizeof<u32>(), 64);

/** Where the memory that was never handed out begins. */
let top: i64 = (i64(__heap_base) + 63) & ~63;
/** The linear memory is not grown beyond this many bytes. */
let limit: i64 = i64(1) << 32;

/** Gives a segment of at least `size` bytes, not cleared, or 0 when the memory cannot grow. */
export function allocate(size: u32): usize {
  const shift = shiftOf(size);
  if (shift >= SIZES) return 0;
  const list = FREE + (<usize>shift << 2);
  const free = load<u32>(list);
  if (free != 0) {
    store<u32>(list, load<u32>(free));
    return free;
  }
  const end = top + (i64(1) << shift);
  if (end > limit || !grown(end)) return 0;
  const segment = <usize>top;
  top = end;
  return segment;
}

/** Takes back a segment that `allocate` gave for the same size; 0 is ignored. */
export function release(segment: usize, size: u32): void {
  if (segment == 0) return;
  const list = FREE + (<usize>shiftOf(size) << 2);
  store<u32>(segment, load<u32>(list));
  store<u32>(list, <u32>segment);
}

/** Sets the number of bytes beyond which the linear memory is not grown. */
export function setLimit(bytes: i64): void {
  limit = bytes;
}

/** The exponent of the smallest segment that holds `size` bytes; 32 when none does. */
function shiftOf(size: u32): i32 {
  if (size <= 1 << MIN_SHIFT) return MIN_SHIFT;
  return 32 - clz<u32>(size - 1);
}

/** Makes the linear memory reach up to `end`. */
function grown(end: i64): bool {
  const have = i64(memory.size()) * PAGE;
  if (end <= have) return true;
  return memory.grow(<i32>((end - have + PAGE - 1) / PAGE)) >= 0;
}
