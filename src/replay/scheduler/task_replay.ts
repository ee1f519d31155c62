/**
 * Traces of the task scheduler, its task set managers and the result getter (format spark-tsm-trace/1): the DAG scheduler
 * and the backend are recorded.
 *
 * @module
 */
import { NameTable } from "../../simulator/scheduler/names.ts";
import type { SchedulerSettings } from "../../simulator/scheduler/settings.ts";
import { TaskInfos } from "../../simulator/scheduler/task_infos.ts";
import type { GetterThreads } from "../../simulator/scheduler/task_result_getter.ts";
import { TaskSchedulerImpl, type TaskSchedulerOptions } from "../../simulator/scheduler/task_scheduler.ts";
import type { DagSchedulerClient, SchedulerBackend } from "../../simulator/scheduler/task_scheduler_types.ts";
import { TaskSet } from "../../simulator/scheduler/task_set.ts";
import type { TaskSetManager } from "../../simulator/scheduler/task_set_manager.ts";
import { traceFailure, traceLocations, traceLossReason, traceSettings, unknownEvent } from "./inputs.ts";
import { ActionLog, lossReasonName, reasonName, recordLaunches, submitTasksAction, TaskSetStates } from "./recorder.ts";
import type { ReplayOptions, TraceLine } from "../trace.ts";

/** Manual clock of the harness at the start, ms. */
export const CLOCK_START_MS = 1000;

/** The harness serializes n value bytes to so many more. */
const VALUE_OVERHEAD_BYTES = 27;

/** The getter's threads of the harness: work runs at once, or with `defer` waits for drainResults. */
export class DeferringThreads implements GetterThreads {
  isDeferring = false;
  #deferred: (() => void)[] = [];

  acquire(): boolean {
    return !this.isDeferring;
  }

  release(): void {}

  enqueue(work: () => void): void {
    this.#deferred.push(work);
  }

  drain(): void {
    const works = this.#deferred;
    this.#deferred = [];
    for (const work of works) work();
  }
}

/** Indirect results that the harness has stored, or not. */
export class TraceResultBlocks {
  readonly #available = new Set<number>();

  note(tid: number, isAvailable: boolean): void {
    if (isAvailable) this.#available.add(tid);
    else this.#available.delete(tid);
  }

  fetch(tid: number, _size: number, done: (found: boolean) => void): void {
    done(this.#available.has(tid));
  }

  remove(tid: number): void {
    this.#available.delete(tid);
  }
}

/** A task scheduler whose calls are actions, as the harness overrides them. */
export class RecordingTaskScheduler extends TaskSchedulerImpl {
  readonly #log: ActionLog;
  readonly #recordsSubmits: boolean;

  constructor(
    options: TaskSchedulerOptions,
    log: ActionLog,
    recordsSubmits: boolean,
  ) {
    super(options);
    this.#log = log;
    this.#recordsSubmits = recordsSubmits;
  }

  override submitTasks(taskSet: TaskSet): void {
    if (this.#recordsSubmits) {
      this.#log.add("submitTasks", submitTasksAction(taskSet, this.epoch()));
    }
    super.submitTasks(taskSet);
  }

  override cancelTasks(
    stageId: number,
    interruptThread: boolean,
    reason: string,
  ): void {
    if (this.#recordsSubmits) {
      this.#log.add("cancelTasks", {
        stage: stageId,
        interrupt: interruptThread,
      });
    }
    super.cancelTasks(stageId, interruptThread, reason);
  }

  override taskSetFinished(manager: TaskSetManager): void {
    this.#log.add("taskSetFinished", {
      stage: manager.stageId,
      attempt: manager.taskSet.stageAttemptId,
    });
    super.taskSetFinished(manager);
  }
}

/** A backend whose calls are actions. */
export function recordingBackend(
  log: ActionLog,
  executors: NameTable,
): SchedulerBackend {
  return {
    reviveOffers: () => log.add("reviveOffers"),
    killTask: (tid, executor, { interruptThread, reason }) =>
      log.add("killTask", {
        tid,
        exec: executors.nameOf(executor),
        interrupt: interruptThread,
        reason,
      }),
  };
}

