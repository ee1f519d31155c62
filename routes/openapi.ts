/**
 * The OpenAPI document, gathered from the routes themselves.
 *
 * @module
 */
import { toJsonSchemaDefs } from "@valibot/to-json-schema";
import type { Env, Hono, MiddlewareHandler } from "hono";
import { describeRoute, type DescribeRouteOptions, generateSpecs } from "hono-openapi";
import { JobSpecSchema, SHARED_SCHEMAS } from "../src/workload/job_spec_schema.ts";
import { TEMPLATES } from "../src/workload/templates.ts";
import { JobRequestSchema, RecommendationRequestSchema, SweepRequestSchema, WhatIfRequestSchema } from "./requests.ts";
import { RESPONSE_SCHEMAS } from "./responses.ts";
import { VERSION } from "./version.ts";

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

/** Middleware that describes a route. */
export function described({ errors, responses, ...rest }: RouteDescription): MiddlewareHandler {
  const problems = Object.fromEntries(errors.map((status) => [status, {
    description: ERRORS[status],
    content: { "application/problem+json": { schema: schemaRef("Problem") } },
  }]));
  return describeRoute({ ...rest, responses: { ...responses, ...problems } } as DescribeRouteOptions);
}

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
  const document = await generateSpecs(app as unknown as Hono, {
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
