/**
 * For Vercel's edge runtime.
 *
 * @module
 */
// @ts-types="./kernel_module.d.ts"
import kernel from "../../assembly/build/kernel.wasm";
import { createApp } from "../app.ts";
import { EDGE_LIMITS } from "../limits.ts";
import { mountPage } from "../page/mod.ts";
import { webHost } from "./web_host.ts";

/** Tells Vercel which runtime to use. */
export const config = { runtime: "edge" };

const app = createApp({ host: webHost(), module: kernel, limits: EDGE_LIMITS, page: mountPage });

/** The function. */
export default (request: Request): Response | Promise<Response> => app.fetch(request);
