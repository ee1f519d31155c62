/**
 * The records of known blocks: a list of free ones, from chunks that double and are never moved, so that links between
 * entries stay what they are. The record given back last is used next, while it is still in the processor's cache.
 */
import { allocate, release } from "./heap";
import { Entry, ENTRY_BYTES, executor } from "./layout";

/**
 * EntryChunk (32 bytes), before the entries of a chunk
 *
 * | offset | field  | type | meaning                                          |
 * | -----: | ------ | ---- | ------------------------------------------------ |
 * |      0 | before | u32  | address of the chunk made before; 0: the first   |
 * |      4 | bytes  | u32  | bytes of the chunk, this record included         |
 */
@unmanaged
class EntryChunk {
  before!: usize;
  bytes!: u32;
}

const FIRST_CHUNK_BYTES: u32 = 64 * ENTRY_BYTES;
/** Largest chunk: those up to it hold an entry for each of the 2^26 blocks of an executor. */
const MAX_CHUNK_BYTES: u32 = 1 << 30;

/** Gives the executor its first entries; false when memory is out. */
export function createEntries(): bool {
  return addChunk(FIRST_CHUNK_BYTES);
}

/** Gives all entries back. */
export function releaseEntries(): void {
  let address = executor.entryChunks;
  while (address != 0) {
    const chunk = changetype<EntryChunk>(address);
    const before = chunk.before;
    release(address, chunk.bytes);
    address = before;
  }
}

/** Whether there is a record for one more known block; makes some when there is none. False when memory is out. */
@inline
export function reserveEntry(): bool {
  return executor.freeEntry != 0 || grow();
}

/** The record for a block that becomes known; there must be one. */
@inline
export function takeEntry(block: u32): Entry {
  const entry = Entry.at(executor.freeEntry);
  executor.freeEntry = entry.newer;
  entry.begin(block);
  return entry;
}

/** Gives back the record of a block that is no longer known. */
@inline
export function freeEntry(entry: Entry): void {
  freeEntries(entry, entry);
}

/** Gives back the records from `first` to `last`, of which each `newer` leads to the next. */
@inline
export function freeEntries(first: Entry, last: Entry): void {
  last.newer = executor.freeEntry;
  executor.freeEntry = first.address;
}

function grow(): bool {
  const newest = changetype<EntryChunk>(executor.entryChunks);
  return addChunk(min(2 * newest.bytes, MAX_CHUNK_BYTES));
}

function addChunk(bytes: u32): bool {
  const address = allocate(bytes);
  if (address == 0) return false;
  const chunk = changetype<EntryChunk>(address);
  chunk.before = executor.entryChunks;
  chunk.bytes = bytes;
  executor.entryChunks = address;
  // the first record is the chunk's own; the others in the order of their addresses
  const last = address + bytes - ENTRY_BYTES;
  for (let entry = address + ENTRY_BYTES; entry < last; entry += ENTRY_BYTES) Entry.at(entry).newer = entry + ENTRY_BYTES;
  freeEntries(Entry.at(address + ENTRY_BYTES), Entry.at(last));
  return true;
}
