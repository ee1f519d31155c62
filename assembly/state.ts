/** Looking at an executor without changing it. */
import { BlockInfo, Entry, executor, memoryOf, ModeMemory, STORED } from "./layout";
import { findTask } from "./task_table";
import { waitingAt } from "./wait_queue";

/** How many numbers describe an executor. */
export const STATE_NUMBERS: i32 = 13;

/** Per mode: the four numbers of its pools. */
const POOL_NUMBERS: i32 = 4;

const STATE: usize = memory.data(13 * 8, 16);
/** Where `readState` puts its 13 f64. */
export const STATE_ADDRESS: i32 = <i32>STATE;

/**
 * One of the numbers that describe an executor: 0 to 3 storage pool, storage used, execution pool, execution used,
 * on-heap; 4 to 7 off-heap; 8 blocks in memory; 9 and 10 active tasks; 11 and 12 unroll memory.
 */
export function stateNumber(i: i32): i64 {
  if (i < 2 * POOL_NUMBERS) return poolNumber(memoryOf(i / POOL_NUMBERS), i % POOL_NUMBERS);
  if (i == 8) return executor.numEntries;
  if (i < 11) return memoryOf(i - 9).activeTasks;
  return memoryOf(i - 11).unrollMemory;
}

function poolNumber(memory: ModeMemory, i: i32): i64 {
  if (i == 0) return memory.storagePoolSize;
  if (i == 1) return memory.storageMemoryUsed;
  if (i == 2) return memory.executionPoolSize;
  return memory.executionMemoryUsed;
}

/** Puts all of them at STATE_ADDRESS. */
export function readState(): void {
  for (let i = 0; i < STATE_NUMBERS; i++) store<f64>(STATE + (<usize>i << 3), <f64>stateNumber(i));
}

/** The block in memory that is next younger than `block`; of -1, the eldest of the mode. -1 when there is none. */
export function nextBlock(mode: i32, block: i32): i32 {
  const memory = memoryOf(mode);
  let entry = Entry.at(block < 0 ? memory.parked.newer : BlockInfo.entryOf(executor.block(block).word).newer);
  // the parked entries are older than all others
  if (entry == memory.parked) entry = Entry.at(memory.entries.newer);
  return entry == memory.entries ? -1 : entry.block;
}

/** Bytes of a block in memory, without touching it; 0 when it is not there. */
export function sizeOf(block: u32): i64 {
  const word = executor.block(block).word;
  return (word & STORED) != 0 ? BlockInfo.entryOf(word).size : 0;
}

/** Read locks of a block. */
export function readersOf(block: u32): u32 {
  const word = executor.block(block).word;
  return BlockInfo.isKnown(word) ? BlockInfo.entryOf(word).readers : 0;
}

/** In which pools a task is: 1 and 2 active on and off heap, 4 and 8 unrolling on and off heap. */
export function taskFlags(taskAttemptId: i64): i32 {
  const task = findTask(taskAttemptId);
  return task.exists ? task.flags : 0;
}

/** The ticket of the acquire that waits at a place of the queue, or -1 past its end. */
export function waitingTicket(i: u32): i32 {
  return i < executor.numWaiting ? waitingAt(i).ticket : -1;
}
