/**
 * `GET /openapi.json`: the API for programs; `GET /docs`: for people, no script, no other host.
 *
 * @module
 */
import { Hono } from "hono";
import { etag } from "hono/etag";
import type { ServiceLimits } from "./limits.ts";
import type { ServiceEnv } from "./service.ts";

type Json = Readonly<Record<string, unknown>>;

const CSP = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'";

/** The document, the page and its style sheet, each loaded on the first request for it. */
export function docs(document: () => Promise<Json>, limits: ServiceLimits): Hono<ServiceEnv> {
  return new Hono<ServiceEnv>()
    .get("/openapi.json", etag(), async (c) => c.json(await document()))
    .get("/docs", etag(), async (c) => {
      const { docsPage } = await import("./docs_page.ts");
      c.header("content-security-policy", CSP);
      return c.html(await docsPage(await document(), limits));
    })
    .get("/docs/style.css", etag(), async (c) => {
      const { DOCS_CSS } = await import("./docs_style.ts");
      return c.body(DOCS_CSS, 200, { "content-type": "text/css; charset=utf-8" });
    });
}
