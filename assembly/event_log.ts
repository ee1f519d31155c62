/**
 * What an operation causes besides its answer, in the order in which it happens, for the host to read.
 *
 * EventRecord (16 bytes)
 *
 * | offset | field   | type | meaning                                                   |
 * | -----: | ------- | ---- | --------------------------------------------------------- |
 * |      0 | kind    | u8   | one of the EVENT_ constants                               |
 * |      1 | mode    | u8   | memory mode                                               |
 * |      2 | pool    | u16  | OVER_RELEASE: 0 storage, 1 execution; else 0              |
 * |      4 | subject | i32  | block, ticket or status                                   |
 * |      8 | value   | f64  | bytes or task attempt id                                  |
 */
import { allocate, release } from "./heap";

@unmanaged
class EventRecord {
  kind!: u8;
  mode!: u8;
  pool!: u16;
  subject!: i32;
  value!: f64;
}

export const EVENT_BYTES: i32 = offsetof<EventRecord>();
export const EVENT_MODE: i32 = offsetof<EventRecord>("mode");
export const EVENT_POOL: i32 = offsetof<EventRecord>("pool");
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
/** More was released than held. value: bytes released. Always followed by EVENT_HELD. */
export const EVENT_OVER_RELEASE: i32 = 6;
/** value: the bytes that were held when more was released. */
export const EVENT_HELD: i32 = 7;

/**
 * The log's header, in memory at a fixed place, so that the host reads it without a call:
 * u32 number of records, u32 capacity in records, u32 address of the first record.
 */
const HEADER: usize = memory.data(12, 16);
export const EVENT_LOG: i32 = <i32>HEADER;

/** Records that every operation may write besides one per entry of its executor and two per waiting acquire. */
const SLACK: u32 = 16;

@inline
export function eventCount(): u32 {
  return load<u32>(HEADER);
}

@inline
function capacity(): u32 {
  return load<u32>(HEADER, 4);
}

@inline
export function clearEvents(): void {
  store<u32>(HEADER, 0);
}

/** Most records that one operation of an executor with so many entries and waiting acquires needs. */
@inline
function needed(entries: u32, waiting: u32): u32 {
  return entries + 2 * waiting + SLACK;
}

/** Whether the log has room for one more operation of such an executor. */
@inline
export function hasRoom(entries: u32, waiting: u32): bool {
  return capacity() - eventCount() >= needed(entries, waiting);
}

/** Makes the log large enough for such an executor, so that an operation never runs out of room; false when memory is out. */
@inline
export function reserveEvents(entries: u32, waiting: u32): bool {
  // twice, so that a batch gets past its first operations before the host has to read the log
  const wanted = needed(entries, waiting) << 1;
  return wanted <= capacity() || growTo(wanted);
}

function growTo(wanted: u32): bool {
  const old = capacity();
  let records: u32 = old == 0 ? 1024 : old;
  while (records < wanted) records <<= 1;
  const segment = allocate(records * EVENT_BYTES);
  if (segment == 0) return false;
  const first = load<u32>(HEADER, 8);
  memory.copy(segment, first, eventCount() * EVENT_BYTES);
  release(first, old * EVENT_BYTES);
  store<u32>(HEADER, records, 4);
  store<u32>(HEADER, <u32>segment, 8);
  return true;
}

@inline
function append(kind: i32, mode: i32, subject: i32, value: f64): EventRecord {
  const count = eventCount();
  const record = changetype<EventRecord>(<usize>load<u32>(HEADER, 8) + (<usize>count << 4));
  record.kind = <u8>kind;
  record.mode = <u8>mode;
  record.pool = 0;
  record.subject = subject;
  record.value = value;
  store<u32>(HEADER, count + 1);
  return record;
}

@inline
export function logEvicted(block: i32, mode: i32, bytes: i64): void {
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

/**
 * Records an over-release, as Spark logs a warning. Only corrupted accounting causes them by the dozen; then those
 * for which there is no room beside the evictions to come are left out.
 */
export function logOverRelease(
  pool: i32, mode: i32, released: i64, held: i64, entries: u32, waiting: u32,
): void {
  if (!hasRoom(entries, waiting + 1)) return;
  append(EVENT_OVER_RELEASE, mode, 0, <f64>released).pool = <u16>pool;
  append(EVENT_HELD, mode, 0, <f64>held).pool = <u16>pool;
}
