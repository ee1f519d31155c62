/**
 * Settings that Spark refuses, in Spark's own words.
 *
 * @module
 */
import { InputError } from "../errors.ts";

/** What Spark throws: the class and the message that a user sees. */
export interface SparkRefusal {
  /** Stable code of the project: `conf.type`, `conf.value`, `conf.memory`, ... */
  readonly code: string;
  /** Full name of the exception's class. */
  readonly exception: string;
  readonly message: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** Classes that Spark throws when it refuses a setting. */
export const EXCEPTIONS = Object.freeze({
  illegalArgument: "java.lang.IllegalArgumentException",
  numberFormat: "java.lang.NumberFormatException",
  spark: "org.apache.spark.SparkException",
  sparkIllegalArgument: "org.apache.spark.SparkIllegalArgumentException",
  plain: "java.lang.Exception",
});

/**
 * The error for settings that Spark refuses: exit status 2, HTTP 422. Its message holds the exception's class and
 * Spark's message, `parameters` both apart.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { refusalError } from "./spark_refusal.ts";
 *
 * const error = refusalError({
 *   code: "conf.value",
 *   exception: "java.lang.IllegalArgumentException",
 *   message: "requirement failed",
 * });
 * assertEquals(error.message, "Cannot start Spark: java.lang.IllegalArgumentException: requirement failed");
 * ```
 */
export function refusalError(refusal: SparkRefusal): InputError {
  return new InputError(
    refusal.code,
    `Cannot start Spark: ${refusal.exception}: ${refusal.message}`,
    {
      parameters: {
        ...refusal.parameters,
        exception: refusal.exception,
        sparkMessage: refusal.message,
      },
    },
  );
}
