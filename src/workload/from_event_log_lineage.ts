/**
 * The RDD graph of an event log: which dependencies are narrow, which are shuffles, and which stage wrote which shuffle.
 *
 * An event log names an RDD's parents but not the kind of dependency, and no shuffle ids. A stage lists its own RDD and
 * those that it is computed from without a shuffle (StageInfo.fromStage: getNarrowAncestors), so a parent outside of
 * the list is behind a shuffle.
 *
 * @module
 */
import type { RddDependency } from "../simulator/workload.ts";
import type { JobRecord, RddRecord, StageRecord, StageTable } from "./from_event_log_stages.ts";

/** A shuffle, made from the RDDs on its two sides. */
export interface ShuffleRecord {
  /** Dense; not the log's shuffle id, which is not recorded. */
  readonly id: number;
  readonly mapRddId: number;
  /** Largest number of partitions of an RDD that reads it. */
  numReducers: number;
  /** Stages (by id) that write it, executed or skipped. */
  readonly stageIds: number[];
}

/** What is known about a job's final stage. */
export interface JobTarget {
  readonly job: JobRecord;
  /** null for a job without stages. */
  readonly stage: StageRecord | null;
  /** The shuffle that a map-stage job (adaptive execution) writes; null for a result job. */
  readonly shuffle: ShuffleRecord | null;
}

/** The graph. */
export interface LogLineage {
  readonly dependencies: ReadonlyMap<number, readonly RddDependency[]>;
  readonly shuffles: readonly ShuffleRecord[];
  readonly targets: readonly JobTarget[];
  /** Shuffle that a stage writes, by stage id; absent for result stages. */
  readonly shuffleOfStage: ReadonlyMap<number, ShuffleRecord>;
}

/**
 * Derives the graph from what the log described.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { StageTable } from "./from_event_log_stages.ts";
 * import { lineageOf } from "./from_event_log_lineage.ts";
 *
 * assertEquals(lineageOf(new StageTable()).shuffles, []);
 * ```
 */
export function lineageOf(table: StageTable): LogLineage {
  const builder = new LineageBuilder(table);
  return builder.build();
}

class LineageBuilder {
  readonly #table: StageTable;
  readonly #dependencies = new Map<number, RddDependency[]>();
  readonly #shuffles: ShuffleRecord[] = [];
  readonly #shuffleByKey = new Map<string, ShuffleRecord>();
  readonly #shuffleOfStage = new Map<number, ShuffleRecord>();
  /** What kind of tasks a stage ran. */
  readonly #taskTypes = new Map<number, string>();
  /** Parents that are behind a shuffle, by child RDD. */
  readonly #shuffled = new Map<number, Set<number>>();

  constructor(table: StageTable) {
    this.#table = table;
    for (const { stage, taskType } of table.attempts) {
      if (taskType !== null) this.#taskTypes.set(stage.stageId, taskType);
    }
  }

