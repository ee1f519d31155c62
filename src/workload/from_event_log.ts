/**
 * From an event log to a workload: what the job demands, free of the settings under which it ran.
 *
 * @module
 */
import type { Cluster, Evidence, Fault, Job, Rdd, Shuffle, StageDemand, Workload } from "../simulator/workload.ts";
import type { EventSink, SparkEvent } from "../spark/events.ts";
import { broadcastsOf } from "./from_event_log_broadcasts.ts";
import {
  type CachedRddFigures,
  cachedRddFigures,
  type ComputeCosts,
  computeCosts,
  isPythonRdd,
  type LikelyFigures,
  persistedLevel,
} from "./from_event_log_cached_rdds.ts";
import { CacheUse } from "./from_event_log_cache_use.ts";
import { DRIVER } from "./from_event_log_cluster.ts";
import { EventLogCollector } from "./from_event_log_collector.ts";
import { demandOf, median } from "./from_event_log_demands.ts";
import { taskFaults } from "./from_event_log_faults.ts";
import { JOB_DESCRIPTION, JOB_GROUP, jobTimings, SQL_EXECUTION } from "./from_event_log_jobs.ts";
import { lineageOf, type LogLineage, type ShuffleRecord } from "./from_event_log_lineage.ts";
import { serializedTaskBytes } from "./from_event_log_task_sizes.ts";
import { SparkConf } from "../spark/conf.ts";
import { BYTE_UNITS } from "../spark/sizes.ts";
import type { RddRecord, StageAttempt, StageRecord } from "./from_event_log_stages.ts";

/**
 * A sink for the events of one application's log that makes its workload. Figures of the run itself (evictions,
 * spills, outcomes) are never taken over: they come from running the workload.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { WorkloadBuilder } from "./from_event_log.ts";
 *
 * const builder = new WorkloadBuilder();
 * builder.event({ kind: "logStart", sparkVersion: "3.5.9" });
 * assertEquals(builder.workload().sparkVersion, "3.5.9");
 * ```
 */
export class WorkloadBuilder implements EventSink {
  readonly #log = new EventLogCollector();

  event(event: SparkEvent): void {
    this.#log.event(event);
  }

  /** The workload of what has been read so far. */
  workload(): Workload {
    return new Reconstruction(this.#log).workload();
  }
}

/** One making of a workload: the steps share what they have found. */
class Reconstruction {
  readonly #log: EventLogCollector;
  readonly #lineage: LogLineage;
  readonly #use: CacheUse;
  /** Rows of each stage attempt in order of launch. */
  readonly #rows: number[][];
  /** Cached partitions computed, by row; absent where a stage reads none. */
  readonly #computedByRow = new Map<number, number>();
  readonly #demands: StageDemand[] = [];
  readonly #faults: Fault[] = [];
  readonly #evidence: Evidence[] = [];
  readonly #warnings: Workload["warnings"][number][] = [];
  #costs: ComputeCosts = { byRdd: new Map(), byRow: new Map(), assumed: new Set() };

