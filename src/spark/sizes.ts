/**
 * Spark's byte and time strings, and how it prints bytes and durations
 * (org.apache.spark.network.util.JavaUtils and ByteUnit, org.apache.spark.util.Utils).
 *
 * A size is a whole number of bytes. Spark keeps it in a 64-bit Long; here it is a JavaScript number, so sizes above
 * 2^53 - 1 that Spark accepts are cut to {@linkcode MAX_SIZE}, and what overflows Spark's Long is refused as Spark does.
 *
 * @module
 */
import { InputError } from "../errors.ts";

/** The largest size that this project tells apart, in bytes: 2^53 - 1. Larger ones saturate. */
export const MAX_SIZE = Number.MAX_SAFE_INTEGER;

const LONG_MAX = 9223372036854775807n;

/** Bytes of a unit, by the names of Spark's ByteUnit. */
export const BYTE_UNITS = Object.freeze({
  BYTE: 1,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
  PiB: 2 ** 50,
});

/** Name of a unit of ByteUnit. */
export type ByteUnit = keyof typeof BYTE_UNITS;

/** Milliseconds of a unit of time, by the names of java.util.concurrent.TimeUnit that Spark's settings use. */
export const TIME_UNITS = Object.freeze({
  MICROSECONDS: 0.001,
  MILLISECONDS: 1,
  SECONDS: 1000,
  MINUTES: 60_000,
  HOURS: 3_600_000,
  DAYS: 86_400_000,
});

/** Name of a unit of time. */
export type TimeUnit = keyof typeof TIME_UNITS;

const BYTE_SUFFIXES: ReadonlyMap<string, ByteUnit> = new Map([
  ["b", "BYTE"],
  ["k", "KiB"],
  ["kb", "KiB"],
  ["m", "MiB"],
  ["mb", "MiB"],
  ["g", "GiB"],
  ["gb", "GiB"],
  ["t", "TiB"],
  ["tb", "TiB"],
  ["p", "PiB"],
  ["pb", "PiB"],
]);

const TIME_SUFFIXES: ReadonlyMap<string, TimeUnit> = new Map([
  ["us", "MICROSECONDS"],
  ["ms", "MILLISECONDS"],
  ["s", "SECONDS"],
  ["m", "MINUTES"],
  ["min", "MINUTES"],
  ["h", "HOURS"],
  ["d", "DAYS"],
]);

const BYTE_ERROR = "Size must be specified as bytes (b), kibibytes (k), " +
  "mebibytes (m), gibibytes (g), tebibytes (t), or pebibytes(p). E.g. 50b, 100k, or 250m.";
const TIME_ERROR = "Time must be specified as seconds (s), milliseconds (ms), microseconds (us), " +
  "minutes (m or min), hour (h), or day (d). E.g. 50s, 100ms, or 250us.";

/** The InputError of a text that Spark refuses: Spark's exception class and message, kept apart in `parameters`. */
function refused(
  code: "size.bytes" | "size.time",
  value: string,
  exception: string,
  reason: string,
): InputError {
  return new InputError(code, reason, {
    parameters: { value, exception: `java.lang.${exception}`, reason },
  });
}

/** Java's Long.parseLong: null when the digits do not fit in 64 bits. */
function parseLong(digits: string): bigint | null {
  const value = BigInt(digits);
  return value > LONG_MAX || value < -LONG_MAX - 1n ? null : value;
}

function saturate(value: bigint): number {
  if (value > BigInt(MAX_SIZE)) return MAX_SIZE;
  if (value < -BigInt(MAX_SIZE)) return -MAX_SIZE;
  return Number(value);
}

/**
 * Reads a byte string such as "4g", "100k" or "512" into the given unit, as JavaUtils.byteStringAs does: no sign, no
 * fraction, suffixes b, k, m, g, t, p with or without a second b, in any case. A bare number is in `unit`; a smaller
 * unit is cut ("1500k" is 1 in MiB).
 *
 * @returns A whole number of `unit`.
 * @throws {InputError} `size.bytes` with Spark's message; `parameters.exception` is the class that Spark throws.
 *
 * @example
 * ```ts
 * import { assertEquals, assertThrows } from "@std/assert";
 * import { byteStringAs } from "./sizes.ts";
 *
 * assertEquals(byteStringAs("4g", "BYTE"), 4294967296);
 * assertEquals(byteStringAs("512", "MiB"), 512);
 * assertEquals(byteStringAs("1500k", "MiB"), 1);
 * assertThrows(() => byteStringAs("1.5g", "BYTE"), TypeError, "Fractional values are not supported. Input was: 1.5");
 * ```
 */
export function byteStringAs(text: string, unit: ByteUnit): number {
  return saturate(byteStringAsLong(text, unit));
}

