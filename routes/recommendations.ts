/**
 * `POST /v1/recommendations`: which settings a job should have, each with its reason.
 *
 * @module
 */
import { Hono } from "hono";
import { jsonBody, limitBody } from "./body.ts";
import { compute } from "./computing.ts";
import { RECOMMENDATION_EXAMPLES } from "./examples.ts";
import { answers, described, jsonRequest, schemaRef } from "./description.ts";
import type { ServiceEnv } from "./service.ts";

/** Loaded on the first request. */
const engine = () => import("./engine/search.ts");

/** The resource. */
export const recommendations = new Hono<ServiceEnv>().post(
  "/v1/recommendations",
  described(() => ({
    operationId: "recommend",
    tags: ["jobs"],
    summary: "Which settings the job should have, why, and what else would do",
    description:
      "The smallest memory that keeps to the budget (by default nothing is evicted, nothing spills), and the " +
      "limits that the results need. With the `summary` of `POST /v1/event-logs` as `observed`, memory is not recommended " +
      "below what was seen to be used.",
    requestBody: jsonRequest({ schema: schemaRef("RecommendationRequest"), examples: RECOMMENDATION_EXAMPLES }),
    responses: { 200: answers("Recommended settings", { schema: schemaRef("Recommendation") }) },
    errors: [400, 401, 413, 415, 422, 429],
  })),
  limitBody(({ bodyBytes }) => bodyBytes),
  jsonBody(async () => (await import("./search_requests.ts")).RecommendationRequestSchema),
  async (c) => {
    const { value, warnings } = c.req.valid("json");
    const { module } = c.get("service");
    const { recommend } = await engine();
    return c.json(await compute(c, (budget) => recommend(value, { budget, module, warnings })));
  },
);
