/**
 * A workload in which queries run other stages than were recorded.
 *
 * @module
 */
import type {
  Broadcast,
  Column,
  Job,
  QueryPlan,
  Rdd,
  RddDependency,
  Shuffle,
  StageDemand,
  Workload,
} from "../simulator/workload.ts";
import { type Coalescing, likelyShares, type MapWrites } from "./coalesced_partitions.ts";
import type { PlannedStage } from "./planned_stages.ts";
import { compressionOf, indexOfWorkload, RecordedStages, sumOf, type WorkloadIndex } from "./recorded_stages.ts";
import { renumberedJobs } from "./renumbered_jobs.ts";
import { broadcastRowBytes, stageDemand, stageWrites } from "./rewritten_demand.ts";

/** How a query's shuffles are read. */
export interface RewriteOptions {
  readonly coalescing: Coalescing;
  /** Each shuffle is written by a job of its own. */
  readonly adaptive: boolean;
}

/** A stage as it is in the workload. */
interface BuiltStage {
  readonly rddId: number;
  readonly demand: number;
  /** Of map stages. */
  readonly shuffleId: number | null;
  /** Its own job; null for a map stage that runs with its reader's. */
  readonly job: Job | null;
  /** Of a stage that collects rows for a broadcast which was none before. */
  readonly broadcastId: number | null;
}

/** A relation's first page (HashedRelation). */
const LEAST_RELATION_BYTES = 1 << 20;

/** An RDD that holds nothing in a cache. */
const PLAIN_RDD = {
  scope: null,
  storageLevel: null,
  deserializedBytes: null,
  serializedBytes: null,
  diskBytes: null,
  elements: null,
  computeMs: null,
  inputBytes: null,
  shuffleReadBytes: null,
  shuffleReadRecords: null,
  consumers: [],
  unpersistBeforeJob: null,
  alwaysSerialized: false,
  preferredHosts: null,
} as const;

/**
 * Replaces the jobs of queries, one after another.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "../simulator/workload.ts";
 * import { SparkConf } from "../spark/conf.ts";
 * import { coalescingOf } from "./coalesced_partitions.ts";
 * import { RewrittenQueries } from "./rewritten_queries.ts";
 *
 * const coalescing = coalescingOf(SparkConf.from({}, "3.5.9"), 4);
 * const queries = new RewrittenQueries(emptyWorkload("nothing"), { coalescing, adaptive: true });
 * assertEquals(queries.replace({ executionId: 3, operators: [] }, []), false);
 * assertEquals(queries.workload().jobs, []);
 * ```
 */
export class RewrittenQueries {
  readonly #workload: Workload;
  readonly #options: RewriteOptions;
  readonly #compression: number;
  readonly #index: WorkloadIndex;
  readonly #rdds: Rdd[];
  readonly #shuffles: Map<number, Shuffle>;
  readonly #demands: StageDemand[];
  readonly #broadcasts: Broadcast[];
  /** New jobs by query. */
  readonly #jobs = new Map<number, readonly Job[]>();
  #freshRdd: number;
  #freshShuffle: number;
  #freshJob: number;

  constructor(workload: Workload, options: RewriteOptions) {
    const next = (list: readonly { readonly id: number }[]) => list.reduce((max, { id }) => Math.max(max, id), -1) + 1;
    this.#workload = workload;
    this.#options = options;
    this.#compression = compressionOf(workload);
    this.#index = indexOfWorkload(workload);
    this.#rdds = [...workload.rdds];
    this.#shuffles = new Map(workload.shuffles.map((shuffle) => [shuffle.id, shuffle]));
    this.#demands = [...workload.demands];
    this.#broadcasts = [...workload.broadcasts];
    this.#freshRdd = next(workload.rdds);
    this.#freshShuffle = next(workload.shuffles);
    this.#freshJob = next(workload.jobs);
  }

