/**
 * The same work with the chances of another run: which task of a stage was slow.
 *
 * @module
 */
import { Prng } from "../prng.ts";
import type { Column, Rdd, StageDemand, Workload } from "../simulator/workload.ts";

/**
 * Deals the times that a stage's tasks took for a unit of their work out among them anew. How fast a task went is chance on
 * a shared machine, how much it had to do is not: a task with twice the bytes still takes twice as long.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { workloadFromJobSpec } from "../workload/job_spec.ts";
 * import { variedTimes } from "./varied_times.ts";
 *
 * const workload = workloadFromJobSpec({ stages: [{ id: 0, tasks: 3, computeMs: [10, 20, 30] }] });
 * const { computeMs } = variedTimes(workload, 1).demands[0];
 * assertEquals([...computeMs].sort(), [10, 20, 30]);
 * ```
 */
export function variedTimes(workload: Workload, seed: number): Workload {
  const prng = new Prng(seed).fork("times");
  return {
    ...workload,
    demands: workload.demands.map((demand, i) => variedDemand(demand, prng.fork(`demand ${i}`))),
    rdds: workload.rdds.map((rdd) => variedRdd(rdd, prng.fork(`rdd ${rdd.id}`))),
  };
}

function variedDemand(demand: StageDemand, prng: Prng): StageDemand {
  const { computeMs, inputBytes, shuffleReadBytes } = demand;
  return { ...demand, computeMs: dealt(computeMs, inputBytes.map((bytes, i) => bytes + shuffleReadBytes[i]), prng) };
}

function variedRdd(rdd: Rdd, prng: Prng): Rdd {
  const { computeMs, inputBytes, shuffleReadBytes, numPartitions } = rdd;
  if (computeMs === null) return rdd;
  const work = new Float64Array(numPartitions).map((_, i) => (inputBytes?.[i] ?? 0) + (shuffleReadBytes?.[i] ?? 0));
  return { ...rdd, computeMs: dealt(computeMs, work, prng) };
}

/** Where some task has nothing to read, its work does not show in bytes: times are dealt out as they are. */
function dealt(times: Column, work: Column, prng: Prng): Column {
  const isKnown = work.every((amount) => amount > 0);
  const rates = isKnown ? times.map((time, i) => time / work[i]) : times.slice();
  for (let i = rates.length - 1; i > 0; i--) {
    const j = prng.integer(i + 1);
    [rates[i], rates[j]] = [rates[j], rates[i]];
  }
  return isKnown ? rates.map((rate, i) => rate * work[i]) : rates;
}
