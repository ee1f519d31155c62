/**
 * The OpenAPI document, gathered from the routes themselves.
 *
 * @module
 */
import { toJsonSchemaDefs } from "@valibot/to-json-schema";
import type { Env, Hono } from "hono";
import { describeRoute, type DescribeRouteOptions, generateSpecs } from "hono-openapi";
import { JobSpecSchema, SHARED_SCHEMAS } from "../src/workload/job_spec_schema.ts";
import { TEMPLATES } from "../src/workload/templates.ts";
import { operationOf, type SchemaObject } from "./description.ts";
import { JobRequestSchema } from "./requests.ts";
import { RESPONSE_SCHEMAS } from "./responses.ts";
import { RecommendationRequestSchema, SweepRequestSchema, WhatIfRequestSchema } from "./search_requests.ts";
import { VERSION } from "./version.ts";

const INFO = {
  title: "sparkmem",
  version: VERSION,
  description:
    "What Apache Spark's memory manager and task-result path do to a job under given settings, and what the " +
    "settings should be. Sizes are bytes, times ms. Nothing that is sent is stored.",
  license: { name: "Apache-2.0", identifier: "Apache-2.0" },
};

const TAGS = [
  { name: "jobs", description: "Run a job under settings, change them, search them" },
  { name: "logs", description: "Read a Spark event log" },
  { name: "reference", description: "Sizing of pools, templates of jobs" },
  { name: "service", description: "The service itself" },
];

/**
 * The document for an app. Schemas are made from those that check the requests.
 *
 * @param secured the routes below /v1 ask for a bearer token
 */
export async function openApiDocument<E extends Env>(
  app: Hono<E>,
  { secured }: { secured: boolean },
): Promise<Record<string, unknown>> {
  const document = await generateSpecs(await describedRoutes(app), {
    documentation: {
      openapi: "3.1.0",
      info: INFO,
      tags: TAGS,
      components: {
        schemas: componentSchemas() as Record<string, never>,
        ...(secured ? { securitySchemes: { token: { type: "http", scheme: "bearer" } } } : {}),
      },
      ...(secured ? { security: [{ token: [] }] } : {}),
    },
  });
  return document as unknown as Record<string, unknown>;
}

/** The app's described routes as hono-openapi wants them, with their descriptions for handlers. */
async function describedRoutes<E extends Env>(app: Hono<E>): Promise<Hono> {
  const routes = [];
  for (const route of app.routes) {
    const operation = await operationOf(route.handler);
    if (operation !== null) routes.push({ ...route, handler: describeRoute(operation as DescribeRouteOptions) });
  }
  return { routes } as unknown as Hono;
}

/** What the schemas of requests say besides what is checked property by property. */
function requestSchema(schema: SchemaObject): SchemaObject {
  const { properties } = schema as { properties: Record<string, SchemaObject> };
  const template = { ...properties.template, enum: TEMPLATES.map(({ name }) => name) };
  return {
    ...schema,
    properties: { ...properties, template },
    oneOf: [{ required: ["workload"] }, { required: ["template"] }],
  };
}

function componentSchemas(): Record<string, SchemaObject> {
  const schemas = toJsonSchemaDefs({
    ...SHARED_SCHEMAS,
    JobSpec: JobSpecSchema,
    JobRequest: JobRequestSchema,
    WhatIfRequest: WhatIfRequestSchema,
    SweepRequest: SweepRequestSchema,
    RecommendationRequest: RecommendationRequestSchema,
    ...RESPONSE_SCHEMAS,
  }, {
    target: "draft-2020-12",
    errorMode: "ignore",
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  }) as unknown as Record<string, SchemaObject>;
  for (const name of Object.keys(schemas)) {
    if (name.endsWith("Request")) schemas[name] = requestSchema(schemas[name]);
  }
  return schemas;
}
