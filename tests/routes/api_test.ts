import { assertEquals } from "@std/assert";
import { Hono } from "hono";
import type { ExtractSchema } from "hono/types";
import type { ApiSchema } from "../../routes/api.ts";
import { apiRoutes } from "../../routes/app.ts";
import { eventLogs } from "../../routes/event_logs.ts";
import { health } from "../../routes/health.ts";
import { recommendations } from "../../routes/recommendations.ts";
import type { ServiceEnv } from "../../routes/service.ts";
import { simulations } from "../../routes/simulations.ts";
import { sizing } from "../../routes/sizing.ts";
import { sweeps } from "../../routes/sweeps.ts";
import { templates } from "../../routes/templates.ts";
import { whatIfs } from "../../routes/what_ifs.ts";

/** The routes with the type that follows from the handlers. */
const inferred = () =>
  new Hono<ServiceEnv>()
    .route("/", health)
    .route("/", templates)
    .route("/", sizing)
    .route("/", eventLogs)
    .route("/", simulations)
    .route("/", whatIfs)
    .route("/", sweeps)
    .route("/", recommendations);

type Inferred = ExtractSchema<ReturnType<typeof inferred>>;

/** Fails to compile where a route, what it takes or what it answers differs from what is written out. */
const written: { [Path in keyof Inferred]: Inferred[Path] } = null as unknown as ApiSchema;
const derived: { [Path in keyof ApiSchema]: ApiSchema[Path] } = null as unknown as Inferred;

Deno.test("the API's type that is written out is that of its handlers", () => {
  assertEquals([written, derived], [null, null]);
  const paths = (
    app: { routes: { path: string; method: string }[] },
  ) => [...new Set(app.routes.filter(({ method }) => method !== "ALL").map(({ method, path }) => `${method} ${path}`))];
  assertEquals(paths(apiRoutes()), paths(inferred()));
});
