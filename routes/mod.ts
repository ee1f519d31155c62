/**
 * The HTTP service as a library: `createApp` for a host of one's own, `createClient` for its callers.
 *
 * @module
 */
export type { Api, ApiSchema, JsonEndpoint, LinesEndpoint, NoInput } from "./api.ts";
export { createApp } from "./app.ts";
export { type Client, type ClientOptions, createClient } from "./client.ts";
export type { AppOptions, CorsOptions, Host, LogRecord } from "./host.ts";
export { DEFAULT_LIMITS, EDGE_LIMITS, type ServiceLimits } from "./limits.ts";
export type { Problem } from "./problem.ts";
export type {
  JobRequest,
  RecommendationRequest,
  Settings,
  SettingValue,
  SweepRequest,
  WhatIfRequest,
} from "./requests.ts";
