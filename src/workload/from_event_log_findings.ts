/**
 * What a log tells once all of it is read: lineage, cache use and costs, shared by the steps that make a workload.
 *
 * @module
 */
import { groupBy } from "../simulator/group_by.ts";
import type { Column, Evidence } from "../simulator/workload.ts";
import { SparkConf } from "../spark/conf.ts";
import { type ComputeCosts, computeCosts } from "./from_event_log_cached_rdds.ts";
import { CacheUse } from "./from_event_log_cache_use.ts";
import type { EventLogCollector } from "./from_event_log_collector.ts";
import { median } from "./from_event_log_demands.ts";
import { lineageOf, type LogLineage, type ShuffleRecord } from "./from_event_log_lineage.ts";
import type { RddStage } from "./from_event_log_rdd_consumers.ts";
import type { AccumulatorRecord, StageAttempt } from "./from_event_log_stages.ts";
import { DEFAULT_JOB_SPEC_LIMITS, type JobSpecLimits, LogCounts } from "./limits.ts";

/**
 * The findings about one log. Evidence is added by the steps as they make figures.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { EventLogCollector } from "./from_event_log_collector.ts";
 * import { LogFindings } from "./from_event_log_findings.ts";
 *
 * assertEquals(new LogFindings(new EventLogCollector()).evidence, []);
 * ```
 */
export class LogFindings {
  readonly log: EventLogCollector;
  /** The application's settings, with the defaults of its version. */
  readonly conf: SparkConf;
  readonly lineage: LogLineage;
  readonly use: CacheUse;
  /** Rows of each stage attempt in order of launch. */
  readonly rows: readonly (readonly number[])[];
  /** Cached partitions computed, by row; absent where a stage reads none. */
  readonly computedByRow: ReadonlyMap<number, number>;
  readonly costs: ComputeCosts;
  /** Updates of all stages by accumulator. */
  readonly accumulators: ReadonlyMap<number, AccumulatorRecord>;
  readonly evidence: Evidence[] = [];
  /** Columns are made only for what these let through. */
  readonly counts: LogCounts;
  readonly #attempts: ReadonlyMap<number, readonly StageAttempt[]>;

  /** @throws {LimitError} `limit.tasks`, `limit.partitionDependencies` for numbers that the limits do not allow. */
  constructor(log: EventLogCollector, limits: JobSpecLimits = DEFAULT_JOB_SPEC_LIMITS) {
    const { application } = log;
    this.log = log;
    this.counts = new LogCounts(limits, log.tasks.length);
    for (const { numPartitions } of log.stages.rdds.values()) this.counts.check("tasks", numPartitions);
    this.conf = SparkConf.from(application.conf, application.sparkVersion || undefined);
    this.#attempts = groupBy(log.stages.attempts, ({ stage }) => stage.stageId);
    this.lineage = lineageOf(log.stages);
    this.#countDependencies();
    this.use = new CacheUse({
      tasks: log.tasks,
      rdds: log.stages.rdds,
      dependencies: this.lineage.dependencies,
      blocks: log.blocks.rdds,
    });
    this.rows = rowsByAttempt(log);
    this.accumulators = accumulatorTotals(log);
    this.computedByRow = this.#findCacheUse();
    this.costs = this.#computeCosts();
  }

