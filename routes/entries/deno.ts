/**
 * For `deno serve` and Deno Deploy, which bring their own port.
 *
 * @module
 */
import { createApp } from "../app.ts";
import { mountPage } from "../page/mod.ts";
import { denoHost, startOptions, TOKEN_VARIABLE } from "../main.ts";

const app = createApp({ ...startOptions([], Deno.env.get(TOKEN_VARIABLE)).app, host: denoHost(), page: mountPage });

/** The service. */
export default { fetch: (request: Request): Response | Promise<Response> => app.fetch(request) };
