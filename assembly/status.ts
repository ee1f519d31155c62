/**
 * What an operation answers: a number from 0 up is its result; a negative one is a status from here.
 *
 * Statuses down to -30 are what Spark would throw, those from -32 to -63 are misuse of the ABI. Answers from
 * FIRST_TICKET down mean that the acquire waits; its ticket is FIRST_TICKET - answer.
 */

/** java.lang.AssertionError: assertion failed. */
export const ASSERTION_FAILED: i32 = -1;
/** AssertionError of ExecutionMemoryPool.acquireMemory: invalid number of bytes requested. */
export const INVALID_NUMBER_OF_BYTES: i32 = -2;
/** IllegalArgumentException: requirement failed (MemoryPool.decrementPoolSize). */
export const REQUIREMENT_FAILED: i32 = -3;
/** IllegalArgumentException: the block is already present in the MemoryStore. */
export const BLOCK_ALREADY_PRESENT: i32 = -4;
/** NullPointerException of MemoryStore.getSize. */
export const BLOCK_NOT_IN_MEMORY: i32 = -5;
/** BlockInfoManager.unlock of a block that is not known. */
export const BLOCK_NOT_FOUND: i32 = -6;
/** AssertionError of BlockInfoManager.unlock: the block is not locked for reading. */
export const BLOCK_NOT_LOCKED: i32 = -7;
/** The host's handler failed while a block was being dropped from memory. */
export const DROP_FAILED: i32 = -8;
/** AssertionError of MemoryStore.putIterator: transferring unroll memory to storage memory failed. */
export const TRANSFER_FAILED: i32 = -9;
/** MemoryStore.getBytes of a deserialized block. */
export const BLOCK_NOT_SERIALIZED: i32 = -10;
/** MemoryStore.getValues of a serialized block. */
export const BLOCK_NOT_DESERIALIZED: i32 = -11;
/** NoSuchElementException: the task of a waiting acquire has been released meanwhile. */
export const TASK_NOT_ACTIVE: i32 = -12;
/** InterruptedException: the waiting acquire was cancelled. */
export const INTERRUPTED: i32 = -13;
/** MemoryManager of 3.0 and later: the execution memory must be > 0. */
export const EXECUTION_MEMORY_REQUIRED: i32 = -14;

/** The result itself is below 0, as Spark's is after less than nothing was released; EVENT_ANSWER has it. */
export const NEGATIVE_ANSWER: i32 = -31;

/** The handle is not that of a living executor. */
export const BAD_EXECUTOR: i32 = -32;
/** The block id was not declared. */
export const BAD_BLOCK: i32 = -33;
/** A number is not whole or outside its range, a mode is neither 0 nor 1, an operation code is unknown. */
export const BAD_ARGUMENT: i32 = -34;
/** The block cannot be forgotten: it is in memory, on disk or locked. */
export const BLOCK_IN_USE: i32 = -35;
/** The linear memory cannot grow; nothing was changed. */
export const OUT_OF_MEMORY: i32 = -36;
/** No acquire waits under this ticket. */
export const NOT_WAITING: i32 = -37;
/** More operations than the batch buffer holds. */
export const BAD_RANGE: i32 = -38;

/** Answer of a waiting acquire with ticket 0. */
export const FIRST_TICKET: i32 = -4096;

/** Answer of a removal when the block is locked: BlockManager.removeBlock would wait. */
export const REMOVE_LOCKED: i32 = 2;
