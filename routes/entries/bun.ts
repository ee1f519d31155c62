/**
 * For Bun: `bun dist/bun/server.js`; PORT and HOST in the environment.
 *
 * @module
 */
import process from "node:process";
import { createApp } from "../app.ts";
import { mountPage } from "../page/mod.ts";
import { webHost } from "./web_host.ts";

const { PORT = "8000", HOST = "127.0.0.1", SPARKMEM_TOKEN: token } = process.env;
const app = createApp({ host: webHost(), page: mountPage, compress: true, ...(token ? { token } : {}) });

/** What Bun serves. */
export default {
  port: Number(PORT),
  hostname: HOST,
  fetch: (request: Request): Response | Promise<Response> => app.fetch(request),
};
