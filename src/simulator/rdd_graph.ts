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
    for (const { id, rddId, numReducers } of workload.shuffles) {
      this.shuffles.push({ kind: "shuffle", shuffleId: id, rdd: this.rdds[host.lineage.rddIndex(rddId)], numReducers });
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
