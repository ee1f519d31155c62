/**
 * What handlers share: the service's options and a request's own state.
 *
 * @module
 */
import type { KernelModule } from "../src/kernel.ts";
import type { Gate } from "./budget.ts";
import type { Host } from "./host.ts";
import type { ServiceLimits } from "./limits.ts";

/** The service: one for each app. */
export interface Service {
  readonly host: Host;
  readonly limits: ServiceLimits;
  readonly gate: Gate;
  readonly module: KernelModule | undefined;
}

/** What Hono's context carries. */
export interface ServiceEnv {
  Variables: {
    service: Service;
    requestId: string;
    /** Parts of the work and their ms, for Server-Timing. */
    timings: Map<string, number>;
    /** Simulated events, for the log. */
    events: number;
  };
}
