/**
 * A client of the service whose requests and answers have types.
 *
 * @module
 */
import { hc } from "hono/client";
import type { Api } from "./api.ts";

/** Options of {@linkcode createClient}. */
export interface ClientOptions {
  /** Bearer token, where the service asks for one. */
  readonly token?: string;
  /** Sends the requests in place of the global `fetch`. */
  readonly fetch?: (input: RequestInfo | URL, init?: RequestInit) => Response | Promise<Response>;
}

/** The client: its methods follow the paths, `client.v1.simulations.$post({ json: ... })`. */
export type Client = ReturnType<typeof hc<Api>>;

/**
 * A client of the service at a base URL.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { createApp } from "./app.ts";
 * import { createClient } from "./client.ts";
 *
 * const client = createClient("http://localhost", { fetch: createApp().request });
 * const response = await client.v1.simulations.$post({ json: { template: "sort", executors: 2 } });
 * assertEquals((await response.json()).outcome.status, "succeeded");
 * ```
 */
export function createClient(baseUrl: string, options: ClientOptions = {}): Client {
  return hc<Api>(baseUrl, {
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    ...(options.token === undefined ? {} : { headers: { authorization: `Bearer ${options.token}` } }),
  });
}
