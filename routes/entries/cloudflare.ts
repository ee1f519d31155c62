/**
 * For Cloudflare Workers (workerd): the kernel is imported as a compiled module, since code may not be compiled in a
 * request.
 *
 * @module
 */
// @ts-types="./kernel_module.d.ts"
import kernel from "../../assembly/build/kernel.wasm";
import { createApp } from "../app.ts";
import { EDGE_LIMITS } from "../limits.ts";
import { mountPage } from "../page/mod.ts";
import { webHost } from "./web_host.ts";

/** Variables and secrets of the worker. */
interface Bindings {
  /** The API asks for this bearer token. */
  readonly SPARKMEM_TOKEN?: string;
}

let app: ReturnType<typeof createApp> | undefined;

/** The worker. */
export default {
  fetch(request: Request, { SPARKMEM_TOKEN: token }: Bindings): Response | Promise<Response> {
    app ??= createApp({
      host: webHost(),
      module: kernel,
      limits: EDGE_LIMITS,
      page: mountPage,
      ...(token ? { token } : {}),
    });
    return app.fetch(request);
  },
};
