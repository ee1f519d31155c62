/**
 * Errors that several parts of the job spec raise.
 *
 * @module
 */
import { InputError } from "../errors.ts";

/**
 * The InputError of a name or id that stands twice.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { duplicate } from "./spec_errors.ts";
 *
 * assertEquals(duplicate("stage", 3, "/stages/4/id").code, "job_spec.duplicate");
 * ```
 */
export function duplicate(
  what: string,
  name: number | string,
  pointer: string,
): InputError {
  return new InputError(
    "job_spec.duplicate",
    `Cannot use the job spec: ${pointer}: must differ from the other ${what}s: received ${name} twice`,
    { parameters: { what, name }, pointer },
  );
}

/** The InputError of a reference to something that the spec does not have. */
export function unknownReference(
  what: string,
  name: number | string,
  pointer: string,
): InputError {
  return new InputError(
    "job_spec.unknown_reference",
    `Cannot use the job spec: ${pointer}: must name a ${what} of the spec: received ${name}`,
    { parameters: { what, name }, pointer },
  );
}

/** The InputError of a value that its surroundings do not allow. */
export function outOfRange(
  must: string,
  received: number | string,
  pointer: string,
): InputError {
  return new InputError(
    "job_spec.range",
    `Cannot use the job spec: ${pointer}: must ${must}: received ${received}`,
    { parameters: { received }, pointer },
  );
}
