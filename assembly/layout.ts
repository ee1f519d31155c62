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

/** The block is in memory. */
export const STORED: i64 = 1;
/** Its memory mode is off-heap. Two bits further left it is the MemoryMode. */
export const STORED_OFF_HEAP: i64 = 2;
export const STORED_OFF_HEAP_SHIFT: i64 = 1;
/** It is kept as objects (DeserializedMemoryEntry). */
export const DESERIALIZED: i64 = 4;
/** Its storage level uses disk: when evicted it stays known. */
export const USE_DISK: i64 = 8;
/** There is a BlockInfo: the block is in memory, or the host has it on disk. */
export const KNOWN: i64 = 16;
/** It is locked for reading. */
export const LOCKED: i64 = 32;
/** It is in the list of parked entries. */
export const PARKED: i64 = 64;
/** It is a partition of an RDD. */
export const OF_RDD: i64 = 128;
/** The block id is handed out. */
export const DECLARED: i64 = 256;
export const SIZE_SHIFT: i64 = 10;

/** What putBytes takes as flags: objects; level uses disk. */
export const PUT_DESERIALIZED: i32 = 1;
export const PUT_USE_DISK: i32 = 2;
/** How far the flags of a put are from their place in an entry. */
export const PUT_SHIFT: i64 = 2;

/**
 * MemoryEntry (16 bytes): a block of the MemoryStore and its place in the access order. Blocks and the two ends of
 * each list have this form, so that linking needs no special case.
 *
 * | offset | field | type | meaning                                                     |
 * | -----: | ----- | ---- | ----------------------------------------------------------- |
 * |      0 | word  | i64  | size << SIZE_SHIFT, and the flags above                     |
 * |      8 | older | u32  | address of the next older entry; of an end: of the youngest |
 * |     12 | newer | u32  | address of the next newer entry; of an end: of the eldest   |
 */
@unmanaged
export class MemoryEntry {
  word!: i64;
  older!: usize;
  newer!: usize;

  @inline
  static at(address: usize): MemoryEntry {
    return changetype<MemoryEntry>(address);
  }

  @inline
  has(flag: i64): bool {
    return (this.word & flag) != 0;
  }

  @inline
  get size(): i64 {
    return this.word >> SIZE_SHIFT;
  }

  @inline
  get mode(): i32 {
    return <i32>(this.word >> STORED_OFF_HEAP_SHIFT) & 1;
  }

  /** Takes the entry out of its list. */
  @inline
  unlink(): void {
    MemoryEntry.at(this.older).newer = this.newer;
    MemoryEntry.at(this.newer).older = this.older;
  }

  /** Puts the entry at the newest place of the list with this end. */
  @inline
  linkNewest(end: MemoryEntry): void {
    const youngest = end.older;
    this.older = youngest;
    this.newer = changetype<usize>(end);
    MemoryEntry.at(youngest).newer = changetype<usize>(this);
    end.older = changetype<usize>(this);
  }

  /** Makes this the end of an empty list. */
  @inline
  makeEmptyList(): void {
    this.older = changetype<usize>(this);
    this.newer = changetype<usize>(this);
  }
}

/**
 * BlockInfo (8 bytes): what is known of a block whether or not it is in memory.
 *
 * | offset | field   | type | meaning                                                              |
 * | -----: | ------- | ---- | -------------------------------------------------------------------- |
 * |      0 | rdd     | u32  | address of its RddRecord, 0 when it is no partition of an RDD        |
 * |      4 | readers | u32  | read locks; of an id that is not handed out: the next such id, plus 1 |
 */
@unmanaged
export class BlockInfo {
  rdd!: usize;
  readers!: u32;

