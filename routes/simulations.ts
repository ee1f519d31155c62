/**
 * `POST /v1/simulations`: runs a job under given settings; its Summary, or its event log as it comes about.
 *
 * @module
 */
import { Hono } from "hono";
import { accepts } from "hono/accepts";
import { jsonBody, limitBody } from "./body.ts";
import { compute, streamLines } from "./computing.ts";
import { JOB_EXAMPLES } from "./examples.ts";
import { answers, described, jsonRequest, schemaRef } from "./description.ts";
import type { ServiceEnv } from "./service.ts";

const NDJSON = "application/x-ndjson";

/** Loaded on the first request. */
const engine = () => import("./engine/simulate.ts");

/** The resource. */
export const simulations = new Hono<ServiceEnv>().post(
  "/v1/simulations",
  described(() => ({
    operationId: "simulate",
    tags: ["jobs"],
    summary: "Run a job under given settings",
    description: "The job is a spec (`workload`) or a template. The answer is the Summary of the simulated run; with " +
      "`Accept: application/x-ndjson` it is its Spark event log, a line for each event, as the run goes on.",
    requestBody: jsonRequest({ schema: schemaRef("JobRequest"), examples: JOB_EXAMPLES }),
    responses: {
      200: answers("What the run did", { schema: schemaRef("Summary") }, {
        [NDJSON]: { schema: { type: "string", description: "Lines of a Spark event log" } },
      }),
    },
    errors: [400, 401, 413, 415, 422, 429],
  })),
  limitBody(({ bodyBytes }) => bodyBytes),
  jsonBody(async () => (await import("./requests.ts")).JobRequestSchema),
  async (c) => {
    const { value, warnings } = c.req.valid("json");
    const wanted = accepts(c, {
      header: "Accept",
      supports: ["application/json", NDJSON],
      default: "application/json",
    });
    const { module } = c.get("service");
    const { simulate, simulateLog } = await engine();
    if (wanted === NDJSON) {
      // Typed clients ask for JSON: their type is that of the Summary alone.
      return await streamLines(c, (budget) => simulateLog(value, { budget, module, warnings })) as never;
    }
    return c.json(await compute(c, (budget) => simulate(value, { budget, module, warnings })));
  },
);
