/**
 * The records of the kernel's memory. Links are absolute addresses; a table that grows is moved, and its links with it.
 */
import { MemoryPool } from "./memory_pool";

/** Version of the ABI: exports, statuses, records. Hosts check it first. */
export const ABI_VERSION: i32 = 1;

/** Largest size and memory, 2^53 - 1: what the host's numbers hold exactly. */
export const MAX_BYTES: i64 = (1 << 53) - 1;

export const ON_HEAP: i32 = 0;
export const OFF_HEAP: i32 = 1;

/** The task attempt id of a thread without a TaskContext (MemoryStore.currentTaskAttemptId). */
export const NO_TASK: i64 = -1;

// --- rules: what differs between Spark versions, bits ------------------------------------------------------------

/** An execution pool of size 0 is refused (MemoryManager, since 3.0). */
export const RULE_REQUIRES_EXECUTION_MEMORY: i32 = 1;
/** Storage borrows min(executionFree, n) instead of what it lacks (until 2.2, SPARK-21090). */
export const RULE_BORROWS_WHOLE_REQUEST: i32 = 2;
/** What execution evicts stays free storage memory until the next request (1.6). */
export const RULE_EVICTED_BYTES_STAY_IN_STORAGE: i32 = 4;
/** Nothing is stored off-heap (1.6). */
export const RULE_NO_OFF_HEAP_STORAGE: i32 = 8;
/** Unmanaged memory lowers the limits, which stop at 0 (since 4.1, SPARK-53001). */
export const RULE_UNMANAGED_MEMORY: i32 = 16;
/** The host, not the order of arrival, says in which order waiting tasks are woken. No rule of Spark's. */
export const RULE_HOST_WAKES: i32 = 32;
export const ALL_RULES: i32 = 63;

// --- blocks ------------------------------------------------------------------------------------------------------

// flags of a BlockInfo's word, in the bits that addresses of 32-byte records leave
/** The block is in memory. */
export const STORED: u64 = 1;
/** Its memory mode is off-heap; shifted right by STORED_OFF_HEAP_SHIFT it is the mode. */
export const STORED_OFF_HEAP: u64 = 2;
export const STORED_OFF_HEAP_SHIFT: u64 = 1;
/** Its entry is in the list of parked ones. */
export const PARKED: u64 = 4;
/** The address of its Entry; 0 when it is not known: neither in memory nor, for all that the host has said, on disk. */
export const ENTRY: u64 = 0xffffffe0;
/** The block id is handed out. */
export const DECLARED: u64 = 1 << 32;
export const RDD_SHIFT: u64 = 32;
/** The address of its RddRecord, shifted left by RDD_SHIFT; of an id that is not handed out: the next such id, plus 1. */
export const RDD: u64 = 0xffffffe0 << 32;
/** What is left of a block that is no longer known. */
export const UNKNOWN: u64 = DECLARED | RDD;

// what an Entry says besides, in the same bits of its `rdd`
/** The block is kept as objects (DeserializedMemoryEntry). */
export const DESERIALIZED: u32 = 1;
/** Its storage level uses disk: when evicted it stays known. */
export const USE_DISK: u32 = 2;
/** The address of the block's RddRecord. */
export const ENTRY_RDD: u32 = 0xffffffe0;

/** What putBytes takes as flags: objects; level uses disk. They are those of an Entry. */
export const PUT_DESERIALIZED: i32 = <i32>DESERIALIZED;
export const PUT_USE_DISK: i32 = <i32>USE_DISK;

/**
 * BlockInfo (8 bytes): what there is of every block id, in a table by id. Reading one says whether the block is there.
 *
 * | offset | field | type | meaning                                                                        |
 * | -----: | ----- | ---- | ------------------------------------------------------------------------------ |
 * |      0 | word  | u64  | address of its Entry in the low half, of its RddRecord in the high one, flags   |
 */
@unmanaged
export class BlockInfo {
  word!: u64;

  @inline
  static at(address: usize): BlockInfo {
    return changetype<BlockInfo>(address);
  }

