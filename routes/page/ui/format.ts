/**
 * Numbers for people: bytes in binary units as Spark prints them, times, counts, shares.
 *
 * @module
 */

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/**
 * Bytes with one decimal from KiB up, as Spark's Utils.bytesToString does it, but in the largest unit that leaves at
 * least 1; `null` is "not recorded".
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { formatBytes } from "./format.ts";
 *
 * assertEquals(formatBytes(213909504), "204.0 MiB");
 * assertEquals(formatBytes(750), "750 B");
 * assertEquals(formatBytes(null), "not recorded");
 * ```
 */
export function formatBytes(bytes: number | null): string {
  if (bytes === null) return "not recorded";
  let value = Math.abs(bytes);
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  const sign = bytes < 0 ? "−" : "";
  return `${sign}${unit === 0 ? formatCount(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/**
 * A count with thin groups of three.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { formatCount } from "./format.ts";
 *
 * assertEquals(formatCount(1234567), "1,234,567");
 * assertEquals(formatCount(null), "not recorded");
 * ```
 */
export function formatCount(value: number | null): string {
  if (value === null) return "not recorded";
  const [whole, fraction] = String(Math.abs(value)).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return `${value < 0 ? "−" : ""}${grouped}${fraction === undefined ? "" : "." + fraction}`;
}

/**
 * A length of time: ms below a second, then s, min, h.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { formatMs } from "./format.ts";
 *
 * assertEquals(formatMs(840), "840 ms");
 * assertEquals(formatMs(11994), "12.0 s");
 * assertEquals(formatMs(3_720_000), "1 h 2 min");
 * ```
 */
export function formatMs(ms: number | null): string {
  if (ms === null) return "not recorded";
  if (ms < 1000) return `${formatCount(Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.round(ms / 60_000);
  if (minutes < 60) {
    const seconds = Math.round(ms / 1000);
    const rest = seconds % 60;
    return rest === 0 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 60)} min ${rest} s`;
  }
  const rest = minutes % 60;
  return rest === 0 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 60)} h ${rest} min`;
}

/**
 * A share as per cent.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { formatShare } from "./format.ts";
 *
 * assertEquals(formatShare(3, 8), "38 %");
 * assertEquals(formatShare(0, 0), "–");
 * ```
 */
export function formatShare(part: number, whole: number): string {
  return whole === 0 ? "–" : `${Math.round(part / whole * 100)} %`;
}
