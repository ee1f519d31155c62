/**
 * Quantities of a job spec as columns: one value for all, a list, or a distribution with a seed.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import { exp, pow, Prng } from "../prng.ts";

import type { Column } from "../simulator/workload.ts";
import { byteStringAs, timeStringAs } from "../spark/sizes.ts";
import type { Distribution, Quantity } from "./job_spec_types.ts";

/** What a quantity counts: bytes and times have Spark's notation beside plain numbers. */
export type Unit = "bytes" | "ms" | "count";

/** Where a column is needed. */
export interface ColumnContext {
  readonly unit: Unit;
  /** Tasks or partitions. */
  readonly length: number;
  /** Seed of the spec. */
  readonly seed: number;
  /** Place in the spec: for errors, and for a stream of random numbers of its own. */
  readonly pointer: string;
  /** Place relative to the spec, which the draw depends on. Default: `pointer`. */
  readonly stream?: string;
}

/** The largest size of one figure: 1 PiB. Sums over a workload stay exact in doubles. */
export const MAX_QUANTITY_BYTES = 2 ** 50;
/** The longest time of one figure: about three years. */
export const MAX_QUANTITY_MS = 1e11;
/** The largest count of one figure. */
export const MAX_QUANTITY_COUNT = 1e12;

const MAXIMA: Readonly<Record<Unit, number>> = {
  bytes: MAX_QUANTITY_BYTES,
  ms: MAX_QUANTITY_MS,
  count: MAX_QUANTITY_COUNT,
};

const CONSTANTS = new Map<string, Column>();

/**
 * A column of equal values. Columns are never written to after they are made, so short-lived equal ones share memory.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { constantColumn } from "./quantity.ts";
 *
 * assertEquals(constantColumn(2, 7), Float64Array.of(7, 7));
 * ```
 */
export function constantColumn(length: number, value: number): Column {
  const key = `${length}:${value}`;
  const known = CONSTANTS.get(key);
  if (known !== undefined) return known;
  const column = new Float64Array(length).fill(value);
  if (length <= 1024) {
    if (CONSTANTS.size >= 256) CONSTANTS.clear();
    CONSTANTS.set(key, column);
  }
  return column;
}

/**
 * One value in bytes, ms or as a count.
 *
 * @throws {InputError} `size.bytes`, `size.time` for texts that are not Spark's notation, `input.range` for values
 * that are negative or absurd.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { scalar } from "./quantity.ts";
 *
 * assertEquals(scalar("64k", "bytes", "/bytes"), 65536);
 * assertEquals(scalar("3s", "ms", "/computeMs"), 3000);
 * ```
 */
export function scalar(
  value: number | string,
  unit: Unit,
  pointer: string,
): number {
  const amount = typeof value === "number" ? value : parseText(value, unit, pointer);
  const maximum = MAXIMA[unit];
  if (!(amount >= 0 && amount <= maximum)) {
    throw new InputError(
      "input.range",
      `Cannot use the job spec: ${pointer}: must be in [0, ${maximum}]: received ${value}`,
      { parameters: { min: 0, max: maximum, value }, pointer },
    );
  }
  return amount;
}

function parseText(text: string, unit: Unit, pointer: string): number {
  try {
    if (unit === "bytes") return byteStringAs(text, "BYTE");
    if (unit === "ms") return timeStringAs(text, "MILLISECONDS");
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(error.code, `${pointer}: ${error.message}`, {
      parameters: error.parameters,
      pointer,
      cause: error,
    });
  }
  throw new InputError(
    "input.type",
    `Cannot use the job spec: ${pointer}: must be a number: received "${text}"`,
    { parameters: { value: text }, pointer },
  );
}

/**
 * The column that a quantity describes.
 *
 * @throws {InputError} `job_spec.length` when a list has another length, `job_spec.range` when a distribution's
 * bounds contradict each other, and those of {@linkcode scalar}.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { columnOf } from "./quantity.ts";
 *
 * const context = { unit: "bytes", length: 3, seed: 1, pointer: "/x" } as const;
 * assertEquals(columnOf("1k", context), Float64Array.of(1024, 1024, 1024));
 * assertEquals(columnOf([1, 2, 3], context), Float64Array.of(1, 2, 3));
 * assertEquals(
 *   columnOf({ distribution: "uniform", min: 1, max: 9 }, context),
 *   columnOf({ distribution: "uniform", min: 1, max: 9 }, context),
 * );
 * ```
 */
