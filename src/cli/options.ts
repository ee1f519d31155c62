/**
 * The options that commands share, and how all of them read their arguments.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { InputError } from "../errors.ts";
import { nearestName } from "../spark/nearest.ts";
import { parseStorageLevel, type StorageLevel } from "../spark/storage_level.ts";

/** One option of a command: `--name VALUE`, or a flag. */
export interface OptionSpec {
  readonly type: "string" | "boolean";
  /** May be given several times; the values come as an array. */
  readonly multiple?: boolean;
  /** The values that are allowed. */
  readonly choices?: readonly string[];
}

/** The options of a command by name. */
export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** The value of an option: undefined (or an empty array) when it was not given. */
export type OptionValue<S extends OptionSpec> = S["type"] extends "boolean" ? boolean
  : S["multiple"] extends true ? readonly string[]
  : S["choices"] extends readonly (infer C)[] ? C | undefined
  : string | undefined;

/** What {@linkcode parseOptions} gives. */
export interface ParsedOptions<T extends OptionSpecs> {
  readonly values: { readonly [K in keyof T]: OptionValue<T[K]> };
  readonly positionals: readonly string[];
}

/** Options of every command that runs a job: settings to change and what is not a setting. */
export const SETTING_OPTIONS = {
  conf: { type: "string", multiple: true },
  "spark-version": { type: "string" },
  "storage-level": { type: "string" },
  executors: { type: "string" },
} as const satisfies OptionSpecs;

/** What SETTING_OPTIONS say; null where an option was not given. */
export interface SettingChanges {
  /** Property to value; null unsets it. */
  readonly conf: Readonly<Record<string, string | null>>;
  readonly sparkVersion: string | null;
  readonly storageLevel: StorageLevel | null;
  /** Name of `storageLevel`. */
  readonly storageLevelName: string | null;
  readonly executors: number | null;
}

/**
 * Reads a command's arguments. An unknown option, a missing or a superfluous value, and a value that is not among the
 * choices are bad input.
 *
 * @throws {InputError} `cli.option`, `cli.argument`.
 *
 * @example
 * ```ts
 * import { assertEquals, assertThrows } from "@std/assert";
 * import { parseOptions } from "./options.ts";
 *
 * const specs = { format: { type: "string", choices: ["text", "json"] }, json: { type: "boolean" } } as const;
 * const { values, positionals } = parseOptions("sizing", ["--format", "json", "a.log"], specs);
 * assertEquals([values.format, values.json, positionals], ["json", false, ["a.log"]]);
 * assertThrows(() => parseOptions("sizing", ["--formt=text"], specs), TypeError, "did you mean --format?");
 * ```
 */
export function parseOptions<const T extends OptionSpecs>(
  command: string,
  args: readonly string[],
  specs: T,
): ParsedOptions<T> {
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(Object.entries(specs).map(([name, { type }]) => [name, { type }])),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const given = new Map<string, (string | true)[]>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind !== "option") continue;
    const value = checkedValue(command, token.rawName, token.name, token.value, specs);
    const earlier = given.get(token.name);
    if (earlier === undefined) given.set(token.name, [value]);
    else earlier.push(value);
  }
  const values: Record<string, unknown> = {};
  for (const [name, { type, multiple }] of Object.entries(specs)) {
    const all = given.get(name) ?? [];
    values[name] = multiple ? all : type === "boolean" ? all.length > 0 : all.at(-1);
  }
  return { values: values as ParsedOptions<T>["values"], positionals };
}