/** What an event does to a task scheduler, apart from submitting task sets: parts B and D share it. */
export class TaskEvents {
  readonly #scheduler: TaskSchedulerImpl;
  readonly #log: ActionLog;
  readonly #threads: DeferringThreads;
  readonly #blocks: TraceResultBlocks;
  /** Serialized value of a direct result, from the event. */
  readonly #valueSize: (event: TraceLine) => number;
  readonly #hostOf: (executorId: string) => string;

  constructor(
    scheduler: TaskSchedulerImpl,
    options: {
      readonly log: ActionLog;
      readonly threads: DeferringThreads;
      readonly blocks: TraceResultBlocks;
      readonly valueSize?: (event: TraceLine) => number;
      readonly hostOf: (executorId: string) => string;
    },
  ) {
    this.#scheduler = scheduler;
    this.#log = options.log;
    this.#threads = options.threads;
    this.#blocks = options.blocks;
    this.#valueSize = options.valueSize ??
      ((event) => event.valueBytes + VALUE_OVERHEAD_BYTES);
    this.#hostOf = options.hostOf;
  }

  /** Runs an event; false when it is none of these. */
  run(event: TraceLine): boolean {
    const scheduler = this.#scheduler;
    this.#threads.isDeferring = event.defer === true;
    switch (event.type) {
      case "offers":
        this.#offer(event);
        return true;
      case "running":
        scheduler.taskRunning(event.tid);
        return true;
      case "finishedDirect":
      case "finishedIndirect":
        this.#finish(event);
        return true;
      case "failed": {
        const { state, reason } = traceFailure(event, this.#hostOf);
        scheduler.taskFailed(event.tid, state, reason);
        return true;
      }
      case "drainResults":
        this.#threads.drain();
        return true;
      case "executorLost":
        scheduler.executorLost(
          scheduler.executors.idOf(event.exec),
          traceLossReason(event.reason ?? "slaveLost"),
        );
        return true;
      case "checkSpeculatable":
        scheduler.checkSpeculatableTasks();
        return true;
      default:
        return false;
    }
  }

  #offer(event: TraceLine): void {
    const { executors, hosts } = this.#scheduler;
    const offers: TraceLine[] = event.offers;
    const tids = this.#scheduler.resourceOffers({
      executors: offers.map(({ exec }) => executors.idOf(exec)),
      hosts: offers.map(({ host }) => hosts.idOf(host)),
      cores: offers.map(({ cores }) => cores),
    });
    recordLaunches(this.#log, this.#scheduler, tids);
  }

  #finish(event: TraceLine): void {
    const isDirect = event.type === "finishedDirect";
    if (!isDirect) this.#blocks.note(event.tid, event.available === true);
    this.#scheduler.taskFinished(event.tid, {
      kind: isDirect ? "direct" : "indirect",
      size: event.size,
      valueSize: isDirect ? this.#valueSize(event) : event.size,
      output: null,
    });
  }
}

/** Replays the events of one trace. */
export class TaskReplay {
  readonly #log = new ActionLog();
  readonly #executors = new NameTable();
  readonly #hosts = new NameTable();
  readonly #infos = new TaskInfos();
  readonly #threads = new DeferringThreads();
  readonly #settings: SchedulerSettings;
  readonly #scheduler: TaskSchedulerImpl;
  readonly #events: TaskEvents;
  readonly #states = new TaskSetStates();
  #nowMs = CLOCK_START_MS;

