/**
 * The errors that bad input raises. Simulated failures (out of memory, dropped results, aborted stages) are data
 * and are never thrown; a bug is an assertion and has no code.
 *
 * @module
 */

/** What an {@linkcode InputError} carries besides its message. */
export interface InputErrorOptions {
  /** The offending values, by name; only JSON values. */
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** JSON pointer (RFC 6901) to the offending place in a JSON input, for example `/stages/2/parents/0`. */
  readonly pointer?: string;
  /** Line of a text input (1-based), for example of an event log. */
  readonly line?: number;
  /** The error that led to this one. */
  readonly cause?: unknown;
}

/**
 * Input that cannot be used: a stable `code` for programs, a message for people.
 *
 * The command line prints it as `error[code]: message` and exits with 2; HTTP answers problem+json with the same code.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { InputError } from "./errors.ts";
 *
 * const error = new InputError("conf.size", "Cannot parse spark.executor.memory: not a size: received lots", {
 *   parameters: { key: "spark.executor.memory", value: "lots" },
 * });
 * assertEquals(error.code, "conf.size");
 * assertEquals(error instanceof RangeError, false);
 * ```
 */
export class InputError extends TypeError {
  /** `InputError`. */
  override readonly name: string = "InputError";
  /** Stable identifier, dotted and lower case: `area.what`. */
  readonly code: string;
  /** The offending values, by name. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** JSON pointer to the offending place, where the input is JSON. */
  readonly pointer?: string;
  /** Line of the offending place, where the input is text. */
  readonly line?: number;

  /** `message` begins with "Cannot" and says what must be and what was received. */
  constructor(code: string, message: string, options: InputErrorOptions = {}) {
    super(
      message,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    this.code = code;
    this.parameters = options.parameters ?? {};
    if (options.pointer !== undefined) this.pointer = options.pointer;
    if (options.line !== undefined) this.line = options.line;
  }
}

/**
 * Input that is well formed but larger than a documented limit allows (HTTP 413 or 422).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { LimitError } from "./errors.ts";
 *
 * const error = new LimitError("limit.tasks", "Cannot simulate: more than 1000 tasks: received 2000", {
 *   parameters: { limit: 1000, received: 2000 },
 * });
 * assertEquals(error.parameters.limit, 1000);
 * ```
 */
export class LimitError extends InputError {
  /** `LimitError`. */
  override readonly name: string = "LimitError";
}
