/**
 * What routes say of themselves. Held as functions, which run when the document is asked for (openapi.ts).
 *
 * @module
 */
import type { MiddlewareHandler } from "hono";

/** A JSON Schema, or a reference by name to one of the document's. */
export type SchemaObject = Readonly<Record<string, unknown>>;

/** A content of a request or an answer. */
export interface Content {
  readonly schema: SchemaObject;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>;
}

/** What a route says of itself. */
export interface RouteDescription {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Readonly<Record<string, unknown>>[];
  readonly requestBody?: Readonly<Record<string, unknown>>;
  readonly responses: Readonly<Record<number, unknown>>;
  /** Statuses that answer a problem document. */
  readonly errors: readonly (keyof typeof ERRORS)[];
}

const ERRORS = {
  400: "The body is no JSON",
  401: "The bearer token is missing or wrong",
  404: "There is no such thing",
  413: "The body is larger than the limit",
  415: "The body is compressed",
  422: "The body is JSON, but what it says cannot be used, or is more than a limit allows",
  429: "Too many requests compute at the moment; Retry-After says when to come again",
} as const;

/** A schema of the document by its name. */
export function schemaRef(name: string): SchemaObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** An answer in JSON, and in other types where there are. */
export function answers(
  description: string,
  json: Content,
  others: Readonly<Record<string, Content>> = {},
): Readonly<Record<string, unknown>> {
  return { description, content: { "application/json": json, ...others } };
}

/** A body in JSON. */
export function jsonRequest(content: Content): Readonly<Record<string, unknown>> {
  return { required: true, content: { "application/json": content } };
}

/** A description, made when it is first asked for. */
export type Describe = () => RouteDescription | Promise<RouteDescription>;

const descriptions = new WeakMap<object, Describe>();

/** Middleware that describes a route. */
export function described(describe: Describe): MiddlewareHandler {
  const middleware: MiddlewareHandler = (_c, next) => next();
  descriptions.set(middleware, describe);
  return middleware;
}

/**
 * The description of a route that has this handler, in OpenAPI's words; null of one that has none.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { described, operationOf } from "./description.ts";
 *
 * const handler = described(() => ({ operationId: "a", tags: [], summary: "A", responses: {}, errors: [404] }));
 * const operation = await operationOf(handler);
 * assertEquals(Object.keys(operation!.responses), ["404"]);
 * assertEquals(await operationOf(() => {}), null);
 * ```
 */
export async function operationOf(handler: object): Promise<Omit<RouteDescription, "errors"> | null> {
  const describe = descriptions.get(handler);
  if (describe === undefined) return null;
  const { errors, responses, ...rest } = await describe();
  const problems = Object.fromEntries(errors.map((status) => [status, {
    description: ERRORS[status],
    content: { "application/problem+json": { schema: schemaRef("Problem") } },
  }]));
  return { ...rest, responses: { ...responses, ...problems } };
}