  /** Whether the query's jobs could be told apart; otherwise nothing is changed. */
  replace(query: QueryPlan, stages: readonly PlannedStage[]): boolean {
    const recorded = new RecordedStages(this.#workload, query, this.#index);
    if (stages.length === 0 || !stages.every((stage) => recorded.knows(stage))) return false;
    const built = new Map<PlannedStage, BuiltStage>();
    for (const stage of stages) built.set(stage, this.#build(stage, { query, stages, recorded, built }));
    this.#jobs.set(query.executionId, this.#arrange(recorded, stages, built));
    return true;
  }

  workload(): Workload {
    const { jobs, moved } = renumberedJobs(this.#workload.jobs, this.#jobs);
    const { rdds, shuffles } = reachable(jobs, this.#rdds, this.#shuffles);
    const used = new Set([...jobs, ...shuffles].map(({ demand }) => demand));
    return {
      ...this.#workload,
      jobs,
      shuffles,
      demands: this.#demands,
      rdds: rdds.map((rdd) => ({
        ...rdd,
        ...rdd.persistBeforeJob === undefined ? {} : { persistBeforeJob: moved(rdd.persistBeforeJob) },
        unpersistBeforeJob: rdd.unpersistBeforeJob === null ? null : moved(rdd.unpersistBeforeJob),
      })),
      broadcasts: this.#broadcasts.map((broadcast) => ({
        ...broadcast,
        ...broadcast.removeBeforeJob === undefined ? {} : { removeBeforeJob: moved(broadcast.removeBeforeJob) },
      })),
      queries: (this.#workload.queries ?? []).filter(({ executionId }) => !this.#jobs.has(executionId)),
      faults: this.#workload.faults.filter((fault) => !("demand" in fault) || used.has(fault.demand)),
    };
  }

  #build(stage: PlannedStage, context: QueryContext): BuiltStage {
    return stage.changed ? this.#rebuild(stage, context) : this.#kept(stage, context.recorded);
  }

  #kept(stage: PlannedStage, recorded: RecordedStages): BuiltStage {
    const demand = recorded.demandOf(stage)!;
    const shuffle = stage.output.kind === "shuffle" ? recorded.shuffleOf(demand)! : null;
    const job = recorded.jobOf(demand);
    return { rddId: (shuffle ?? job)!.rddId, demand, shuffleId: shuffle?.id ?? null, job, broadcastId: null };
  }

  #rebuild(stage: PlannedStage, context: QueryContext): BuiltStage {
    const { recorded, query, stages, built } = context;
    const reads = stage.reads.map((read) => built.get(read)!);
    const shares = this.#shares(stage, reads, recorded);
    const writes = stageWrites(stage, { recorded, compression: this.#compression });
    const demandContext = {
      query,
      stages,
      recorded,
      shares,
      writes,
      reads: reads.map((read) => this.#demands[read.demand]),
      compression: this.#compression,
      newBroadcasts: stage.broadcasts.map((table) => built.get(table)!.broadcastId).filter((id) => id !== null),
    };
    const demand = this.#demands.push(stageDemand(stage, demandContext)) - 1;
    const broadcastId = this.#addBroadcast(stage, broadcastRowBytes(stage, demandContext));
    const rddId = this.#addRdds(stage, reads, shares.length, recorded);
    const shuffle = this.#addShuffle(stage, recorded, rddId, demand);
    const job = this.#job(stage, recorded, { rddId, demand, shuffle });
    return { rddId, demand, shuffleId: shuffle?.id ?? null, job, broadcastId };
  }

  /** A relation of long keys took about twice its rows, for the array of their places (LongToUnsafeRowMap, 3.5.9). */
  #addBroadcast({ output }: PlannedStage, pieceBytes: number): number | null {
    if (output.kind !== "broadcast" || output.exchange !== null) return null;
    const id = this.#broadcasts.reduce((max, broadcast) => Math.max(max, broadcast.id), -1) + 1;
    this.#broadcasts.push({ id, pieceBytes, valueBytes: Math.max(2 * output.bytes, LEAST_RELATION_BYTES) });
    return id;
  }

  /** Of each task in the stage's rows. */
  #shares(stage: PlannedStage, reads: readonly BuiltStage[], recorded: RecordedStages): Float64Array {
    if (reads.length === 0) return recorded.scanShares(stage);
    const { coalescing } = this.#options;
    const { planned, enabled } = coalescing;
    const maps = reads.map(({ demand }): MapWrites => ({
      bytes: this.#demands[demand].shuffleWriteBytes,
      records: this.#demands[demand].shuffleWriteRecords,
    }));
    if (!enabled || maps.length === 0) return new Float64Array(planned).fill(1 / planned);
    const { seed } = this.#workload;
    const shares = likelyShares({ partitions: planned, sizes: null, deviation: 0, seed, maps }, coalescing);
    return stage.readsLocally ? localShares(Float64Array.from(maps[0].bytes), shares.length) : shares;
  }