  @inline
  static isKnown(word: u64): bool {
    return (word & ENTRY) != 0;
  }

  @inline
  static entryOf(word: u64): Entry {
    return Entry.at(<usize>(word & ENTRY));
  }

  @inline
  static modeOf(word: u64): i32 {
    return <i32>(word >> STORED_OFF_HEAP_SHIFT) & 1;
  }

  /** The address of the block's RddRecord; that of NO_RDD when it is of none. */
  @inline
  static rddOf(word: u64): usize {
    return <usize>((word & RDD) >> RDD_SHIFT);
  }
}

export const BLOCK_INFO_BYTES: u32 = offsetof<BlockInfo>();

/**
 * Entry (32 bytes): what is kept of a known block: its entry in the MemoryStore with its place in the access order, its
 * read locks. The two ends of each list begin like it, so that linking needs no special case.
 *
 * | offset | field   | type | meaning                                                               |
 * | -----: | ------- | ---- | --------------------------------------------------------------------- |
 * |      0 | size    | i64  | bytes in memory                                                       |
 * |      8 | older   | u32  | address of the next older entry; of an end: of the youngest           |
 * |     12 | newer   | u32  | address of the next newer entry; of an end: of the eldest; of a free one: of the next free one |
 * |     16 | block   | u32  | the block's id                                                        |
 * |     20 | readers | u32  | read locks                                                            |
 * |     24 | rdd     | u32  | address of the block's RddRecord, and flags: what eviction asks is all here |
 */
@unmanaged
export class Entry {
  size!: i64;
  older!: usize;
  newer!: usize;
  block!: u32;
  readers!: u32;
  rdd!: u32;

  @inline
  static at(address: usize): Entry {
    return changetype<Entry>(address);
  }

  @inline
  get address(): usize {
    return changetype<usize>(this);
  }

  /** `newer` in the low half and `block` in the high one, in one access. */
  @inline
  get newerAndBlock(): u64 {
    return load<u64>(this.address, offsetof<Entry>("newer"));
  }

  /** `readers` in the low half and `rdd` in the high one, in one access. */
  @inline
  get readersAndRdd(): u64 {
    return load<u64>(this.address, offsetof<Entry>("readers"));
  }

  /** The address of the block's RddRecord. */
  @inline
  get rddRecord(): usize {
    return <usize>(this.rdd & ENTRY_RDD);
  }

  /** Makes the record that of a block without read locks. */
  @inline
  begin(block: u32): void {
    store<u64>(this.address, <u64>block, offsetof<Entry>("block"));
  }

  /** Takes the entry out of its list. */
  @inline
  unlink(): void {
    const older = this.older;
    const newer = this.newer;
    Entry.at(older).newer = newer;
    Entry.at(newer).older = older;
  }

  /** Puts the entry at the newest place of the list with this end. */
  @inline
  linkNewest(end: Entry): void {
    const youngest = end.older;
    store<u64>(this.address, <u64>youngest | <u64>end.address << 32, offsetof<Entry>("older"));
    Entry.at(youngest).newer = this.address;
    end.older = this.address;
  }

  /** Makes this the next newer entry after `older`. */
  @inline
  linkNewerThan(older: Entry): void {
    this.older = older.address;
    older.newer = this.address;
  }

  /** Makes this the end of an empty list. */
  @inline
  makeEmptyList(): void {
    this.older = this.address;
    this.newer = this.address;
  }
}

/** Entries are at multiples of this. */
export const ENTRY_BYTES: u32 = 32;

/**
 * RddRecord (32 bytes), in a table with open addressing by rdd id.
 *
 * | offset | field        | type   | meaning                                             |
 * | -----: | ------------ | ------ | --------------------------------------------------- |
 * |      0 | evictable    | i64[2] | bytes that eviction can free, by memory mode        |
 * |     16 | key          | i64    | rdd id + 1; 0 when the record is free               |
 * |     24 | blocks       | u32    | declared blocks                                     |
 */
