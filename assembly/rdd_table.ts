/**
 * The RDDs whose partitions an executor knows, by rdd id: open addressing as in task_table.ts. Blocks hold the address
 * of their RDD's record, so that a table that is rebuilt leads them to the new one.
 */
import { allocate, release } from "./heap";
import { BlockInfo, DECLARED, ENTRY_RDD, executor, NO_RDD, RDD, RDD_SHIFT, RddRecord } from "./layout";

const RECORD_SHIFT: usize = 5;
const FIRST_CAPACITY: u32 = 8;

/** Gives the executor its first table; false when memory is out. */
export function createRddTable(): bool {
  const table = newTable(FIRST_CAPACITY);
  if (table == 0) return false;
  executor.rdds = table;
  executor.rddCapacity = FIRST_CAPACITY;
  executor.rddRecords = 0;
  return true;
}

/** Gives the table back. */
export function releaseRddTable(): void {
  release(executor.rdds, executor.rddCapacity << <u32>RECORD_SHIFT);
}

/** The address of the RDD's record, made when there is none; 0 when memory is out. */
export function rddRecord(rdd: i32): usize {
  const found = search(executor.rdds, executor.rddCapacity - 1, rdd);
  if (found.key != 0) return changetype<usize>(found);
  if (executor.rddRecords + 1 > executor.rddCapacity - (executor.rddCapacity >> 2) && !rebuild()) return 0;
  const record = search(executor.rdds, executor.rddCapacity - 1, rdd);
  record.key = <i64>rdd + 1;
  executor.rddRecords++;
  return changetype<usize>(record);
}

/** Forgets what could be evicted of each RDD: the store is empty. */
export function clearEvictable(): void {
  for (let i: u32 = 0; i < executor.rddCapacity; i++) {
    const record = at(executor.rdds, i);
    record.evictableOnHeap = 0;
    record.evictableOffHeap = 0;
  }
}

/** Moves the RDDs that have blocks to a table of the same size, or of twice the size when they fill half of it. */
function rebuild(): bool {
  const old = executor.rdds;
  const oldCapacity = executor.rddCapacity;
  let live: u32 = 0;
  for (let i: u32 = 0; i < oldCapacity; i++) live += u32(at(old, i).blocks != 0);
  const capacity = live > oldCapacity >> 1 ? oldCapacity << 1 : oldCapacity;
  const table = newTable(capacity);
  if (table == 0) return false;
  for (let i: u32 = 0; i < oldCapacity; i++) {
    const record = at(old, i);
    if (record.blocks == 0) continue;
    const moved = search(table, capacity - 1, <i32>(record.key - 1));
    memory.copy(changetype<usize>(moved), changetype<usize>(record), 1 << RECORD_SHIFT);
  }
  for (let block: u32 = 0; block < executor.blockEnd; block++) {
    const info = executor.block(block);
    const word = info.word;
    const rdd = BlockInfo.rddOf(word);
    if ((word & DECLARED) == 0 || rdd == NO_RDD) continue;
    const moved = changetype<usize>(search(table, capacity - 1, <i32>(RddRecord.at(rdd).key - 1)));
    info.word = (word & ~RDD) | <u64>moved << RDD_SHIFT;
    if (!BlockInfo.isKnown(word)) continue;
    const entry = BlockInfo.entryOf(word);
    entry.rdd = (entry.rdd & ~ENTRY_RDD) | <u32>moved;
  }
  release(old, oldCapacity << <u32>RECORD_SHIFT);
  executor.rdds = table;
  executor.rddCapacity = capacity;
  executor.rddRecords = live;
  return true;
}

@inline
function at(table: usize, i: u32): RddRecord {
  return RddRecord.at(table + (<usize>i << RECORD_SHIFT));
}

/** The RDD's record, or the free one where it belongs. */
function search(table: usize, mask: u32, rdd: i32): RddRecord {
  const key = <i64>rdd + 1;
  let i = <u32>rdd & mask;
  while (at(table, i).key != key && at(table, i).key != 0) i = (i + 1) & mask;
  return at(table, i);
}

function newTable(capacity: u32): usize {
  const bytes = capacity << <u32>RECORD_SHIFT;
  const table = allocate(bytes);
  if (table != 0) memory.fill(table, 0, bytes);
  return table;
}
