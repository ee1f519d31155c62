/** The acquires of an executor that wait, first come first, for both memory modes: Spark's lock has one wait set. */
import { allocate, release } from "./heap";
import { Executor, WaitingAcquire } from "./layout";

const RECORD_BYTES: u32 = 32;
const FIRST_CAPACITY: u32 = 8;

/** Gives an executor its first queue; false when memory is out. */
export function createWaitQueue(executor: Executor): bool {
  executor.waiting = allocate(FIRST_CAPACITY * RECORD_BYTES);
  executor.waitingCapacity = FIRST_CAPACITY;
  return executor.waiting != 0;
}

/** Gives the queue back. */
export function releaseWaitQueue(executor: Executor): void {
  release(executor.waiting, executor.waitingCapacity * RECORD_BYTES);
}

@inline
export function waitingAt(executor: Executor, i: u32): WaitingAcquire {
  return changetype<WaitingAcquire>(executor.waiting + <usize>(i * RECORD_BYTES));
}

/** Makes room for one more; false when memory is out. */
@inline
export function reserveWaiting(executor: Executor): bool {
  return executor.numWaiting < executor.waitingCapacity || grow(executor);
}

/** Appends an acquire and gives its ticket; there must be room. */
export function addWaiting(executor: Executor, numBytes: i64, task: i64, mode: i32): i32 {
  const ticket = executor.nextTicket;
  const waiting = waitingAt(executor, executor.numWaiting++);
  waiting.numBytes = numBytes;
  waiting.task = task;
  waiting.ticket = ticket;
  waiting.mode = mode;
  executor.nextTicket = (ticket + 1) & MAX_TICKET;
  return ticket;
}

/** Tickets are counted modulo 2^30. */
const MAX_TICKET: i32 = (1 << 30) - 1;

/** The place of the acquire with this ticket, or -1. */
export function indexOfTicket(executor: Executor, ticket: i32): i32 {
  for (let i: u32 = 0; i < executor.numWaiting; i++) {
    if (waitingAt(executor, i).ticket == ticket) return <i32>i;
  }
  return -1;
}

/** Takes the acquire at this place out. */
export function removeWaiting(executor: Executor, i: u32): void {
  const place = changetype<usize>(waitingAt(executor, i));
  executor.numWaiting--;
  memory.copy(place, place + RECORD_BYTES, <usize>((executor.numWaiting - i) * RECORD_BYTES));
}

function grow(executor: Executor): bool {
  const bytes = executor.waitingCapacity * RECORD_BYTES;
  const segment = allocate(2 * bytes);
  if (segment == 0) return false;
  memory.copy(segment, executor.waiting, bytes);
  release(executor.waiting, bytes);
  executor.waiting = segment;
  executor.waitingCapacity *= 2;
  return true;
}
