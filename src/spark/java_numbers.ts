/**
 * Numbers as Java reads and prints them.
 *
 * @module
 */

const DOUBLE = /^[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)$/;

/**
 * java.lang.Double.parseDouble, less its hexadecimal form.
 *
 * @returns null where Java throws NumberFormatException.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { parseJavaDouble } from "./java_numbers.ts";
 *
 * assertEquals(parseJavaDouble("0.6d"), 0.6);
 * assertEquals(parseJavaDouble("0,6"), null);
 * ```
 */
export function parseJavaDouble(text: string): number | null {
  const trimmed = text.trim();
  if (!DOUBLE.test(trimmed)) return null;
  return Number(/[fFdD]$/.test(trimmed) ? trimmed.slice(0, -1) : trimmed);
}

/**
 * java.lang.Integer.parseInt or java.lang.Long.parseLong. A Long beyond 2^53 - 1 saturates there.
 *
 * @returns null where Java throws NumberFormatException.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { parseJavaInteger } from "./java_numbers.ts";
 *
 * assertEquals(parseJavaInteger("2147483648", 32), null);
 * assertEquals(parseJavaInteger("-1", 32), -1);
 * ```
 */
export function parseJavaInteger(text: string, bits: 32 | 64): number | null {
  const trimmed = text.trim();
  if (!/^[+-]?\d+$/.test(trimmed)) return null;
  const value = BigInt(trimmed);
  const limit = 1n << BigInt(bits - 1);
  if (value >= limit || value < -limit) return null;
  const safe = BigInt(Number.MAX_SAFE_INTEGER);
  return Number(value > safe ? safe : value < -safe ? -safe : value);
}

/**
 * A double as Java and Scala print it in the range of settings: "1.0", not "1".
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { javaDoubleText } from "./java_numbers.ts";
 *
 * assertEquals([javaDoubleText(1), javaDoubleText(0.75), javaDoubleText(471859200)], ["1.0", "0.75", "4.718592E8"]);
 * ```
 */
export function javaDoubleText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e7)) {
    const [mantissa, exponent] = value.toExponential().split("e");
    return `${mantissa.includes(".") ? mantissa : mantissa + ".0"}E${Number(exponent)}`;
  }
  const text = String(value);
  return text.includes(".") ? text : `${text}.0`;
}
