/**
 * Stages from RDDs: which shuffles need a stage, which parents are missing, which stages a job depends on
 * (the part of org.apache.spark.scheduler.DAGScheduler that walks the lineage).
 *
 * @module
 */
import { freshSetOrder, type IntSet, newIntSet } from "./hash_set_order.ts";
import type { DagSchedulerOptions } from "./dag_scheduler_types.ts";
import type { BlockManagerId } from "./map_output_tracker.ts";
import { getShuffleDependencies, type Rdd, type ShuffleDependency, someRddInStage } from "./rdd.ts";
import { ResultStage, ShuffleMapStage, type Stage } from "./stage.ts";
import { NO_EXECUTOR, TaskLocations } from "./task_location.ts";

/** Where the partitions of a persisted RDD are, as of the last clearCacheLocs. */
interface CachedPartitions {
  readonly locations: readonly (readonly BlockManagerId[])[];
  readonly hasUncached: boolean;
}

/** All stages there are, by id, by shuffle and by job. */
export class StageGraph {
  /** Every stage ever made, by id. */
  readonly stages: Stage[] = [];
  readonly stageIdToStage = new Map<number, Stage>();
  readonly shuffleIdToMapStage = new Map<number, ShuffleMapStage>();
  readonly jobIdToStageIds = new Map<number, IntSet>();
  readonly #options: DagSchedulerOptions;
  readonly #cacheLocs = new Map<number, CachedPartitions>();

  constructor(options: DagSchedulerOptions) {
    this.#options = options;
  }

