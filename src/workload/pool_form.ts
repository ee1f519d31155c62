/**
 * The scheduler's pools of a job spec.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import { newPool, type PoolSettings } from "../simulator/scheduler/pool.ts";
import type { JobSpec } from "./job_spec_types.ts";
import { duplicate } from "./spec_errors.ts";

const FILE = "spark.scheduler.allocation.file";

/**
 * The pools, with the defaults of Spark's file of pools; null when the spec has none.
 *
 * @throws {InputError} `job_spec.duplicate`; `job_spec.missing` when the settings name a file, which is not read.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { poolsFromSpec } from "./pool_form.ts";
 *
 * assertEquals(poolsFromSpec({ pools: [{ name: "etl", weight: 2 }] }, ""), [
 *   { name: "etl", schedulingMode: "FIFO", minShare: 0, weight: 2 },
 * ]);
 * ```
 */
export function poolsFromSpec(spec: JobSpec, pointer: string): PoolSettings[] | null {
  const pools = spec.pools ?? null;
  if (pools === null) {
    // An event log has the name of the file, but not what is in it.
    if (spec.lineage === undefined && spec.conf?.[FILE] !== undefined) throw missingPools(spec, pointer);
    return null;
  }
  const names = new Set<string>();
  return pools.map((pool, i) => {
    if (names.has(pool.name)) throw duplicate("pool", pool.name, `${pointer}/pools/${i}/name`);
    names.add(pool.name);
    return { ...newPool(pool.name), ...pool };
  });
}

function missingPools(spec: JobSpec, pointer: string): InputError {
  const received = String(spec.conf![FILE]);
  return new InputError(
    "job_spec.missing",
    `Cannot use the job spec: ${pointer}/pools: must be given, as the file of ${FILE} is not read: received ${received}`,
    { parameters: { received }, pointer: `${pointer}/pools` },
  );
}
