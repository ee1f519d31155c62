/**
 * Gathers what a workload is made from while an event log is read, in memory that grows by tens of bytes a task.
 *
 * @module
 */
import type {
  BlockUpdated,
  EventSink,
  SourceWarning,
  SparkEvent,
  SparkPlanInfo,
  TaskEnd,
  TaskStart,
} from "../spark/events.ts";
import { BlockTable } from "./from_event_log_blocks.ts";
import { DRIVER, ExecutorTable } from "./from_event_log_cluster.ts";
import { FailureReasons } from "./from_event_log_faults.ts";
import { PlanTable } from "./from_event_log_plans.ts";
import { type StageAttempt, StageTable } from "./from_event_log_stages.ts";
import { TaskTable } from "./from_event_log_tasks.ts";

/** The application, as far as the log names it. */
export interface ApplicationRecord {
  name: string;
  id: string | null;
  sparkVersion: string;
  startTime: number | null;
  endTime: number | null;
  conf: Readonly<Record<string, string>>;
  jvm: Readonly<Record<string, string>>;
}

/**
 * A sink that keeps an application's jobs, stages, tasks, executors, blocks and plans.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { EventLogCollector } from "./from_event_log_collector.ts";
 *
 * const log = new EventLogCollector();
 * log.event({ kind: "logStart", sparkVersion: "3.5.9" });
 * assertEquals(log.application.sparkVersion, "3.5.9");
 * ```
 */
export class EventLogCollector implements EventSink {
  readonly application: ApplicationRecord = {
    name: "",
    id: null,
    sparkVersion: "",
    startTime: null,
    endTime: null,
    conf: {},
    jvm: {},
  };
  readonly stages = new StageTable();
  readonly tasks = new TaskTable();
  readonly executors = new ExecutorTable();
  readonly blocks = new BlockTable();
  readonly reasons = new FailureReasons();
  readonly plans = new PlanTable();
  /** What is wrong with the log, as its reader says at the end. */
  readonly warnings: SourceWarning[] = [];
  /** Times at which the tasks of each stage attempt were launched, the first few of them, in order. */
  readonly launches = new Map<number, number[]>();
  /** Stage attempts with tasks running, by executor and with their number. */
  readonly #running = new Map<string, Map<StageAttempt, number>>();
  /** Submitted, no task started yet: what the driver broadcasts now is its task binary. */
  #awaitingTasks: StageAttempt | null = null;
  readonly #hosts = new Map<string, number>();

  event(event: SparkEvent): void {
    switch (event.kind) {
      case "taskStart":
        return this.#taskStart(event);
      case "taskEnd":
        return this.#taskEnd(event);
      case "blockUpdated":
        return this.#blockUpdated(event);
      case "jobStart":
        this.blocks.jobStart(event.jobId);
        return this.stages.jobStart(event);
      case "jobEnd":
        return this.stages.jobEnd(event);
      case "stageSubmitted":
        this.#awaitingTasks = this.stages.stageSubmitted(event.stageInfo);
        return;
      case "stageCompleted":
        return this.stages.stageCompleted(event.stageInfo);
      case "unpersistRdd":
        return this.stages.unpersistRdd(event.rddId);
      case "executorAdded":
        return this.executors.added(event);
      case "executorRemoved":
        return this.executors.removed(event);
      case "blockManagerAdded":
        return this.executors.blockManagerAdded(event);
      default:
        return this.#describe(event);
    }
  }

  #describe(event: SparkEvent): void {
    const app = this.application;
    switch (event.kind) {
      case "logStart":
        app.sparkVersion = event.sparkVersion;
        return;
      case "applicationStart":
        app.name = event.appName;
        app.id = event.appId;
        app.startTime = event.time;
        return;
      case "applicationEnd":
        app.endTime = event.time;
        return;
      case "environmentUpdate":
        app.conf = { ...event.sparkProperties };
        app.jvm = { ...event.jvmInformation };
        return;
      case "sqlExecutionStart":
        this.plans.describe(event.executionId, event.description);
        this.#plan(event.executionId, event.plan);
        return;
      case "sqlAdaptiveExecutionUpdate":
        this.#plan(event.executionId, event.plan);
        return;
      case "warning":
        this.warnings.push({ ...event });
        return;
      case "driverAccumUpdates":
        this.plans.driverUpdates(event.updates);
        return;
    }
  }

  #plan(executionId: number, plan: SparkPlanInfo | null): void {
    if (plan !== null) this.plans.add(executionId, plan);
  }

  #taskStart(event: TaskStart): void {
    const attempt = this.stages.attempt(event.stageId, event.stageAttemptId);
    attempt.tasksStarted++;
    if (this.#awaitingTasks === attempt) this.#awaitingTasks = null;
    this.executors.launched(event.executorId, event.host, event.launchTime);
    const launches = this.launches.get(attempt.index);
    if (launches === undefined) this.launches.set(attempt.index, [event.launchTime]);
    else if (launches.length < MAX_LAUNCHES) launches.push(event.launchTime);
    let running = this.#running.get(event.executorId);
    if (running === undefined) this.#running.set(event.executorId, running = new Map());
    running.set(attempt, (running.get(attempt) ?? 0) + 1);
  }

  #taskEnd(event: TaskEnd): void {
    // Posted for finished map tasks whose executor was lost: no attempt of its own (DAGScheduler, SPARK-5259).
    if (event.reason.reason === "Resubmitted") return;
    const attempt = this.stages.attempt(event.stageId, event.stageAttemptId);
    const row = this.tasks.append(event, {
      stage: attempt.index,
      executor: this.executors.get(event.executorId, event.host).index,
      host: this.#host(event.host),
    });
    if (event.reason.reason !== "Success") this.reasons.add(row, event.reason);
    this.stages.accumulate(attempt, event);
    for (const status of event.metrics?.updatedBlocks ?? []) this.blocks.update(status);
    const running = this.#running.get(event.executorId);
    const left = (running?.get(attempt) ?? 0) - 1;
    if (left > 0) running?.set(attempt, left);
    else running?.delete(attempt);
  }

  #blockUpdated(event: BlockUpdated): void {
    const broadcast = this.blocks.update(event, event.executorId);
    if (broadcast === null) return;
    if (event.executorId === DRIVER) {
      if (this.#awaitingTasks !== null && broadcast.readers.size === 0) {
        broadcast.readers.add(this.#awaitingTasks.index);
      }
      return;
    }
    for (const attempt of this.#running.get(event.executorId)?.keys() ?? []) broadcast.readers.add(attempt.index);
  }

  #host(host: string): number {
    const known = this.#hosts.get(host);
    if (known !== undefined) return known;
    this.#hosts.set(host, this.#hosts.size);
    return this.#hosts.size - 1;
  }
}

/** Launch times kept of one stage attempt. */
const MAX_LAUNCHES = 64;
