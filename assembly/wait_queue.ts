/** The acquires of the executor that wait, first come first, for both memory modes: Spark's lock has one wait set. */
import { allocate, release } from "./heap";
import { executor, WaitingAcquire } from "./layout";

const RECORD_BYTES: u32 = 32;
const FIRST_CAPACITY: u32 = 8;

/** Gives the executor its first queue; false when memory is out. */
export function createWaitQueue(): bool {
  executor.waiting = allocate(FIRST_CAPACITY * RECORD_BYTES);
  executor.waitingCapacity = FIRST_CAPACITY;
  return executor.waiting != 0;
}

/** Gives the queue back. */
export function releaseWaitQueue(): void {
  release(executor.waiting, executor.waitingCapacity * RECORD_BYTES);
}

@inline
export function waitingAt(i: u32): WaitingAcquire {
  return changetype<WaitingAcquire>(executor.waiting + <usize>(i * RECORD_BYTES));
}

/** Makes room for one more; false when memory is out. */
@inline
export function reserveWaiting(): bool {
  return executor.numWaiting < executor.waitingCapacity || grow();
}

/** Appends an acquire and gives its ticket; there must be room. */
export function addWaiting(numBytes: i64, task: i64, mode: i32): i32 {
  const ticket = executor.nextTicket;
  const waiting = waitingAt(executor.numWaiting++);
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
export function indexOfTicket(ticket: i32): i32 {
  for (let i: u32 = 0; i < executor.numWaiting; i++) {
    if (waitingAt(i).ticket == ticket) return <i32>i;
  }
  return -1;
}

/** Takes the acquire at this place out. */
export function removeWaiting(i: u32): void {
  const place = changetype<usize>(waitingAt(i));
  executor.numWaiting--;
  memory.copy(place, place + RECORD_BYTES, <usize>((executor.numWaiting - i) * RECORD_BYTES));
}

function grow(): bool {
  const bytes = executor.waitingCapacity * RECORD_BYTES;
  const segment = allocate(2 * bytes);
  if (segment == 0) return false;
  memory.copy(segment, executor.waiting, bytes);
  release(executor.waiting, bytes);
  executor.waiting = segment;
  executor.waitingCapacity *= 2;
  return true;
}
