/**
 * The web page: `GET /`, `GET /learn`, their assets and the service worker. All of it is built beforehand into
 * build/ (`deno task build:page`), so that serving it needs neither a build nor a file system.
 *
 * @module
 */
import type { Context, Env, Hono } from "hono";

/** One built file: media type and content, as text or base64. */
interface Asset {
  readonly type: string;
  readonly text?: string;
  readonly base64?: string;
}

/**
 * The Content-Security-Policy of the pages: their own scripts, styles and connections, nothing inline, no other host.
 * `wasm-unsafe-eval` lets the kernel be compiled; it does not allow eval.
 */
export const PAGE_CSP: string = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const PAGE_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": PAGE_CSP,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
};

/** Where the pages are; a test holds it against what is built. */
export const PAGE_PATHS: readonly string[] = ["/", "/learn"];

/** What is built: more than a megabyte, loaded on the first request for any of it. */
const built = () => import("./build/assets.js");

const HTML = "text/html; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";
/** Assets carry a hash of their content in their name. */
const IMMUTABLE = "public, max-age=31536000, immutable";

function fromBase64(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}

/** Answers with the entry of a table, or passes on when there is none. */
function answer(
  context: Context,
  options: {
    type: string;
    body: string | Uint8Array<ArrayBuffer>;
    cache: string;
  },
): Response {
  return context.body(options.body, 200, {
    ...PAGE_HEADERS,
    "content-type": options.type,
    "cache-control": options.cache,
  });
}

/**
 * Mounts the page on an app: `/`, `/learn`, `/assets/*`, `/samples/*`, `/sw.js`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Hono } from "hono";
 * import { mountPage } from "./mod.ts";
 *
 * const app = new Hono();
 * mountPage(app);
 * const response = await app.request("/learn");
 * assertEquals(response.headers.get("content-type"), "text/html; charset=utf-8");
 * ```
 */
export function mountPage<E extends Env>(app: Hono<E>): void {
  for (const path of PAGE_PATHS) {
    app.get(path, async (context) => {
      const pages = (await built()).PAGES as Readonly<Record<string, string>>;
      return answer(context, { type: HTML, body: pages[path], cache: "no-cache" });
    });
  }
  app.get("/sw.js", async (context) => {
    const { SERVICE_WORKER: body } = await built();
    return answer(context, { type: SCRIPT, body, cache: "no-cache" });
  });
  app.get("/assets/:name", async (context) => {
    const assets = (await built()).ASSETS as Readonly<Record<string, Asset>>;
    const name = context.req.param("name");
    if (!Object.hasOwn(assets, name)) return context.notFound();
    const { type, text, base64 } = assets[name];
    const body = text ?? fromBase64(base64!);
    return answer(context, { type, body, cache: IMMUTABLE });
  });
  app.get("/samples/:name", async (context) => {
    const { SAMPLES } = await import("./build/samples.js");
    const samples = SAMPLES as Readonly<Record<string, Asset>>;
    const name = context.req.param("name");
    if (!Object.hasOwn(samples, name)) return context.notFound();
    const { type, base64 } = samples[name];
    return answer(context, {
      type,
      body: fromBase64(base64!),
      cache: "no-cache",
    });
  });
}