  /** Submitted attempts of stages, in order of submission. */
  attemptsOf(stageIds: readonly number[]): StageAttempt[] {
    return stageIds.flatMap((id) => this.#attempts.get(id) ?? []).sort((a, b) => a.index - b.index);
  }

  /** Rows of several stage attempts in order of launch. */
  rowsOf(attempts: readonly StageAttempt[]): number[] {
    const { launchTime } = this.log.tasks;
    return attempts.flatMap(({ index }) => this.rows[index]).sort((a, b) => launchTime[a] - launchTime[b] || a - b);
  }

  /** What computing an RDD looks like in the tasks of some rows. */
  rddStage(rddId: number, jobId: number, rows: readonly number[]): RddStage {
    const { tasks, stages } = this.log;
    return {
      tasks,
      rows,
      rdds: stages.rdds,
      dependencies: this.lineage.dependencies,
      shuffles: this.lineage.shuffles,
      rddId,
      isCached: (id) => this.use.isCached(id, jobId),
      writes: null,
      recordsWritten: (shuffle) => this.recordsWritten(shuffle),
      numPartitions: stages.rdds.get(rddId)?.numPartitions ?? 0,
    };
  }

  /** Records that all map tasks of a shuffle wrote. */
  recordsWritten({ stageIds }: ShuffleRecord): number {
    const { shuffleWriteRecords } = this.log.tasks;
    let records = 0;
    for (const { index } of this.attemptsOf(stageIds)) {
      for (const row of this.rows[index]) records += Math.max(0, shuffleWriteRecords[row]);
    }
    return records;
  }

  /** Partitions that need all of another RDD's are walked one by one. */
  #countDependencies(): void {
    const { rdds } = this.log.stages;
    for (const [rddId, dependencies] of this.lineage.dependencies) {
      for (const dependency of dependencies) {
        if (dependency.kind !== "narrow" || dependency.mapping !== "all") continue;
        const [children, parents] = [rddId, dependency.rddId].map((id) => rdds.get(id)?.numPartitions ?? 0);
        this.counts.add("partitionDependencies", children * parents);
      }
    }
  }

  #findCacheUse(): Map<number, number> {
    const computedByRow = new Map<number, number>();
    const attempts = [...this.log.stages.attempts].sort((a, b) =>
      (a.submittedTime ?? 0) - (b.submittedTime ?? 0) || a.index - b.index
    );
    for (const attempt of attempts) {
      const jobId = attempt.stage.jobId ?? 0;
      for (const [row, n] of this.use.stage(attempt, this.rows[attempt.index], jobId)) {
        computedByRow.set(row, n);
      }
    }
    return computedByRow;
  }

  #computeCosts(): ComputeCosts {
    const { tasks, stages } = this.log;
    const kind = (row: number) => {
      const { stage } = stages.attempts[tasks.stage[row]];
      return `${stage.name} ${stage.rddIds[0]}`;
    };
    const netMs = (row: number) => Math.max(0, tasks.runMs[row] - Math.max(0, tasks.fetchWaitMs[row]));
    const own = new Map<string, number[]>();
    for (const [row, computed] of this.computedByRow) {
      if (computed > 0) continue;
      const times = own.get(kind(row));
      if (times === undefined) own.set(kind(row), [netMs(row)]);
      else times.push(netMs(row));
    }
    return computeCosts(this.use.computed, kind, own, netMs);
  }
}

function rowsByAttempt({ tasks, stages }: EventLogCollector): number[][] {
  const rows: number[][] = stages.attempts.map(() => []);
  for (let row = 0; row < tasks.length; row++) rows[tasks.stage[row]].push(row);
  for (const list of rows) list.sort((a, b) => tasks.launchTime[a] - tasks.launchTime[b] || a - b);
  return rows;
}

function accumulatorTotals({ stages }: EventLogCollector): Map<number, AccumulatorRecord> {
  const totals = new Map<number, AccumulatorRecord>();
  for (const { accumulators } of stages.attempts) {
    for (const [id, { name, sum, count, max }] of accumulators) {
      const total = totals.get(id) ?? { name, sum: 0, count: 0, max: 0, byPartition: null };
      total.sum += sum;
      total.count += count;
      total.max = Math.max(total.max, max);
      totals.set(id, total);
    }
  }
  return totals;
}

/**
 * A column by partition of which some are known; the rest gets their median.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { filledColumn } from "./from_event_log_findings.ts";
 *
 * assertEquals(filledColumn(3, new Map([[0, 4], [2, 6]])), new Float64Array([4, 5, 6]));
 * ```
 */
export function filledColumn(numPartitions: number, known: ReadonlyMap<number, number>): Column {
  const column = new Float64Array(numPartitions).fill(median([...known.values()]));
  for (const [partition, value] of known) if (partition < numPartitions) column[partition] = value;
  return column;
}
