/**
 * The host of runtimes that have nothing but web standards.
 *
 * @module
 */
import type { Host } from "../host.ts";

/** Clock, ids and log by web standards alone. */
export function webHost(): Host {
  return {
    now: () => performance.now(),
    pause: () => new Promise((resolve) => setTimeout(resolve, 0)),
    newRequestId: () => crypto.randomUUID(),
    log: (record) => console.log(JSON.stringify({ time: new Date().toISOString(), ...record })),
  };
}