function byteStringAsLong(text: string, unit: ByteUnit): bigint {
  const fail = (reason: string) =>
    refused(
      "size.bytes",
      text,
      "NumberFormatException",
      `${BYTE_ERROR}\n${reason}`,
    );
  const lower = text.toLowerCase().trim();
  const match = /^([0-9]+)([a-z]+)?$/.exec(lower);
  if (match === null) {
    const fraction = /^([0-9]+\.[0-9]+)([a-z]+)?$/.exec(lower);
    throw fail(
      fraction === null
        ? `Failed to parse byte string: ${text}`
        : `Fractional values are not supported. Input was: ${fraction[1]}`,
    );
  }
  const [, digits, suffix] = match;
  const value = parseLong(digits);
  if (value === null) throw fail(`For input string: "${digits}"`);
  const from = suffix === undefined ? unit : BYTE_SUFFIXES.get(suffix);
  if (from === undefined) throw fail(`Invalid suffix: "${suffix}"`);
  return convertBytes(text, value, from, unit);
}

/** ByteUnit.convertTo: multiplies with an overflow check, or divides and cuts. */
function convertBytes(
  text: string,
  value: bigint,
  from: ByteUnit,
  to: ByteUnit,
): bigint {
  const fromBytes = BigInt(BYTE_UNITS[from]);
  const toBytes = BigInt(BYTE_UNITS[to]);
  if (fromBytes <= toBytes) return value / (toBytes / fromBytes);
  const ratio = fromBytes / toBytes;
  if (LONG_MAX / ratio < value) {
    throw refused(
      "size.bytes",
      text,
      "IllegalArgumentException",
      `Conversion of ${value} exceeds Long.MAX_VALUE in ${from}. Try a larger unit (e.g. MiB instead of KiB)`,
    );
  }
  return value * ratio;
}

/**
 * Reads a byte string of a setting that Spark declares with ConfigBuilder.bytesConf: like {@linkcode byteStringAs}, but
 * one leading minus is allowed ("-1" is how some settings say "none").
 *
 * @returns A whole number of `unit`.
 * @throws {InputError} `size.bytes`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { byteFromString } from "./sizes.ts";
 *
 * assertEquals(byteFromString("-1", "BYTE"), -1);
 * ```
 */
export function byteFromString(text: string, unit: ByteUnit): number {
  return text.startsWith("-") ? 0 - byteStringAs(text.slice(1), unit) : byteStringAs(text, unit);
}

/**
 * Reads a time string such as "3s", "100ms", "2min" into the given unit, as JavaUtils.timeStringAs does: a sign is
 * allowed, fractions are not, a bare number is in `unit`, finer units are cut towards zero, too long times saturate.
 *
 * @returns A whole number of `unit`.
 * @throws {InputError} `size.time` with Spark's message.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { timeStringAs } from "./sizes.ts";
 *
 * assertEquals(timeStringAs("3s", "MILLISECONDS"), 3000);
 * assertEquals(timeStringAs("120", "SECONDS"), 120);
 * assertEquals(timeStringAs("250us", "MILLISECONDS"), 0);
 * ```
 */
export function timeStringAs(text: string, unit: TimeUnit): number {
  const fail = (reason: string) =>
    refused(
      "size.time",
      text,
      "NumberFormatException",
      `${TIME_ERROR}\n${reason}`,
    );
  const match = /^(-?[0-9]+)([a-z]+)?$/.exec(text.toLowerCase().trim());
  if (match === null) throw fail(`Failed to parse time string: ${text}`);
  const [, digits, suffix] = match;
  const value = parseLong(digits);
  if (value === null) throw fail(`For input string: "${digits}"`);
  const from = suffix === undefined ? unit : TIME_SUFFIXES.get(suffix);
  if (from === undefined) throw fail(`Invalid suffix: "${suffix}"`);
  const fromMicros = BigInt(Math.round(TIME_UNITS[from] * 1000));
  const toMicros = BigInt(Math.round(TIME_UNITS[unit] * 1000));
  return saturate(value * fromMicros / toMicros);
}

/** How Spark names its 1024-based units: KB, MB, ... up to 2.4, KiB, MiB, ... from 3.0 (SPARK-25696). */
export type UnitStyle = "MB" | "MiB";

const PREFIXES = ["", "K", "M", "G", "T", "P", "E"] as const;

/**
 * Prints bytes as Utils.bytesToString does: one digit after the point, rounded half up, in the largest unit of which
 * there are at least two (so 1024 MiB stays "1024.0 MiB").
 *
 * @param size Bytes.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { bytesToString } from "./sizes.ts";
 *
 * assertEquals(bytesToString(1073741824, "MiB"), "1024.0 MiB");
 * assertEquals(bytesToString(384093388, "MB"), "366.3 MB");
 * assertEquals(bytesToString(384, "MiB"), "384.0 B");
 * ```
 */
