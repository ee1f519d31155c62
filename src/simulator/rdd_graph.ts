/**
 * A workload's RDDs as the DAG scheduler sees them.
 *
 * @module
 */
import type { NameTable } from "./scheduler/names.ts";
import type { Dependency, Rdd as SchedulerRdd, ShuffleDependency } from "./scheduler/rdd.ts";
import type { MapOutputTracker } from "./scheduler/map_output_tracker.ts";
import type { Lineage } from "./lineage.ts";
import type { Rdd, RddDependency, Workload } from "./workload.ts";

/** What the graph looks up while the simulation runs. */
export interface RddGraphHost {
  readonly lineage: Lineage;
  readonly tracker: MapOutputTracker;
  readonly hosts: NameTable;
  /** Whether an RDD (dense index) is cached at present. */
  isPersisted(rdd: number): boolean;
  /** Shuffles of queries retry their readers in full when an output changes (spark.sql.shuffle.orderIndependentChecksum). */
  readonly retriesOnChecksumMismatch: boolean;
}

/** Both views of each RDD and shuffle, by dense index. */
export class RddGraph {
  readonly rdds: SchedulerRdd[] = [];
  readonly shuffles: ShuffleDependency[] = [];
  readonly #host: RddGraphHost;

  constructor(workload: Workload, host: RddGraphHost) {
    this.#host = host;
    const dependencies: Dependency[][] = workload.rdds.map(() => []);
    for (const [i, rdd] of workload.rdds.entries()) this.rdds.push(this.#view(rdd, i, dependencies[i]));
    const ofQueries = host.retriesOnChecksumMismatch ? shufflesOfQueries(workload, host.lineage) : new Set<number>();
    for (const { id, rddId, numReducers } of workload.shuffles) {
      const checksumMismatchFullRetryEnabled = ofQueries.has(id);
      const rdd = this.rdds[host.lineage.rddIndex(rddId)];
      this.shuffles.push({ kind: "shuffle", shuffleId: id, rdd, numReducers, checksumMismatchFullRetryEnabled });
    }
    for (const [i, rdd] of workload.rdds.entries()) {
      for (const dependency of rdd.dependencies) dependencies[i].push(this.#dependency(rdd, dependency));
    }
  }

  #view(rdd: Rdd, index: number, dependencies: Dependency[]): SchedulerRdd {
    const host = this.#host;
    const only = rdd.dependencies.length === 1 ? rdd.dependencies[0] : null;
    const shuffled = only !== null && only.kind === "shuffle" ? only.shuffleId : null;
    const { preferredHosts } = rdd;
    const fixed = preferredHosts?.map((names) => names.map((name) => host.hosts.idOf(name))) ?? null;
    return {
      id: rdd.id,
      numPartitions: rdd.numPartitions,
      dependencies,
      creationSite: rdd.callSite,
      outputDeterministicLevel: rdd.outputDeterministicLevel,
      get isPersisted() {
        return host.isPersisted(index);
      },
      preferredHosts: (partition) => {
        if (shuffled !== null) {
          return host.tracker.getPreferredLocationsForShuffle(shuffled, partition, rdd.numPartitions);
        }
        return fixed?.[partition] ?? [];
      },
    };
  }

  #dependency(rdd: Rdd, dependency: RddDependency): Dependency {
    const { lineage } = this.#host;
    if (dependency.kind === "shuffle") return this.shuffles[lineage.shuffleIndex(dependency.shuffleId)];
    const child = lineage.rddIndex(rdd.id);
    const parent = lineage.rddIndex(dependency.rddId);
    return {
      kind: "narrow",
      rdd: this.rdds[parent],
      getParents: (partition) => lineage.parentPartitions(child, parent, dependency, partition),
    };
  }
}

/** Ids of the shuffles that jobs with a query read or write. */
function shufflesOfQueries({ jobs, shuffles, rdds }: Workload, lineage: Lineage): Set<number> {
  const found = new Set<number>();
  const visited = new Set<number>();
  const waiting: number[] = [];
  for (const { sqlExecutionId, rddId, shuffleId } of jobs) {
    if (sqlExecutionId === null) continue;
    waiting.push(lineage.rddIndex(rddId));
    if (shuffleId !== null) found.add(shuffleId);
  }
  for (let rdd = waiting.pop(); rdd !== undefined; rdd = waiting.pop()) {
    if (visited.has(rdd)) continue;
    visited.add(rdd);
    for (const dependency of rdds[rdd].dependencies) {
      if (dependency.kind === "shuffle") found.add(dependency.shuffleId);
      const parentId = dependency.kind === "narrow"
        ? dependency.rddId
        : shuffles[lineage.shuffleIndex(dependency.shuffleId)].rddId;
      waiting.push(lineage.rddIndex(parentId));
    }
  }
  return found;
}
