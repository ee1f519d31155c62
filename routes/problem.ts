/**
 * Errors as problem+json (RFC 9457).
 *
 * @module
 */
import { InputError, LimitError } from "../src/errors.ts";

/** What every error answers. */
export interface Problem {
  /** `urn:sparkmem:problem:` and the code. */
  readonly type: string;
  readonly title: string;
  readonly status: ProblemStatus;
  /** For people: what is wrong, what must be, what was received. */
  readonly detail: string;
  /** For programs. */
  readonly code: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** JSON pointer to the offending place of the body. */
  readonly pointer?: string;
  /** Line of a JSON text or an event log. */
  readonly line?: number;
}

/** The statuses of errors. */
export type ProblemStatus = keyof typeof TITLES;

const TITLES = {
  400: "Bad request",
  401: "Unauthorized",
  404: "Not found",
  405: "Method not allowed",
  413: "Content too large",
  415: "Unsupported media type",
  422: "Unprocessable content",
  429: "Too many requests",
  499: "Client closed request",
  500: "Internal server error",
} as const;

/** Limits on what is sent rather than on what it asks for. */
const SIZE_LIMITS: ReadonlySet<string> = new Set([
  "limit.body",
  "limit.bytes",
  "limit.decompressed_bytes",
  "limit.line_bytes",
]);

/** An error that only the HTTP service has. */
export class HttpError extends InputError {
  override readonly name: string = "HttpError";
  readonly status: ProblemStatus;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: ProblemStatus,
    code: string,
    message: string,
    options: { parameters?: Record<string, unknown>; headers?: Record<string, string> } = {},
  ) {
    super(code, message, { parameters: options.parameters });
    this.status = status;
    this.headers = options.headers ?? {};
  }
}

/** The status of an error: 400 for what is no JSON, 413 for too much of it, 429 when busy, else 422. */
export function statusOf(error: InputError): ProblemStatus {
  if (error instanceof HttpError) return error.status;
  if (error instanceof LimitError) {
    if (error.code === "limit.concurrency") return 429;
    return SIZE_LIMITS.has(error.code) ? 413 : 422;
  }
  return error.code.startsWith("json.") ? 400 : 422;
}

/**
 * The problem document of an error. Anything but an InputError is a fault of the service and tells nothing of itself.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { InputError } from "../src/errors.ts";
 * import { problemOf } from "./problem.ts";
 *
 * const problem = problemOf(new InputError("input.type", "Cannot use the request: ...", { pointer: "/seed" }));
 * assertEquals([problem.status, problem.code, problem.pointer], [422, "input.type", "/seed"]);
 * assertEquals(problemOf(new Error("secret")).detail.includes("secret"), false);
 * ```
 */
export function problemOf(error: unknown): Problem {
  if (!(error instanceof InputError)) {
    return {
      type: "urn:sparkmem:problem:internal",
      title: TITLES[500],
      status: 500,
      detail: "The service has failed; its log has the request's id (header x-request-id)",
      code: "internal",
      parameters: {},
    };
  }
  const status = statusOf(error);
  return {
    type: `urn:sparkmem:problem:${error.code}`,
    title: TITLES[status],
    status,
    detail: error.message,
    code: error.code,
    parameters: error.parameters,
    ...(error.pointer === undefined ? {} : { pointer: error.pointer }),
    ...(error.line === undefined ? {} : { line: error.line }),
  };
}

/** The answer with a problem document. */
export function problemResponse(error: unknown): Response {
  const problem = problemOf(error);
  const headers: Record<string, string> = {
    "content-type": "application/problem+json",
    "cache-control": "no-store",
    ...(error instanceof HttpError ? error.headers : {}),
  };
  if (problem.status === 429) headers["retry-after"] = "1";
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}
