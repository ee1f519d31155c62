/**
 * Other numbers of shuffle partitions: tasks that are merged or split, and what adaptive execution no longer does.
 *
 * A log has the sum of what the tasks of a stage did; how it would be dealt out over more or fewer tasks is assumed to
 * be even, as hash partitioning makes it but for skewed keys.
 *
 * @module
 */
import type {
  Column,
  ConsumerDemand,
  Evidence,
  Job,
  Rdd,
  RddDependency,
  StageDemand,
  Workload,
} from "../simulator/workload.ts";
import type { SparkConf } from "../spark/conf.ts";
import type { ChangeWarning } from "./apply_changes.ts";

const SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions";
const ADAPTIVE = "spark.sql.adaptive.enabled";

/** A task result without data: what does not grow with a partition. */
const EMPTY_RESULT_BYTES = 1500;

/**
 * The workload with as many reduce tasks as the settings ask for. Only exchanges of Spark SQL follow
 * spark.sql.shuffle.partitions; without adaptive execution nothing is coalesced, and a query is one job.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "../spark/conf.ts";
 * import { WorkloadBuilder } from "../workload/from_event_log.ts";
 * import { changedPartitions } from "./changed_partitions.ts";
 *
 * const workload = new WorkloadBuilder().workload();
 * const before = SparkConf.from({}, "3.5.9");
 * const after = before.with({ "spark.sql.shuffle.partitions": "8" });
 * assertEquals(changedPartitions(workload, before, after, []).rdds, []);
 * ```
 */
export function changedPartitions(
  workload: Workload,
  before: SparkConf,
  conf: SparkConf,
  warnings: ChangeWarning[],
): Workload {
  const partitions = [before, conf].map((settings) => settings.getInt(SHUFFLE_PARTITIONS));
  const adaptive = [before, conf].map((settings) => settings.getBoolean(ADAPTIVE));
  if (partitions[0] === partitions[1] && adaptive[0] === adaptive[1]) return workload;
  if (!adaptive[0] && adaptive[1]) {
    warnings.push({
      code: "adaptive.not_planned",
      message: `${ADAPTIVE}=true would coalesce partitions by sizes that a log without it does not tell: all are kept`,
      count: 1,
    });
  }
  const repartitioned = new Repartition(workload, {
    planned: partitions[0],
    asked: partitions[1],
    adaptive: adaptive[1],
  }).workload();
  return adaptive[0] && !adaptive[1] ? withoutMapStageJobs(repartitioned) : repartitioned;
}

interface Plan {
  readonly planned: number;
  readonly asked: number;
  readonly adaptive: boolean;
}

class Repartition {
  readonly #workload: Workload;
  readonly #plan: Plan;
  /** New numbers of partitions of RDDs, by id, where they differ. */
  readonly #counts = new Map<number, number>();

  constructor(workload: Workload, plan: Plan) {
    this.#workload = workload;
    this.#plan = plan;
  }

