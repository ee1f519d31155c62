/**
 * What a workload has of a query's stages: their demands, shuffles and jobs, by the operators that ran in them.
 *
 * @module
 */
import type { Job, PlanOperator, QueryPlan, Rdd, Shuffle, StageDemand, Workload } from "../simulator/workload.ts";
import { columnsOf } from "./plan_text.ts";
import { type PlannedStage, rowBytes, type StageOutput } from "./planned_stages.ts";
import { EMPTY_RESULT_BYTES } from "./spread_work.ts";

/** Smaller results are mostly not rows. */
const LEAST_COLLECTED_BYTES = 64 * 1024;

/**
 * What a column's figures add up to.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { sumOf } from "./recorded_stages.ts";
 *
 * assertEquals(sumOf(Float64Array.of(1, 2, 4)), 7);
 * ```
 */
export function sumOf(column: Iterable<number>): number {
  let sum = 0;
  for (const value of column) sum += value;
  return sum;
}

/**
 * Bytes of the rows in the results of a stage whose rows were collected.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { collectedBytes } from "./recorded_stages.ts";
 *
 * assertEquals(collectedBytes({ resultBytes: Float64Array.of(1500, 11_500) }), 10_000);
 * ```
 */
export function collectedBytes({ resultBytes }: Pick<StageDemand, "resultBytes">): number {
  return sumOf(resultBytes.map((bytes) => Math.max(0, bytes - EMPTY_RESULT_BYTES)));
}

/**
 * What a byte of rows became in the shuffles and collected results of all queries, compressed; 1 where there is none.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "../simulator/workload.ts";
 * import { compressionOf } from "./recorded_stages.ts";
 *
 * assertEquals(compressionOf(emptyWorkload("nothing")), 1);
 * ```
 */
export function compressionOf({ queries = [], demands }: Workload): number {
  let rows = 0;
  let compressed = 0;
  for (const { operators } of queries) {
    for (const { name, bytes, rows: count, inputs, demand } of operators) {
      if (name === "Exchange" && bytes !== null && demand !== null) {
        rows += bytes;
        compressed += sumOf(demands[demand].shuffleWriteBytes);
      }
      const child = name === "BroadcastExchange" ? operators[inputs[0]] : undefined;
      const collected = child?.demand === undefined || child.demand === null ? null : demands[child.demand];
      const columns = child === undefined ? null : columnsOf(child.name, child.description);
      if (collected === null || columns === null || count === null || child?.name === "Exchange") continue;
      if (collectedBytes(collected) < LEAST_COLLECTED_BYTES) continue;
      rows += count * rowBytes(columns);
      compressed += collectedBytes(collected);
    }
  }
  return rows > 0 && compressed > 0 ? compressed / rows : 1;
}

/** RDDs by id and shuffles by the demand of their map side, of a whole workload. */
export interface WorkloadIndex {
  readonly rdds: ReadonlyMap<number, Rdd>;
  readonly shuffles: ReadonlyMap<number, Shuffle>;
}

/**
 * Makes the index that the queries of a workload share.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "../simulator/workload.ts";
 * import { indexOfWorkload } from "./recorded_stages.ts";
 *
 * assertEquals(indexOfWorkload(emptyWorkload("nothing")).rdds.size, 0);
 * ```
 */
export function indexOfWorkload({ rdds, shuffles }: Workload): WorkloadIndex {
  return {
    rdds: new Map(rdds.map((rdd) => [rdd.id, rdd])),
    shuffles: new Map(shuffles.map((shuffle) => [shuffle.demand, shuffle])),
  };
}

/**
 * One query's.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "../simulator/workload.ts";
 * import { RecordedStages } from "./recorded_stages.ts";
 *
 * const recorded = new RecordedStages(emptyWorkload("nothing"), { executionId: 0, operators: [] });
 * assertEquals(recorded.jobs, []);
 * ```
 */
export class RecordedStages {
  /** The query's jobs, as they were submitted. */
  readonly jobs: readonly Job[];
  readonly demands: readonly StageDemand[];
  readonly #operators: readonly PlanOperator[];
  readonly #index: WorkloadIndex;
  /** Demands in which some operator ran. */
  readonly #ran: ReadonlySet<number>;

