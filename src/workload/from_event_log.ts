/**
 * From an event log to a workload: what the job demands, free of the settings under which it ran.
 *
 * @module
 */
import type { Cluster, Job, Shuffle, Workload } from "../simulator/workload.ts";
import type { EventSink, SparkEvent } from "../spark/events.ts";
import { localMaster } from "../spark/master.ts";
import { broadcastsOf } from "./from_event_log_broadcasts.ts";
import { DRIVER } from "./from_event_log_cluster.ts";
import { EventLogCollector } from "./from_event_log_collector.ts";
import { LogFindings } from "./from_event_log_findings.ts";
import { JOB_DESCRIPTION, JOB_GROUP, jobTimings, SCHEDULER_POOL, SQL_EXECUTION } from "./from_event_log_jobs.ts";
import { jvmOf } from "./from_event_log_jvm.ts";
import type { ShuffleRecord } from "./from_event_log_lineage.ts";
import { queriesOf } from "./from_event_log_queries.ts";
import { rddsOf } from "./from_event_log_rdds.ts";
import { StageDemands } from "./from_event_log_stage_demands.ts";
import type { StageAttempt, StageRecord } from "./from_event_log_stages.ts";
import { type JobSpecLimits, limitsOf } from "./limits.ts";

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
  readonly #limits: JobSpecLimits;

  /**
   * Has no events yet.
   *
   * @param limits how many partitions and blocks a log may tell of beyond the tasks that it shows
   */
  constructor(limits: Partial<JobSpecLimits> = {}) {
    this.#limits = limitsOf(limits);
  }

  /** Takes the next event of the log. */
  event(event: SparkEvent): void {
    this.#log.event(event);
  }

  /**
   * The workload of what has been read so far.
   *
   * @throws {LimitError} `limit.tasks`, `limit.blocks`, `limit.partitionDependencies` where the log tells of more than is to be held.
   */
  workload(): Workload {
    return workloadOf(new LogFindings(this.#log, this.#limits));
  }
}

/** The workload that the findings about a log make. */
function workloadOf(findings: LogFindings): Workload {
  const { log, lineage } = findings;
  const { application } = log;
  const startTime = startOf(log);
  const rdds = rddsOf(findings);
  const demands = new StageDemands(findings);
  const demandOfShuffle = lineage.shuffles.map((shuffle) => {
    const attempts = findings.attemptsOf(shuffle.stageIds);
    const stage = attempts[0]?.stage ?? log.stages.stages.get(shuffle.stageIds[0] ?? -1);
    return demands.add(stage ?? unknownStage(shuffle.mapRddId), attempts);
  });
  const jobs = jobsOf(findings, demands, demandOfShuffle, startTime);
  const shuffles = lineage.shuffles.map((shuffle, i): Shuffle => ({
    id: shuffle.id,
    rddId: shuffle.mapRddId,
    numReducers: plannedReducers(findings, shuffle) ?? shuffle.numReducers,
    demand: demandOfShuffle[i],
    reducerShares: null,
  }));
  const queries = queriesOf({
    plans: log.plans,
    accumulator: (id) => findings.accumulators.get(id),
    attempts: demands.attempts,
  });
  return {
    name: application.name,
    appId: application.id,
    sparkVersion: application.sparkVersion,
    seed: 0,
    conf: masterOf(log) === application.conf["spark.master"]
      ? application.conf
      : { ...application.conf, "spark.master": masterOf(log) },
    cluster: clusterOf(log, startTime),
    pools: null,
    rdds,
    shuffles,
    jobs,
    demands: demands.demands,
    broadcasts: broadcastsOf(log.blocks.broadcasts.values(), new Map()),
    faults: [...demands.faults, ...log.executors.faults(startTime)],
    ...queries.length === 0 ? {} : { queries },
    evidence: findings.evidence,
    warnings: [
      ...log.warnings.map(({ code, message, count }) => ({ code, message, count })),
      ...poolWarnings(application.conf),
      ...barrierWarnings(log.stages.barrierStages.size),
    ],
  };
}

/** The file that describes pools is not in a log. */
function poolWarnings(conf: Readonly<Record<string, string>>): Workload["warnings"] {
  if (conf["spark.scheduler.mode"]?.trim().toUpperCase() !== "FAIR") return [];
  const message =
    "The log does not tell the weights and minimum shares of the scheduler's pools: all are taken as equal";
  return [{ code: "workload.pools", message, count: 1 }];
}

function barrierWarnings(count: number): Workload["warnings"] {
  if (count === 0) return [];
  const message =
    "Barrier stages run as ordinary ones: their tasks do not have to start together, and one that fails " +
    "runs again alone";
  return [{ code: "workload.barrier", message, count }];
}

/** Start of the application; of a log that begins later, the first thing it tells, ms. */
function startOf({ application, stages, executors }: EventLogCollector): number {
  if (application.startTime !== null) return application.startTime;
  const times = [...stages.jobs.map(({ time }) => time), ...executors.records.map(({ addedTime }) => addedTime)]
    .filter((time) => time !== null);
  return times.reduce((first, time) => Math.min(first, time), times[0] ?? 0);
}

/** Partitions that an exchange writes; adaptive execution may read several of them in one task. */
function plannedReducers(findings: LogFindings, { stageIds }: ShuffleRecord): number | null {
  const { plans } = findings.log;
  for (const { accumulators } of findings.attemptsOf(stageIds)) {
    for (const [id, { name }] of accumulators) {
      if (name !== "shuffle records written" && name !== "data size") continue;
      const node = plans.metric(id)?.node;
      const planned = node === undefined ? null : plans.exchangePartitions(node);
      if (planned !== null) return planned;
    }
  }
  return null;
}

function jobsOf(
  findings: LogFindings,
  demands: StageDemands,
  demandOfShuffle: readonly number[],
  startTime: number,
): Job[] {
  // A job without stages (of an RDD without partitions) is over at once: those after it follow the ones before.
  const targets = findings.lineage.targets.filter(({ stage }) => stage !== null && stage.rddIds.length > 0);
  const timings = jobTimings(targets, startTime);
  const jobs: Job[] = [];
  for (const [i, { job, stage, shuffle }] of targets.entries()) {
    if (stage === null) continue;
    const attempts = findings.attemptsOf([stage.stageId]);
    const execution = job.properties[SQL_EXECUTION];
    jobs.push({
      id: job.jobId,
      kind: shuffle === null ? "result" : "mapStage",
      rddId: stage.rddIds[0],
      shuffleId: shuffle?.id ?? null,
      partitions: shuffle === null ? partitionsOf(findings, stage, attempts) : null,
      demand: shuffle === null ? demands.add(stage, attempts) : demandOfShuffle[shuffle.id],
      ...timings[i],
      // A job that succeeded does not show what its program does about failures: as most do, it ends.
      failureHandled: job.failure !== null && i + 1 < targets.length,
      name: stage.name,
      group: job.properties[JOB_GROUP] ?? null,
      pool: job.properties[SCHEDULER_POOL] ?? null,
      description: job.properties[JOB_DESCRIPTION] ??
        (execution === undefined ? null : findings.log.plans.description(Number(execution))),
      sqlExecutionId: execution === undefined ? null : Number(execution),
    });
  }
  return jobs;
}

/** The partitions that a job computed when it was not all (take, first): those of its tasks. */
function partitionsOf(
  { log, rows }: LogFindings,
  stage: StageRecord,
  attempts: readonly StageAttempt[],
): number[] | null {
  const numPartitions = log.stages.rdds.get(stage.rddIds[0])?.numPartitions ?? stage.numTasks;
  if (stage.numTasks >= numPartitions) return null;
  const partitions = new Set<number>();
  for (const { index } of attempts) for (const row of rows[index]) partitions.add(log.tasks.partition[row]);
  for (let p = 0; partitions.size < stage.numTasks && p < numPartitions; p++) partitions.add(p);
  return [...partitions].sort((a, b) => a - b);
}

/** spark.master; a log without it in which the driver ran tasks is of a local application. */
function masterOf({ application, executors }: EventLogCollector): string {
  const driverRan = (executors.find(DRIVER)?.tasksStarted ?? 0) > 0;
  return application.conf["spark.master"] ?? (driverRan ? "local[1]" : "");
}

function clusterOf(log: EventLogCollector, startTime: number): Cluster {
  const { application, executors } = log;
  const master = masterOf(log);
  const local = localMaster(master);
  const driver = executors.find(DRIVER);
  return {
    master,
    executors: executors.specs(startTime, local !== null, local?.cores ?? 1),
    provision: null,
    driver: {
      host: driver?.host ?? "localhost",
      maxOnHeapMemory: driver?.maxOnHeapMemory ?? null,
      maxOffHeapMemory: driver?.maxOffHeapMemory ?? null,
    },
    ...jvmOf(application, executors, local !== null),
  };
}

/** A map stage that no log entry describes. */
function unknownStage(rddId: number): StageRecord {
  return { stageId: -1, jobId: null, name: "", details: "", numTasks: 0, rddIds: [rddId], parentIds: [] };
}
