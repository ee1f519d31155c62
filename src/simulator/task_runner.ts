/**
 * Runs the processes of tasks on virtual time, and sends their ends to the driver.
 *
 * @module
 */
import { STORAGE_LEVELS } from "../spark/storage_level.ts";
import type { TaskEndReason, TaskMetrics } from "../spark/events.ts";
import type { SimulationEnvironment } from "./environment.ts";
import type { EventQueue } from "./event_queue.ts";
import type { Executor } from "./executor.ts";
import { SLEEP, sleep, type TaskFailure, WAIT } from "./process.ts";
import { resultPath } from "./scheduler/result_path.ts";
import type { SimulationSettings } from "./settings.ts";
import { simpleTask } from "./simple_task.ts";
import type { Task, TaskOutcome } from "./task.ts";
import { runTask } from "./task_body.ts";

/** Bytes of a direct result around its value (DirectTaskResult with the usual metrics; byte[100] counts 127 of 582). */
export const DIRECT_RESULT_OVERHEAD = 455;

/** Who is told. */
export interface TaskRunnerHost {
  /** A message on its way to the driver: the attempt ended with its outcome. */
  sendStatus(task: Task): void;
}

/** The running tasks of all executors. */
export class TaskRunner {
  /** Running attempts by task id; null, or not there, for others. */
  readonly #running: (Task | null)[] = [];
  readonly #environment: SimulationEnvironment;
  readonly #settings: SimulationSettings;
  readonly #queue: EventQueue;
  readonly #kind: number;
  readonly #host: TaskRunnerHost;
  /** Blocks of indirect results by task id. */
  readonly #resultBlocks = new Map<number, { readonly task: Task; readonly block: number }>();

