/**
 * The driver of a simulated application: Spark's scheduler (scheduler/driver.ts) tied to the simulated executors, and
 * its listener bus tied to the event sink.
 *
 * @module
 */
import type { EventSink, TaskMetrics } from "../spark/events.ts";
import type { StorageLevel } from "../spark/storage_level.ts";
import type { ApplicationEvents } from "./application_events.ts";
import type { BlockManagerMaster } from "./block_manager_master.ts";
import type { CostModel } from "./cost_model.ts";
import type { Executor } from "./executor.ts";
import type { FaultInjector } from "./fault_injector.ts";
import type { JobRunner } from "./job_runner.ts";
import type { Lineage } from "./lineage.ts";
import { ListenerEvents, type ListenerHost } from "./listener_events.ts";
import type { MapOutputView } from "./map_output_view.ts";
import type { CompletionEvent, SchedulerListener } from "./scheduler/dag_scheduler_types.ts";
import { Driver } from "./scheduler/driver.ts";
import type { BlockManagerId } from "./scheduler/map_output_tracker.ts";
import type { Stage } from "./scheduler/stage.ts";
import { KILLED, SPECULATIVE, type TaskInfos } from "./scheduler/task_infos.ts";
import type { NameTable } from "./scheduler/names.ts";
import type { TaskResult } from "./scheduler/task_result_getter.ts";
import type { SchedulerBackend } from "./scheduler/task_scheduler_types.ts";
import type { SimulationSettings } from "./settings.ts";
import type { StageBook } from "./stage_book.ts";
import type { Task, TaskIdentity } from "./task.ts";
import type { TaskRunner } from "./task_runner.ts";
import type { Rdd, StageDemand, Workload } from "./workload.ts";

/** The parts of the simulation that the driver works with. */
export interface DriverSideHost {
  readonly workload: Workload;
  readonly settings: SimulationSettings;
  readonly sink: EventSink;
  readonly cost: CostModel;
  readonly lineage: Lineage;
  readonly master: BlockManagerMaster;
  readonly executors: readonly Executor[];
  readonly runner: TaskRunner;
  readonly book: StageBook;
  /** Made later than the driver. */
  jobs(): JobRunner;
  readonly faults: FaultInjector;
  readonly application: ApplicationEvents;
  readonly backend: SchedulerBackend;
  /** Puts what else hears the scheduler before the event sink's listener. */
  listener(events: SchedulerListener): SchedulerListener;
  /** Made later than the driver. */
  mapOutputs(): MapOutputView;
  storageLevel(rdd: number): StorageLevel | null;
  now(): number;
  after(delayMs: number, work: () => void): void;
}

/** The driver's side. */
export class DriverSide implements ListenerHost {
  readonly driver: Driver;
  readonly #host: DriverSideHost;
  /** Attempts whose end the listeners have yet to hear of, by task id. */
  readonly #ended: (Task | null)[] = [];

  constructor(host: DriverSideHost) {
    this.#host = host;
    this.driver = new Driver({
      settings: host.settings.scheduler,
      backend: host.backend,
      blockManagerMaster: {
        removeExecutor: () => {},
        getLocations: (rddId, partition) => this.#locations(rddId, partition),
      },
      resultBlocks: {
        fetch: (tid, size, done) => this.#fetch(tid, size, done),
        remove: (tid) => host.runner.removeResult(tid),
      },
      listener: host.listener(new ListenerEvents(this)),
      nowMs: () => host.now(),
      scheduleResubmit: (delayMs) =>
        host.after(delayMs, () => {
          this.driver.resubmitFailedStages();
          this.driver.drain();
        }),
      taskProgress: (tid) => this.#progress(tid),
    });
  }

  // What the executors report

  /** A status update has arrived. */
  statusArrived(task: Task): void {
    const { tid } = task.id;
    const { taskScheduler } = this.driver;
    const outcome = task.outcome!;
    this.#ended[tid] = task;
    if (outcome.kind === "failed") {
      const { state, reason } = outcome;
      if (reason.reason !== "Success" && reason.reason !== "Resubmitted") taskScheduler.taskFailed(tid, state, reason);
    } else {
      const { path, size, valueSize } = outcome;
      const { shuffle, partition } = task.id;
      const output = shuffle === null
        ? null
        : this.#host.mapOutputs().sizesOf(shuffle, task.demand.shuffleWriteBytes[partition]);
      const kind = path === "direct" ? "direct" : "indirect";
      const result = { kind, size, valueSize, output } as const;
      const deserializationError = this.#unreadable(task.id);
      taskScheduler.taskFinished(tid, deserializationError === null ? result : { ...result, deserializationError });
    }
    this.driver.drain();
  }

