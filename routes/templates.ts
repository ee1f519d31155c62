/**
 * `GET /v1/templates`: usual shapes of jobs, with their parameters; `GET /v1/templates/:name`: one of them as a job spec.
 *
 * @module
 */
import { Hono } from "hono";
import { etag } from "hono/etag";
import { answers, described, schemaRef } from "./description.ts";
import type { ServiceEnv } from "./service.ts";

/** Loaded on the first request that needs it. */
const engine = () => import("./engine/templates.ts");

/** The resource. */
export const templates = new Hono<ServiceEnv>().get(
  "/v1/templates",
  described(() => ({
    operationId: "listTemplates",
    tags: ["reference"],
    summary: "Templates of jobs and their parameters",
    description: 'Parameters of kind `bytes` and `ms` take Spark\'s notation ("64m", "2s") as well.',
    responses: { 200: answers("All templates", { schema: schemaRef("Templates") }) },
    errors: [401],
  })),
  etag(),
  async (c) => c.json({ templates: (await engine()).LISTED_TEMPLATES }),
).get(
  "/v1/templates/:name",
  described(async () => ({
    operationId: "getTemplate",
    tags: ["reference"],
    summary: "A template as a job spec, its parameters at their defaults: a start for a spec of one's own",
    parameters: [{
      name: "name",
      in: "path",
      required: true,
      schema: { enum: (await engine()).LISTED_TEMPLATES.map(({ name }) => name) },
    }],
    responses: { 200: answers("The job spec", { schema: schemaRef("JobSpec") }) },
    errors: [401, 404],
  })),
  etag(),
  async (c) => c.json((await engine()).templateJobSpec(c.req.param("name"))),
);
