/**
 * `GET /v1/sizing`: how configured memory becomes pools.
 *
 * @module
 */
import { Hono, type MiddlewareHandler } from "hono";
import { etag } from "hono/etag";
import type { SizingOptions } from "../src/spark/sizing.ts";
import { answers, described, schemaRef } from "./description.ts";
import type { ServiceEnv } from "./service.ts";

/** Loaded on the first request. */
const engine = () => import("./engine/sizing.ts");

/** Middleware that makes `c.req.valid("query")` what the query asks for. */
function sizingQuery(): MiddlewareHandler<
  ServiceEnv,
  string,
  { in: { query: Record<string, string> }; out: { query: SizingOptions } }
> {
  return async (c, next) => {
    c.req.addValidatedData("query", (await engine()).sizingOptions(c.req.queries()));
    await next();
  };
}

/** The resource. */
export const sizing = new Hono<ServiceEnv>().get(
  "/v1/sizing",
  described(async () => ({
    operationId: "getSizing",
    tags: ["reference"],
    summary: "How configured memory becomes Spark's pools, or Spark's own refusal",
    description: "Spark properties are query parameters under their own names: " +
      "`/v1/sizing?spark.executor.memory=4g&role=executor`.",
    parameters: [
      ...Object.entries((await engine()).SIZING_OPTIONS).map(([name, { description, schema, example }]) => ({
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
  })),
  etag(),
  sizingQuery(),
  async (c) => c.json((await engine()).sizing(c.req.valid("query"))),
);
