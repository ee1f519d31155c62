/**
 * Local masters: what `spark.master` says about cores, executors and retries (SparkContext.createTaskScheduler).
 *
 * @module
 */
import { BYTE_UNITS } from "./sizes.ts";

/** A master whose tasks run in the driver's process. */
export interface LocalMaster {
  /** Tasks of one cpu at once; null for local[*], which is the machine's processors. */
  readonly cores: number | null;
  /** Failures of one task that abort the job: 1 unless the master says more. */
  readonly maxFailures: number;
}

/**
 * A `local`, `local[N]`, `local[*]`, `local[N,F]` master, or null for any other.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { localMaster } from "./master.ts";
 *
 * assertEquals(localMaster("local[2,4]"), { cores: 2, maxFailures: 4 });
 * assertEquals(localMaster("yarn"), null);
 * ```
 */
export function localMaster(master: string | null): LocalMaster | null {
  if (master === null) return null;
  if (master === "local") return { cores: 1, maxFailures: 1 };
  const match = /^local\[\s*([0-9]+|\*)\s*(?:,\s*([0-9]+)\s*)?\]$/.exec(master);
  if (match === null) return null;
  return { cores: match[1] === "*" ? null : Number(match[1]), maxFailures: Number(match[2] ?? 1) };
}

/** A `local-cluster[executors,cores,memory]` master: executors of their own on one machine. */
export interface LocalClusterMaster {
  readonly executors: number;
  readonly cores: number;
  /** Memory of a worker, in bytes. */
  readonly memory: number;
}

/**
 * A `local-cluster[N,cores,MiB]` master, or null for any other.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { localClusterMaster } from "./master.ts";
 *
 * assertEquals(localClusterMaster("local-cluster[2,4,1024]"), { executors: 2, cores: 4, memory: 1073741824 });
 * ```
 */
export function localClusterMaster(master: string | null): LocalClusterMaster | null {
  const match = /^local-cluster\[\s*([0-9]+)\s*,\s*([0-9]+)\s*,\s*([0-9]+)\s*\]$/.exec(master ?? "");
  if (match === null) return null;
  return { executors: Number(match[1]), cores: Number(match[2]), memory: Number(match[3]) * BYTE_UNITS.MiB };
}