  constructor(log: EventLogCollector) {
    this.#log = log;
    this.#lineage = lineageOf(log.stages);
    this.#use = new CacheUse({
      tasks: log.tasks,
      rdds: log.stages.rdds,
      dependencies: this.#lineage.dependencies,
      blocks: log.blocks.rdds,
    });
    this.#rows = rowsByAttempt(log);
  }

  workload(): Workload {
    const { application } = this.#log;
    this.#findCacheUse();
    const rdds = this.#rdds();
    const demandOfShuffle = this.#lineage.shuffles.map((shuffle) => this.#shuffleDemand(shuffle));
    const jobs = this.#jobs(demandOfShuffle);
    const shuffles = this.#lineage.shuffles.map((shuffle, i): Shuffle => ({
      id: shuffle.id,
      rddId: shuffle.mapRddId,
      numReducers: this.#plannedReducers(shuffle) ?? shuffle.numReducers,
      demand: demandOfShuffle[i],
      reducerShares: null,
    }));
    return {
      name: application.name,
      appId: application.id,
      sparkVersion: application.sparkVersion,
      seed: 0,
      conf: application.conf,
      cluster: this.#cluster(),
      rdds,
      shuffles,
      jobs,
      demands: this.#demands,
      broadcasts: broadcastsOf(this.#log.blocks.broadcasts.values(), new Map()),
      faults: [...this.#faults, ...this.#log.executors.faults(this.#startTime)],
      evidence: this.#evidence,
      warnings: this.#warnings,
    };
  }

  get #startTime(): number {
    const { application, stages, executors } = this.#log;
    return application.startTime ??
      Math.min(
        ...[...stages.jobs.map(({ time }) => time), ...executors.records.map((e) => e.addedTime ?? Infinity), Infinity]
          .filter(Number.isFinite),
        Number.MAX_SAFE_INTEGER,
      );
  }

  #findCacheUse(): void {
    const attempts = [...this.#log.stages.attempts].sort((a, b) =>
      (a.submittedTime ?? 0) - (b.submittedTime ?? 0) || a.index - b.index
    );
    for (const attempt of attempts) {
      const jobId = attempt.stage.jobId ?? 0;
      for (const [row, n] of this.#use.stage(attempt, this.#rows[attempt.index], jobId)) {
        this.#computedByRow.set(row, n);
      }
    }
    this.#costs = this.#computeCosts();
  }

  #computeCosts(): ComputeCosts {
    const { tasks, stages } = this.#log;
    const kind = (row: number) => {
      const { stage } = stages.attempts[tasks.stage[row]];
      return `${stage.name} ${stage.rddIds[0]}`;
    };
    const netMs = (row: number) => Math.max(0, tasks.runMs[row] - Math.max(0, tasks.fetchWaitMs[row]));
    const own = new Map<string, number[]>();
    for (const [row, computed] of this.#computedByRow) {
      if (computed > 0) continue;
      const times = own.get(kind(row));
      if (times === undefined) own.set(kind(row), [netMs(row)]);
      else times.push(netMs(row));
    }
    return computeCosts(this.#use.computed, kind, own, netMs);
  }

  #rdds(): Rdd[] {
    const sizes: number[] = [];
    for (const { deserialized, serialized } of this.#log.blocks.rdds.values()) {
      sizes.push(...deserialized.values(), ...serialized.values());
    }
    for (const local of this.#use.found.local.values()) sizes.push(...local.values());
    const elementBytes = this.#elementBytes();
    return [...this.#log.stages.rdds.values()].sort((a, b) => a.id - b.id).map((rdd) =>
      this.#rdd(rdd, { blockBytes: sizes, elementBytes: elementBytes.get(rdd.callSite) ?? [] })
    );
  }

  /** Bytes of an element of found blocks, by the call site of their RDDs. */
  #elementBytes(): Map<string, number[]> {
    const found = new Map<string, number[]>();
    for (const [rddId, byPartition] of this.#use.found.elements) {
      const callSite = this.#log.stages.rdds.get(rddId)!.callSite;
      const list = found.get(callSite) ?? [];
      for (const [partition, elements] of byPartition) {
        const bytes = this.#use.found.local.get(rddId)?.get(partition);
        if (bytes !== undefined && elements > 0) list.push(bytes / elements);
      }
      found.set(callSite, list);
    }
    return found;
  }

  #rdd(rdd: RddRecord, likely: LikelyFigures): Rdd {
    const level = persistedLevel(rdd);
    const figures: CachedRddFigures | null = level === null
      ? null
      : cachedRddFigures(rdd, this.#use, this.#log.blocks.rdds.get(rdd.id), likely);
    if (figures !== null) this.#evidence.push(...figures.evidence);
    const costs = this.#costs.byRdd.get(rdd.id);
    return {
      id: rdd.id,
      name: rdd.name,
      callSite: rdd.callSite,
      scope: rdd.scope,
      numPartitions: rdd.numPartitions,
      storageLevel: level,
      dependencies: this.#lineage.dependencies.get(rdd.id) ?? [],
      deserializedBytes: figures?.deserializedBytes ?? null,
      serializedBytes: figures?.serializedBytes ?? null,
      diskBytes: figures?.diskBytes ?? null,
      elements: figures?.elements ?? null,
      computeMs: level === null || costs === undefined ? null : filled(rdd.numPartitions, costs),
      inputBytes: null,
      shuffleReadBytes: null,
      shuffleReadRecords: null,
      consumers: [],
      unpersistBeforeJob: rdd.unpersistBeforeJob,
      alwaysSerialized: isPythonRdd(rdd),
      preferredHosts: null,
    };
  }

  #shuffleDemand(shuffle: ShuffleRecord): number {
    const attempts = this.#log.stages.attempts.filter(({ stage }) => shuffle.stageIds.includes(stage.stageId));
    const stage = attempts[0]?.stage ?? this.#log.stages.stages.get(shuffle.stageIds[0] ?? -1);
    return this.#demand(stage ?? unknownStage(shuffle.mapRddId), attempts);
  }

  /** Partitions that the exchange writes; adaptive execution may read several of them in one task. */
  #plannedReducers({ stageIds }: ShuffleRecord): number | null {
    const { stages, plans } = this.#log;
    for (const { stage, accumulators } of stages.attempts) {
      if (!stageIds.includes(stage.stageId)) continue;
      for (const [id, { name }] of accumulators) {
        if (name !== "shuffle records written" && name !== "data size") continue;
        const node = plans.metric(id)?.node;
        const planned = node === undefined ? null : plans.exchangePartitions(node);
        if (planned !== null) return planned;
      }
    }
    return null;
  }

  #demand(stage: StageRecord, attempts: readonly StageAttempt[]): number {
    const { tasks, reasons, stages, blocks } = this.#log;
    const rows = attempts.flatMap(({ index }) => this.#rows[index]).sort((a, b) =>
      tasks.launchTime[a] - tasks.launchTime[b] || a - b
    );
    const numPartitions = stages.rdds.get(stage.rddIds[0])?.numPartitions ?? stage.numTasks;
    const cachedInputBytes = new Map<number, number>();
    for (const row of rows) {
      const computed = this.#computedByRow.get(row);
      if (computed === 0) cachedInputBytes.set(row, tasks.inputBytes[row]);
    }
    const { demand } = demandOf({
      tasks,
      stage,
      rows,
      numPartitions,
      cachedComputeMs: this.#costs.byRow,
      shuffleIsCached: this.#shuffleIsCached(stage),
      cachedInputBytes,
    });
    const index = this.#demands.length;
    const attemptIndexes = new Set(attempts.map(({ index }) => index));
    this.#demands.push({
      ...demand,
      serializedTaskBytes: this.#taskBytes(stage, attempts, numPartitions),
      consumers: [],
      broadcastIds: [...blocks.broadcasts.values()].filter(({ readers }) =>
        [...readers].some((reader) => attemptIndexes.has(reader))
      ).map(({ id }) => id),
    });
    this.#faults.push(...taskFaults({
      tasks,
      reasons,
      rows,
      demand: index,
      executorsWereLost: this.#log.executors.faults(0).length > 0,
    }));
    return index;
  }

  /** Tasks over the elements of a collection of the driver carry them. */
  #taskBytes(stage: StageRecord, attempts: readonly StageAttempt[], numPartitions: number): Float64Array | null {
    const { stages, launches, executors, application } = this.#log;
    const carries = stage.rddIds.some((id) => stages.rdds.get(id)?.name === "ParallelCollectionRDD");
    const job = stages.jobs.find(({ jobId }) => jobId === stage.jobId);
    // Queries parallelize ranges and file lists, which are small.
    if (!carries || attempts.length === 0 || job?.properties[SQL_EXECUTION] !== undefined) return null;
    const slots = executors.records.reduce((sum, { cores }) => sum + (cores ?? 0), 0);
    const conf = SparkConf.from(application.conf, application.sparkVersion || undefined);
    const limit = conf.getInt("spark.rpc.message.maxSize") * BYTE_UNITS.MiB;
    const bytes = serializedTaskBytes({ launches: launches.get(attempts[0].index) ?? [], slots, limit });
    if (bytes === null) return null;
    this.#evidence.push({
      subject: `stage ${stage.stageId} (${stage.name})`,
      field: "serializedTaskBytes",
      grade: "inferred",
      how: "time between launches of its first tasks, which the driver serializes one after another: a rough guess",
      wouldRecord: "the driver's log warns of tasks above 1000 KiB",
    });
    return new Float64Array(numPartitions).fill(bytes);
  }

  /** Whether everything that a stage fetches is fetched by cached RDDs below it. */
  #shuffleIsCached(stage: StageRecord): boolean {
    const jobId = stage.jobId ?? 0;
    const stack = stage.rddIds.slice(0, 1);
    const seen = new Set<number>();
    let behindCached = false;
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      if (seen.has(id)) continue;
      seen.add(id);
      if (this.#use.isCached(id, jobId)) {
        behindCached = true;
        continue;
      }
      for (const dependency of this.#lineage.dependencies.get(id) ?? []) {
        if (dependency.kind === "shuffle") return false;
        stack.push(dependency.rddId);
      }
    }
    return behindCached;
  }

  #jobs(demandOfShuffle: readonly number[]): Job[] {
    const targets = this.#lineage.targets;
    const timings = jobTimings(targets, this.#startTime);
    const jobs: Job[] = [];
    for (const [i, { job, stage, shuffle }] of targets.entries()) {
      if (stage === null || stage.rddIds.length === 0) continue;
      const attempts = this.#log.stages.attempts.filter((attempt) => attempt.stage.stageId === stage.stageId);
      const demand = shuffle === null ? this.#demand(stage, attempts) : demandOfShuffle[shuffle.id];
      jobs.push({
        id: job.jobId,
        kind: shuffle === null ? "result" : "mapStage",
        rddId: stage.rddIds[0],
        shuffleId: shuffle?.id ?? null,
        partitions: shuffle === null ? this.#partitions(stage, attempts) : null,
        demand,
        ...timings[i],
        name: stage.name,
        group: job.properties[JOB_GROUP] ?? null,
        description: job.properties[JOB_DESCRIPTION] ?? null,
        sqlExecutionId: job.properties[SQL_EXECUTION] === undefined ? null : Number(job.properties[SQL_EXECUTION]),
      });
    }
    return jobs;
  }

  /** The partitions that a job computed when it was not all (take, first): those of its tasks. */
  #partitions(stage: StageRecord, attempts: readonly StageAttempt[]): number[] | null {
    const numPartitions = this.#log.stages.rdds.get(stage.rddIds[0])?.numPartitions ?? stage.numTasks;
    if (stage.numTasks >= numPartitions) return null;
    const partitions = new Set<number>();
    for (const { index } of attempts) {
      for (const row of this.#rows[index]) partitions.add(this.#log.tasks.partition[row]);
    }
    for (let p = 0; partitions.size < stage.numTasks && p < numPartitions; p++) partitions.add(p);
    return [...partitions].sort((a, b) => a - b);
  }

  #cluster(): Cluster {
    const { application, executors } = this.#log;
    const master = application.conf["spark.master"] ?? "";
    const local = /^local(\[(\d+|\*)(,\d+)?\])?$/.exec(master);
    const driver = executors.find(DRIVER);
    return {
      master,
      executors: executors.specs(this.#startTime, local !== null, Number(local?.[2] ?? 1) || 1),
      driver: {
        host: driver?.host ?? "localhost",
        maxOnHeapMemory: driver?.maxOnHeapMemory ?? null,
        maxOffHeapMemory: driver?.maxOffHeapMemory ?? null,
      },
      collector: "g1",
      heapCommitted: "small",
    };
  }
}

function rowsByAttempt({ tasks, stages }: EventLogCollector): number[][] {
  const rows: number[][] = stages.attempts.map(() => []);
  for (let row = 0; row < tasks.length; row++) rows[tasks.stage[row]].push(row);
  for (const list of rows) list.sort((a, b) => tasks.launchTime[a] - tasks.launchTime[b] || a - b);
  return rows;
}

function filled(numPartitions: number, known: ReadonlyMap<number, number>): Float64Array {
  const column = new Float64Array(numPartitions).fill(median([...known.values()]));
  for (const [partition, value] of known) if (partition < numPartitions) column[partition] = value;
  return column;
}

function unknownStage(rddId: number): StageRecord {
  return { stageId: -1, jobId: null, name: "", details: "", numTasks: 0, rddIds: [rddId], parentIds: [] };
}
