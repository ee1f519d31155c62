/**
 * The demands of an event log's stages, with their consumers, broadcasts and faults.
 *
 * @module
 */
import type { Column, ConsumerDemand, Fault, StageDemand } from "../simulator/workload.ts";
import { thresholdsOf } from "../report/thresholds.ts";
import { messageLimit } from "../spark/rpc_message.ts";
import { broadcastJoinDemand } from "./from_event_log_broadcast_joins.ts";
import { placeConsumers } from "./from_event_log_consumer_times.ts";
import { demandOf } from "./from_event_log_demands.ts";
import { recordedDiskRatio, recordedTaskSettings, shuffledDiskRatio } from "./from_event_log_disk_ratio.ts";
import { taskFaults } from "./from_event_log_faults.ts";
import type { LogFindings } from "./from_event_log_findings.ts";
import { SQL_EXECUTION } from "./from_event_log_jobs.ts";
import { withRefusedResults } from "./from_event_log_refused_results.ts";
import { rddConsumers, shufflesRead } from "./from_event_log_rdd_consumers.ts";
import { sqlConsumers } from "./from_event_log_sql_consumers.ts";
import type { StageAttempt, StageRecord } from "./from_event_log_stages.ts";
import { serializedTaskBytes } from "./from_event_log_task_sizes.ts";

/**
 * Makes demands one after another and numbers them.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { EventLogCollector } from "./from_event_log_collector.ts";
 * import { LogFindings } from "./from_event_log_findings.ts";
 * import { StageDemands } from "./from_event_log_stage_demands.ts";
 *
 * const demands = new StageDemands(new LogFindings(new EventLogCollector()));
 * const stage = { stageId: 0, jobId: 0, name: "count", details: "", numTasks: 1, rddIds: [], parentIds: [] };
 * assertEquals([demands.add(stage, []), demands.demands.length], [0, 1]);
 * ```
 */
export class StageDemands {
  readonly demands: StageDemand[] = [];
  /** Of each demand. */
  readonly attempts: (readonly StageAttempt[])[] = [];
  readonly faults: Fault[] = [];
  readonly #findings: LogFindings;
  /** Broadcasts read, by stage attempt. */
  readonly #broadcasts = new Map<number, number[]>();
  readonly #executorsWereLost: boolean;

  constructor(findings: LogFindings) {
    this.#findings = findings;
    for (const { id, readers } of findings.log.blocks.broadcasts.values()) {
      for (const reader of readers) this.#broadcasts.set(reader, [...this.#broadcasts.get(reader) ?? [], id]);
    }
    this.#executorsWereLost = findings.log.executors.faults(0).length > 0;
  }

  /**
   * Adds the demand of a stage's tasks over all of its attempts; returns its index.
   *
   * @throws {LimitError} `limit.tasks`
   */
  add(stage: StageRecord, attempts: readonly StageAttempt[]): number {
    const { log, computedByRow, costs } = this.#findings;
    const { tasks, reasons, stages } = log;
    const rows = this.#findings.rowsOf(attempts);
    const numPartitions = stages.rdds.get(stage.rddIds[0])?.numPartitions ?? stage.numTasks;
    this.#findings.counts.add("tasks", numPartitions);
    const cachedInputBytes = new Map<number, number>();
    for (const row of rows) if (computedByRow.get(row) === 0) cachedInputBytes.set(row, tasks.inputBytes[row]);
    const { demand, filled } = demandOf({
      tasks,
      stage,
      rows,
      numPartitions,
      cachedComputeMs: costs.byRow,
      shuffleIsCached: this.#shuffleIsCached(stage),
      cachedInputBytes,
    });
    const index = this.demands.length;
    this.attempts.push(attempts);
    this.demands.push({
      ...demand,
      resultBytes: this.#resultBytes(stage, attempts, demand.resultBytes, filled),
      serializedTaskBytes: this.#taskBytes(stage, attempts, numPartitions),
      consumers: this.#consumers(stage, attempts, rows, numPartitions),
      broadcastIds: [...new Set(attempts.flatMap((attempt) => this.#broadcasts.get(attempt.index) ?? []))],
    });
    if (filled.size > 0 && attempts.length > 0 && stage.numTasks >= numPartitions) this.#sayFilled(stage, filled.size);
    const executorsWereLost = this.#executorsWereLost;
    this.faults.push(...taskFaults({ tasks, reasons, rows, demand: index, executorsWereLost }));
    return index;
  }

  /** Of results that the driver refused the message that ended the stage has the sum. */
  #resultBytes(
    stage: StageRecord,
    attempts: readonly StageAttempt[],
    resultBytes: Column,
    unknown: ReadonlySet<number>,
  ): Column {
    const { conf } = this.#findings;
    const sizes = withRefusedResults({
      resultBytes,
      unknown,
      failureReasons: attempts.map(({ failureReason }) => failureReason),
      countsValueBytesOnly: conf.rules.results.countsValueBytesOnly,
      effectiveDirectLimit: thresholdsOf(conf).effectiveDirectLimit,
    });
    if (sizes === null) return resultBytes;
    this.#findings.evidence.push({
      subject: `stage ${stage.stageId} (${stage.name})`,
      field: "resultBytes",
      grade: "inferred",
      how:
        `${unknown.size} results have no metrics: an equal share of what the message of spark.driver.maxResultSize leaves`,
    });
    return sizes;
  }

