/**
 * Answers that take computing: within the gate and a budget, whole or line by line.
 *
 * @module
 */
import type { Context } from "hono";
import { Budget } from "./budget.ts";
import { problemOf } from "./problem.ts";
import type { ServiceEnv } from "./service.ts";

function budgetOf(c: Context<ServiceEnv>): Budget {
  const { limits, host } = c.get("service");
  return new Budget({ limits, host, signal: c.req.raw.signal });
}

function finish(c: Context<ServiceEnv>, budget: Budget, start: number): void {
  c.set("events", budget.events);
  c.get("timings").set("compute", c.get("service").host.now() - start);
}

/**
 * Computes an answer.
 *
 * @throws {LimitError} `limit.concurrency` and whatever the work throws.
 */
export async function compute<T>(c: Context<ServiceEnv>, work: (budget: Budget) => Promise<T>): Promise<T> {
  const { gate, host } = c.get("service");
  const leave = gate.enter();
  const budget = budgetOf(c);
  const start = host.now();
  try {
    return await work(budget);
  } finally {
    finish(c, budget, start);
    leave();
  }
}

/**
 * Streams NDJSON as it becomes known: each text that the work yields is sent at once. Nothing is computed faster than the client reads, and a client that goes away ends
 * the work. What fails before the first line is an error answer; later, the last line is `{"error": PROBLEM}`.
 *
 * @throws {LimitError} `limit.concurrency` and whatever the work throws before its first line.
 */
export async function streamLines(
  c: Context<ServiceEnv>,
  work: (budget: Budget) => AsyncGenerator<string, void>,
): Promise<Response> {
  const { gate, host } = c.get("service");
  const leave = gate.enter();
  const budget = budgetOf(c);
  const start = host.now();
  const lines = work(budget);
  let first: IteratorResult<string, void>;
  try {
    first = await lines.next();
  } catch (error) {
    leave();
    throw error;
  } finally {
    finish(c, budget, start);
  }
  return c.body(lineStream(first, lines, leave), 200, {
    "content-type": "application/x-ndjson",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
}

function lineStream(
  first: IteratorResult<string, void>,
  lines: AsyncGenerator<string, void>,
  leave: () => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let waiting: IteratorResult<string, void> | null = first;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = waiting ?? await lines.next();
        waiting = null;
        if (!done) return controller.enqueue(encoder.encode(value));
      } catch (error) {
        controller.enqueue(encoder.encode(JSON.stringify({ error: problemOf(error) }) + "\n"));
      }
      leave();
      controller.close();
    },
    async cancel() {
      leave();
      await lines.return();
    },
  }, { highWaterMark: 0 });
}
