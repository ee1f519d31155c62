/**
 * `GET /v1/sizing`: how configured memory becomes pools.
 *
 * @module
 */
import { Hono, type MiddlewareHandler } from "hono";
import { etag } from "hono/etag";
import { InputError } from "../src/errors.ts";
import { SIZING_OPTIONS, sizingOf, type SizingQuery } from "./engine.ts";
import { answers, described, schemaRef } from "./openapi.ts";
import type { ServiceEnv } from "./service.ts";

/** Query parameters that are Spark properties begin with this. */
const PROPERTY = "spark.";

/** Middleware that makes `c.req.valid("query")` the query, its properties in `conf`. */
function sizingQuery(): MiddlewareHandler<
  ServiceEnv,
  string,
  { in: { query: Record<string, string> }; out: { query: SizingQuery } }
> {
  return async (c, next) => {
    const query: Record<string, string> = {};
    const conf: Record<string, string> = {};
    for (const [name, values] of Object.entries(c.req.queries())) {
      if (values.length > 1) throw badQuery(name, "be given once", `${values.length} values`);
      if (name.startsWith(PROPERTY)) conf[name] = values[0];
      else if (Object.hasOwn(SIZING_OPTIONS, name)) query[name] = values[0];
      else throw badQuery(name, `be a property (spark...) or one of ${Object.keys(SIZING_OPTIONS).join(", ")}`, "it");
    }
    c.req.addValidatedData("query", { ...query, conf });
    await next();
  };
}

function badQuery(name: string, must: string, received: string): InputError {
  const shown = name.slice(0, 80);
  return new InputError("request.query", `Cannot use the query: ${shown}: must ${must}: received ${received}`, {
    parameters: { name: shown },
  });
}

/** The resource. */
export const sizing = new Hono<ServiceEnv>().get(
  "/v1/sizing",
  described({
    operationId: "getSizing",
    tags: ["reference"],
    summary: "How configured memory becomes Spark's pools, or Spark's own refusal",
    description: "Spark properties are query parameters under their own names: " +
      "`/v1/sizing?spark.executor.memory=4g&role=executor`.",
    parameters: [
      ...Object.entries(SIZING_OPTIONS).map(([name, { description, schema, example }]) => ({
        name,
        in: "query",
        description,
        schema,
        example,
      })),
      {
        name: "conf",
        in: "query",
        description: "Spark properties, each a parameter of its own",
        style: "form",
        explode: true,
        schema: { type: "object", propertyNames: { pattern: "^spark\\." }, additionalProperties: { type: "string" } },
        example: { "spark.executor.memory": "4g" },
      },
    ],
    responses: { 200: answers("The pools, in bytes", { schema: schemaRef("Sizing") }) },
    errors: [401, 422],
  }),
  etag(),
  sizingQuery(),
  (c) => c.json(sizingOf(c.req.valid("query"))),
);