  /** The event that tells of a result, filled anew for each: a sink copies what it keeps. */
  readonly #said = {
    kind: "taskResult" as const,
    time: 0,
    executorId: "",
    taskId: 0,
    stageId: 0,
    stageAttemptId: 0,
    path: "direct" as "direct" | "indirect" | "dropped",
    numBytes: 0,
  };

  /** @param kind the queue's kind of event for `resume`; the subject is a task id. */
  constructor(
    environment: SimulationEnvironment,
    options: { settings: SimulationSettings; queue: EventQueue; kind: number; host: TaskRunnerHost },
  ) {
    this.#environment = environment;
    this.#settings = options.settings;
    this.#queue = options.queue;
    this.#kind = options.kind;
    this.#host = options.host;
  }

  /** A running attempt; null when there is none with this id. */
  running(tid: number): Task | null {
    return this.#running[tid] ?? null;
  }

  /** A task arrives at its executor. */
  start(task: Task): void {
    const { executor } = task;
    this.#running[task.id.tid] = task;
    executor.tasks.push(task);
    executor.tasksStarted++;
    if (task.updatedBlocks !== null) executor.blocks.recorders.set(task.id.tid, task.updatedBlocks);
    const ms = simpleTask(task);
    if (ms !== null) {
      this.#queue.schedule(this.#queue.timeMs + ms, this.#kind, task.id.tid);
      return;
    }
    task.process = runTask(task);
    this.#advance(task, 0);
  }

  /** The time that a task slept is over. */
  resume(tid: number): void {
    const task = this.running(tid);
    if (task === null || task.ended) return;
    if (task.process === null) this.#finish(task, null);
    else this.#advance(task, 0);
  }

  /** A task that waited for execution memory gets it. */
  resumeWaiting(task: Task, granted: number): void {
    if (task.ended) return;
    const { environment, executor, id } = task;
    const time = environment.now();
    const waitMs = time - task.waitingSinceMs;
    task.waitingSinceMs = -1;
    environment.sink.event({
      kind: "memoryWait",
      time,
      executorId: executor.id,
      taskId: id.tid,
      numBytes: granted,
      waitMs,
    });
    this.#advance(task, granted);
  }

  /** The driver wants a task gone. */
  kill(tid: number, killReason: string): void {
    const task = this.running(tid);
    if (task === null || task.ended) return;
    this.#end(task, { kind: "failed", state: "KILLED", reason: { reason: "TaskKilled", killReason } });
  }

  /** An executor is gone with all its tasks: nobody reports. */
  lose(executor: Executor): void {
    for (const task of executor.tasks.splice(0)) {
      this.#running[task.id.tid] = null;
      task.release();
    }
  }

  /** The block of an indirect result; null when it is gone. */
  resultBlock(tid: number): { readonly task: Task; readonly block: number } | null {
    const found = this.#resultBlocks.get(tid);
    return found !== undefined && found.task.executor.alive ? found : null;
  }

  /** The driver has fetched, or refused, an indirect result. */
  removeResult(tid: number): void {
    const found = this.#resultBlocks.get(tid);
    if (found === undefined) return;
    this.#resultBlocks.delete(tid);
    const { task, block } = found;
    if (task.executor.alive) {
      task.executor.blocks.removeBlock(block, true);
      task.executor.touch();
    }
    this.#environment.master.freeBlock(block);
  }

  #advance(task: Task, value: number): void {
    if (task.updatedBlocks !== null) task.executor.blocks.recorder = task.updatedBlocks;
    let resumed: number | TaskFailure | null = value;
    for (;;) {
      if (task.stretch !== null) {
        const step = task.stretch.resume(resumed as number);
        if (step === SLEEP) return this.#pause(task, sleep[0]);
        if (step === WAIT) return this.#pause(task, WAIT);
        task.stretch = null;
        resumed = step;
      }
      const { value: yielded, done } = task.process!.next(resumed);
      if (done) return this.#finish(task, yielded);
      if (typeof yielded === "number") return this.#pause(task, yielded);
      task.stretch = yielded;
      resumed = 0;
    }
  }

  #pause(task: Task, step: number): void {
    if (task.updatedBlocks !== null) task.executor.blocks.recorder = null;
    if (step === WAIT) task.waitingSinceMs = this.#queue.timeMs;
    else this.#queue.schedule(this.#queue.timeMs + step, this.#kind, task.id.tid);
  }

  #finish(task: Task, failure: TaskFailure | null): void {
    if (task.updatedBlocks !== null) task.executor.blocks.recorder = null;
    if (failure !== null) {
      const { deniedCommitIsKilled } = this.#settings.scheduler.rules.scheduler;
      const state = failure.reason.reason === "TaskCommitDenied" && deniedCommitIsKilled ? "KILLED" : "FAILED";
      this.#end(task, { kind: "failed", state, reason: failure.reason });
      return;
    }
    const leaked = task.release();
    if (leaked > 0 && this.#settings.exceptionOnMemoryLeak) {
      const message = `Managed memory leak detected; size = ${leaked} bytes, TID = ${task.id.tid}`;
      const className = "org.apache.spark.SparkException";
      const reason: TaskEndReason = {
        reason: "ExceptionFailure",
        className,
        description: message,
        fullStackTrace: `${className}: ${message}`,
      };
      this.#end(task, { kind: "failed", state: "FAILED", reason });
      return;
    }
    this.#end(task, this.#result(task));
  }

  /** Size of the result and its way (Executor.TaskRunner.run); an indirect one goes into the block manager. */
  #result(task: Task): TaskOutcome {
    const { demand, metrics, id } = task;
    const size = demand.resultBytes[id.partition];
    const valueSize = demand.valueBytes?.[id.partition] ?? Math.max(0, size - DIRECT_RESULT_OVERHEAD);
    const path = resultPath(size, this.#settings.results, this.#settings.scheduler.rules);
    metrics.resultSize = size;
    if (path === "indirect") {
      const block = this.#environment.master.newBlock(`taskresult_${id.tid}`);
      this.#resultBlocks.set(id.tid, { task, block });
      task.executor.blocks.putBytes(block, size, STORAGE_LEVELS.MEMORY_AND_DISK_SER);
      task.executor.touch();
    }
    this.#say(task, path, size);
    return { kind: "finished", path, size, valueSize };
  }

  #say(task: Task, path: "direct" | "indirect" | "dropped", numBytes: number): void {
    const { environment, executor, id } = task;
    const said = this.#said;
    said.time = environment.now();
    said.executorId = executor.id;
    said.taskId = id.tid;
    said.stageId = id.stageId;
    said.stageAttemptId = id.stageAttemptId;
    said.path = path;
    said.numBytes = numBytes;
    environment.sink.event(said);
  }

  #end(task: Task, outcome: TaskOutcome): void {
    if (!task.ended) task.release();
    if (outcome.kind === "failed" && task.computeStartMs > 0) {
      task.metrics.executorRunTime = task.environment.now() - task.computeStartMs;
    }
    if (task.updatedBlocks !== null) task.executor.blocks.recorders.delete(task.id.tid);
    roundMetrics(task.metrics);
    const { executor, id } = task;
    this.#running[id.tid] = null;
    executor.taskEnded(task);
    task.outcome = outcome;
    this.#host.sendStatus(task);
  }
}

/** An event log has whole ms and bytes. */
function roundMetrics(metrics: TaskMetrics): void {
  metrics.executorDeserializeTime = Math.round(metrics.executorDeserializeTime);
  metrics.executorRunTime = Math.round(metrics.executorRunTime);
  metrics.resultSerializationTime = Math.round(metrics.resultSerializationTime);
  metrics.shuffleFetchWaitTime = Math.round(metrics.shuffleFetchWaitTime);
  metrics.memoryBytesSpilled = Math.round(metrics.memoryBytesSpilled);
  metrics.diskBytesSpilled = Math.round(metrics.diskBytesSpilled);
  metrics.peakExecutionMemory = metrics.peakExecutionMemory === null ? null : Math.round(metrics.peakExecutionMemory);
}