  #sayFilled(stage: StageRecord, filled: number): void {
    this.#findings.evidence.push({
      subject: `stage ${stage.stageId} (${stage.name})`,
      field: "tasks",
      grade: "assumed",
      how: `${filled} of ${stage.numTasks} partitions have no finished task: as the median of the others`,
    });
  }

  #consumers(
    stage: StageRecord,
    attempts: readonly StageAttempt[],
    rows: readonly number[],
    numPartitions: number,
  ): ConsumerDemand[] {
    const { log, accumulators, use, lineage } = this.#findings;
    const { plans } = log;
    const sql = sqlConsumers({ attempts, plans, numPartitions, accumulator: (id) => accumulators.get(id) });
    const relations = broadcastJoinDemand({ attempts, plans, tasks: log.tasks, rows, numPartitions });
    const broadcast = relations === null ? [] : [relations];
    if (sql.length > 0) {
      const spilled = rows.filter((row) => log.tasks.memorySpilled[row] > 0);
      const ratio =
        (spilled.length === 0 ? null : recordedDiskRatio(sql, log.tasks, spilled, recordedTaskSettings(log))) ??
          shuffledDiskRatio(sql, log.tasks, rows);
      return [...placeConsumers(sql.map((consumer) => ({ ...consumer, diskBytesPerByte: ratio }))), ...broadcast];
    }
    if (broadcast.length > 0) return broadcast;
    const [own] = stage.rddIds;
    const jobId = stage.jobId ?? 0;
    // What a cached RDD takes to be computed is the RDD's, also where it is the stage's own.
    if (own === undefined || use.isCached(own, jobId)) return [];
    return placeConsumers(rddConsumers({
      ...this.#findings.rddStage(own, jobId, rows),
      writes: lineage.shuffleOfStage.get(stage.stageId) ?? null,
    }));
  }

  /** Tasks over the elements of a collection of the driver carry them. */
  #taskBytes(stage: StageRecord, attempts: readonly StageAttempt[], numPartitions: number): Float64Array | null {
    const { stages, launches, executors } = this.#findings.log;
    const carries = stage.rddIds.some((id) => stages.rdds.get(id)?.name === "ParallelCollectionRDD");
    const job = stages.jobs.find(({ jobId }) => jobId === stage.jobId);
    // Queries parallelize ranges and file lists, which are small.
    if (!carries || attempts.length === 0 || job?.properties[SQL_EXECUTION] !== undefined) return null;
    const slots = executors.records.reduce((sum, { cores }) => sum + (cores ?? 0), 0);
    const { bytes: limit } = messageLimit(this.#findings.conf);
    const bytes = serializedTaskBytes({ launches: launches.get(attempts[0].index) ?? [], slots, limit });
    if (bytes === null) return null;
    this.#findings.evidence.push({
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
    const { use, lineage: { dependencies } } = this.#findings;
    const [rddId] = stage.rddIds;
    const jobId = stage.jobId ?? 0;
    const isCached = (id: number) => use.isCached(id, jobId);
    if (rddId === undefined || !stage.rddIds.some(isCached)) return false;
    return isCached(rddId) || shufflesRead({ rddId, dependencies, isCached }).size === 0;
  }
}
