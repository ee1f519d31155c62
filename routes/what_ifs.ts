/**
 * `POST /v1/what-ifs`: a job under its own settings and under changed ones.
 *
 * @module
 */
import { Hono } from "hono";
import { jsonBody, limitBody } from "./body.ts";
import { compute } from "./computing.ts";
import { WHAT_IF_EXAMPLES } from "./examples.ts";
import { answers, described, jsonRequest, schemaRef } from "./description.ts";
import type { ServiceEnv } from "./service.ts";

/** Loaded on the first request. */
const engine = () => import("./engine/search.ts");

/** The resource. */
export const whatIfs = new Hono<ServiceEnv>().post(
  "/v1/what-ifs",
  described(() => ({
    operationId: "whatIf",
    tags: ["jobs"],
    summary: "Run a job under its own settings and under changed ones, and say what changes and why",
    description:
      "`replayed` is the run under the job's own settings, `predicted` under `changes`. With the `summary` of " +
      "`POST /v1/event-logs` as `observed` the verdict says how far the model is to be trusted here.",
    requestBody: jsonRequest({ schema: schemaRef("WhatIfRequest"), examples: WHAT_IF_EXAMPLES }),
    responses: { 200: answers("Both runs and what changed", { schema: schemaRef("WhatIf") }) },
    errors: [400, 401, 413, 415, 422, 429],
  })),
  limitBody(({ bodyBytes }) => bodyBytes),
  jsonBody(async () => (await import("./search_requests.ts")).WhatIfRequestSchema),
  async (c) => {
    const { value, warnings } = c.req.valid("json");
    const { module } = c.get("service");
    const { whatIf } = await engine();
    return c.json(await compute(c, (budget) => whatIf(value, { budget, module, warnings })));
  },
);
