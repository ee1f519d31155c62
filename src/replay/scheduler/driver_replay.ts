/**
 * Traces of the whole driver side (format spark-driver-trace/1): DAG scheduler, task scheduler, task set managers and
 * result getter together. What is posted to the DAG scheduler is handled after each outside event, in order.
 *
 * @module
 */
import type { DagEvent } from "../../simulator/scheduler/dag_event_loop.ts";
import { Driver } from "../../simulator/scheduler/driver.ts";
import { NameTable } from "../../simulator/scheduler/names.ts";
import type { SparkRules } from "../../spark/versions.ts";
import type { SchedulerSettings } from "../../simulator/scheduler/settings.ts";
import { jobEvent } from "./dag_replay.ts";
import { type Lineage, traceLineage, traceSettings } from "./inputs.ts";
import { ActionLog, DagStates, reasonName, RecordingListener, RecordingTracker, TaskSetStates } from "./recorder.ts";
import {
  CLOCK_START_MS,
  DeferringThreads,
  recordingBackend,
  RecordingTaskScheduler,
  TaskEvents,
  TraceResultBlocks,
} from "./task_replay.ts";
import type { ReplayOptions, TraceLine } from "../trace.ts";

/** Bytes of a serialized DirectTaskResult around its value, as the harness makes them with either Scala version. */
const ENVELOPE_BYTES = { "2.12": 465, "2.13": 554 } as const;

/** A block of more than 255 bytes has a header longer by so much; 12 bytes beside the value are in the block. */
const LONG_BLOCK_BYTES = 3;

/** Bytes of the serialized value in a DirectTaskResult of so many: the traces record the whole alone. */
function valueSizeOf(size: number, rules: SparkRules): number {
  const valueSize = size - ENVELOPE_BYTES[rules.scheduler.hashOrder];
  return valueSize + 12 > 255 ? valueSize - LONG_BLOCK_BYTES : valueSize;
}

/** Class names of the events that concern jobs. */
const JOB_EVENTS: Readonly<Partial<Record<DagEvent["kind"], string>>> = {
  jobSubmitted: "JobSubmitted",
  mapStageSubmitted: "MapStageSubmitted",
  jobCancelled: "JobCancelled",
  stageCancelled: "StageCancelled",
  jobGroupCancelled: "JobGroupCancelled",
  allJobsCancelled: "AllJobsCancelled",
  resubmitFailedStages: "ResubmitFailedStages",
  stageFailed: "StageFailed",
};

/** Replays the events of one trace. */
export class DriverReplay {
  readonly #log = new ActionLog();
  readonly #hostOf = new Map<string, string>();
  readonly #lineage: Lineage;
  readonly #settings: SchedulerSettings;
  readonly #tracker: RecordingTracker;
  readonly #driver: Driver;
  readonly #dagStates: DagStates;
  readonly #taskSetStates = new TaskSetStates();
  readonly #events: TaskEvents;
  #nextJobId = 0;
  #nowMs = CLOCK_START_MS;

