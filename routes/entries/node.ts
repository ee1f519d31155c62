/**
 * For Node 20 and later: `node dist/node/server.js`; PORT and HOST in the environment.
 *
 * @module
 */
import process from "node:process";
import { serve } from "@hono/node-server";
import { createApp } from "../app.ts";
import { mountPage } from "../page/mod.ts";
import { webHost } from "./web_host.ts";

const { PORT = "8000", HOST = "127.0.0.1", SPARKMEM_TOKEN: token } = process.env;
const host = webHost();
const app = createApp({ host, page: mountPage, compress: true, ...(token ? { token } : {}) });

serve({ fetch: app.fetch, port: Number(PORT), hostname: HOST }, ({ address, port }) => {
  host.log({ event: "listening", url: `http://${address}:${port}` });
});