  build(): LogLineage {
    this.#findShuffledParents();
    for (const rdd of this.#table.rdds.values()) this.#depend(rdd);
    for (const stage of this.#table.stages.values()) this.#assignParents(stage);
    const targets = this.#table.jobs.map((job) => this.#target(job));
    return {
      dependencies: this.#dependencies,
      shuffles: this.#shuffles,
      targets,
      shuffleOfStage: this.#shuffleOfStage,
    };
  }

  #findShuffledParents(): void {
    for (const stage of this.#table.stages.values()) {
      const inside = new Set(stage.rddIds);
      for (const id of stage.rddIds) {
        for (const parent of this.#table.rdds.get(id)?.parentIds ?? []) {
          if (inside.has(parent)) continue;
          let parents = this.#shuffled.get(id);
          if (parents === undefined) this.#shuffled.set(id, parents = new Set());
          parents.add(parent);
        }
      }
    }
  }

  #depend(rdd: RddRecord): void {
    const shuffled = this.#shuffled.get(rdd.id) ?? new Set<number>();
    const narrow = rdd.parentIds.filter((id) => !shuffled.has(id) && this.#table.rdds.has(id));
    const mappings = narrowMappings(
      rdd.numPartitions,
      narrow.map((id) => this.#table.rdds.get(id)!.numPartitions),
    );
    const dependencies: RddDependency[] = [];
    let n = 0;
    for (const [position, parentId] of rdd.parentIds.entries()) {
      if (!this.#table.rdds.has(parentId)) continue;
      if (!shuffled.has(parentId)) {
        dependencies.push({ kind: "narrow", rddId: parentId, ...mappings[n++] });
        continue;
      }
      const shuffle = this.#shuffle(rdd, parentId, position);
      shuffle.numReducers = Math.max(shuffle.numReducers, rdd.numPartitions);
      dependencies.push({ kind: "shuffle", shuffleId: shuffle.id });
    }
    this.#dependencies.set(rdd.id, dependencies);
  }

  /**
   * Each dependency of an RDD job is a shuffle of its own, even on the same parent (a self join). An exchange of Spark
   * SQL makes a new RDD for its map side, and several ShuffledRowRDDs may read it (AQEShuffleRead, reused exchanges).
   */
  #shuffle(child: RddRecord, mapRddId: number, position: number): ShuffleRecord {
    const key = isSqlShuffle(child) ? `sql ${mapRddId}` : `${child.id} ${position}`;
    return this.#shuffleFor(key, mapRddId);
  }

  #shuffleFor(key: string, mapRddId: number): ShuffleRecord {
    let shuffle = this.#shuffleByKey.get(key);
    if (shuffle === undefined) {
      shuffle = {
        id: this.#shuffles.length,
        mapRddId,
        numReducers: 1,
        stageIds: [],
      };
      this.#shuffles.push(shuffle);
      this.#shuffleByKey.set(key, shuffle);
    }
    return shuffle;
  }

  /** Says which of a stage's parents writes which shuffle that it reads. */
  #assignParents(stage: StageRecord): void {
    const read = new Map<number, ShuffleRecord[]>();
    for (const rddId of stage.rddIds) {
      for (const dependency of this.#dependencies.get(rddId) ?? []) {
        if (dependency.kind !== "shuffle") continue;
        const shuffle = this.#shuffles[dependency.shuffleId];
        const same = read.get(shuffle.mapRddId) ?? [];
        if (!same.includes(shuffle)) same.push(shuffle);
        read.set(shuffle.mapRddId, same);
      }
    }
    for (const shuffles of read.values()) shuffles.sort((a, b) => a.id - b.id);
    const parents = [...stage.parentIds].sort((a, b) => a - b);
    for (const parentId of parents) {
      const mapRddId = this.#table.stages.get(parentId)?.rddIds[0];
      if (mapRddId === undefined) continue;
      const candidates = read.get(mapRddId);
      if (candidates === undefined || candidates.length === 0) continue;
      const shuffle = candidates.length === 1 ? candidates[0] : candidates.shift()!;
      this.#writes(parentId, shuffle);
    }
  }

  #writes(stageId: number, shuffle: ShuffleRecord): void {
    if (this.#shuffleOfStage.has(stageId)) return;
    this.#shuffleOfStage.set(stageId, shuffle);
    shuffle.stageIds.push(stageId);
  }

  #target(job: JobRecord): JobTarget {
    const stage = job.finalStageId === null ? undefined : this.#table.stages.get(job.finalStageId);
    if (stage === undefined || stage.rddIds.length === 0) {
      return { job, stage: stage ?? null, shuffle: null };
    }
    const type = this.#taskTypes.get(stage.stageId);
    const key = `sql ${stage.rddIds[0]}`;
    const isMapStage = type === undefined || type === null ? this.#shuffleByKey.has(key) : type === "ShuffleMapTask";
    if (!isMapStage) return { job, stage, shuffle: null };
    const shuffle = this.#shuffleFor(key, stage.rddIds[0]);
    this.#writes(stage.stageId, shuffle);
    return { job, stage, shuffle };
  }
}

/** ShuffledRowRDD is the reading side of every exchange of Spark SQL (ShuffleExchangeExec, AQEShuffleReadExec). */
function isSqlShuffle(rdd: RddRecord): boolean {
  return rdd.name === "ShuffledRowRDD";
}

type NarrowMapping =
  & Pick<Extract<RddDependency, { kind: "narrow" }>, "mapping">
  & { readonly outStart?: number };

/**
 * How the partitions of narrow parents map to a child's, from their numbers alone: as many as the parent's one to one;
 * the sum of several parents' a union; fewer than the parent's a coalesce; anything else a cartesian product.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { narrowMappings } from "./from_event_log_lineage.ts";
 *
 * assertEquals(narrowMappings(5, [2, 3]).map(({ outStart }) => outStart), [0, 2]);
 * assertEquals(narrowMappings(2, [8])[0].mapping, "coalesce");
 * ```
 */
export function narrowMappings(
  children: number,
  parents: readonly number[],
): NarrowMapping[] {
  const sum = parents.reduce((a, b) => a + b, 0);
  if (parents.every((n) => n === children)) {
    return parents.map(() => ({ mapping: "oneToOne" }));
  }
  if (parents.length > 1 && sum === children) {
    let outStart = 0;
    return parents.map((n) => {
      const mapping = { mapping: "range" as const, outStart };
      outStart += n;
      return mapping;
    });
  }
  return parents.map((n) =>
    n === children ? { mapping: "oneToOne" } : n > children ? { mapping: "coalesce" } : { mapping: "all" }
  );
}