  #addRdds(stage: PlannedStage, reads: readonly BuiltStage[], tasks: number, recorded: RecordedStages): number {
    const parents = reads.length === 0
      ? recorded.scanSources(stage)!
      : reads.map(({ shuffleId }) =>
        this.#addRdd("ShuffledRowRDD", tasks, [{ kind: "shuffle", shuffleId: shuffleId! }])
      );
    return this.#addRdd(
      "MapPartitionsRDD",
      tasks,
      parents.map((rddId): RddDependency => ({ kind: "narrow", rddId, mapping: "oneToOne" })),
    );
  }

  #addRdd(name: string, numPartitions: number, dependencies: readonly RddDependency[]): number {
    const id = this.#freshRdd++;
    this.#rdds.push({ ...PLAIN_RDD, id, name, callSite: "", numPartitions, dependencies });
    return id;
  }

  #addShuffle({ output }: PlannedStage, recorded: RecordedStages, rddId: number, demand: number): Shuffle | null {
    if (output.kind !== "shuffle") return null;
    const own = output.exchange === null ? null : recorded.shuffleOf(recorded.writerOf(output.exchange)!);
    const shuffle = own === null
      ? { id: this.#freshShuffle++, numReducers: this.#options.coalescing.planned, reducerShares: null, rddId, demand }
      : { ...own, rddId, demand };
    this.#shuffles.set(shuffle.id, shuffle);
    return shuffle;
  }

  #job(
    { output }: PlannedStage,
    recorded: RecordedStages,
    { rddId, demand, shuffle }: { rddId: number; demand: number; shuffle: Shuffle | null },
  ): Job | null {
    const shuffleId = shuffle?.id ?? null;
    if (output.kind === "shuffle" && !this.#options.adaptive) return null;
    const own = recorded.jobOfOutput(output);
    if (own !== null) return { ...own, rddId, demand, shuffleId, partitions: null };
    const like = recorded.jobs.at(-1)!;
    const kind = output.kind === "shuffle" ? "mapStage" : "result";
    return { ...like, id: this.#freshJob++, kind, rddId, demand, shuffleId, partitions: null };
  }

  /** The query's jobs: each after those whose output it needs, the first ones after what the query began after. */
  #arrange(
    recorded: RecordedStages,
    stages: readonly PlannedStage[],
    built: ReadonlyMap<PlannedStage, BuiltStage>,
  ): Job[] {
    const start = recorded.jobs[0].afterJobs;
    const jobs: Job[] = [];
    for (const stage of stages) {
      const { job } = built.get(stage)!;
      if (job === null || jobs.some(({ id }) => id === job.id)) continue;
      const needed = jobsBefore(stage, built);
      jobs.push({ ...job, afterJobs: needed.length === 0 ? start : needed });
    }
    for (const sample of recorded.otherJobs(new Set(jobs.map(({ id }) => id)), stages)) {
      const at = jobs.findIndex(({ id }) => sample.afterJobs.includes(id));
      jobs.splice(at + 1, 0, at < 0 ? { ...sample, afterJobs: start } : { ...sample, afterJobs: [jobs[at].id] });
    }
    return jobs;
  }
}

/**
 * Shares of tasks that read a shuffle by its map tasks: some for each, or each for several where there are more map tasks
 * than merged partitions (OptimizeShuffleWithLocalRead.getPartitionSpecs).
 */
function localShares(written: Column, merged: number): Column {
  const total = Math.max(1, sumOf(written));
  if (merged < written.length) {
    const shares = new Float64Array(merged);
    for (let map = 0; map < written.length; map++) {
      shares[Math.floor(map * merged / written.length)] += written[map] / total;
    }
    return shares;
  }
  const parts = Math.floor(merged / written.length);
  return Float64Array.from(
    { length: parts * written.length },
    (_, i) => written[Math.floor(i / parts)] / total / parts,
  );
}

/** What a stage is built with. */
interface QueryContext {
  readonly query: QueryPlan;
  readonly stages: readonly PlannedStage[];
  readonly recorded: RecordedStages;
  readonly built: ReadonlyMap<PlannedStage, BuiltStage>;
}

/** The nearest jobs that give a stage its input. */
function jobsBefore(stage: PlannedStage, built: ReadonlyMap<PlannedStage, BuiltStage>): number[] {
  const sample = stage.sample === undefined ? [] : [stage.sample];
  const found = [...stage.reads, ...stage.broadcasts, ...sample].flatMap((input) => {
    const { job } = built.get(input)!;
    return job === null ? jobsBefore(input, built) : [job.id];
  });
  return [...new Set(found)];
}

/** What jobs still need, and what is cached. */
function reachable(jobs: readonly Job[], rdds: readonly Rdd[], shuffles: ReadonlyMap<number, Shuffle>) {
  const rddOf = new Map(rdds.map((rdd) => [rdd.id, rdd]));
  const usedRdds = new Set<number>();
  const usedShuffles = new Set<number>();
  const waiting = [
    ...jobs.map(({ rddId }) => rddId),
    ...rdds.filter((r) => r.storageLevel !== null).map(({ id }) => id),
  ];
  for (const { shuffleId } of jobs) if (shuffleId !== null) usedShuffles.add(shuffleId);
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (usedRdds.has(id)) continue;
    usedRdds.add(id);
    for (const dependency of rddOf.get(id)?.dependencies ?? []) {
      if (dependency.kind === "narrow") {
        waiting.push(dependency.rddId);
        continue;
      }
      usedShuffles.add(dependency.shuffleId);
      waiting.push(shuffles.get(dependency.shuffleId)!.rddId);
    }
  }
  return {
    rdds: rdds.filter(({ id }) => usedRdds.has(id)),
    shuffles: [...shuffles.values()].filter(({ id }) => usedShuffles.has(id)).sort((a, b) => a.id - b.id),
  };
}
