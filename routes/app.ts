/**
 * The service as a Hono app: the web page, the HTTP API, its description.
 *
 * @module
 */
import { Hono } from "hono";
import { compress } from "hono/compress";
import type { Api } from "./api.ts";
import { Gate } from "./budget.ts";
import { docs } from "./docs.ts";
import { eventLogs } from "./event_logs.ts";
import { health } from "./health.ts";
import { type AppOptions, quietHost } from "./host.ts";
import { serviceLimits } from "./limits.ts";
import { allowOrigins, answerError, answerNotFound, observe, requireToken } from "./middleware.ts";
import { recommendations } from "./recommendations.ts";
import type { Service, ServiceEnv } from "./service.ts";
import { simulations } from "./simulations.ts";
import { sizing } from "./sizing.ts";
import { sweeps } from "./sweeps.ts";
import { templates } from "./templates.ts";
import { whatIfs } from "./what_ifs.ts";

/** The API's routes as one chain, which has the type that is written out for clients. */
export function apiRoutes(): Api {
  return new Hono<ServiceEnv>()
    .route("/", health)
    .route("/", templates)
    .route("/", sizing)
    .route("/", eventLogs)
    .route("/", simulations)
    .route("/", whatIfs)
    .route("/", sweeps)
    .route("/", recommendations);
}

/**
 * Answers of tens of kilobytes and more, which gzip makes a tenth of. Compressing a small one costs more than it saves,
 * and a stream's lines would wait for each other.
 */
const COMPRESSED = ["/openapi.json", "/docs", "/v1/event-logs", "/v1/what-ifs", "/v1/recommendations"];

/** The OpenAPI document of an app; what makes it is loaded when it is asked for. */
async function describe(app: Hono<ServiceEnv>, options: { secured: boolean }): Promise<Record<string, unknown>> {
  const { openApiDocument } = await import("./openapi.ts");
  return await openApiDocument(app, options);
}

/**
 * The service. It holds no state but what computes at the moment; nothing that is sent is kept.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { createApp } from "./app.ts";
 *
 * const app = createApp();
 * const response = await app.request("/v1/sizing?spark.executor.memory=1g&sparkVersion=3.5.1&collector=g1");
 * assertEquals((await response.json()).unifiedMemory, 455501414);
 * ```
 */
export function createApp(options: AppOptions = {}): Hono<ServiceEnv> {
  const limits = serviceLimits(options.limits);
  const service: Service = {
    host: options.host ?? quietHost(),
    limits,
    gate: new Gate(limits.concurrency),
    module: options.module,
  };
  const app = new Hono<ServiceEnv>();
  app.onError(answerError);
  app.use(observe(service));
  if (options.cors !== undefined) app.use("/v1/*", allowOrigins(options.cors));
  if (options.token !== undefined) app.use("/v1/*", requireToken(options.token));
  if (options.compress) { for (const path of COMPRESSED) app.use(path, compress()); }
  app.route("/", apiRoutes());
  let document: Promise<Record<string, unknown>> | undefined;
  const described = () => document ??= describe(app, { secured: options.token !== undefined });
  app.route("/", docs(described, limits));
  options.page?.(app);
  app.notFound(answerNotFound(app));
  return app;
}
