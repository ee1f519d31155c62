/**
 * `POST /v1/sweeps`: a job under every combination of some settings, a line for each as soon as it is known.
 *
 * @module
 */
import { Hono } from "hono";
import { jsonBody, limitBody } from "./body.ts";
import { streamLines } from "./computing.ts";
import { SWEEP_EXAMPLES } from "./examples.ts";
import { described, jsonRequest, schemaRef } from "./description.ts";
import type { ServiceEnv } from "./service.ts";

/** Loaded on the first request. */
const engine = () => import("./engine/search.ts");

/** The resource. */
export const sweeps = new Hono<ServiceEnv>().post(
  "/v1/sweeps",
  described(() => ({
    operationId: "sweep",
    tags: ["jobs"],
    summary: "Run a job under every combination of some settings",
    description:
      "`vary` has lists of values by setting: Spark properties, `storageLevel`, `executors`. Each line of the " +
      "answer is the result of a combination (schema SweepResult), sent as soon as it is known, the last setting varying " +
      "fastest. Settings that Spark refuses are a line with status `refused`. A sweep that ends early has a last line " +
      '`{"error": Problem}`.',
    requestBody: jsonRequest({ schema: schemaRef("SweepRequest"), examples: SWEEP_EXAMPLES }),
    responses: {
      200: {
        description: "Results, one a line",
        content: { "application/x-ndjson": { schema: { type: "string", description: "Lines of SweepResult" } } },
      },
    },
    errors: [400, 401, 413, 415, 422, 429],
  })),
  limitBody(({ bodyBytes }) => bodyBytes),
  jsonBody(async () => (await import("./search_requests.ts")).SweepRequestSchema),
  async (c) => {
    const { value, warnings } = c.req.valid("json");
    const { module } = c.get("service");
    const { sweep } = await engine();
    return await streamLines(c, (budget) => sweep(value, { budget, module, warnings }));
  },
);
