/**
 * The DAG scheduler's queue of events (org.apache.spark.scheduler.DAGSchedulerEventProcessLoop): what others post is
 * handled after what is being handled, in order.
 *
 * @module
 */
import type { TaskEndReason } from "../../spark/events.ts";
import type { DAGScheduler } from "./dag_scheduler.ts";
import type { CompletionEvent } from "./dag_scheduler_types.ts";
import type { MapOutputSizes } from "./map_status.ts";
import type { Rdd, ShuffleDependency } from "./rdd.ts";
import { SchedulerException } from "./scheduler_exception.ts";
import type { JobListener, JobProperties } from "./stage.ts";
import type { ExecutorLossReason } from "./task_end_reason.ts";
import type { TaskInfos } from "./task_infos.ts";
import type { DagSchedulerClient } from "./task_scheduler_types.ts";
import type { TaskSet } from "./task_set.ts";

/** An event of the loop. */
export type DagEvent =
  | { readonly kind: "begin"; readonly tid: number }
  | {
    readonly kind: "completion";
    readonly tid: number;
    readonly reason: TaskEndReason;
    readonly output: MapOutputSizes | null;
  }
  | { readonly kind: "gettingResult"; readonly tid: number }
  | {
    readonly kind: "speculativeTaskSubmitted";
    readonly taskSet: TaskSet;
    readonly index: number;
  }
  | {
    readonly kind: "taskSetFailed";
    readonly taskSet: TaskSet;
    readonly message: string;
  }
  | {
    readonly kind: "stageFailed";
    readonly stageId: number;
    readonly message: string;
  }
  | {
    readonly kind: "executorAdded";
    readonly executor: number;
    readonly host: number;
  }
  | {
    readonly kind: "executorLost";
    readonly executor: number;
    readonly host: number;
    readonly reason: ExecutorLossReason;
  }
  | { readonly kind: "workerRemoved"; readonly host: number }
  | {
    readonly kind: "jobSubmitted";
    readonly jobId: number;
    readonly rdd: Rdd;
    readonly partitions: ArrayLike<number>;
    readonly listener: JobListener;
    readonly properties: JobProperties;
  }
  | {
    readonly kind: "mapStageSubmitted";
    readonly jobId: number;
    readonly dependency: ShuffleDependency;
    readonly listener: JobListener;
    readonly properties: JobProperties;
  }
  | {
    readonly kind: "jobCancelled";
    readonly jobId: number;
    readonly reason: string | null;
  }
  | {
    readonly kind: "stageCancelled";
    readonly stageId: number;
    readonly reason: string | null;
  }
  | { readonly kind: "jobGroupCancelled"; readonly group: string }
  | { readonly kind: "allJobsCancelled" }
  | { readonly kind: "resubmitFailedStages" };

const BEGIN = 0;
const COMPLETION = 1;
const GETTING_RESULT = 2;
const OTHER = 3;
/** Room for so many events is kept for the next time. */
const RETAINED = 64;

/** Where the loop finds the task set of an attempt. */
export interface TaskSource {
  readonly infos: TaskInfos;
  managerOf(tid: number): { readonly taskSet: TaskSet };
}

/** What a host may add to the loop. */
export interface DagEventHooks {
  /** Sees each event just before it is handled. */
  observe?(event: DagEvent): void;
  /** Called in place of DAGScheduler.onError. */
  onError?(error: SchedulerException): void;
}

/** Filled in for each completion. */
class Completion implements CompletionEvent {
  taskSet!: TaskSet;
  index = 0;
  tid = 0;
  attempt = 0;
  reason!: TaskEndReason;
  executor = 0;
  host = 0;
  output: MapOutputSizes | null = null;
}

/** The event loop. Events are handled by `drain`, which the host calls after each thing that it does to the driver. */
export class DagEventLoop implements DagSchedulerClient {
  /** Parallel arrays: what kind, which task, and for completions why and with what output. */
  readonly #kinds: number[] = [];
  readonly #tids: number[] = [];
  readonly #reasons: (TaskEndReason | null)[] = [];
  readonly #outputs: (MapOutputSizes | null)[] = [];
  readonly #others: (DagEvent | null)[] = [];
  /** Events from head to tail wait; the arrays keep their length. */
  #head = 0;
  #tail = 0;
  #isDraining = false;
  #dag!: DAGScheduler;
  #tasks!: TaskSource;
  readonly #hooks: DagEventHooks;
  readonly #completion = new Completion();

  constructor(hooks: DagEventHooks = {}) {
    this.#hooks = hooks;
  }

  /** Ties the loop to its scheduler, once. */
  start(dag: DAGScheduler, tasks: TaskSource): void {
    this.#dag = dag;
    this.#tasks = tasks;
  }