@unmanaged
export class RddRecord {
  evictableOnHeap!: i64;
  evictableOffHeap!: i64;
  key!: i64;
  blocks!: u32;

  @inline
  static at(address: usize): RddRecord {
    return changetype<RddRecord>(address);
  }

  @inline
  static evictable(address: usize, mode: i32): i64 {
    return load<i64>(address + (<usize>mode << 3));
  }

  @inline
  static addEvictable(address: usize, mode: i32, bytes: i64): void {
    const field = address + (<usize>mode << 3);
    store<i64>(field, load<i64>(field) + bytes);
  }
}

// --- tasks -------------------------------------------------------------------------------------------------------

/** The task is active in the execution pool, on-heap; off-heap is the next bit. */
export const ACTIVE: i32 = 1;
/** The task is in the unroll memory map, on-heap; off-heap is the next bit. */
export const UNROLLS: i32 = 4;

/**
 * TaskRecord (64 bytes, a cache line), in a table with open addressing by task attempt id.
 *
 * | offset | field     | type   | meaning                                                  |
 * | -----: | --------- | ------ | -------------------------------------------------------- |
 * |      0 | key       | i64    | task attempt id + 2; 0 when the record is free           |
 * |      8 | execution | i64[2] | execution memory by mode (memoryForTask)                 |
 * |     24 | unroll    | i64[2] | unroll memory by mode (MemoryStore's two maps)           |
 * |     40 | flags     | u32    | ACTIVE and UNROLLS, by mode; 0: the record can be purged |
 */
@unmanaged
export class TaskRecord {
  key!: i64;
  executionOnHeap!: i64;
  executionOffHeap!: i64;
  unrollOnHeap!: i64;
  unrollOffHeap!: i64;
  flags!: i32;

  @inline
  static at(address: usize): TaskRecord {
    return changetype<TaskRecord>(address);
  }

  @inline
  get exists(): bool {
    return changetype<usize>(this) != 0;
  }

  @inline
  get task(): i64 {
    return this.key - 2;
  }

  @inline
  execution(mode: i32): i64 {
    return load<i64>(changetype<usize>(this) + (<usize>mode << 3), offsetof<TaskRecord>("executionOnHeap"));
  }

  @inline
  setExecution(mode: i32, bytes: i64): void {
    store<i64>(changetype<usize>(this) + (<usize>mode << 3), bytes, offsetof<TaskRecord>("executionOnHeap"));
  }

  @inline
  unroll(mode: i32): i64 {
    return load<i64>(changetype<usize>(this) + (<usize>mode << 3), offsetof<TaskRecord>("unrollOnHeap"));
  }

  @inline
  setUnroll(mode: i32, bytes: i64): void {
    store<i64>(changetype<usize>(this) + (<usize>mode << 3), bytes, offsetof<TaskRecord>("unrollOnHeap"));
  }

  @inline
  isActive(mode: i32): bool {
    return (this.flags & (ACTIVE << mode)) != 0;
  }

  @inline
  unrolls(mode: i32): bool {
    return (this.flags & (UNROLLS << mode)) != 0;
  }
}

/**
 * WaitingAcquire (32 bytes): an acquire of execution memory that waits; in an array, first come first.
 *
 * | offset | field    | type | meaning             |
 * | -----: | -------- | ---- | ------------------- |
 * |      0 | numBytes | i64  | bytes asked for     |
 * |      8 | task     | i64  | task attempt id     |
 * |     16 | ticket   | i32  | identifies the acquire |
 * |     20 | mode     | i32  | memory mode         |
 */
@unmanaged
export class WaitingAcquire {
  numBytes!: i64;
  task!: i64;
  ticket!: i32;
  mode!: i32;
}

// --- batches -----------------------------------------------------------------------------------------------------

/**
 * Operation (16 bytes)
 *
 * | offset | field   | type | meaning                                                                   |
 * | -----: | ------- | ---- | ------------------------------------------------------------------------- |
 * |      0 | code    | u8   | one of the OP_ constants                                                  |
 * |      1 | mode    | u8   | memory mode                                                               |
 * |      2 | flags   | u16  | of a put: PUT_ bits                                                       |
 * |      4 | subject | i32  | block id, or task attempt id                                              |
 * |      8 | bytes   | i64  | number of bytes                                                           |
 * |      8 | answer  | f64  | after the batch: what the single call would answer                        |
 */
