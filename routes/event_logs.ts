/**
 * `POST /v1/event-logs`: a Spark event log as the body; its Summary, and the workload that can be simulated under other
 * settings.
 *
 * @module
 */
import { Hono } from "hono";
import { limitDeclaredBody } from "./body.ts";
import { compute } from "./computing.ts";
import { answers, described, schemaRef } from "./description.ts";
import type { ServiceEnv } from "./service.ts";

/** Loaded on the first request. */
const engine = () => import("./engine/read_log.ts");

/** The resource. The log is read as it arrives and never held whole. */
export const eventLogs = new Hono<ServiceEnv>().post(
  "/v1/event-logs",
  described(() => ({
    operationId: "readEventLog",
    tags: ["logs"],
    summary: "Read a Spark event log: Summary, verdict, and the workload for what-ifs",
    description:
      "The body is the log itself: plain or zstd, lz4, snappy, lzf, gzip or zip, told from the content. Send " +
      "the `workload` of the answer to the other routes.",
    requestBody: {
      required: true,
      content: {
        "application/octet-stream": { schema: { type: "string", contentMediaType: "application/octet-stream" } },
      },
    },
    responses: { 200: answers("What the log tells", { schema: schemaRef("EventLog") }) },
    errors: [401, 413, 422, 429],
  })),
  limitDeclaredBody(({ logBytes }) => logBytes),
  async (c) => {
    const { readLog } = await engine();
    const answer = await compute(c, (budget) => readLog(c.req.raw.body, budget));
    return c.json(answer);
  },
);
