/**
 * What every request passes through: identity, log, timing, security headers, authorization.
 *
 * @module
 */
import type { Context, Hono, MiddlewareHandler } from "hono";
import { bearerAuth } from "hono/bearer-auth";
import { cors } from "hono/cors";
import { HTTPException } from "hono/http-exception";
import { routePath } from "hono/route";
import { HttpError, problemResponse } from "./problem.ts";
import type { CorsOptions } from "./host.ts";
import type { Service, ServiceEnv } from "./service.ts";

/** Headers of every answer that does not say otherwise; pages have their own policy. */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
};

/** Gives a request its identity and, afterwards, its headers and its line in the log. */
export function observe(service: Service): MiddlewareHandler<ServiceEnv> {
  return async (c, next) => {
    const start = service.host.now();
    const requestId = service.host.newRequestId();
    c.set("service", service);
    c.set("requestId", requestId);
    c.set("timings", new Map());
    c.set("events", 0);
    await next();
    const totalMs = service.host.now() - start;
    const headers = c.res.headers;
    headers.set("x-request-id", requestId);
    headers.set("server-timing", serverTiming(c.get("timings"), totalMs));
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
      if (!headers.has(name)) headers.set(name, value);
    }
    service.host.log({
      event: "request",
      id: requestId,
      method: c.req.method,
      // The route's pattern, not what the client asked for.
      route: routePath(c, -1),
      status: c.res.status,
      ms: rounded(totalMs),
      simulatedEvents: c.get("events"),
      error: c.error === undefined ? null : errorName(c.error),
    });
  };
}

function serverTiming(timings: ReadonlyMap<string, number>, totalMs: number): string {
  return [...timings, ["total", totalMs] as const].map(([name, ms]) => `${name};dur=${rounded(ms)}`).join(", ");
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}

/** The code of an input error; of others the class and the place, without the message, which may quote the input. */
function errorName(error: Error): string {
  if ("code" in error && typeof error.code === "string") return error.code;
  const place = /\n\s+at [^\n]*/.exec(error.stack ?? "")?.[0].trim() ?? "";
  return `${error.name} ${place}`;
}

/** Allows the configured origins; others get no CORS headers. */
export function allowOrigins({ origins }: CorsOptions): MiddlewareHandler {
  return cors({
    origin: origins.includes("*") ? "*" : [...origins],
    allowMethods: ["GET", "POST"],
    allowHeaders: ["authorization", "content-type"],
    exposeHeaders: ["x-request-id", "server-timing", "retry-after"],
    maxAge: 86_400,
  });
}

/** Asks for a bearer token; compares it in constant time. */
export function requireToken(token: string): MiddlewareHandler {
  return bearerAuth({ token });
}

/** Every error as a problem document. */
export function answerError(error: Error): Response {
  if (!(error instanceof HTTPException)) return problemResponse(error);
  const headers: Record<string, string> = {};
  const challenge = error.getResponse().headers.get("www-authenticate");
  if (challenge !== null) headers["www-authenticate"] = challenge;
  return problemResponse(
    error.status === 401 || error.status === 400
      ? new HttpError(401, "request.token", "Cannot answer: must have a valid bearer token", { headers })
      : error,
  );
}

/** 404 for unknown paths, 405 with the methods that there are for known ones. */
export function answerNotFound(app: Hono<ServiceEnv>): (c: Context<ServiceEnv>) => Response {
  const routes = app.routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/:[^/]+/g, "[^/]+")}$`),
  }));
  return (c) => {
    const methods = new Set(routes.filter(({ pattern }) => pattern.test(c.req.path)).map(({ method }) => method));
    if (methods.size === 0) {
      return problemResponse(new HttpError(404, "request.path", "Cannot find that: see /docs for what there is"));
    }
    if (methods.has("GET")) methods.add("HEAD");
    const allow = [...methods, "OPTIONS"].sort().join(", ");
    if (c.req.method === "OPTIONS") return new Response(null, { status: 204, headers: { allow } });
    return problemResponse(
      new HttpError(405, "request.method", `Cannot answer ${c.req.method}: must be one of ${allow}`, {
        parameters: { method: c.req.method, allow },
        headers: { allow },
      }),
    );
  };
}
