/**
 * Tells dynamic allocation what the scheduler tells its listeners (ExecutorAllocationManager.ExecutorAllocationListener).
 *
 * @module
 */
import type { CompletionEvent, SchedulerListener } from "./scheduler/dag_scheduler_types.ts";
import type { AllocatedTask, ExecutorAllocationManager } from "./scheduler/executor_allocation_manager.ts";
import { type JobProperties, ShuffleMapStage, type Stage } from "./scheduler/stage.ts";
import { SPECULATIVE, type TaskInfos } from "./scheduler/task_infos.ts";
import type { TaskSet } from "./scheduler/task_set.ts";

/** Hands each call to another listener first. */
export class AllocationListener implements SchedulerListener {
  readonly #listener: SchedulerListener;
  readonly #manager: () => ExecutorAllocationManager;
  readonly #infos: () => TaskInfos;
  /** What the manager decides by has changed. */
  readonly #changed: () => void;

  constructor(
    listener: SchedulerListener,
    allocation: {
      readonly manager: () => ExecutorAllocationManager;
      readonly infos: () => TaskInfos;
      readonly changed: () => void;
    },
  ) {
    this.#listener = listener;
    this.#manager = allocation.manager;
    this.#infos = allocation.infos;
    this.#changed = allocation.changed;
  }

  jobStart(jobId: number, stages: readonly Stage[], properties: JobProperties): void {
    this.#listener.jobStart(jobId, stages, properties);
    const shuffles = new Map<number, number>();
    for (const stage of stages) {
      if (stage instanceof ShuffleMapStage) shuffles.set(stage.id, stage.shuffleDep.shuffleId);
    }
    this.#manager().jobStart(jobId, shuffles);
    this.#changed();
  }

  jobEnd(jobId: number, failure: string | null): void {
    this.#listener.jobEnd(jobId, failure);
    this.#manager().jobEnd(jobId);
    this.#changed();
  }

  stageSubmitted(stage: Stage): void {
    this.#listener.stageSubmitted(stage);
    const { attemptNumber, numTasks } = stage.latestInfo;
    this.#manager().stageSubmitted(stage.id, attemptNumber, numTasks);
    this.#changed();
  }

  stageCompleted(stage: Stage, willRetry: boolean): void {
    this.#listener.stageCompleted(stage, willRetry);
    this.#manager().stageCompleted(stage.id, stage.latestInfo.attemptNumber);
    this.#changed();
  }

  taskStart(stageId: number, stageAttemptId: number, tid: number): void {
    this.#listener.taskStart(stageId, stageAttemptId, tid);
    this.#manager().taskStart(this.#task(stageId, stageAttemptId, tid));
    this.#changed();
  }

  taskGettingResult(tid: number): void {
    this.#listener.taskGettingResult(tid);
  }

  taskEnd(event: CompletionEvent): void {
    this.#listener.taskEnd(event);
    const { taskSet, tid, reason } = event;
    this.#manager().taskEnd(this.#task(taskSet.stageId, taskSet.stageAttemptId, tid), reason);
    this.#changed();
  }

  accumulatorsUpdated(event: CompletionEvent): void {
    this.#listener.accumulatorsUpdated(event);
  }

  speculativeTaskSubmitted(taskSet: TaskSet, index: number): void {
    this.#listener.speculativeTaskSubmitted(taskSet, index);
    this.#manager().speculativeTaskSubmitted(taskSet.stageId, taskSet.stageAttemptId, index);
    this.#changed();
  }

  schedulerFailed(className: string, message: string): void {
    this.#listener.schedulerFailed(className, message);
  }

  #task(stageId: number, stageAttemptId: number, tid: number): AllocatedTask {
    const infos = this.#infos();
    return {
      stageId,
      stageAttemptId,
      index: infos.index[tid],
      speculative: infos.has(tid, SPECULATIVE),
      executor: infos.executor[tid],
    };
  }
}