  constructor(header: TraceLine, options: ReplayOptions) {
    this.#settings = traceSettings(header, options);
    const blocks = new TraceResultBlocks();
    this.#scheduler = new RecordingTaskScheduler(
      {
        settings: this.#settings,
        executors: this.#executors,
        hosts: this.#hosts,
        infos: this.#infos,
        dagScheduler: this.#dagScheduler(),
        backend: recordingBackend(this.#log, this.#executors),
        resultBlocks: blocks,
        getterThreads: this.#threads,
        nowMs: () => this.#nowMs,
        epoch: () => 0,
      },
      this.#log,
      false,
    );
    this.#events = new TaskEvents(this.#scheduler, {
      log: this.#log,
      threads: this.#threads,
      blocks,
      hostOf: (executorId) => `h${executorId.slice(1)}`,
    });
  }

  #dagScheduler(): DagSchedulerClient {
    const log = this.#log;
    return {
      taskStarted: () => {},
      taskGettingResult: (tid) => log.add("dagTaskGettingResult", { tid }),
      taskEnded: (tid, reason) => {
        const { taskSet } = this.#scheduler.managerOf(tid);
        log.add("dagTaskEnded", {
          stage: taskSet.stageId,
          attempt: taskSet.stageAttemptId,
          partition: taskSet.partitions[this.#infos.index[tid]],
          tid,
          reason: reasonName(reason),
          status: this.#infos.status(tid),
        });
      },
      taskSetFailed: (taskSet, message) =>
        log.add("dagTaskSetFailed", {
          stage: taskSet.stageId,
          attempt: taskSet.stageAttemptId,
          message,
        }),
      executorAdded: (executor, host) =>
        log.add("dagExecutorAdded", {
          exec: this.#executors.nameOf(executor),
          host: this.#hosts.nameOf(host),
        }),
      executorLost: (executor, _host, reason) =>
        log.add("dagExecutorLost", {
          exec: this.#executors.nameOf(executor),
          reason: lossReasonName(reason, this.#settings.rules),
        }),
      workerRemoved: () => {},
      speculativeTaskSubmitted: (taskSet, index) =>
        log.add("dagSpeculativeTaskSubmitted", {
          stage: taskSet.stageId,
          partition: taskSet.partitions[index],
        }),
    };
  }

  /** Replays an event. @returns what the trace records of it. */
  run(event: TraceLine): Record<string, unknown> {
    if (!this.#events.run(event)) this.#runOther(event);
    return this.observed();
  }

  #runOther(event: TraceLine): void {
    const scheduler = this.#scheduler;
    switch (event.type) {
      case "submitTaskSet":
        this.#submit(event);
        break;
      case "cancelTasks":
        this.#cancel(event.stage);
        break;
      case "killTaskAttempt":
        this.#log.add("result", {
          value: scheduler.killTaskAttempt(event.tid, false, "user"),
        });
        break;
      case "killAllTaskAttempts":
        scheduler.killAllTaskAttempts(event.stage, false, "all");
        break;
      case "advance":
        this.#nowMs += event.ms;
        break;
      default:
        throw unknownEvent(event);
    }
  }

  /** From 4.0 there is no cancelTasks: killing all attempts stands in for it. */
  #cancel(stageId: number): void {
    if (this.#settings.rules.scheduler.suspendsKilledTaskSets) {
      this.#scheduler.killAllTaskAttempts(stageId, false, "cancelled");
    } else this.#scheduler.cancelTasks(stageId, false, "cancelled");
  }

  #submit(event: TraceLine): void {
    const tasks: TraceLine[] = event.tasks;
    this.#scheduler.submitTasks(
      new TaskSet({
        stageId: event.stage,
        stageAttemptId: event.attempt,
        priority: event.priority ?? 0,
        pool: event.pool ?? null,
        shuffleId: event.kind === "shuffleMap" ? 0 : null,
        partitions: tasks.map(({ partition }) => partition),
        locations: traceLocations(tasks.map(({ prefs }) => prefs ?? []), {
          executors: this.#executors,
          hosts: this.#hosts,
        }),
      }),
    );
  }

  /** Records that the event could not be handled. */
  failed(className: string, message: string): Record<string, unknown> {
    this.#log.add("error", { class: className, message });
    return this.observed();
  }

  /** What has been recorded since the last event. */
  observed(): Record<string, unknown> {
    return {
      actions: this.#log.take(),
      taskSets: this.#states.changed(this.#scheduler.managers),
    };
  }
}