  /** Why the result of an attempt cannot be read; null when it can. */
  #unreadable({ demandIndex, partition, attemptNumber }: TaskIdentity): TaskResult["deserializationError"] | null {
    const fault = this.#host.faults.unreadable(demandIndex, partition, attemptNumber);
    return fault === null ? null : { classNotFound: fault.classNotFound, message: fault.description };
  }

  /** What is to be known of an attempt to run it. */
  identity(tid: number): TaskIdentity {
    const { taskSet } = this.driver.taskScheduler.managerOf(tid);
    const part = this.#host.book.part(taskSet.stageId);
    return {
      tid,
      stageId: taskSet.stageId,
      stageAttemptId: taskSet.stageAttemptId,
      attemptNumber: this.infos.attempt[tid],
      speculative: this.infos.has(tid, SPECULATIVE),
      demandIndex: part.demand,
      rdd: part.rdd,
      partition: this.partitionOf(tid),
      shuffle: part.shuffle,
    };
  }

  /** The demand that an attempt is of. */
  demandOf(tid: number): StageDemand {
    const { taskSet } = this.driver.taskScheduler.managerOf(tid);
    return this.#host.workload.demands[this.#host.book.part(taskSet.stageId).demand];
  }

  #locations(rddId: number, partition: number): BlockManagerId[] {
    const { master, lineage, executors } = this.#host;
    const block = master.rddBlock(lineage.rddIndex(rddId), partition);
    return master.locations(block).map((executor) => ({
      executor,
      host: this.driver.hosts.idOf(executors[executor].host),
    }));
  }

  /** The driver fetches the block of an indirect result over the network, from disk when it was dropped there. */
  #fetch(tid: number, size: number, done: (found: boolean) => void): void {
    const { runner, cost, faults } = this.#host;
    const stored = runner.resultBlock(tid);
    const diskBytes = stored?.task.executor.blocks.entry(stored.block)?.diskBytes ?? 0;
    const ms = cost.messageMs + size / cost.networkBytesPerMs + diskBytes / cost.diskBytesPerMs + cost.resultHandlingMs;
    const { demandIndex, partition, attemptNumber } = this.identity(tid);
    this.#host.after(ms, () => {
      const lost = runner.resultBlock(tid) === null || faults.losesResult(demandIndex, partition, attemptNumber);
      if (lost) this.#sayLost(tid, size);
      done(!lost);
      this.driver.drain();
    });
  }

  #sayLost(tid: number, numBytes: number): void {
    const { stageId, stageAttemptId } = this.identity(tid);
    this.#host.sink.event({
      kind: "taskResult",
      time: this.#host.now(),
      executorId: this.executors.nameOf(this.infos.executor[tid]),
      taskId: tid,
      stageId,
      stageAttemptId,
      path: "lost",
      numBytes,
    });
  }

  #progress(tid: number): { records: number; runTimeMs: number } {
    const task = this.#ended[tid] ?? this.#host.runner.running(tid);
    if (task === null) return { records: 0, runTimeMs: 0 };
    const { metrics } = task;
    return { records: metrics.inputRecords + metrics.shuffleRecordsRead, runTimeMs: metrics.executorRunTime };
  }

  // ListenerHost

  get sink(): EventSink {
    return this.#host.sink;
  }

  get infos(): TaskInfos {
    return this.driver.infos;
  }

  get executors(): NameTable {
    return this.driver.executors;
  }

  get hosts(): NameTable {
    return this.driver.hosts;
  }

  nowMs(): number {
    return this.#host.now();
  }

  pipeline(stage: Stage): readonly Rdd[] {
    return this.#host.book.pipeline(stage);
  }

  storageLevelOf(rddId: number): StorageLevel | null {
    return this.#host.storageLevel(this.#host.lineage.rddIndex(rddId));
  }

  cachedOf(rddId: number): ReturnType<BlockManagerMaster["cachedOf"]> {
    return this.#host.master.cachedOf(this.#host.lineage.rddIndex(rddId));
  }

  parentIdsOf(rdd: Rdd): readonly number[] {
    const { lineage, workload } = this.#host;
    return rdd.dependencies.map((dependency) =>
      dependency.kind === "narrow"
        ? dependency.rddId
        : workload.shuffles[lineage.shuffleIndex(dependency.shuffleId)].rddId
    );
  }

  describe(stage: Stage): { readonly name: string; readonly details: string } {
    return this.#host.book.describe(stage);
  }

  partitionOf(tid: number): number {
    return this.driver.taskScheduler.managerOf(tid).taskSet.partitions[this.infos.index[tid]];
  }

  metricsOf(tid: number): TaskMetrics | null {
    const { countsKilledTasks } = this.#host.settings.scheduler.rules.scheduler;
    if (!countsKilledTasks && this.infos.has(tid, KILLED)) return null;
    return this.#ended[tid]?.metrics ?? null;
  }

  jobStarted(jobId: number): Readonly<Record<string, string>> {
    const { group, pool, description, sqlExecutionId } = this.#host.jobs().jobOf(jobId);
    const properties: Record<string, string> = {};
    if (group !== null) properties["spark.jobGroup.id"] = group;
    if (pool !== null) properties["spark.scheduler.pool"] = pool;
    if (description !== null) properties["spark.job.description"] = description;
    if (sqlExecutionId !== null) properties["spark.sql.execution.id"] = String(sqlExecutionId);
    return properties;
  }

  jobEnded(jobId: number, failure: string | null): void {
    this.#host.jobs().ended(jobId, failure);
  }

  stageStarted(stage: Stage): void {
    this.#host.book.note(stage);
  }

  stageEnded(stage: Stage): void {
    for (const executor of this.#host.executors) {
      if (!executor.alive || !executor.changed) continue;
      executor.changed = false;
      this.#host.application.stageMetrics(executor, stage.id, stage.latestInfo.attemptNumber);
    }
  }

  taskEnded({ tid }: CompletionEvent): void {
    this.#ended[tid] = null;
  }

  schedulerFailed(message: string): void {
    this.#host.sink.event({ kind: "warning", code: "simulation.scheduler", message, count: 1 });
    this.#host.jobs().contextStopped();
  }
}
