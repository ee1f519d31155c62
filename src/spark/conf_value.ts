/**
 * From the text of a property to its value, or Spark's refusal
 * (ConfigBuilder and ConfigEntry of org.apache.spark.internal.config, SparkConf.catchIllegalValue).
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type { ConfEntry } from "./conf_entry.ts";
import { javaDoubleText, parseJavaDouble, parseJavaInteger } from "./java_numbers.ts";
import { BYTE_UNITS, byteFromString, byteStringAs, TIME_UNITS, timeStringAs } from "./sizes.ts";
import { EXCEPTIONS, refusalError } from "./spark_refusal.ts";
import { holdsSince, type ResolvedVersion } from "./spark_version.ts";
import type { SparkRules } from "./versions.ts";

/** A value in the property's own unit. */
export type ConfValue = number | boolean | string;

/**
 * Reads a property's text as its type says, and makes the checks of the version.
 *
 * @throws {InputError} `conf.type` or `conf.value` with the words of the version.
 *
 * @example
 * ```ts
 * import { assertEquals, assertThrows } from "@std/assert";
 * import { CONF_ENTRIES } from "./conf_entries.ts";
 * import { readConfValue } from "./conf_value.ts";
 * import { resolveVersion } from "./spark_version.ts";
 * import { rulesFor } from "./versions.ts";
 *
 * const entry = CONF_ENTRIES.get("spark.memory.storageFraction")!;
 * const read = (text: string, version: string) =>
 *   readConfValue(entry, text, resolveVersion(version), rulesFor(version));
 * assertEquals(read("1.0", "2.4.0"), 1);
 * assertThrows(
 *   () => read("1.0", "3.5.1"),
 *   TypeError,
 *   "'1.0' in spark.memory.storageFraction is invalid. Storage fraction must be in [0,1)",
 * );
 * ```
 */
export function readConfValue(
  entry: ConfEntry,
  text: string,
  version: ResolvedVersion,
  rules: SparkRules,
): ConfValue {
  const value = parse(
    entry,
    text,
    holdsSince(version, entry.declaredSince),
    rules,
  );
  for (const { since, until, passes, text: words } of entry.checks) {
    if (!holdsSince(version, since)) continue;
    if (until !== undefined && holdsSince(version, until)) continue;
    if (passes(typeof value === "number" ? value : 0, text)) continue;
    throw valueRefusal(entry, value, words, rules);
  }
  return value;
}

function parse(
  entry: ConfEntry,
  text: string,
  declared: boolean,
  rules: SparkRules,
): ConfValue {
  const { type } = entry;
  const wrong = (typeName: string) => typeRefusal(entry.key, text, typeName, declared, rules);
  switch (type.kind) {
    case "bytes":
      return sized(
        entry.key,
        text,
        `bytes in ${type.unit}`,
        declared,
        rules,
        () => declared ? byteFromString(text, type.unit) : byteStringAs(text, type.unit),
      );
    case "time":
      return sized(
        entry.key,
        text,
        `time in ${type.unit}`,
        declared,
        rules,
        () => timeStringAs(text, type.unit),
      );
    case "double": {
      const value = parseJavaDouble(text);
      if (value === null) throw wrong("double");
      return value;
    }
    case "boolean": {
      const lower = text.trim().toLowerCase();
      if (lower !== "true" && lower !== "false") throw wrong("boolean");
      return lower === "true";
    }
    case "string":
      return text;
    case "int":
    case "long": {
      const value = parseJavaInteger(text, type.kind === "int" ? 32 : 64);
      if (value === null) throw wrong(type.kind);
      return value;
    }
  }
}

/** Reads a size or a time; the refusal of JavaUtils is passed on as the version does. */
function sized(
  key: string,
  text: string,
  typeName: string,
  declared: boolean,
  rules: SparkRules,
  read: () => number,
): number {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    if (rules.memory.confValueError === "errorClass" && declared) {
      throw typeRefusal(key, text, typeName, declared, rules);
    }
    throw refusalError({
      code: "conf.type",
      exception: String(error.parameters.exception),
      message: declared ? error.message : `Illegal value for config key ${key}: ${error.message}`,
      parameters: { key, value: text },
    });
  }
}

function typeRefusal(
  key: string,
  text: string,
  typeName: string,
  declared: boolean,
  rules: SparkRules,
): InputError {
  const parameters = { key, value: text };
  if (!declared) {
    return refusalError({
      code: "conf.type",
      exception: typeName === "boolean" ? EXCEPTIONS.illegalArgument : EXCEPTIONS.numberFormat,
      message: `Illegal value for config key ${key}: For input string: "${text}"`,
      parameters,
    });
  }
  if (rules.memory.confValueError === "errorClass") {
    return refusalError({
      code: "conf.type",
      exception: EXCEPTIONS.sparkIllegalArgument,
      message: `[INVALID_CONF_VALUE.TYPE_MISMATCH] The value '${text}' in the config "${key}" is invalid. ` +
        `It should be a/an '${typeName}' value. SQLSTATE: 22022`,
      parameters,
    });
  }
  return refusalError({
    code: "conf.type",
    exception: EXCEPTIONS.illegalArgument,
    message: `${key} should be ${typeName}, but was ${text}`,
    parameters,
  });
}

function valueRefusal(
  entry: ConfEntry,
  value: ConfValue,
  words: string,
  rules: SparkRules,
): InputError {
  const parameters = { key: entry.key, value };
  const style = rules.memory.confValueError;
  if (style === "errorClass") {
    return refusalError({
      code: "conf.value",
      exception: EXCEPTIONS.sparkIllegalArgument,
      message: `[INVALID_CONF_VALUE.REQUIREMENT] The value '${
        printed(entry, value)
      }' in the config "${entry.key}" is invalid. ${words} SQLSTATE: 22022`,
      parameters,
    });
  }
  const plain = entry.type.kind === "double" ? javaDoubleText(value as number) : String(value);
  return refusalError({
    code: "conf.value",
    exception: EXCEPTIONS.illegalArgument,
    message: style === "named" ? `'${plain}' in ${entry.key} is invalid. ${words}` : words,
    parameters,
  });
}

/** A value as ConfigBuilder's stringConverter prints it: sizes in bytes, times in milliseconds. */
function printed({ type }: ConfEntry, value: ConfValue): string {
  switch (type.kind) {
    case "bytes":
      return `${(value as number) * BYTE_UNITS[type.unit]}b`;
    case "time":
      return `${Math.trunc((value as number) * TIME_UNITS[type.unit])}ms`;
    case "double":
      return javaDoubleText(value as number);
    default:
      return String(value);
  }
}
