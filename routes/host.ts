/**
 * What the service needs from the runtime that it lives in. Everything below the entries is deterministic.
 *
 * @module
 */
import type { Hono } from "hono";
import type { KernelModule } from "../src/kernel.ts";
import type { ServiceLimits } from "./limits.ts";
import type { ServiceEnv } from "./service.ts";

/** One line of the request log; no user data. */
export interface LogRecord {
  readonly event: "request" | "error" | "listening";
  readonly [field: string]: string | number | boolean | null;
}

/** Clock, identity and output of a runtime. */
export interface Host {
  /** Monotonic ms. Some edge runtimes stop it while a request computes: budgets of work hold all the same. */
  readonly now: () => number;
  /** Gives other requests, and the news that a client has gone, a turn. */
  readonly pause: () => Promise<void>;
  readonly newRequestId: () => string;
  readonly log: (record: LogRecord) => void;
}

/** Who may call from pages of other origins. */
export interface CorsOptions {
  /** Origins such as `https://example.org`, or `*`. */
  readonly origins: readonly string[];
}

/** Options of `createApp`. */
export interface AppOptions {
  readonly host?: Host;
  /** The compiled kernel where the runtime loads it in its own way (workerd imports the .wasm file). */
  readonly module?: KernelModule;
  readonly limits?: Partial<ServiceLimits>;
  /** Without it no other origin is allowed. */
  readonly cors?: CorsOptions;
  /** A bearer token that the routes below /v1 ask for. */
  readonly token?: string;
  /** Compresses large answers on request: for processes that nothing in front of does it for. */
  readonly compress?: boolean;
  /** Mounts the web page; a bundle for an API alone does without. */
  readonly page?: (app: Hono<ServiceEnv>) => void;
}

/** A host for tests and for embedding: a clock that stands still, ids that count, no log. */
export function quietHost(): Host {
  let requests = 0;
  return {
    now: () => 0,
    pause: () => Promise.resolve(),
    newRequestId: () => `request-${++requests}`,
    log: () => {},
  };
}
