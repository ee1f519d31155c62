/**
 * What an operation causes besides its answer, in the order in which it happens, for the host to read.
 *
 * EventRecord (16 bytes)
 *
 * | offset | field     | type | meaning                                               |
 * | -----: | --------- | ---- | ----------------------------------------------------- |
 * |      0 | kind      | u8   | one of the EVENT_ constants                           |
 * |      1 | mode      | u8   | memory mode                                           |
 * |      2 | operation | u16  | index of the operation in its batch; 0 in single calls |
 * |      4 | subject   | i32  | block, ticket or status                               |
 * |      8 | value     | f64  | bytes or task attempt id                              |
 *
 * EventLog (20 bytes), at a fixed place, so that the host reads it without a call
 *
 * | offset | field     | type | meaning                                       |
 * | -----: | --------- | ---- | --------------------------------------------- |
 * |      0 | first     | u32  | address of the first record                   |
 * |      4 | next      | u32  | address behind the last record                |
 * |      8 | end       | u32  | address behind the space for records          |
 * |     12 | operation | u32  | address of the running operation of a batch   |
 * |     16 | batch     | u32  | address of the batch's first operation        |
 */
import { allocate, release } from "./heap";
import { executor, OPERATION_BYTES } from "./layout";
import { NEGATIVE_ANSWER } from "./status";

@unmanaged
class EventRecord {
  kind!: u8;
  mode!: u8;
  operation!: u16;
  subject!: i32;
  value!: f64;
}

@unmanaged
class EventLog {
  first!: usize;
  next!: usize;
  end!: usize;
  operation!: usize;
  batch!: usize;
}

export const EVENT_BYTES: i32 = offsetof<EventRecord>();
export const EVENT_MODE: i32 = offsetof<EventRecord>("mode");
export const EVENT_OPERATION: i32 = offsetof<EventRecord>("operation");
export const EVENT_SUBJECT: i32 = offsetof<EventRecord>("subject");
export const EVENT_VALUE: i32 = offsetof<EventRecord>("value");

/** subject: the block that left memory; value: its bytes. */
export const EVENT_EVICTED: i32 = 1;
/** A waiting acquire is evaluated again; what follows belongs to it. subject: its ticket; value: its task. */
export const EVENT_WOKEN: i32 = 2;
/** The woken acquire is granted `value` bytes. */
export const EVENT_GRANTED: i32 = 3;
/** The woken acquire waits on. */
export const EVENT_WAITS_ON: i32 = 4;
/** The woken acquire ends with status `subject`. */
export const EVENT_FAILED: i32 = 5;
/** More storage memory was released than held. value: bytes released. Always followed by EVENT_HELD. */
export const EVENT_STORAGE_OVER_RELEASE: i32 = 6;
/** More execution memory was released than held. value: bytes released. Always followed by EVENT_HELD. */
export const EVENT_EXECUTION_OVER_RELEASE: i32 = 7;
/** value: the bytes that were held when more was released. */
export const EVENT_HELD: i32 = 8;
/** value: what the operation that answers NEGATIVE_ANSWER gives. */
export const EVENT_ANSWER: i32 = 9;

const LOG: usize = memory.data(20, 16);
export const EVENT_LOG: i32 = <i32>LOG;
export const EVENT_LOG_FIRST: i32 = offsetof<EventLog>("first");
export const EVENT_LOG_NEXT: i32 = offsetof<EventLog>("next");

/** Records that every operation may write besides one per entry and two per waiting acquire, itself included. */
const SLACK: u32 = 16;
const FIRST_CAPACITY: u32 = 1024;
/** Most records: a segment of 1 GiB. */
const MAX_CAPACITY: u32 = 1 << 26;

@inline
function log(): EventLog {
  return changetype<EventLog>(LOG);
}

/** Empties the log. */
@inline
export function clearEvents(): void {
  log().next = log().first;
  log().operation = log().batch;
}

/** The next records belong to the first operation of a batch. */
@inline
export function beginOperations(batch: usize): void {
  log().batch = batch;
  log().operation = batch;
}

/** The next records belong to the operation of the batch at this address. */
@inline
export function setRunningOperation(operation: usize): void {
  log().operation = operation;
}

/** The index of the running operation in its batch. */
@inline
function operationIndex(): u32 {
  return <u32>(log().operation - log().batch) / OPERATION_BYTES;
}

