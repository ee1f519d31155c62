/**
 * Settings that switch something on that is not simulated.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type { SparkConf } from "../spark/conf.ts";

const NOT_EXCLUDED = "executors on which tasks fail are not excluded";

/** Properties, and what the simulation does not do that they switch on. */
const UNSUPPORTED: readonly (readonly [key: string, what: string])[] = [
  ["spark.blacklist.enabled", NOT_EXCLUDED],
  ["spark.excludeOnFailure.enabled", NOT_EXCLUDED],
  ["spark.excludeOnFailure.application.enabled", NOT_EXCLUDED],
  ["spark.excludeOnFailure.taskAndStage.enabled", NOT_EXCLUDED],
  ["spark.shuffle.push.enabled", "shuffles are not pushed to mergers"],
  ["spark.decommission.enabled", "executors are not decommissioned"],
];

/** A setting that is on, and what is left out. */
export interface UnsupportedSetting {
  readonly key: string;
  readonly value: string;
  readonly what: string;
}

/**
 * The settings of a conf that switch on what is not simulated; of several that switch on the same, the first.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "../spark/conf.ts";
 * import { unsupportedSettings } from "./unsupported_settings.ts";
 *
 * const conf = SparkConf.from({ "spark.decommission.enabled": "true" }, "3.5.1");
 * assertEquals(unsupportedSettings(conf).map(({ what }) => what), ["executors are not decommissioned"]);
 * assertEquals(unsupportedSettings(SparkConf.from()), []);
 * ```
 */
export function unsupportedSettings(conf: SparkConf): UnsupportedSetting[] {
  const found = new Map<string, UnsupportedSetting>();
  for (const [key, what] of UNSUPPORTED) {
    const value = conf.get(key);
    if (value !== null && isOn(value) && !found.has(what)) found.set(what, { key, value, what });
  }
  return [...found.values()];
}

function isOn(value: string): boolean {
  return value.trim().toLowerCase() === "true";
}

/**
 * Refuses settings that switch on what is not simulated, but those that an application was `recorded` with: a simulation of
 * it goes without, and warns.
 *
 * @throws {InputError} `conf.unsupported`
 */
export function refuseUnsupported(conf: SparkConf, recorded: SparkConf | null = null): void {
  for (const { key, value, what } of unsupportedSettings(conf)) {
    const before = recorded?.get(key) ?? null;
    if (before !== null && isOn(before)) continue;
    throw new InputError(
      "conf.unsupported",
      `Cannot simulate with ${key}: must not be set, as ${what} in the simulation: received ${value}`,
      { parameters: { key, value } },
    );
  }
}