  constructor(workload: Workload, { executionId, operators }: QueryPlan, index = indexOfWorkload(workload)) {
    const { jobs, demands } = workload;
    this.jobs = jobs.filter(({ sqlExecutionId }) => sqlExecutionId === executionId);
    this.demands = demands;
    this.#operators = operators;
    this.#index = index;
    this.#ran = new Set(operators.map(({ demand }) => demand).filter((demand) => demand !== null));
  }

  /** Whether all is there that a stage is made of. */
  knows(stage: PlannedStage): boolean {
    const { output, reads, changed } = stage;
    if (this.jobs.at(-1)?.kind !== "result") return false;
    if (!changed) {
      const demand = this.demandOf(stage);
      if (demand === null) return false;
      return (output.kind === "shuffle" ? this.shuffleOf(demand) : this.jobOf(demand)) !== null;
    }
    const ran = stage.operators.some((operator) => this.#operators[operator].demand !== null);
    if (!ran && (stage.operators.length > 0 || reads.length !== 1)) return false;
    if (output.kind === "shuffle" && output.exchange !== null) {
      const writer = this.writerOf(output.exchange);
      if (writer === null || this.shuffleOf(writer) === null) return false;
    }
    const isNew = output.kind === "sample" || output.kind === "broadcast" && output.exchange === null;
    if (output.kind !== "shuffle" && !isNew && this.jobOfOutput(output) === null) return false;
    return reads.length > 0 ? this.#scans(stage).length === 0 : this.scanSources(stage) !== null;
  }

  /** Demand of a stage that is as it was recorded. */
  demandOf({ output, operators, reads }: PlannedStage): number | null {
    if (output.kind === "shuffle") return output.exchange === null ? null : this.writerOf(output.exchange);
    return this.#lastDemand(operators) ?? this.#readerOf(reads)?.demand ?? null;
  }

  /** Demand of the map side of an exchange. */
  writerOf(exchange: number): number | null {
    return this.#operators[exchange].demand;
  }

  shuffleOf(demand: number): Shuffle | null {
    return this.#index.shuffles.get(demand) ?? null;
  }

  jobOf(demand: number): Job | null {
    return this.jobs.find((job) => job.demand === demand) ?? null;
  }

  /** The job that a stage's output was made by. */
  jobOfOutput(output: StageOutput): Job | null {
    if (output.kind === "result") return this.jobs.at(-1) ?? null;
    if (output.kind === "sample") return this.#sampleJob(output.exchange);
    if (output.kind === "broadcast") return output.exchange === null ? null : this.#broadcastJob(output.exchange);
    const shuffle = output.exchange === null ? null : this.shuffleOf(this.writerOf(output.exchange) ?? -1);
    return this.jobs.find(({ shuffleId }) => shuffle !== null && shuffleId === shuffle.id) ?? null;
  }

  /** Jobs that no operator's metrics name and that are still needed: of samples and of subqueries. */
  otherJobs(kept: ReadonlySet<number>, stages: readonly PlannedStage[]): Job[] {
    const broadcast = new Set(stages.map(({ output }) => output.kind === "broadcast" ? output.exchange : null));
    const gone = new Set(
      this.#operators.flatMap(({ name }, index) =>
        name === "BroadcastExchange" && !broadcast.has(index) ? [this.#broadcastJob(index)?.id] : []
      ),
    );
    for (const { output } of stages) if (output.kind === "sample") gone.add(this.#sampleJob(output.exchange)?.id);
    return this.jobs.filter(({ id, demand }) => !kept.has(id) && !this.#ran.has(demand) && !gone.has(id));
  }

  /** The job that sampled an exchange's rows: the last of no operator before the exchange was written. */
  #sampleJob(exchange: number): Job | null {
    const writer = this.writerOf(exchange);
    const written = this.jobs.findIndex(({ demand }) => demand === writer);
    const before = written < 0 ? this.jobs.slice(0, -1) : this.jobs.slice(0, written);
    return before.findLast(({ kind, demand }) => kind === "result" && !this.#ran.has(demand)) ?? null;
  }

  /** Demand of the stage that read a scanning stage's tables. */
  scanned(stage: PlannedStage): StageDemand {
    return this.demands[this.#scans(stage)[0]];
  }

  /** Shares of a scanning stage's tasks in its rows. */
  scanShares(stage: PlannedStage): Float64Array {
    const { inputRecords } = this.scanned(stage);
    const total = sumOf(inputRecords);
    return inputRecords.map((records) => total > 0 ? records / total : 1 / inputRecords.length);
  }

  /** The RDDs that a stage's tables are read by; null where they are not one after another. */
  scanSources(stage: PlannedStage): readonly number[] | null {
    const scans = new Set(this.#scans(stage));
    const [demand] = scans;
    if (demand === undefined || scans.size !== 1) return null;
    const rddId = (this.shuffleOf(demand) ?? this.jobOf(demand))?.rddId;
    return rddId === undefined ? null : this.#sources(rddId, this.demands[demand].inputRecords.length);
  }

  /** Bytes that a stage wrote to a shuffle and now gives otherwise; null where it did not. */
  writtenBytes({ operators }: PlannedStage): number | null {
    const demand = this.#lastDemand(operators);
    const bytes = demand === null ? 0 : sumOf(this.demands[demand].shuffleWriteBytes);
    return bytes > 0 ? bytes : null;
  }

  /** Demand of which a stage is all, if it was a job that collected rows for a broadcast. */
  collected({ operators }: PlannedStage): StageDemand | null {
    const own = new Set(operators);
    const demands = new Set(operators.map((operator) => this.#operators[operator].demand).filter((d) => d !== null));
    const [demand] = demands;
    if (demands.size !== 1 || this.jobOf(demand)?.kind !== "result") return null;
    const isWhole = this.#operators.every((operator, index) => operator.demand !== demand || own.has(index));
    return isWhole ? this.demands[demand] : null;
  }

  #scans({ operators }: PlannedStage): number[] {
    return operators.filter((operator) => this.#operators[operator].inputs.length === 0)
      .map((operator) => this.#operators[operator].demand ?? -1);
  }

  #lastDemand(operators: readonly number[]): number | null {
    for (let i = operators.length - 1; i >= 0; i--) {
      const { demand } = this.#operators[operators[i]];
      if (demand !== null) return demand;
    }
    return null;
  }

  #broadcastJob(exchange: number): Job | null {
    for (let at = this.#operators[this.#operators[exchange].inputs[0]];; at = this.#operators[at.inputs[0]]) {
      if (at.name === "Exchange") return this.#readerOfShuffle(this.shuffleOf(at.demand ?? -1)?.id ?? -1);
      if (at.demand !== null) return this.jobOf(at.demand);
      if (at.inputs.length === 0) return null;
    }
  }

  /** The job of no operator that reads a stage's only shuffle: of a broadcast of what was shuffled already. */
  #readerOf(reads: readonly PlannedStage[]): Job | null {
    const output = reads.length === 1 ? reads[0].output : null;
    if (output?.kind !== "shuffle" || output.exchange === null) return null;
    return this.#readerOfShuffle(this.shuffleOf(this.writerOf(output.exchange) ?? -1)?.id ?? -1);
  }

  #readerOfShuffle(shuffleId: number): Job | null {
    return this.jobs.find(({ kind, demand, rddId }) =>
      kind === "result" && !this.#ran.has(demand) && this.#reads(rddId, shuffleId)
    ) ?? null;
  }

  /** Whether an RDD is computed from a shuffle within its stage. */
  #reads(rddId: number, shuffleId: number): boolean {
    const seen = new Set([rddId]);
    for (const id of seen) {
      for (const dependency of this.#index.rdds.get(id)?.dependencies ?? []) {
        if (dependency.kind === "narrow") seen.add(dependency.rddId);
        else if (dependency.shuffleId === shuffleId) return true;
      }
    }
    return false;
  }

  #sources(rddId: number, numPartitions: number): readonly number[] | null {
    const sources: number[] = [];
    const seen = new Set([rddId]);
    for (const id of seen) {
      const rdd = this.#index.rdds.get(id);
      if (rdd === undefined || rdd.numPartitions !== numPartitions) return null;
      if (rdd.storageLevel !== null || rdd.dependencies.length === 0) {
        sources.push(id);
        continue;
      }
      for (const dependency of rdd.dependencies) {
        if (dependency.kind !== "narrow" || dependency.mapping !== "oneToOne") return null;
        seen.add(dependency.rddId);
      }
    }
    return sources;
  }
}
