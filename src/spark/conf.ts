/**
 * Settings of a Spark application: names and values as Spark has them, with the defaults of its version.
 *
 * @module
 */
import { CONF_ALTERNATIVES, CONF_ENTRIES } from "./conf_entries.ts";
import type { ConfEntry } from "./conf_entry.ts";
import { readConfValue } from "./conf_value.ts";
import { nearestName } from "./nearest.ts";
import { BYTE_UNITS, MAX_SIZE, TIME_UNITS } from "./sizes.ts";
import { holdsSince, REFERENCE_SPARK_VERSION, type ResolvedVersion, resolveVersion, valueIn } from "./spark_version.ts";
import { rulesFor, type SparkRules } from "./versions.ts";

/** Something about the settings that a user should know; nothing is refused for it. */
export interface ConfWarning {
  /** Stable identifier, `conf.what`. */
  readonly code: string;
  /** One sentence for people. */
  readonly message: string;
  /** The property that it is about. */
  readonly key: string;
}

/** Where a value comes from: it was set, or it is the version's default. */
export type ConfSource = "set" | "default";

/**
 * An application's settings (org.apache.spark.SparkConf): immutable, a map of property names to texts, read through
 * typed getters. What is not set has the default of the Spark version. Older names are translated as Spark does.
 *
 * Getters refuse a text that Spark would refuse, with Spark's words (InputError `conf.type` or `conf.value`); asking
 * for a property that is in none of the tables is a bug and throws a plain Error.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "./conf.ts";
 *
 * const conf = SparkConf.from({ "spark.executor.memory": "4g" }, "3.5.1");
 * assertEquals(conf.getSizeAsBytes("spark.executor.memory"), 4294967296);
 * assertEquals(conf.getDouble("spark.memory.fraction"), 0.6);
 * assertEquals(conf.with({ "spark.executor.memory": null }).getSizeAsBytes("spark.executor.memory"), 1073741824);
 * ```
 */
export class SparkConf {
  /** The Spark version whose defaults and rules apply, as it was given. */
  readonly sparkVersion: string;
  readonly #version: ResolvedVersion;
  readonly #settings: ReadonlyMap<string, string>;
  readonly #rules: SparkRules;
  readonly #values = new Map<string, number | boolean | string | null>();

  private constructor(
    settings: ReadonlyMap<string, string>,
    sparkVersion: string,
    rules: SparkRules = rulesFor(sparkVersion),
  ) {
    this.#settings = settings;
    this.sparkVersion = sparkVersion;
    this.#rules = rules;
    this.#version = resolveVersion(sparkVersion);
  }

  /** Settings as a plain object, and the Spark version (the reference, 2.4.0, where none is given). */
  static from(
    settings: Readonly<Record<string, string>> = {},
    sparkVersion: string = REFERENCE_SPARK_VERSION,
  ): SparkConf {
    return new SparkConf(new Map(Object.entries(settings)), sparkVersion);
  }

  /** @internal What the version does differently. */
  get rules(): SparkRules {
    return this.#rules;
  }

