/**
 * What a job may cost: the bar that a recommendation must clear, and that a check in CI fails on.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type { Summary } from "../report/summary.ts";
import { plural, size } from "../report/verdict/finding.ts";

/** Limits; without one there is none. Sizes in bytes, times in ms. */
export interface Budget {
  /** Cached blocks that leave memory. */
  readonly maxEvictedBlocks?: number;
  /** In memory, before they were spilled. */
  readonly maxSpilledBytes?: number;
  /** Tasks that spill. */
  readonly maxSpilledTasks?: number;
  /** Of the whole application. */
  readonly maxDurationMs?: number;
  /** Memory of all executors with overhead. */
  readonly maxClusterMemoryBytes?: number;
}

/** No eviction and no spill. */
export const STRICT_BUDGET: Budget = Object.freeze({ maxEvictedBlocks: 0, maxSpilledBytes: 0 });

const KEYS: readonly (keyof Budget)[] = [
  "maxEvictedBlocks",
  "maxSpilledBytes",
  "maxSpilledTasks",
  "maxDurationMs",
  "maxClusterMemoryBytes",
];

/**
 * A budget from JSON.
 *
 * @throws {InputError} `budget.json`, `budget.key`, `budget.value`.
 *
 * @example
 * ```ts
 * import { assertEquals, assertThrows } from "@std/assert";
 * import { parseBudget } from "./budget.ts";
 *
 * assertEquals(parseBudget('{ "maxEvictedBlocks": 10 }'), { maxEvictedBlocks: 10 });
 * assertThrows(() => parseBudget('{ "maxEvictions": 10 }'), TypeError, "must be one of maxEvictedBlocks");
 * ```
 */
export function parseBudget(text: string): Budget {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new InputError("budget.json", "Cannot use the budget: must be JSON", { cause });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new InputError("budget.json", "Cannot use the budget: must be an object", { pointer: "" });
  }
  for (const [key, limit] of Object.entries(value)) {
    if (!(KEYS as readonly string[]).includes(key)) {
      throw new InputError("budget.key", `Cannot use the budget: must be one of ${KEYS.join(", ")}: received ${key}`, {
        parameters: { key },
        pointer: `/${key}`,
      });
    }
    if (typeof limit !== "number" || !(limit >= 0)) {
      throw new InputError(
        "budget.value",
        `Cannot use ${key}: must be a number from 0: received ${JSON.stringify(limit)}`,
        {
          parameters: { key, value: limit },
          pointer: `/${key}`,
        },
      );
    }
  }
  return value as Budget;
}

/**
 * What a run exceeds, in sentences; empty when it keeps to the budget.
 *
 * @param clusterMemoryBytes memory of all executors with overhead
 */
export function budgetViolations(budget: Budget, summary: Summary, clusterMemoryBytes: number): string[] {
  const { storage, execution, outcome, durationMs } = summary;
  const violations: string[] = [];
  if (outcome.status !== "succeeded") {
    violations.push(`the application ${outcome.status}: ${outcome.reason ?? "no reason"}`);
  }
  const above = (
    limit: number | undefined,
    value: number | null,
    text: (value: number) => string,
    of: (value: number) => string,
  ) => {
    if (limit !== undefined && value !== null && value > limit) {
      violations.push(`${text(value)}, the budget is ${of(limit)}`);
    }
  };
  const blocks = (value: number) => plural(value, "block");
  const tasks = (value: number) => plural(value, "task");
  const ms = (value: number) => `${Math.round(value)} ms`;
  above(budget.maxEvictedBlocks, storage.blocksEvicted, (value) => `${blocks(value)} evicted`, blocks);
  above(budget.maxSpilledBytes, execution.memoryBytesSpilled, (value) => `${size(value)} spilled`, size);
  above(budget.maxSpilledTasks, execution.spilledTasks, (value) => `${tasks(value)} spilled`, tasks);
  above(budget.maxDurationMs, durationMs, (value) => `it takes ${ms(value)}`, ms);
  above(budget.maxClusterMemoryBytes, clusterMemoryBytes, (value) => `${size(value)} of memory`, size);
  return violations;
}
