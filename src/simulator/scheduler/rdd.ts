/**
 * The lineage as the DAG scheduler sees it (org.apache.spark.rdd.RDD, org.apache.spark.Dependency).
 *
 * @module
 */

import type { DeterministicLevel } from "../../spark/events.ts";

/** An RDD. */
export interface Rdd {
  readonly id: number;
  readonly numPartitions: number;
  /** In Spark's order. */
  readonly dependencies: readonly Dependency[];
  /** Where it was made (short call site): the name of the map stage that ends with it. */
  readonly creationSite: string;
  /** It has a storage level now; the host may change it between jobs (persist, unpersist). */
  readonly isPersisted: boolean;
  /**
   * Hosts on which a partition is best computed (RDD.preferredLocations): blocks of a file, or for a ShuffledRDD
   * MapOutputTracker.getPreferredLocationsForShuffle. Absent: none.
   */
  preferredHosts?(partition: number): readonly number[];
  /** Its own answer to getOutputDeterministicLevel; absent: it follows from its dependencies. */
  readonly outputDeterministicLevel?: DeterministicLevel;
}

/** A dependency of an RDD. */
export type Dependency = NarrowDependency | ShuffleDependency;

/** Partitions of the parent are read directly. */
export interface NarrowDependency {
  readonly kind: "narrow";
  readonly rdd: Rdd;
  /** NarrowDependency.getParents: the parent's partitions that a partition needs. */
  getParents(partition: number): Iterable<number>;
}

/** All partitions of the parent are read, through a shuffle. */
export interface ShuffleDependency {
  readonly kind: "shuffle";
  readonly shuffleId: number;
  /** The map side. */
  readonly rdd: Rdd;
  readonly numReducers: number;
  /**
   * A map output whose checksum changes when it is computed again makes all stages that read it run again in full
   * (since 4.1); absent: no.
   */
  readonly checksumMismatchFullRetryEnabled?: boolean;
}

/**
 * Whether `test` holds for some RDD that is computed in the same stage, the RDD itself included.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { type Rdd, someRddInStage } from "./rdd.ts";
 *
 * const base: Rdd = { id: 0, numPartitions: 1, dependencies: [], creationSite: "textFile", isPersisted: true };
 * const top: Rdd = {
 *   id: 1, numPartitions: 1, creationSite: "map", isPersisted: false,
 *   dependencies: [{ kind: "narrow", rdd: base, getParents: (i) => [i] }],
 * };
 * assertEquals(someRddInStage(top, (rdd) => rdd.isPersisted), true);
 * ```
 */
export function someRddInStage(
  rdd: Rdd,
  test: (rdd: Rdd) => boolean,
): boolean {
  const visited = new Set<Rdd>();
  const waiting = [rdd];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (visited.has(next)) continue;
    visited.add(next);
    if (test(next)) return true;
    for (const dependency of next.dependencies) {
      if (dependency.kind === "narrow") waiting.push(dependency.rdd);
    }
  }
  return false;
}

/**
 * DAGScheduler.getShuffleDependencies: the shuffles that the stage of an RDD reads, each once. Depth first, the last
 * dependency first.
 */
export function getShuffleDependencies(rdd: Rdd): Set<ShuffleDependency> {
  const parents = new Set<ShuffleDependency>();
  const visited = new Set<Rdd>();
  const waiting = [rdd];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (visited.has(next)) continue;
    visited.add(next);
    for (const dependency of next.dependencies) {
      if (dependency.kind === "shuffle") parents.add(dependency);
      else waiting.push(dependency.rdd);
    }
  }
  return parents;
}
