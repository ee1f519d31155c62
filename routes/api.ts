/**
 * The API as Hono's typed clients see it: for each path and method what goes in and what comes out. Written out, so that
 * the types of a package's user need not be worked out from the handlers.
 *
 * @module
 */
import type { Hono } from "hono";
import type { ContentfulStatusCode, StatusCode } from "hono/utils/http-status";
import type { JSONParsed } from "hono/utils/types";
import type { Summary } from "../src/report/summary.ts";
import type { Sizing } from "../src/spark/sizing.ts";
import type { Recommendation } from "../src/what_if/recommend.ts";
import type { WhatIf } from "../src/what_if/what_if.ts";
import type { JobSpec } from "../src/workload/job_spec_types.ts";
import type { Template } from "../src/workload/template.ts";
import type { EventLogAnswer } from "./engine/read_log.ts";
import type { JobRequest, RecommendationRequest, SweepRequest, WhatIfRequest } from "./requests.ts";
import type { ServiceEnv } from "./service.ts";

/** A route that answers JSON (no interface: Hono asks for a type that has an index signature by itself). */
export type JsonEndpoint<Input, Output, Status extends ContentfulStatusCode = ContentfulStatusCode> = {
  /** `json`: the body, `query`, `param`: parts of the address. */
  input: Input;
  /** The answer as JSON has it. */
  output: JSONParsed<Output>;
  /** Always JSON. */
  outputFormat: "json";
  /** Of the answer. Problems have no type here: look at `ok` first. */
  status: Status;
};

/** A route that answers lines, which are read from `body`. */
export type LinesEndpoint<Input> = {
  /** `json`: the body. */
  input: Input;
  /** None that has a type. */
  output: Record<never, never>;
  /** NDJSON. */
  outputFormat: string;
  /** Of the answer. */
  status: StatusCode;
};

/** What a route without input takes. */
export type NoInput = Record<never, never>;

/** The routes. */
export type ApiSchema = {
  "/healthz": { $get: JsonEndpoint<NoInput, { status: "ok"; version: string }, 200> };
  "/v1/templates": { $get: JsonEndpoint<NoInput, { templates: Omit<Template, "build">[] }> };
  "/v1/templates/:name": { $get: JsonEndpoint<{ param: { name: string } }, JobSpec> };
  "/v1/sizing": { $get: JsonEndpoint<{ query: Record<string, string> }, Sizing> };
  "/v1/event-logs": { $post: JsonEndpoint<NoInput, EventLogAnswer> };
  "/v1/simulations": { $post: JsonEndpoint<{ json: JobRequest }, Summary> };
  "/v1/what-ifs": { $post: JsonEndpoint<{ json: WhatIfRequest }, WhatIf> };
  "/v1/sweeps": { $post: LinesEndpoint<{ json: SweepRequest }> };
  "/v1/recommendations": { $post: JsonEndpoint<{ json: RecommendationRequest }, Recommendation> };
};

/** The API's type, for `hc` of hono/client. */
export type Api = Hono<ServiceEnv, ApiSchema, "/">;
