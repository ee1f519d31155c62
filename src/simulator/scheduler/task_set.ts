/**
 * Tasks of one attempt of a stage (org.apache.spark.scheduler.TaskSet).
 *
 * @module
 */
import type { TaskLocations } from "./task_location.ts";

/** What makes a {@linkcode TaskSet}. */
export interface TaskSetFields {
  readonly stageId: number;
  readonly stageAttemptId: number;
  /** Job id: FIFO runs lower ones first. */
  readonly priority: number;
  /** spark.scheduler.pool of the job; null: none. */
  readonly pool?: string | null;
  /** Shuffle that the tasks write; null for result tasks. */
  readonly shuffleId: number | null;
  /** RDD partition of each task. */
  readonly partitions: ArrayLike<number>;
  /** Result tasks: position of each in the job. */
  readonly outputIds?: ArrayLike<number>;
  /** Preferred locations; null when no task has any. */
  readonly locations?: TaskLocations | null;
}

/**
 * A task set. Its tasks are numbers 0 to numTasks - 1 (TaskInfo.index).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { TaskSet } from "./task_set.ts";
 *
 * const set = new TaskSet({ stageId: 3, stageAttemptId: 1, priority: 0, shuffleId: null, partitions: [5, 9] });
 * assertEquals([set.id, set.numTasks, set.isShuffleMap], ["3.1", 2, false]);
 * ```
 */
export class TaskSet {
  readonly stageId: number;
  readonly stageAttemptId: number;
  readonly priority: number;
  readonly pool: string | null;
  readonly shuffleId: number | null;
  readonly partitions: ArrayLike<number>;
  readonly outputIds: ArrayLike<number> | null;
  readonly locations: TaskLocations | null;
  /** The tracker's epoch when the task set manager was made: what its tasks know of the map outputs. */
  epoch = 0;

  constructor(fields: TaskSetFields) {
    this.stageId = fields.stageId;
    this.stageAttemptId = fields.stageAttemptId;
    this.priority = fields.priority;
    this.pool = fields.pool ?? null;
    this.shuffleId = fields.shuffleId;
    this.partitions = fields.partitions;
    this.outputIds = fields.outputIds ?? null;
    const locations = fields.locations ?? null;
    this.locations = locations === null || locations.isEmpty ? null : locations;
  }

  get numTasks(): number {
    return this.partitions.length;
  }

  get isShuffleMap(): boolean {
    return this.shuffleId !== null;
  }

  /** `stage.attempt`, as messages name it. */
  get id(): string {
    return `${this.stageId}.${this.stageAttemptId}`;
  }
}
