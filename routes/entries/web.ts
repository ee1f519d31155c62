/**
 * For any runtime that hands requests to a `fetch` function and may compile WebAssembly: edge-runtime, service workers.
 *
 * @module
 */
import { createApp } from "../app.ts";
import { EDGE_LIMITS } from "../limits.ts";
import { mountPage } from "../page/mod.ts";
import { webHost } from "./web_host.ts";

const app = createApp({ host: webHost(), limits: EDGE_LIMITS, page: mountPage });

/** The service. */
export default { fetch: (request: Request): Response | Promise<Response> => app.fetch(request) };