  constructor(header: TraceLine, options: ReplayOptions) {
    this.#settings = traceSettings(header, options);
    this.#lineage = traceLineage(header);
    const threads = new DeferringThreads();
    const blocks = new TraceResultBlocks();
    const names = { executors: new NameTable(), hosts: new NameTable() };
    this.#tracker = new RecordingTracker(this.#log, names);
    this.#driver = this.#makeDriver(names, threads, blocks);
    this.#dagStates = new DagStates(
      this.#driver.dagScheduler,
      this.#tracker,
      names.executors,
    );
    this.#events = new TaskEvents(this.#driver.taskScheduler, {
      log: this.#log,
      threads,
      blocks,
      valueSize: (event) => valueSizeOf(event.size, this.#settings.rules),
      hostOf: (executorId) => this.#hostOf.get(executorId) ?? `host-${executorId}`,
    });
  }

  #makeDriver(
    names: { executors: NameTable; hosts: NameTable },
    getterThreads: DeferringThreads,
    resultBlocks: TraceResultBlocks,
  ): Driver {
    const log = this.#log;
    const removeExecutor = this.#settings.rules.scheduler.removesExecutorsAsync
      ? "blockManagerRemoveExecutorAsync"
      : "blockManagerRemoveExecutor";
    return new Driver({
      settings: this.#settings,
      ...names,
      tracker: this.#tracker,
      backend: recordingBackend(log, names.executors),
      blockManagerMaster: {
        removeExecutor: (executor) => log.add(removeExecutor, { exec: names.executors.nameOf(executor) }),
        getLocations: () => [],
      },
      resultBlocks,
      getterThreads,
      listener: new RecordingListener(
        log,
        () => this.#dagStates.noteStages(),
      ),
      nowMs: () => this.#nowMs,
      scheduleResubmit: (delayMs) => log.add("scheduleResubmit", { delayMs }),
      createTaskScheduler: (options) => new RecordingTaskScheduler(options, log, true),
      dagEventHooks: {
        observe: (event) => log.add("dag", this.#describe(event)),
        onError: (error) => {
          throw error;
        },
      },
    });
  }

  #describe(event: DagEvent): Record<string, unknown> {
    const { executors, hosts } = this.#driver;
    switch (event.kind) {
      case "completion":
        return this.#describeCompletion(event.tid, reasonName(event.reason));
      case "begin":
      case "gettingResult":
        return { event: event.kind, tid: event.tid };
      case "taskSetFailed":
        return {
          event: event.kind,
          stage: event.taskSet.stageId,
          attempt: event.taskSet.stageAttemptId,
          message: event.message,
        };
      case "executorAdded":
      case "executorLost":
        return { event: event.kind, exec: executors.nameOf(event.executor) };
      case "workerRemoved":
        return { event: event.kind, host: hosts.nameOf(event.host) };
      case "speculativeTaskSubmitted":
        return {
          event: event.kind,
          stage: event.taskSet.stageId,
          partition: event.taskSet.partitions[event.index],
        };
      default:
        return { event: JOB_EVENTS[event.kind] };
    }
  }

  #describeCompletion(tid: number, reason: string): Record<string, unknown> {
    const { taskSet } = this.#driver.taskScheduler.managerOf(tid);
    return {
      event: "completion",
      stage: taskSet.stageId,
      attempt: taskSet.stageAttemptId,
      partition: taskSet.partitions[this.#driver.infos.index[tid]],
      tid,
      reason,
      taskEpoch: taskSet.epoch,
    };
  }

  /** Replays an event. @returns what the trace records of it. */
  run(event: TraceLine): Record<string, unknown> {
    if (event.type === "offers") {
      for (const { exec, host } of event.offers) this.#hostOf.set(exec, host);
    }
    if (!this.#events.run(event)) this.#runOther(event);
    this.#driver.drain();
    return this.observed();
  }

  #runOther(event: TraceLine): void {
    switch (event.type) {
      case "advance":
        this.#nowMs += event.ms;
        break;
      case "workerRemoved":
        this.#driver.taskScheduler.workerRemoved(
          this.#driver.hosts.idOf(event.host),
        );
        break;
      default:
        this.#driver.eventLoop.post(jobEvent(event, {
          lineage: this.#lineage,
          log: this.#log,
          nextJobId: () => this.#nextJobId++,
        }));
    }
  }

  /** Records that the event could not be handled. */
  failed(className: string, message: string): Record<string, unknown> {
    this.#log.add("error", { class: className, message });
    return this.observed();
  }

  /** What has been recorded since the last event. */
  observed(): Record<string, unknown> {
    this.#dagStates.noteStages();
    const stagesCreated = this.#dagStates.takeNewStages();
    return {
      ...(stagesCreated.length > 0 ? { stagesCreated } : {}),
      actions: this.#log.take(),
      state: {
        ...this.#dagStates.state(),
        taskSets: this.#taskSetStates.changed(
          this.#driver.taskScheduler.managers,
        ),
      },
    };
  }
}
