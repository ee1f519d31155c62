/**
 * What one request may still spend, and how many requests compute at once.
 *
 * @module
 */
import { LimitError } from "../src/errors.ts";
import type { Host } from "./host.ts";
import type { ServiceLimits } from "./limits.ts";
import { HttpError } from "./problem.ts";

/** Simulated events after which others have a turn: a few ms of computing, where a turn takes one or more itself. */
const TURN_EVENTS = 1000;

/**
 * The work that a request may still do. Work is counted in simulated events, so that a budget holds also where the clock
 * stands still; the deadline counts as well where it runs.
 *
 * @example
 * ```ts
 * import { assertRejects } from "@std/assert";
 * import { Budget } from "./budget.ts";
 * import { quietHost } from "./host.ts";
 * import { serviceLimits } from "./limits.ts";
 *
 * const budget = new Budget({ limits: serviceLimits({ events: 10 }), host: quietHost() });
 * await budget.spend(10);
 * await assertRejects(() => budget.spend(1), TypeError, "at most 10 events");
 * ```
 */
export class Budget {
  readonly limits: ServiceLimits;
  readonly #host: Host;
  readonly #signal: AbortSignal | undefined;
  readonly #start: number;
  /** Events since others had a turn. */
  #sinceTurn = 0;
  /** Simulated events so far. */
  events = 0;

  constructor(options: { limits: ServiceLimits; host: Host; signal?: AbortSignal }) {
    this.limits = options.limits;
    this.#host = options.host;
    this.#signal = options.signal;
    this.#start = options.host.now();
  }

  /** Events that are left. */
  get eventsLeft(): number {
    return this.limits.events - this.events;
  }

  /**
   * Counts work that was done, and lets others have a turn when it adds up to 1,000 events.
   *
   * @throws {LimitError} `limit.events`, `limit.deadline`.
   * @throws {HttpError} `request.cancelled` when the client has gone.
   */
  async spend(events: number): Promise<void> {
    this.events += events;
    if (this.events > this.limits.events) throw over("events", this.limits.events, this.events);
    this.#sinceTurn += events;
    if (this.#sinceTurn >= TURN_EVENTS) {
      this.#sinceTurn = 0;
      await this.#host.pause();
    }
    this.check();
  }

  /**
   * Checks deadline and client.
   *
   * @throws {LimitError} `limit.deadline`.
   * @throws {HttpError} `request.cancelled`.
   */
  check(): void {
    if (this.#signal?.aborted) {
      throw new HttpError(499, "request.cancelled", "Cannot go on: the client has closed the connection");
    }
    if (this.#host.now() - this.#start > this.limits.deadlineMs) {
      throw new LimitError(
        "limit.deadline",
        `Cannot answer: must be computed in at most ${this.limits.deadlineMs} ms`,
        { parameters: { limit: this.limits.deadlineMs } },
      );
    }
  }

  /** Ends reading when the client goes. */
  get signal(): AbortSignal | undefined {
    return this.#signal;
  }
}

function over(what: "events", limit: number, received: number): LimitError {
  return new LimitError(`limit.${what}`, `Cannot simulate: must take at most ${limit} ${what}: received ${received}`, {
    parameters: { limit, received },
  });
}

/**
 * Lets a limited number of requests compute.
 *
 * @example
 * ```ts
 * import { assertThrows } from "@std/assert";
 * import { Gate } from "./budget.ts";
 *
 * const gate = new Gate(1);
 * const leave = gate.enter();
 * assertThrows(() => gate.enter(), TypeError, "at most 1 requests");
 * leave();
 * gate.enter();
 * ```
 */
export class Gate {
  readonly #limit: number;
  #inside = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Enters; the function that it gives leaves again, once.
   *
   * @throws {LimitError} `limit.concurrency`.
   */
  enter(): () => void {
    if (this.#inside >= this.#limit) {
      throw new LimitError(
        "limit.concurrency",
        `Cannot answer now: at most ${this.#limit} requests compute at the same time: try again`,
        { parameters: { limit: this.#limit } },
      );
    }
    this.#inside++;
    let left = false;
    return () => {
      if (!left) this.#inside--;
      left = true;
    };
  }
}