@unmanaged
export class Operation {
  code!: u8;
  mode!: u8;
  flags!: u16;
  subject!: i32;
  bytes!: i64;
}

export const OPERATION_BYTES: u32 = offsetof<Operation>();

// --- executors ---------------------------------------------------------------------------------------------------

/**
 * ModeMemory (128 bytes): the memory of one executor in one memory mode.
 *
 * | offset | field             | type       | meaning                                                    |
 * | -----: | ----------------- | ---------- | ---------------------------------------------------------- |
 * |      0 | storage           | MemoryPool | blocks, unroll reservations, raw storage acquires          |
 * |     16 | execution         | MemoryPool | execution memory of all tasks                              |
 * |     32 | maxMemory         | i64        | sum of the two pool sizes, always                          |
 * |     40 | storageRegionSize | i64        | storage that execution does not evict                      |
 * |     48 | unmanagedMemory   | i64        | cached counter of unmanaged memory (4.1)                   |
 * |     56 | evictable         | i64        | bytes of entries that are not locked                       |
 * |     64 | unrollMemory      | i64        | unroll reservations of all tasks                           |
 * |     72 | activeTasks       | i64        | N of the 1/N rule                                          |
 * |     80 | entries           | Entry      | the ends of the access order: its first 16 bytes           |
 * |     96 | parked            | Entry      | the ends of the locked entries that are older than all of `entries` |
 */
@unmanaged
export class ModeMemory {
  storagePoolSize!: i64;
  storageMemoryUsed!: i64;
  executionPoolSize!: i64;
  executionMemoryUsed!: i64;
  maxMemory!: i64;
  storageRegionSize!: i64;
  unmanagedMemory!: i64;
  evictable!: i64;
  unrollMemory!: i64;
  activeTasks!: i64;
  entriesSize!: i64;
  entriesOlder!: u32;
  entriesNewer!: u32;
  parkedSize!: i64;
  parkedOlder!: u32;
  parkedNewer!: u32;

  @inline
  get storage(): MemoryPool {
    return changetype<MemoryPool>(changetype<usize>(this) + offsetof<ModeMemory>("storagePoolSize"));
  }

  @inline
  get execution(): MemoryPool {
    return changetype<MemoryPool>(changetype<usize>(this) + offsetof<ModeMemory>("executionPoolSize"));
  }

  @inline
  get entries(): Entry {
    return Entry.at(changetype<usize>(this) + offsetof<ModeMemory>("entriesSize"));
  }

  @inline
  get parked(): Entry {
    return Entry.at(changetype<usize>(this) + offsetof<ModeMemory>("parkedSize"));
  }
}

