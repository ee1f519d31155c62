/**
 * `GET /healthz`: the service is up, and which version it is.
 *
 * @module
 */
import { Hono } from "hono";
import { answers, described } from "./description.ts";
import type { ServiceEnv } from "./service.ts";
import { VERSION } from "./version.ts";

/** The resource. */
export const health = new Hono<ServiceEnv>().get(
  "/healthz",
  described(() => ({
    operationId: "getHealth",
    tags: ["service"],
    summary: "Is the service up?",
    responses: {
      200: answers("The service is up", {
        schema: {
          type: "object",
          properties: { status: { const: "ok" }, version: { type: "string" } },
          required: ["status", "version"],
        },
        example: { status: "ok", version: VERSION },
      }),
    },
    errors: [],
  })),
  (c) => c.json({ status: "ok" as const, version: VERSION }, 200, { "cache-control": "no-store" }),
);