  workload(): Workload {
    this.#findCounts();
    if (this.#counts.size === 0) return this.#workload;
    const { rdds, shuffles, jobs, demands, faults, evidence } = this.#workload;
    const old = new Map(rdds.map(({ id, numPartitions }) => [id, numPartitions]));
    const rddOfDemand = new Map<number, number>();
    for (const { demand, rddId } of [...shuffles, ...jobs]) rddOfDemand.set(demand, rddId);
    const count = (demand: number) => this.#counts.get(rddOfDemand.get(demand) ?? -1);
    const mapDemands = new Set(shuffles.map(({ demand }) => demand));
    return {
      ...this.#workload,
      rdds: rdds.map((rdd) => this.#rdd(rdd, old)),
      shuffles: shuffles.map((shuffle) => ({ ...shuffle, numReducers: this.#reducers(shuffle.numReducers) })),
      jobs: jobs.map((job) => this.#counts.has(job.rddId) ? { ...job, partitions: null } : job),
      demands: demands.map((demand, i) => {
        const n = count(i);
        return n === undefined ? demand : spreadDemand(demand, n, mapDemands.has(i));
      }),
      faults: faults.filter((fault) => !("partition" in fault) || fault.partition < (count(fault.demand) ?? Infinity)),
      evidence: [...evidence, ...this.#evidence(rddOfDemand)],
    };
  }

  /** Partitions that an exchange writes now. */
  #reducers(planned: number): number {
    return planned === this.#plan.planned ? this.#plan.asked : planned;
  }

  #findCounts(): void {
    const shuffles = new Map(this.#workload.shuffles.map((shuffle) => [shuffle.id, shuffle]));
    for (const rdd of this.#workload.rdds) {
      const own = this.#readingRdd(rdd, shuffles) ?? this.#followingRdd(rdd);
      if (own !== null && own !== rdd.numPartitions) this.#counts.set(rdd.id, own);
    }
  }

  /** New partitions of an RDD that reads an exchange; null for others. */
  #readingRdd(rdd: Rdd, shuffles: ReadonlyMap<number, { readonly numReducers: number }>): number | null {
    if (rdd.name !== "ShuffledRowRDD") return null;
    const dependency = rdd.dependencies.find(({ kind }) => kind === "shuffle");
    const shuffle = dependency?.kind === "shuffle" ? shuffles.get(dependency.shuffleId) : undefined;
    if (shuffle === undefined) return null;
    const now = this.#reducers(shuffle.numReducers);
    const coalesced = rdd.numPartitions < shuffle.numReducers;
    return this.#plan.adaptive && coalesced ? Math.min(rdd.numPartitions, now) : now;
  }

  /** New partitions of an RDD that has as many as its parents; ids grow along the lineage, so parents are done. */
  #followingRdd(rdd: Rdd): number | null {
    const parents = rdd.dependencies.filter((dependency) => dependency.kind === "narrow");
    const counts = parents.map(({ rddId }) => this.#counts.get(rddId));
    if (counts.every((n) => n === undefined)) return null;
    if (parents.every(({ mapping }) => mapping === "oneToOne")) return counts.find((n) => n !== undefined)!;
    if (!parents.every(({ mapping }) => mapping === "range")) return null;
    const old = new Map(this.#workload.rdds.map(({ id, numPartitions }) => [id, numPartitions]));
    return parents.reduce((sum, { rddId }) => sum + (this.#counts.get(rddId) ?? old.get(rddId) ?? 0), 0);
  }

  #rdd(rdd: Rdd, old: ReadonlyMap<number, number>): Rdd {
    const n = this.#counts.get(rdd.id);
    const dependencies = this.#dependencies(rdd, old);
    if (n === undefined) return { ...rdd, dependencies };
    const columns = {
      deserializedBytes: spreadOrNull(rdd.deserializedBytes, n),
      serializedBytes: spreadOrNull(rdd.serializedBytes, n),
      diskBytes: spreadOrNull(rdd.diskBytes, n),
      elements: spreadOrNull(rdd.elements, n),
      computeMs: spreadOrNull(rdd.computeMs, n),
      inputBytes: spreadOrNull(rdd.inputBytes, n),
      shuffleReadBytes: spreadOrNull(rdd.shuffleReadBytes, n),
      shuffleReadRecords: spreadOrNull(rdd.shuffleReadRecords, n),
    };
    const consumers = rdd.consumers.map((consumer) => spreadConsumer(consumer, n));
    return { ...rdd, ...columns, dependencies, numPartitions: n, consumers, preferredHosts: null };
  }

  /** Unions: each parent begins where those before it end. */
  #dependencies(rdd: Rdd, old: ReadonlyMap<number, number>): readonly RddDependency[] {
    let outStart = 0;
    return rdd.dependencies.map((dependency) => {
      if (dependency.kind !== "narrow" || dependency.mapping !== "range") return dependency;
      const moved = { ...dependency, outStart };
      outStart += this.#counts.get(dependency.rddId) ?? old.get(dependency.rddId) ?? 0;
      return moved;
    });
  }

  #evidence(rddOfDemand: ReadonlyMap<number, number>): Evidence[] {
    const found: Evidence[] = [];
    for (const [demand, rddId] of rddOfDemand) {
      const n = this.#counts.get(rddId);
      if (n === undefined) continue;
      const { name, recordedStageId } = this.#workload.demands[demand];
      found.push({
        subject: `stage ${recordedStageId ?? "?"} (${name})`,
        field: "tasks",
        grade: "assumed",
        how: `its work spread evenly over ${n} tasks`,
        wouldRecord: `a run with ${SHUFFLE_PARTITIONS}=${this.#plan.asked}`,
      });
    }
    return found;
  }
}

/** The same sum over another number of partitions. */
function spread(column: Column, n: number): Column {
  let sum = 0;
  for (const value of column) sum += value;
  return new Float64Array(n).fill(sum / n);
}

function spreadOrNull(column: Column | null, n: number): Column | null {
  return column === null ? null : spread(column, n);
}

/** A figure that each task has whatever its share of the data: the mean. */
function repeated(column: Column, n: number): Column {
  let sum = 0;
  for (const value of column) sum += value;
  return new Float64Array(n).fill(column.length === 0 ? 0 : sum / column.length);
}

function spreadConsumer(consumer: ConsumerDemand, n: number): ConsumerDemand {
  return {
    ...consumer,
    records: spread(consumer.records, n).map(Math.round),
    bytes: spread(consumer.bytes, n).map(Math.round),
    keys: consumer.keys === null ? null : spread(consumer.keys, n).map(Math.round),
  };
}

/** A map task's result says only where its output is; a result task's grows with what it returns. */
function spreadResult(column: Column, n: number, isMapStage: boolean): Column {
  if (isMapStage) return repeated(column, n);
  let data = 0;
  for (const value of column) data += Math.max(0, value - EMPTY_RESULT_BYTES);
  const overhead = Math.min(EMPTY_RESULT_BYTES, repeated(column, 1)[0]);
  return new Float64Array(n).fill(Math.round(overhead + data / n));
}

function spreadDemand(demand: StageDemand, n: number, isMapStage: boolean): StageDemand {
  return {
    ...demand,
    computeMs: spread(demand.computeMs, n),
    deserializeMs: repeated(demand.deserializeMs, n),
    resultSerializationMs: repeated(demand.resultSerializationMs, n),
    speculativeComputeMs: spreadOrNull(demand.speculativeComputeMs, n),
    resultBytes: spreadResult(demand.resultBytes, n, isMapStage),
    valueBytes: demand.valueBytes === null ? null : spreadResult(demand.valueBytes, n, isMapStage),
    serializedTaskBytes: demand.serializedTaskBytes === null ? null : repeated(demand.serializedTaskBytes, n),
    inputBytes: spread(demand.inputBytes, n),
    inputRecords: spread(demand.inputRecords, n),
    outputBytes: spread(demand.outputBytes, n),
    outputRecords: spread(demand.outputRecords, n),
    shuffleReadBytes: spread(demand.shuffleReadBytes, n),
    shuffleReadRecords: spread(demand.shuffleReadRecords, n),
    shuffleWriteBytes: spread(demand.shuffleWriteBytes, n),
    shuffleWriteRecords: spread(demand.shuffleWriteRecords, n),
    consumers: demand.consumers.map((consumer) => spreadConsumer(consumer, n)),
  };
}

/** Without adaptive execution the stages of a query are submitted with its one job (DAGScheduler.submitStage). */
function withoutMapStageJobs(workload: Workload): Workload {
  const removed = new Map(workload.jobs.filter(({ kind }) => kind === "mapStage").map((job) => [job.id, job]));
  const afterJobs = (job: Job): number[] => {
    const after = new Set<number>();
    for (const id of job.afterJobs) {
      const gone = removed.get(id);
      for (const before of gone === undefined ? [id] : afterJobs(gone)) after.add(before);
    }
    return [...after];
  };
  return {
    ...workload,
    jobs: workload.jobs.filter(({ id }) => !removed.has(id)).map((job) => ({ ...job, afterJobs: afterJobs(job) })),
  };
}