/** Most records that one operation needs: it evicts every entry, and evaluates every waiting acquire. */
@inline
function needed(): u32 {
  return executor.numEntries + 2 * executor.numWaiting + SLACK;
}

/** Whether the log has room for one more operation. */
export function hasRoom(): bool {
  return <u32>(log().end - log().next) / EVENT_BYTES >= needed();
}

/**
 * Makes the empty log large enough for any operation, also when there is one more entry and one more waiting acquire
 * after this one, so that only operations that may lead there have to ask. False when memory is out.
 */
export function reserveEvents(): bool {
  return reserve(needed());
}

@inline
function reserve(records: u32): bool {
  return records <= <u32>(log().end - log().first) / EVENT_BYTES || growTo(records);
}

/**
 * Makes the log large enough for a batch: its operations can evict every entry that there is and every one that they
 * put, and release too much twice each. Acquires that wait are not counted: while there are any, a batch asks
 * `hasRoom` before each operation. False when memory is out.
 */
export function reserveBatchEvents(operations: u32): bool {
  return reserve(needed() + 5 * operations);
}

function growTo(wanted: u32): bool {
  const old = log();
  const oldBytes = <u32>(old.end - old.first);
  let records = FIRST_CAPACITY;
  while (records < wanted && records < MAX_CAPACITY) records <<= 1;
  if (records < wanted) return false;
  const segment = allocate(records * EVENT_BYTES);
  if (segment == 0) return false;
  const used = old.next - old.first;
  memory.copy(segment, old.first, used);
  release(old.first, oldBytes);
  old.first = segment;
  old.next = segment + used;
  old.end = segment + <usize>records * EVENT_BYTES;
  return true;
}

@inline
function append(kind: i32, mode: i32, subject: i32, value: f64): void {
  const record = changetype<EventRecord>(log().next);
  record.kind = <u8>kind;
  record.mode = <u8>mode;
  record.operation = <u16>operationIndex();
  record.subject = subject;
  record.value = value;
  log().next = log().next + EVENT_BYTES;
}

/** Where `writeEvicted` may write: behind the last record. */
@inline
export function beginEvicted(): usize {
  return log().next;
}

/** What all evictions of one operation in one mode have in common: the record's first word. */
@inline
export function evictedHead(mode: i32): u64 {
  return <u64>(EVENT_EVICTED | mode << 8) | <u64>operationIndex() << 16;
}

/** Writes one eviction at `place` and gives the place of the next. */
@inline
export function writeEvicted(place: usize, head: u64, block: u32, bytes: i64): usize {
  store<u64>(place, head | <u64>block << 32);
  store<f64>(place, <f64>bytes, offsetof<EventRecord>("value"));
  return place + EVENT_BYTES;
}

/** How many evictions are written between two places. */
@inline
export function evictedBetween(first: usize, place: usize): u32 {
  return <u32>(place - first) / EVENT_BYTES;
}

/** The evictions up to `place` are written. */
@inline
export function endEvicted(place: usize): void {
  log().next = place;
}

export function logEvicted(block: u32, mode: i32, bytes: i64): void {
  append(EVENT_EVICTED, mode, block, <f64>bytes);
}

export function logWoken(ticket: i32, mode: i32, task: i64): void {
  append(EVENT_WOKEN, mode, ticket, <f64>task);
}

export function logGranted(ticket: i32, mode: i32, bytes: i64): void {
  append(EVENT_GRANTED, mode, ticket, <f64>bytes);
}

export function logWaitsOn(ticket: i32, mode: i32): void {
  append(EVENT_WAITS_ON, mode, ticket, 0);
}

export function logFailed(status: i32, mode: i32): void {
  append(EVENT_FAILED, mode, status, 0);
}

/** Records a result below 0, and gives the status that says so. */
export function logNegativeAnswer(bytes: i64): i64 {
  append(EVENT_ANSWER, 0, 0, <f64>bytes);
  return NEGATIVE_ANSWER;
}

/**
 * Records an over-release, as Spark logs a warning. Only corrupted accounting causes them by the dozen; then those
 * for which there is no room beside the evictions to come are left out.
 *
 * @param kind EVENT_STORAGE_OVER_RELEASE or EVENT_EXECUTION_OVER_RELEASE
 */
export function logOverRelease(kind: i32, mode: i32, released: i64, held: i64): void {
  if (<u32>(log().end - log().next) / EVENT_BYTES < needed() + 2) return;
  append(kind, mode, 0, <f64>released);
  append(EVENT_HELD, mode, 0, <f64>held);
}