  /** The same settings with some changed; null removes one. */
  with(changes: Readonly<Record<string, string | null>>): SparkConf {
    const settings = new Map(this.#settings);
    for (const [key, value] of Object.entries(changes)) {
      if (value === null) settings.delete(key);
      else settings.set(key, value);
      // A new name replaces what was set by an older one, and the other way round.
      const entry = CONF_ALTERNATIVES.get(key) ?? CONF_ENTRIES.get(key);
      for (const name of [entry?.key, ...alternativeKeys(entry)]) {
        if (name !== undefined && name !== key) settings.delete(name);
      }
    }
    return new SparkConf(settings, this.sparkVersion, this.#rules);
  }

  /** The same settings under another version. */
  withVersion(sparkVersion: string): SparkConf {
    return new SparkConf(this.#settings, sparkVersion);
  }

  /** @internal The same settings and defaults, with other rules than the version's own: what one rule makes of a run. */
  withRules(rules: SparkRules): SparkConf {
    return new SparkConf(this.#settings, this.sparkVersion, rules);
  }

  /** Whether a property is set, by this or an older name. */
  contains(key: string): boolean {
    return this.#explicit(key) !== null;
  }

  /** The text of a property of any name: as set, by an older name, its fallback's, or the default; null without. */
  get(key: string): string | null {
    const explicit = this.#explicit(key);
    if (explicit !== null) return explicit;
    const entry = CONF_ENTRIES.get(key);
    if (entry === undefined || !this.reads(key)) return null;
    const value = valueIn(this.#version, entry.defaults) ?? null;
    if (value !== null || entry.fallback === undefined) return value;
    return this.get(entry.fallback);
  }

  /** Whether this version reads a known property at all. */
  reads(key: string): boolean {
    const entry = CONF_ENTRIES.get(key);
    if (entry === undefined) return false;
    return holdsSince(this.#version, entry.since) &&
      !(entry.until !== undefined && holdsSince(this.#version, entry.until));
  }

  /** Where {@linkcode get} takes the value from. */
  source(key: string): ConfSource {
    if (this.contains(key)) return "set";
    const fallback = CONF_ENTRIES.get(key)?.fallback;
    return fallback === undefined ? "default" : this.source(fallback);
  }

  /** Bytes of a size. */
  getSizeAsBytes(key: string): number {
    return this.#required(key, this.getSizeAsBytesOption(key));
  }

  /** Bytes of a size, or null when it is not set and has no default. */
  getSizeAsBytesOption(key: string): number | null {
    const { type } = entryOf(key);
    if (type.kind !== "bytes") throw new Error(`${key} is no size`);
    const value = this.#read(key) as number | null;
    return value === null ? null : Math.min(value * BYTE_UNITS[type.unit], MAX_SIZE);
  }

  /** Milliseconds of a time. */
  getTimeAsMs(key: string): number {
    return this.#required(key, this.getTimeAsMsOption(key));
  }

  /** Milliseconds of a time, or null when it is not set and has no default. */
  getTimeAsMsOption(key: string): number | null {
    const { type } = entryOf(key);
    if (type.kind !== "time") throw new Error(`${key} is no time`);
    const value = this.#read(key) as number | null;
    return value === null ? null : Math.min(value * TIME_UNITS[type.unit], MAX_SIZE);
  }

  /** A whole number (an Int or a Long of Spark). */
  getInt(key: string): number {
    return this.#required(key, this.getIntOption(key));
  }

  /** A whole number, or null when it is not set and has no default. */
  getIntOption(key: string): number | null {
    const { kind } = entryOf(key).type;
    if (kind !== "int" && kind !== "long") {
      throw new Error(`${key} is no whole number`);
    }
    return this.#read(key) as number | null;
  }

  /** A double. */
  getDouble(key: string): number {
    return this.#required(key, this.getDoubleOption(key));
  }

  /** A double, or null when it is not set and has no default. */
  getDoubleOption(key: string): number | null {
    if (entryOf(key).type.kind !== "double") {
      throw new Error(`${key} is no double`);
    }
    return this.#read(key) as number | null;
  }

  /** A boolean; false when it is not set and has no default. */
  getBoolean(key: string): boolean {
    if (entryOf(key).type.kind !== "boolean") {
      throw new Error(`${key} is no boolean`);
    }
    return (this.#read(key) as boolean | null) ?? false;
  }

  /** The settings that were made, sorted by name: what to print, to store, to compare. */
  toJSON(): Record<string, string> {
    return Object.fromEntries(
      [...this.#settings].sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0),
    );
  }

  /**
   * What a user should know about these settings: older names, names that no version has, names without effect.
   *
   * @param isWanted Whether a setting is to be looked at; all are unless said.
   */
  warnings(isWanted: (key: string) => boolean = () => true): ConfWarning[] {
    const warnings: ConfWarning[] = [];
    if (this.rules.warning !== null) {
      warnings.push({
        code: "conf.version",
        message: this.rules.warning,
        key: "spark.version",
      });
    }
    for (const key of this.#settings.keys()) {
      const warning = isWanted(key) ? this.#warning(key) : null;
      if (warning !== null) warnings.push(warning);
    }
    return warnings;
  }

  #warning(key: string): ConfWarning | null {
    const known = CONF_ENTRIES.get(key);
    if (known !== undefined) {
      if (this.#readsByName(known)) return null;
      const newer = CONF_ALTERNATIVES.get(key);
      if (newer !== undefined) return this.#deprecated(key, newer);
      return {
        code: "conf.notRead",
        message: `Spark ${this.sparkVersion} does not read ${key}`,
        key,
      };
    }
    const entry = CONF_ALTERNATIVES.get(key);
    if (entry !== undefined) return this.#deprecated(key, entry);
    const nearest = nearestName(key, CONF_ENTRIES.keys());
    return nearest === null ? null : {
      code: "conf.unknown",
      message: `${key} is not a known property: did you mean ${nearest}?`,
      key,
    };
  }

  #readsByName({ key, namedSince }: ConfEntry): boolean {
    return this.reads(key) &&
      (namedSince === undefined || holdsSince(this.#version, namedSince));
  }

  #deprecated(key: string, entry: ConfEntry): ConfWarning | null {
    const alternative = entry.alternatives.find((old) => old.key === key);
    if (
      alternative === undefined ||
      !holdsSince(this.#version, alternative.deprecatedIn)
    ) return null;
    return {
      code: "conf.deprecated",
      message:
        `The configuration key '${key}' has been deprecated as of Spark ${alternative.deprecatedIn} and may be ` +
        `removed in the future. Please use the new key '${entry.key}' instead.`,
      key,
    };
  }

  /** What was set under this name or an older one. */
  #explicit(key: string): string | null {
    const namedSince = CONF_ENTRIES.get(key)?.namedSince;
    if (namedSince === undefined || holdsSince(this.#version, namedSince)) {
      const set = this.#settings.get(key);
      if (set !== undefined) return set;
    }
    for (
      const { key: old, translate } of CONF_ENTRIES.get(key)?.alternatives ?? []
    ) {
      const value = this.#settings.get(old);
      if (value !== undefined) return translate?.(value) ?? value;
    }
    return null;
  }

  #read(key: string): number | boolean | string | null {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const text = this.get(key);
    const value = text === null ? null : readConfValue(entryOf(key), text, this.#version, this.rules);
    this.#values.set(key, value);
    return value;
  }

  #required<T>(key: string, value: T | null): T {
    if (value === null) {
      throw new Error(`${key} has no default: use the option`);
    }
    return value;
  }
}

function alternativeKeys(entry: ConfEntry | undefined): string[] {
  return (entry?.alternatives ?? []).map(({ key }) => key);
}

function entryOf(key: string): ConfEntry {
  const entry = CONF_ENTRIES.get(key);
  if (entry === undefined) {
    throw new Error(`${key} is in no table of properties`);
  }
  return entry;
}