export function columnOf(
  quantity: Quantity<number | string>,
  context: ColumnContext,
): Column {
  const { unit, length, pointer } = context;
  if (typeof quantity === "number" || typeof quantity === "string") {
    return constantColumn(length, scalar(quantity, unit, pointer));
  }
  if (Array.isArray(quantity)) return listColumn(quantity, context, pointer);
  const distribution = quantity as Distribution<number | string>;
  switch (distribution.distribution) {
    case "constant":
      return constantColumn(
        length,
        scalar(distribution.value, unit, `${pointer}/value`),
      );
    case "list":
      return listColumn(distribution.values, context, `${pointer}/values`);
    default:
      return drawnColumn(distribution, context);
  }
}

function listColumn(
  values: readonly (number | string)[],
  { unit, length }: ColumnContext,
  pointer: string,
): Column {
  if (values.length !== length) {
    throw new InputError(
      "job_spec.length",
      `Cannot use the job spec: ${pointer}: must have a value for each of ${length} tasks or partitions: ` +
        `received ${values.length}`,
      { parameters: { expected: length, received: values.length }, pointer },
    );
  }
  return Float64Array.from(
    values,
    (value, i) => scalar(value, unit, `${pointer}/${i}`),
  );
}

type Drawn = Exclude<
  Distribution<number | string>,
  { distribution: "constant" | "list" }
>;

function drawnColumn(distribution: Drawn, context: ColumnContext): Column {
  const { unit, length, pointer } = context;
  const random = distribution.seed === undefined
    ? new Prng(context.seed).fork(context.stream ?? pointer)
    : new Prng(distribution.seed);
  const part = (name: string, otherwise?: number) => {
    const value = (distribution as unknown as Record<string, unknown>)[name];
    return value === undefined && otherwise !== undefined
      ? otherwise
      : scalar(value as number | string, unit, `${pointer}/${name}`);
  };
  const column = new Float64Array(length);
  const maximum = MAXIMA[unit];
  const fill = (low: number, high: number, draw: () => number) => {
    if (low > high) throw emptyRange(low, high, pointer);
    for (let i = 0; i < length; i++) {
      column[i] = Math.min(Math.max(Math.floor(draw() + 0.5), low), high);
    }
  };
  switch (distribution.distribution) {
    case "uniform": {
      const [min, max] = [part("min"), part("max")];
      fill(min, max, () => min + (max - min) * random.float());
      break;
    }
    case "normal": {
      const [mean, deviation] = [part("mean"), part("standardDeviation")];
      const draw = () => mean + deviation * random.normal();
      fill(part("min", 0), part("max", maximum), draw);
      break;
    }
    case "lognormal": {
      const median = part("median");
      const draw = () => median * exp(distribution.sigma * random.normal());
      fill(0, part("max", maximum), draw);
      break;
    }
    case "zipf":
      zipfShares(column, part("total"), distribution.exponent);
      if (distribution.shuffled) column.set(random.shuffle(Array.from(column)));
  }
  return column;
}

function emptyRange(min: number, max: number, pointer: string): InputError {
  return new InputError(
    "job_spec.range",
    `Cannot use the job spec: ${pointer}: min must not exceed max: received ${min} and ${max}`,
    { parameters: { min, max }, pointer },
  );
}

/**
 * Fills a column with whole shares of a total, the k-th proportional to 1 / k^exponent. Their sum is the total, rounded
 * down: what rounding leaves over goes to the first ones.
 */
function zipfShares(column: Column, total: number, exponent: number): void {
  if (column.length === 0) return;
  let weights = 0;
  for (let i = 0; i < column.length; i++) weights += column[i] = pow(i + 1, -exponent);
  let left = Math.floor(total);
  for (let i = 0; i < column.length; i++) {
    column[i] = Math.floor(total * (column[i] / weights));
    left -= column[i];
  }
  for (let i = 0; left > 0; i = (i + 1) % column.length, left--) column[i]++;
  column[0] += Math.min(left, 0);
}