  get #collections() {
    return this.#options.settings.rules.scheduler.hashOrder;
  }

  /** Forgets where cached partitions are: they are asked for anew. */
  clearCacheLocs(): void {
    this.#cacheLocs.clear();
  }

  #getCacheLocs(rdd: Rdd): CachedPartitions {
    const known = this.#cacheLocs.get(rdd.id);
    if (known !== undefined) return known;
    const locations: (readonly BlockManagerId[])[] = [];
    let hasUncached = false;
    for (let partition = 0; partition < rdd.numPartitions; partition++) {
      const found = this.#options.blockManagerMaster
        .getLocations(rdd.id, partition);
      if (found.length === 0) hasUncached = true;
      locations.push(found);
    }
    const cached = { locations, hasUncached };
    this.#cacheLocs.set(rdd.id, cached);
    return cached;
  }

  #hasUncachedPartitions(rdd: Rdd): boolean {
    return rdd.isPersisted ? this.#getCacheLocs(rdd).hasUncached : rdd.numPartitions > 0;
  }

  /** The map stage of a shuffle; those of its ancestors are made first. */
  getOrCreateShuffleMapStage(
    shuffleDep: ShuffleDependency,
    firstJobId: number,
  ): ShuffleMapStage {
    const known = this.shuffleIdToMapStage.get(shuffleDep.shuffleId);
    if (known !== undefined) return known;
    for (const ancestor of this.#missingAncestors(shuffleDep.rdd)) {
      if (!this.shuffleIdToMapStage.has(ancestor.shuffleId)) {
        this.#createShuffleMapStage(ancestor, firstJobId);
      }
    }
    return this.#createShuffleMapStage(shuffleDep, firstJobId);
  }

  /** Shuffles upstream without a stage, last found first (getMissingAncestorShuffleDependencies: a stack). */
  #missingAncestors(rdd: Rdd): ShuffleDependency[] {
    const ancestors: ShuffleDependency[] = [];
    const visited = new Set<Rdd>();
    const waiting = [rdd];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (visited.has(next)) continue;
      visited.add(next);
      for (const dependency of getShuffleDependencies(next)) {
        if (this.shuffleIdToMapStage.has(dependency.shuffleId)) continue;
        ancestors.push(dependency);
        waiting.push(dependency.rdd);
      }
    }
    return ancestors.reverse();
  }

  #createShuffleMapStage(
    shuffleDep: ShuffleDependency,
    jobId: number,
  ): ShuffleMapStage {
    const { rdd, shuffleId } = shuffleDep;
    const { tracker } = this.#options;
    const fields = this.#fields(rdd, {
      jobId,
      numTasks: rdd.numPartitions,
      name: rdd.creationSite,
    });
    const stage = new ShuffleMapStage(fields, shuffleDep, tracker);
    this.#register(stage, jobId);
    this.shuffleIdToMapStage.set(shuffleId, stage);
    if (!tracker.containsShuffle(shuffleId)) {
      tracker.registerShuffle(shuffleId, rdd.numPartitions);
    }
    return stage;
  }

  /** The stage that ends a job on some partitions of an RDD. */
  createResultStage(
    rdd: Rdd,
    partitions: ArrayLike<number>,
    job: { readonly jobId: number; readonly callSite: string },
  ): ResultStage {
    const fields = this.#fields(rdd, {
      jobId: job.jobId,
      numTasks: partitions.length,
      name: job.callSite,
    });
    const stage = new ResultStage(fields, partitions);
    this.#register(stage, job.jobId);
    return stage;
  }

  /** Makes the parents first, so that they have lower ids. */
  #fields(
    rdd: Rdd,
    stage: { jobId: number; numTasks: number; name: string },
  ) {
    const parents = new Map<number, Stage>();
    for (const dependency of getShuffleDependencies(rdd)) {
      const parent = this.getOrCreateShuffleMapStage(dependency, stage.jobId);
      parents.set(parent.id, parent);
    }
    return {
      id: this.stages.length,
      rdd,
      numTasks: stage.numTasks,
      parents: freshSetOrder(this.#collections, parents.keys())
        .map((id) => parents.get(id)!),
      firstJobId: stage.jobId,
      name: stage.name,
      collections: this.#collections,
    };
  }

  #register(stage: Stage, jobId: number): void {
    this.stages.push(stage);
    this.stageIdToStage.set(stage.id, stage);
    let stageIds = this.jobIdToStageIds.get(jobId);
    if (stageIds === undefined) {
      stageIds = newIntSet(this.#collections);
      this.jobIdToStageIds.set(jobId, stageIds);
    }
    // Depth first through the parents that the job does not have yet (updateJobIdStageIdMaps).
    const waiting: Stage[] = [stage];
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      next.jobIds.add(jobId);
      stageIds.add(next.id);
      waiting.unshift(
        ...next.parents.filter((parent) => !parent.jobIds.has(jobId)),
      );
    }
  }

  /** Forgets a stage that no job needs any more. */
  remove(stage: Stage): void {
    if (stage instanceof ShuffleMapStage) {
      const { shuffleId } = stage.shuffleDep;
      if (this.shuffleIdToMapStage.get(shuffleId) === stage) {
        this.shuffleIdToMapStage.delete(shuffleId);
      }
    }
    this.stageIdToStage.delete(stage.id);
  }

  /** Map stages that have to run before a stage can, by ascending id (getMissingParentStages). */
  missingParentStages(stage: Stage): ShuffleMapStage[] {
    const missing = new Set<ShuffleMapStage>();
    const visited = new Set<Rdd>();
    const waiting = [stage.rdd];
    const { skippedStageUsesAttempt } = this.#options.settings.rules.scheduler;
    for (let rdd = waiting.pop(); rdd !== undefined; rdd = waiting.pop()) {
      if (visited.has(rdd)) continue;
      visited.add(rdd);
      if (!this.#hasUncachedPartitions(rdd)) continue;
      for (const dependency of rdd.dependencies) {
        if (dependency.kind === "narrow") {
          waiting.push(dependency.rdd);
          continue;
        }
        const parent = this.getOrCreateShuffleMapStage(
          dependency,
          stage.firstJobId,
        );
        if (!parent.isAvailable) missing.add(parent);
        else if (skippedStageUsesAttempt) parent.increaseAttemptIdOnFirstSkip();
      }
    }
    return [...missing].sort((a, b) => a.id - b.id);
  }

  /** Whether `stage` cannot finish without `target` (stageDependsOn). */
  dependsOn(stage: Stage, target: Stage): boolean {
    if (stage === target) return true;
    const visited = new Set<Rdd>();
    const waiting = [stage.rdd];
    for (let rdd = waiting.pop(); rdd !== undefined; rdd = waiting.pop()) {
      if (visited.has(rdd)) continue;
      visited.add(rdd);
      for (const dependency of rdd.dependencies) {
        if (dependency.kind === "narrow") {
          waiting.push(dependency.rdd);
          continue;
        }
        const parent = this.getOrCreateShuffleMapStage(
          dependency,
          stage.firstJobId,
        );
        if (!parent.isAvailable) waiting.push(parent.rdd);
      }
    }
    return visited.has(target.rdd);
  }

  /** Preferred locations of tasks on some partitions of an RDD; null when none has any. */
  preferredLocations(
    rdd: Rdd,
    partitions: ArrayLike<number>,
  ): TaskLocations | null {
    const mayPrefer = someRddInStage(
      rdd,
      (each) => each.isPersisted || each.preferredHosts !== undefined,
    );
    if (!mayPrefer) return null;
    const locations = new TaskLocations(partitions.length);
    // Where RDDs branch a partition may be reached twice.
    const branches = someRddInStage(
      rdd,
      (each) => each.dependencies.filter(({ kind }) => kind === "narrow").length > 1,
    );
    for (let i = 0; i < partitions.length; i++) {
      const visited = branches ? new Set<number>() : null;
      this.#addPreferredLocations({ rdd, partition: partitions[i] }, locations, visited);
      locations.nextTask();
    }
    return locations.isEmpty ? null : locations;
  }

  /**
   * Where the partition is cached, else where its RDD prefers, else where the first narrow parent that has a preference
   * does (getPreferredLocsInternal). @returns whether any was added.
   */
  #addPreferredLocations(
    of: { readonly rdd: Rdd; readonly partition: number },
    to: TaskLocations,
    visited: Set<number> | null,
  ): boolean {
    const { rdd, partition } = of;
    if (visited !== null) {
      const key = rdd.id * 2 ** 32 + partition;
      if (visited.has(key)) return false;
      visited.add(key);
    }
    if (rdd.isPersisted) {
      const cached = this.#getCacheLocs(rdd).locations[partition];
      for (const { executor, host } of cached) to.add(executor, host);
      if (cached.length > 0) return true;
    }
    if (rdd.preferredHosts !== undefined) {
      const hosts = rdd.preferredHosts(partition);
      for (const host of hosts) to.add(NO_EXECUTOR, host);
      if (hosts.length > 0) return true;
    }
    for (const dependency of rdd.dependencies) {
      if (dependency.kind !== "narrow") continue;
      for (const parent of dependency.getParents(partition)) {
        const next = { rdd: dependency.rdd, partition: parent };
        if (this.#addPreferredLocations(next, to, visited)) return true;
      }
    }
    return false;
  }
}
