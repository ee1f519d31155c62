/**
 * Jobs with some queries' replaced by others, numbered anew in their order.
 *
 * @module
 */
import type { Job } from "../simulator/workload.ts";

/** Jobs in order, and where each of the old numbers is now. */
export interface RenumberedJobs {
  readonly jobs: readonly Job[];
  /** The new number of a job; of one that is gone, of the next that is not. */
  readonly moved: (id: number) => number;
}

/**
 * Puts a query's new jobs where its first one was. What waited for one that is gone waits for the query's last.
 *
 * @param replaced New jobs by query, each after those that it waits for.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { renumberedJobs } from "./renumbered_jobs.ts";
 *
 * const job = (id: number, sqlExecutionId: number | null, afterJobs: number[]) => ({
 *   id, kind: "result" as const, rddId: 0, shuffleId: null, partitions: null, demand: 0, afterJobs, delayMs: 0,
 *   cancelAfterMs: null, failureHandled: false, name: "", group: null, pool: null, description: null, sqlExecutionId,
 * });
 * const recorded = [job(0, 5, []), job(1, 5, [0]), job(2, null, [1])];
 * const replaced = new Map([[5, [job(8, 5, []), job(9, 5, []), job(1, 5, [8, 9])]]]);
 * const { jobs, moved } = renumberedJobs(recorded, replaced);
 * assertEquals(jobs.map(({ id, afterJobs }) => [id, afterJobs]), [[0, []], [1, []], [2, [0, 1]], [3, [2]]]);
 * assertEquals([moved(0), moved(1), moved(2)], [0, 2, 3]);
 * ```
 */
export function renumberedJobs(
  recorded: readonly Job[],
  replaced: ReadonlyMap<number, readonly Job[]>,
): RenumberedJobs {
  const ordered: Job[] = [];
  const lastOf = new Map<number, number>();
  const placeOf = new Map<number, number>();
  for (const job of recorded) {
    placeOf.set(job.id, ordered.length);
    const jobs = job.sqlExecutionId === null ? undefined : replaced.get(job.sqlExecutionId);
    if (jobs === undefined) {
      ordered.push(job);
      continue;
    }
    const last = jobs.at(-1)?.id;
    if (last !== undefined) lastOf.set(job.id, last);
    if (!ordered.includes(jobs[0])) ordered.push(...jobs);
  }
  const numberOf = new Map(ordered.map(({ id }, number) => [id, number]));
  const waitsFor = (id: number) => numberOf.get(id) ?? numberOf.get(lastOf.get(id) ?? -1);
  return {
    jobs: ordered.map((job, id) => ({
      ...job,
      id,
      afterJobs: [...new Set(job.afterJobs.map(waitsFor).filter((number) => number !== undefined))]
        .filter((number) => number < id).sort((a, b) => a - b),
    })),
    moved: (id) => numberOf.get(id) ?? placeOf.get(id) ?? id,
  };
}