/**
 * Executor (448 bytes): one executor's memory manager and block store.
 *
 * | offset | field              | type          | meaning                                                |
 * | -----: | ------------------ | ------------- | ------------------------------------------------------ |
 * |      0 | handle             | i32           | how the host names the executor                        |
 * |      4 | rules              | i32           | RULE_ bits                                             |
 * |      8 | blocks             | u32           | address of the BlockInfo table, by block id            |
 * |     12 | home               | u32           | address of the record while another executor is resident |
 * |     16 | blockCapacity      | u32           | records in the BlockInfo table                         |
 * |     20 | blockEnd           | u32           | block ids handed out so far                            |
 * |     24 | freeBlock          | u32           | the block id given back last, plus 1                   |
 * |     28 | numEntries         | u32           | blocks in memory                                       |
 * |     32 | tasks              | u32           | address of the TaskRecord table                        |
 * |     36 | taskCapacity       | u32           | records in it, a power of two                          |
 * |     40 | taskRecords        | u32           | records in use                                         |
 * |     44 | rdds               | u32           | address of the RddRecord table                         |
 * |     48 | rddCapacity        | u32           | records in it, a power of two                          |
 * |     52 | rddRecords         | u32           | records in use                                         |
 * |     56 | waiting            | u32           | address of the WaitingAcquire array                    |
 * |     60 | waitingCapacity    | u32           | records in it                                          |
 * |     64 | numWaiting         | u32           | acquires that wait                                     |
 * |     68 | nextTicket         | i32           | ticket of the next acquire that waits                  |
 * |     72 | notified           | i32           | 1: the last operation woke the waiting acquires        |
 * |     76 | dropsBeforeFailure | i32           | drops until the host's handler fails; -1: it works     |
 * |     80 | taskContext        | i64           | the task that batches mean by "this task"              |
 * |     88 | keepsDropped       | i32           | 1: an evicted block stays known whatever its level     |
 * |     92 | freeEntry          | u32           | address of the Entry that is used next; 0: there is none |
 * |     96 | entryChunks        | u32           | address of the EntryChunk made last                    |
 * |    128 | noRdd              | RddRecord     | stands for the RDD of blocks that are of none          |
 * |    192 | memory             | ModeMemory[2] | by memory mode                                         |
 */
@unmanaged
export class Executor {
  handle!: i32;
  rules!: i32;
  blocks!: usize;
  home!: usize;
  blockCapacity!: u32;
  blockEnd!: u32;
  freeBlock!: u32;
  numEntries!: u32;
  tasks!: usize;
  taskCapacity!: u32;
  taskRecords!: u32;
  rdds!: usize;
  rddCapacity!: u32;
  rddRecords!: u32;
  waiting!: usize;
  waitingCapacity!: u32;
  numWaiting!: u32;
  nextTicket!: i32;
  notified!: i32;
  dropsBeforeFailure!: i32;
  taskContext!: i64;
  keepsDropped!: i32;
  freeEntry!: usize;
  entryChunks!: usize;

  @inline
  static at(address: usize): Executor {
    return changetype<Executor>(address);
  }

  @inline
  block(id: u32): BlockInfo {
    return BlockInfo.at(this.blocks + <usize>id * BLOCK_INFO_BYTES);
  }

  /** Whether the table has a record for the id, handed out or not. */
  @inline
  hasRecord(id: u32): bool {
    return id < this.blockEnd;
  }

  /** Whether the id is handed out. */
  @inline
  isDeclared(id: u32): bool {
    return id < this.blockEnd && (this.block(id).word & DECLARED) != 0;
  }

  @inline
  follows(rule: i32): bool {
    return (this.rules & rule) != 0;
  }
}

const NO_RDD_OFFSET: usize = 128;
const MEMORY_OFFSET: usize = 192;
const MODE_MEMORY_SHIFT: usize = 7;
export const EXECUTOR_BYTES: u32 = 448;

// --- the resident executor ---------------------------------------------------------------------------------------

const RESIDENT: usize = memory.data(448, 64);

/**
 * The executor that operations work on. Its record is at a fixed address, so that engines that check memory accesses
 * one by one do not check those to its fields; executors.ts brings another executor here.
 */
export const executor: Executor = changetype<Executor>(RESIDENT);
export const onHeap: ModeMemory = changetype<ModeMemory>(RESIDENT + MEMORY_OFFSET);
export const offHeap: ModeMemory = changetype<ModeMemory>(RESIDENT + MEMORY_OFFSET + (1 << MODE_MEMORY_SHIFT));

/** The resident executor's memory in one mode. */
@inline
export function memoryOf(mode: i32): ModeMemory {
  return changetype<ModeMemory>(RESIDENT + MEMORY_OFFSET + (<usize>mode << MODE_MEMORY_SHIFT));
}

/** The address of the record that stands for no RDD. */
export const NO_RDD: usize = RESIDENT + NO_RDD_OFFSET;

/** The address of a block's RddRecord, 0 when it is of none. */
@inline
export function rddOf(word: u64): usize {
  const rdd = BlockInfo.rddOf(word);
  return rdd == NO_RDD ? 0 : rdd;
}