  #push(
    kind: number,
    tid: number,
    reason: TaskEndReason | null,
    output: MapOutputSizes | null,
  ): void {
    const at = this.#tail++;
    this.#kinds[at] = kind;
    this.#tids[at] = tid;
    this.#reasons[at] = reason;
    this.#outputs[at] = output;
    this.#others[at] = null;
  }

  /** Posts an event. */
  post(event: DagEvent): void {
    this.#push(OTHER, -1, null, null);
    this.#others[this.#tail - 1] = event;
  }

  taskStarted(tid: number): void {
    this.#push(BEGIN, tid, null, null);
  }

  taskGettingResult(tid: number): void {
    this.#push(GETTING_RESULT, tid, null, null);
  }

  taskEnded(
    tid: number,
    reason: TaskEndReason,
    output: MapOutputSizes | null,
  ): void {
    this.#push(COMPLETION, tid, reason, output);
  }

  taskSetFailed(taskSet: TaskSet, message: string): void {
    this.post({ kind: "taskSetFailed", taskSet, message });
  }

  executorAdded(executor: number, host: number): void {
    this.post({ kind: "executorAdded", executor, host });
  }

  executorLost(
    executor: number,
    host: number,
    reason: ExecutorLossReason,
  ): void {
    this.post({ kind: "executorLost", executor, host, reason });
  }

  workerRemoved(host: number): void {
    this.post({ kind: "workerRemoved", host });
  }

  speculativeTaskSubmitted(taskSet: TaskSet, index: number): void {
    this.post({ kind: "speculativeTaskSubmitted", taskSet, index });
  }

  /**
   * Handles what was posted, and what is posted meanwhile. A broken rule of Spark's own (SchedulerException) ends as it
   * does in Spark: all jobs are cancelled, and the listener is told that the SparkContext stops.
   */
  drain(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    try {
      while (this.#head < this.#tail) this.#handleAt(this.#head++);
    } catch (error) {
      if (!(error instanceof SchedulerException)) throw error;
      if (this.#hooks.onError === undefined) this.#dag.onError(error);
      else this.#hooks.onError(error);
    } finally {
      if (this.#tail > RETAINED) this.#shrink();
      this.#head = 0;
      this.#tail = 0;
      this.#isDraining = false;
    }
  }

  /** After a burst: the arrays are not to hold on to what is done. */
  #shrink(): void {
    this.#kinds.length = 0;
    this.#tids.length = 0;
    this.#reasons.length = 0;
    this.#outputs.length = 0;
    this.#others.length = 0;
  }

  #handleAt(at: number): void {
    const tid = this.#tids[at];
    const kind = this.#kinds[at];
    this.#hooks.observe?.(this.#eventAt(at));
    switch (kind) {
      case BEGIN: {
        const { taskSet } = this.#tasks.managerOf(tid);
        this.#dag.handleBeginEvent(taskSet, tid);
        break;
      }
      case COMPLETION:
        this.#complete(tid, this.#reasons[at]!, this.#outputs[at]);
        break;
      case GETTING_RESULT:
        this.#dag.handleGetTaskResult(tid);
        break;
      default:
        handleDagEvent(this.#dag, this.#others[at]!);
    }
    if (kind !== GETTING_RESULT) this.#dag.eventHandled();
  }

  #eventAt(at: number): DagEvent {
    const tid = this.#tids[at];
    switch (this.#kinds[at]) {
      case BEGIN:
        return { kind: "begin", tid };
      case GETTING_RESULT:
        return { kind: "gettingResult", tid };
      case COMPLETION:
        return {
          kind: "completion",
          tid,
          reason: this.#reasons[at]!,
          output: this.#outputs[at],
        };
      default:
        return this.#others[at]!;
    }
  }

  #complete(
    tid: number,
    reason: TaskEndReason,
    output: MapOutputSizes | null,
  ): void {
    const { infos } = this.#tasks;
    const event = this.#completion;
    event.taskSet = this.#tasks.managerOf(tid).taskSet;
    event.index = infos.index[tid];
    event.tid = tid;
    event.attempt = infos.attempt[tid];
    event.reason = reason;
    event.executor = infos.executor[tid];
    event.host = infos.host[tid];
    event.output = output;
    this.#dag.handleTaskCompletion(event);
  }
}

/** Hands an event to its handler; those of tasks come through the loop alone. */
export function handleDagEvent(dag: DAGScheduler, event: DagEvent): void {
  switch (event.kind) {
    case "jobSubmitted":
      return dag.handleJobSubmitted(event.jobId, event, event);
    case "mapStageSubmitted":
      return dag.handleMapStageSubmitted(event.jobId, event.dependency, event);
    case "stageCancelled":
      return dag.handleStageCancellation(event.stageId, event.reason);
    case "jobCancelled":
      return dag.handleJobCancellation(event.jobId, event.reason);
    case "jobGroupCancelled":
      return dag.handleJobGroupCancelled(event.group);
    case "allJobsCancelled":
      return dag.doCancelAllJobs();
    case "executorAdded":
      return dag.handleExecutorAdded(event.executor);
    case "executorLost":
      return dag.handleExecutorLost(event.executor, event.host, event.reason);
    case "workerRemoved":
      return dag.handleWorkerRemoved(event.host);
    case "speculativeTaskSubmitted":
      return dag.handleSpeculativeTaskSubmitted(event.taskSet, event.index);
    case "taskSetFailed":
      return dag.handleTaskSetFailed(event.taskSet.stageId, event.message);
    case "stageFailed":
      return dag.handleTaskSetFailed(event.stageId, event.message);
    case "resubmitFailedStages":
      return dag.resubmitFailedStages();
    case "gettingResult":
      return dag.handleGetTaskResult(event.tid);
    case "begin":
    case "completion":
      throw new TypeError(`Cannot hand over ${event.kind}: must come through the loop`);
  }
}