  @inline
  static at(address: usize): BlockInfo {
    return changetype<BlockInfo>(address);
  }
}

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
 * | offset | field     | type   | meaning                                              |
 * | -----: | --------- | ------ | ---------------------------------------------------- |
 * |      0 | key       | i64    | task attempt id + 2; 0 when the record is free       |
 * |      8 | execution | i64[2] | execution memory by mode (memoryForTask)             |
 * |     24 | unroll    | i64[2] | unroll memory by mode (MemoryStore's two maps)       |
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
 * | offset | field    | type | meaning                         |
 * | -----: | -------- | ---- | ------------------------------- |
 * |      0 | numBytes | i64  | bytes asked for                 |
 * |      8 | task     | i64  | task attempt id                 |
 * |     16 | ticket   | i32  | identifies the acquire          |
 * |     20 | mode     | i32  | memory mode                     |
 */
@unmanaged
export class WaitingAcquire {
  numBytes!: i64;
  task!: i64;
  ticket!: i32;
  mode!: i32;
  reserved!: i64;
}

// --- executors ---------------------------------------------------------------------------------------------------

/**
 * ModeMemory (128 bytes): the memory of one executor in one memory mode.
 *
 * | offset | field             | type        | meaning                                                   |
 * | -----: | ----------------- | ----------- | --------------------------------------------------------- |
 * |      0 | storage           | MemoryPool  | blocks, unroll reservations, raw storage acquires         |
 * |     16 | execution         | MemoryPool  | execution memory of all tasks                             |
 * |     32 | maxMemory         | i64         | sum of the two pool sizes, always                         |
 * |     40 | storageRegionSize | i64         | storage that execution does not evict                     |
 * |     48 | unmanagedMemory   | i64         | cached counter of unmanaged memory (4.1)                  |
 * |     56 | evictable         | i64         | bytes of entries that are not locked                      |
 * |     64 | unrollMemory      | i64         | unroll reservations of all tasks                          |
 * |     72 | activeTasks       | i32         | N of the 1/N rule                                         |
 * |     76 | mode              | i32         |                                                           |
 * |     80 | entries           | MemoryEntry | the ends of the access order                              |
 * |     96 | parked            | MemoryEntry | the ends of the locked entries that are older than all of `entries` |
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
  activeTasks!: i32;
  mode!: i32;
  entriesWord!: i64;
  entriesOlder!: u32;
  entriesNewer!: u32;
  parkedWord!: i64;
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
  get entries(): MemoryEntry {
    return MemoryEntry.at(changetype<usize>(this) + offsetof<ModeMemory>("entriesWord"));
  }

  @inline
  get parked(): MemoryEntry {
    return MemoryEntry.at(changetype<usize>(this) + offsetof<ModeMemory>("parkedWord"));
  }
}

/**
 * Executor (384 bytes): one executor's memory manager and block store.
 *
 * | offset | field              | type          | meaning                                                |
 * | -----: | ------------------ | ------------- | ------------------------------------------------------ |
 * |      0 | handle             | i32           | how the host names the executor                        |
 * |      4 | rules              | i32           | RULE_ bits                                             |
 * |      8 | entries            | u32           | address of the MemoryEntry table, by block id          |
 * |     12 | infos              | u32           | address of the BlockInfo table, by block id            |
 * |     16 | blockCapacity      | u32           | records in both                                        |
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
 * |    128 | memory             | ModeMemory[2] | by memory mode                                         |
 */
@unmanaged
export class Executor {
  handle!: i32;
  rules!: i32;
  entries!: usize;
  infos!: usize;
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

  @inline
  static at(address: usize): Executor {
    return changetype<Executor>(address);
  }

  @inline
  memory(mode: i32): ModeMemory {
    return changetype<ModeMemory>(changetype<usize>(this) + EXECUTOR_HEADER_BYTES + (<usize>mode << 7));
  }

  @inline
  entry(block: u32): MemoryEntry {
    return MemoryEntry.at(this.entries + (<usize>block << 4));
  }

  @inline
  info(block: u32): BlockInfo {
    return BlockInfo.at(this.infos + (<usize>block << 3));
  }

  @inline
  infoOf(entry: MemoryEntry): BlockInfo {
    return BlockInfo.at(this.infos + ((changetype<usize>(entry) - this.entries) >> 1));
  }

  @inline
  blockOf(entry: MemoryEntry): i32 {
    return <i32>((changetype<usize>(entry) - this.entries) >> 4);
  }

  /** Whether the id is one that the executor has handed out. */
  @inline
  isDeclared(block: u32): bool {
    return block < this.blockEnd && this.entry(block).has(DECLARED);
  }

  @inline
  follows(rule: i32): bool {
    return (this.rules & rule) != 0;
  }
}

export const EXECUTOR_HEADER_BYTES: u32 = 128;
export const EXECUTOR_BYTES: u32 = 384;