export function bytesToString(
  size: number | bigint,
  style: UnitStyle = "MiB",
): string {
  const value = BigInt(size);
  let power = PREFIXES.length - 1;
  while (power > 0 && value < 2n << BigInt(10 * power)) power--;
  const unit = 1n << BigInt(10 * power);
  const negative = value < 0n;
  const tenths = ((negative ? -value : value) * 20n + unit) / (2n * unit);
  const suffix = power === 0 ? "B" : PREFIXES[power] + (style === "MiB" ? "iB" : "B");
  const sign = negative && tenths !== 0n ? "-" : "";
  return `${sign}${tenths / 10n}.${tenths % 10n} ${suffix}`;
}

/**
 * Prints bytes as the pages of Spark 2.x and 3.x do in the browser (formatBytes of utils.js): 1000-based, one digit.
 * It is why the same memory is "384.1 MB" on the Executors page and "366.3 MB" in the log.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { uiBytesToString } from "./sizes.ts";
 *
 * assertEquals(uiBytesToString(956615884), "956.6 MB");
 * ```
 */
export function uiBytesToString(size: number): string {
  const units = ["B", "KB", "MB", "GB", "TB", "PB"];
  let power = 0;
  let divisor = 1;
  while (power < units.length - 1 && size >= divisor * 1000) {
    divisor *= 1000;
    power++;
  }
  return `${(size / divisor).toFixed(1)} ${units[power]}`;
}

const PRINTED_UNITS: Readonly<Record<string, number>> = Object.freeze({
  B: 1,
  KB: BYTE_UNITS.KiB,
  KiB: BYTE_UNITS.KiB,
  MB: BYTE_UNITS.MiB,
  MiB: BYTE_UNITS.MiB,
  GB: BYTE_UNITS.GiB,
  GiB: BYTE_UNITS.GiB,
  TB: BYTE_UNITS.TiB,
  TiB: BYTE_UNITS.TiB,
  PB: BYTE_UNITS.PiB,
  PiB: BYTE_UNITS.PiB,
});

/** The sizes that print alike: from `min` to `max`, both included, in bytes. */
export interface SizeRange {
  readonly min: number;
  readonly max: number;
  readonly text: string;
}

/**
 * The sizes that {@linkcode bytesToString} prints as the given text, or null when the text is no such size. Both unit
 * styles are read, and one digit after the point is assumed. Saturates at {@linkcode MAX_SIZE}.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { printedSize } from "./sizes.ts";
 *
 * assertEquals(printedSize("1062.8 MB"), { min: 1114374144, max: 1114479001, text: "1062.8 MB" });
 * ```
 */
export function printedSize(text: string): SizeRange | null {
  const match = /^(\d+)(?:\.(\d))? ?([KMGTP]i?)?(B)$/.exec(text.trim());
  if (match === null) return null;
  const [, whole, tenth = "0", prefix = ""] = match;
  const unit = BigInt(PRINTED_UNITS[prefix + "B"]);
  const tenths = BigInt(whole + tenth);
  const ceilDiv = (a: bigint, b: bigint) => (a + b - 1n) / b;
  const low = (2n * tenths - 1n) * unit;
  const high = (2n * tenths + 1n) * unit;
  const min = low <= 0n ? 0n : ceilDiv(low, 20n);
  const max = ceilDiv(high, 20n) - 1n;
  // Two of a unit is where bytesToString() begins to use it.
  const first = 2n * unit;
  const last = 2048n * unit - 1n;
  return {
    min: saturate(unit > 1n && min < first && first <= max ? first : min),
    max: saturate(min <= last && last < max ? last : max),
    text: text.trim(),
  };
}

/**
 * Prints a duration as Utils.msDurationToString does.
 *
 * @param ms Milliseconds.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { msDurationToString } from "./sizes.ts";
 *
 * assertEquals(msDurationToString(900), "900 ms");
 * assertEquals(msDurationToString(90_000), "1.5 m");
 * ```
 */
export function msDurationToString(ms: number): string {
  if (ms < TIME_UNITS.SECONDS) return `${ms} ms`;
  if (ms < TIME_UNITS.MINUTES) return `${decimal(ms, TIME_UNITS.SECONDS, 1)} s`;
  if (ms < TIME_UNITS.HOURS) return `${decimal(ms, TIME_UNITS.MINUTES, 1)} m`;
  return `${decimal(ms, TIME_UNITS.HOURS, 2)} h`;
}

/** `ms / unit` rounded half up, by integer arithmetic. */
function decimal(ms: number, unit: number, digits: 1 | 2): string {
  const scale = 10 ** digits;
  const scaled = (BigInt(Math.trunc(ms)) * BigInt(2 * scale) + BigInt(unit)) /
    BigInt(2 * unit);
  const fraction = String(scaled % BigInt(scale)).padStart(digits, "0");
  return `${scaled / BigInt(scale)}.${fraction}`;
}
