/**
 * Fields of parsed JSON with the types that Spark writes. A missing field is one thing (older versions), a field of another
 * type is damage.
 *
 * @module
 */

/** A field that is missing or has another type than Spark's: the event cannot be used. */
export class MalformedEvent extends Error {
  override readonly name = "MalformedEvent";
}

/** A JSON object. */
export type JsonObject = { readonly [key: string]: unknown };

/** Spark's Long; what is beyond is damage. */
const MAX_LONG = 2 ** 63;

function malformed(key: string, wanted: string): MalformedEvent {
  return new MalformedEvent(`${key} is not ${wanted}`);
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function integer(value: unknown, key: string): number {
  if (
    typeof value !== "number" || !Number.isInteger(value) || value > MAX_LONG ||
    value < -MAX_LONG
  ) throw malformed(key, "an integer");
  return value;
}

/** A number that must be there. */
export function numberOf(json: JsonObject, key: string): number {
  return integer(json[key], key);
}

/** A number, or what stands for a missing one. */
export function numberOr<T>(
  json: JsonObject,
  key: string,
  missing: T,
): number | T {
  const value = json[key];
  return value === undefined || value === null ? missing : integer(value, key);
}

/** A text that must be there. */
export function stringOf(json: JsonObject, key: string): string {
  const value = json[key];
  if (typeof value !== "string") throw malformed(key, "a string");
  return value;
}

/** A text, or what stands for a missing one. */
export function stringOr<T>(
  json: JsonObject,
  key: string,
  missing: T,
): string | T {
  const value = json[key];
  if (value === undefined || value === null) return missing;
  if (typeof value !== "string") throw malformed(key, "a string");
  return value;
}

/** A boolean, or what stands for a missing one. */
export function booleanOr<T>(
  json: JsonObject,
  key: string,
  missing: T,
): boolean | T {
  const value = json[key];
  if (value === undefined || value === null) return missing;
  if (typeof value !== "boolean") throw malformed(key, "a boolean");
  return value;
}

/** An object that must be there. */
export function objectOf(json: JsonObject, key: string): JsonObject {
  const value = json[key];
  if (!isObject(value)) throw malformed(key, "an object");
  return value;
}

/** An object, or null when it is missing. */
export function objectOrNull(json: JsonObject, key: string): JsonObject | null {
  const value = json[key];
  return value === undefined || value === null ? null : objectOf(json, key);
}

/** A list, empty when it is missing. */
export function listOf(json: JsonObject, key: string): readonly unknown[] {
  const value = json[key];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw malformed(key, "a list");
  return value;
}

/** A list of objects, empty when it is missing. */
export function objectsOf(
  json: JsonObject,
  key: string,
): readonly JsonObject[] {
  return listOf(json, key).map((value) => {
    if (!isObject(value)) throw malformed(key, "a list of objects");
    return value;
  });
}

/** A list of numbers, empty when it is missing. */
export function numbersOf(json: JsonObject, key: string): number[] {
  return listOf(json, key).map((value) => integer(value, key));
}

/** The texts of an object that pass the filter; what is not a text is left out. */
export function textsOf(
  json: JsonObject | null,
  keep: (key: string) => boolean = () => true,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(json ?? {}).filter((entry): entry is [string, string] =>
      typeof entry[1] === "string" && keep(entry[0])
    ),
  );
}
