/**
 * JSON bodies: read within the limit, parsed strictly, checked against a schema.
 *
 * @module
 */
import type { Context, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import type * as v from "valibot";
import { InputError, LimitError } from "../src/errors.ts";
import type { InputWarning } from "../src/workload/check_input.ts";
import { HttpError, problemResponse } from "./problem.ts";
import type { ServiceEnv } from "./service.ts";

/** A checked body, and a warning for each property that nobody reads. */
export interface Checked<T> {
  readonly value: T;
  readonly warnings: readonly InputWarning[];
}

/** Refuses bodies above the limit, by their declared length or, sent in chunks, as soon as they exceed it. */
export function limitBody(
  limit: (limits: ServiceEnv["Variables"]["service"]["limits"]) => number,
): MiddlewareHandler<ServiceEnv> {
  return (c, next) => {
    const maxSize = limit(c.get("service").limits);
    return bodyLimit({ maxSize, onError: () => problemResponse(bodyTooLarge(maxSize)) })(c, next);
  };
}

/**
 * Refuses a body that declares to be above the limit before any of it is read. For bodies that are read as they arrive:
 * the middleware of {@linkcode limitBody} reads ahead of the handler.
 */
export function limitDeclaredBody(
  limit: (limits: ServiceEnv["Variables"]["service"]["limits"]) => number,
): MiddlewareHandler<ServiceEnv> {
  return async (c, next) => {
    const maxSize = limit(c.get("service").limits);
    if (Number(c.req.header("content-length") ?? 0) > maxSize) throw bodyTooLarge(maxSize);
    await next();
  };
}

function bodyTooLarge(limit: number): LimitError {
  return new LimitError("limit.body", `Cannot read the request: its body must have at most ${limit} bytes`, {
    parameters: { limit },
  });
}

/**
 * Middleware that makes `c.req.valid("json")` the checked body.
 *
 * The schema, and what checks bodies against schemas, is loaded on the first request that needs it.
 *
 * Bodies are JSON whatever their content-type says (curl -d sends form data's), in UTF-8, not compressed.
 */
export function jsonBody<T>(
  load: () => Promise<v.GenericSchema<unknown, T>>,
): MiddlewareHandler<ServiceEnv, string, { in: { json: T }; out: { json: Checked<T> } }> {
  return async (c, next) => {
    const { host } = c.get("service");
    const [schema, { parseStrictJson, checkInput }] = await Promise.all([load(), import("./engine/input.ts")]);
    const start = host.now();
    const document = parseStrictJson(await bodyText(c));
    c.req.addValidatedData("json", checkInput(schema, document, { what: "request" }));
    c.get("timings").set("parse", host.now() - start);
    await next();
  };
}

async function bodyText(c: Context<ServiceEnv>): Promise<string> {
  const encoding = c.req.header("content-encoding") ?? "identity";
  if (encoding !== "identity") {
    throw new HttpError(
      415,
      "request.encoding",
      `Cannot read the request: a JSON body must not be compressed: received content-encoding ${encoding.slice(0, 40)}`,
      { headers: { "accept-encoding": "identity" } },
    );
  }
  const bytes = await c.req.arrayBuffer();
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new InputError("json.encoding", "Cannot read JSON: must be UTF-8", { cause: error });
  }
}
