import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { InputError } from "../../src/errors.ts";
import { type ColumnContext, columnOf, MAX_QUANTITY_BYTES, scalar } from "../../src/workload/quantity.ts";

const context = (length: number, seed = 1): ColumnContext => ({ unit: "bytes", length, seed, pointer: "/x" });
const sum = (column: Float64Array) => column.reduce((total, value) => total + value, 0);

Deno.test("distributions have the moments that they are named for", () => {
  // 20,000 draws: means within 4 standard errors, with these seeds for ever.
  const n = 20_000;
  const uniform = columnOf({ distribution: "uniform", min: 1000, max: 3000 }, context(n));
  assertEquals(Math.abs(sum(uniform) / n - 2000) < 4 * 577 / Math.sqrt(n), true);
  const normal = columnOf({ distribution: "normal", mean: 5000, standardDeviation: 500 }, context(n));
  assertEquals(Math.abs(sum(normal) / n - 5000) < 4 * 500 / Math.sqrt(n), true);
  const lognormal = columnOf({ distribution: "lognormal", median: 10_000, sigma: 1 }, context(n)).sort();
  assertEquals(Math.abs(lognormal[n / 2] / 10_000 - 1) < 0.04, true);
});

Deno.test("drawn figures are whole, within bounds, and the same for the same seed", () => {
  const bound = fc.integer({ min: 0, max: MAX_QUANTITY_BYTES });
  fc.assert(
    fc.property(bound, bound, fc.nat(), fc.integer({ min: 1, max: 50 }), (a, b, seed, length) => {
      const [min, max] = [Math.min(a, b), Math.max(a, b)];
      const quantities = [
        { distribution: "uniform", min, max },
        { distribution: "normal", mean: a, standardDeviation: b, min, max },
        { distribution: "lognormal", median: a, sigma: 3, max },
      ] as const;
      for (const quantity of quantities) {
        const column = columnOf(quantity, context(length, seed));
        const low = quantity.distribution === "lognormal" ? 0 : min;
        assertEquals(column.every((v) => Number.isInteger(v) && v >= low && v <= max), true);
        assertEquals(column, columnOf(quantity, context(length, seed)));
      }
    }),
    { seed: 4, numRuns: 200 },
  );
});

Deno.test("zipf splits the whole total, the k-th share in proportion to 1 / k^exponent", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: MAX_QUANTITY_BYTES }),
      fc.double({ min: 0, max: 10, noNaN: true }),
      fc.integer({ min: 1, max: 300 }),
      fc.boolean(),
      (total, exponent, length, shuffled) => {
        const column = columnOf({ distribution: "zipf", total, exponent, shuffled }, context(length));
        assertEquals(sum(column), total);
        const sorted = column.slice().sort().reverse();
        if (!shuffled && total > 2 ** 20) assertEquals(column[0], sorted[0]);
      },
    ),
    { seed: 5, numRuns: 300 },
  );
  // 1 : 1/2 : 1/3 = 6 : 3 : 2 of 110.
  assertEquals(columnOf({ distribution: "zipf", total: 110, exponent: 1 }, context(3)), Float64Array.of(60, 30, 20));
  assertEquals(columnOf({ distribution: "zipf", total: 110, exponent: 1 }, context(0)).length, 0);
});

Deno.test("counts are numbers, sizes may be Spark's texts, lists are columns as they are", () => {
  const refusal = (call: () => unknown) => {
    const { code, pointer } = assertThrows(call, InputError);
    return [code, pointer];
  };
  assertEquals(refusal(() => scalar("64k", "count", "/records")), ["input.type", "/records"]);
  assertEquals(refusal(() => scalar("64q", "bytes", "/bytes")), ["size.bytes", "/bytes"]);
  const list = columnOf({ distribution: "list", values: [3, "1k", 2] }, context(3));
  assertEquals(list, Float64Array.of(3, 1024, 2));
  assertEquals(refusal(() => columnOf({ distribution: "list", values: [3, 1] }, context(3)))[0], "job_spec.length");
});