/** The value of one option on the command line, or `true` for a flag. */
function checkedValue(
  command: string,
  rawName: string,
  name: string,
  value: string | undefined,
  specs: OptionSpecs,
): string | true {
  if (!Object.hasOwn(specs, name)) {
    const nearest = nearestName(name, Object.keys(specs));
    throw new InputError(
      "cli.option",
      `Cannot run ${command}: ${rawName} is not an option${nearest === null ? "" : `: did you mean --${nearest}?`}`,
      { parameters: { option: rawName, nearest } },
    );
  }
  const { type, choices } = specs[name];
  if (type === "boolean") {
    if (value === undefined) return true;
    throw new InputError("cli.option", `Cannot run ${command}: --${name} must have no value: received ${value}`, {
      parameters: { option: name, value },
    });
  }
  if (value === undefined) {
    throw new InputError("cli.option", `Cannot run ${command}: --${name} must have a value`, {
      parameters: { option: name },
    });
  }
  if (choices !== undefined && !choices.includes(value)) {
    throw new InputError(
      "cli.option",
      `Cannot run ${command}: --${name} must be one of ${choices.join(", ")}: received ${value}`,
      { parameters: { option: name, value, choices } },
    );
  }
  return value;
}

/**
 * What the options of {@linkcode SETTING_OPTIONS} ask for.
 *
 * @throws {InputError} `cli.conf`, `cli.option`, `storage_level.unknown`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { parseOptions, SETTING_OPTIONS, settingChanges } from "./options.ts";
 *
 * const args = ["--conf", "spark.executor.memory=4g", "--conf", "spark.executor.cores=", "--executors", "3"];
 * const changes = settingChanges("whatif", parseOptions("whatif", args, SETTING_OPTIONS).values);
 * assertEquals(changes.conf, { "spark.executor.memory": "4g", "spark.executor.cores": null });
 * assertEquals(changes.executors, 3);
 * ```
 */
export function settingChanges(
  command: string,
  values: ParsedOptions<typeof SETTING_OPTIONS>["values"],
): SettingChanges {
  const level = values["storage-level"];
  return {
    conf: confChanges(command, values.conf),
    sparkVersion: values["spark-version"] ?? null,
    storageLevel: level === undefined ? null : parseStorageLevel(level),
    storageLevelName: level ?? null,
    executors: values.executors === undefined ? null : wholeNumber(command, "executors", values.executors, 1, 100_000),
  };
}

/**
 * Settings of repeated `--conf key=value`; `key=` gives null. Of several for one key the last one counts, as for
 * spark-submit.
 *
 * @throws {InputError} `cli.conf`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { confChanges } from "./options.ts";
 *
 * assertEquals(confChanges("sizing", ["spark.a=b=c", "spark.d="]), { "spark.a": "b=c", "spark.d": null });
 * ```
 */
export function confChanges(command: string, settings: readonly string[]): Record<string, string | null> {
  const changes = new Map<string, string | null>();
  for (const setting of settings) {
    const equals = setting.indexOf("=");
    const key = setting.slice(0, equals).trim();
    if (equals < 0 || !key.startsWith("spark.")) {
      throw new InputError(
        "cli.conf",
        `Cannot run ${command}: --conf must be key=value with a key that begins with "spark.": received ${setting}`,
        { parameters: { setting } },
      );
    }
    const value = setting.slice(equals + 1);
    changes.set(key, value === "" ? null : value);
  }
  return Object.fromEntries(changes);
}

/**
 * An option's whole number.
 *
 * @throws {InputError} `cli.option` when it is none, or outside the limits.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { wholeNumber } from "./options.ts";
 *
 * assertEquals(wholeNumber("start", "port", "8000", 0, 65535), 8000);
 * ```
 */
export function wholeNumber(command: string, option: string, text: string, min: number, max: number): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (value >= min && value <= max) return value;
  throw new InputError(
    "cli.option",
    `Cannot run ${command}: --${option} must be a whole number from ${min} to ${max}: received ${text}`,
    { parameters: { option, value: text, min, max } },
  );
}

/**
 * Refuses arguments that a command does not take.
 *
 * @throws {InputError} `cli.argument`.
 *
 * @example
 * ```ts
 * import { assertThrows } from "@std/assert";
 * import { noPositionals } from "./options.ts";
 *
 * assertThrows(() => noPositionals("sizing", ["x"]), TypeError, "received x");
 * ```
 */
export function noPositionals(command: string, positionals: readonly string[]): void {
  if (positionals.length === 0) return;
  throw new InputError("cli.argument", `Cannot run ${command}: must have options only: received ${positionals[0]}`, {
    parameters: { received: positionals },
  });
}
