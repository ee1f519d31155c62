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

/** Whether a value is a whole number that a Long holds. */
export function isLong(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value <= MAX_LONG && value >= -MAX_LONG;
}

function integer(value: unknown, key: string): number {
  if (!isLong(value)) throw malformed(key, "an integer");
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

/** Spark's Int: what counts partitions, tasks and cores, and what they are known by. */
export const MAX_INT: number = 2 ** 31 - 1;

function count(value: unknown, key: string): number {
  const found = integer(value, key);
  // Arrays are sized by it, so what no Spark can have written is damage here and not later.
  if (found < 0 || found > MAX_INT) throw malformed(key, "a count");
  return found;
}

/** A count or an id that must be there: an Int that is not negative. */
export function countOf(json: JsonObject, key: string): number {
  return count(json[key], key);
}

/** A count or an id, or what stands for a missing one. */
export function countOr<T>(json: JsonObject, key: string, missing: T): number | T {
  const value = json[key];
  return value === undefined || value === null ? missing : count(value, key);
}

/** Number of a stage's attempt, 0 where it is missing; -1 is of a stage that the driver has forgotten (DAGScheduler.handleBeginEvent until 3.1). */
export function stageAttemptOf(json: JsonObject, key = "Stage Attempt ID"): number {
  return json[key] === -1 ? -1 : countOr(json, key, 0);
}

/** A size that must be there: a Long that is not negative. */
export function sizeOf(json: JsonObject, key: string): number {
  const value = integer(json[key], key);
  if (value < 0) throw malformed(key, "a size");
  return value;
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

/** A list of ids, empty when it is missing. */
export function idsOf(json: JsonObject, key: string): number[] {
  return listOf(json, key).map((value) => count(value, key));
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
