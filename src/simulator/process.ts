/**
 * How a simulated task runs on virtual time: a generator that yields how long it sleeps, or {@linkcode WAIT} until it
 * is told what it waited for. The simulation resumes it; nothing blocks.
 *
 * @module
 */
import type { TaskEndReason } from "../spark/events.ts";

/** Yielded instead of a number of ms: resume with the granted bytes. */
export const WAIT = -1;
/** What a stretch gives when it sleeps; for how long is in {@linkcode sleep}. */
export const SLEEP = -2;
/**
 * How long the stretch that gave SLEEP sleeps, ms: looked at before another one is resumed. A number that is returned, or
 * stored in a field, is an object to V8; one in an array of doubles is none.
 */
export const sleep: Float64Array = new Float64Array(1);

/**
 * A part of a process that ends with a T. It yields ms to sleep, WAIT, or a stretch that is to be gone through, and is
 * resumed with a number, or with what the stretch came to.
 */
export type Process<T> = Generator<number | Stretch, T, number | TaskFailure | null>;

/** Part of a process as a state machine, resumed directly: cheaper than a generator where there are many steps. */
export interface Stretch {
  /** Goes on: SLEEP or WAIT, and at the end null or why the task fails. */
  resume(value: number): typeof SLEEP | typeof WAIT | TaskFailure | null;
}

/** Why a task cannot go on: the reason that its end will carry. Data, never thrown. */
export interface TaskFailure {
  readonly reason: TaskEndReason;
}

/** Outcome of one step of an {@linkcode Activity}: done for now, waiting for memory, or the task fails. */
export type StepOutcome = null | typeof WAIT | TaskFailure;

/** Something that happens at certain points of a task's computing: unrolling, a consumer's requests, a fault. */
export interface Activity {
  /** Where in the computing the next step is due, 0 to 1; Infinity when there is none. */
  readonly next: number;
  /** Does the step. */
  step(): StepOutcome;
  /** Goes on after a WAIT. */
  resume(granted: number): StepOutcome;
}
