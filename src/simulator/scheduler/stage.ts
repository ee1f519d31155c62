/**
 * Stages and jobs (org.apache.spark.scheduler.Stage, ShuffleMapStage, ResultStage, ActiveJob).
 *
 * @module
 */
import { outputDeterministicLevel } from "./deterministic_level.ts";
import { type IntSet, newIntSet } from "./hash_set_order.ts";
import type { ScalaCollections } from "./hash_set_order.ts";
import type { MapOutputTracker } from "./map_output_tracker.ts";
import type { Rdd, ShuffleDependency } from "./rdd.ts";

/** One attempt of a stage, as listeners see it (StageInfo). */
export interface StageAttempt {
  readonly attemptNumber: number;
  readonly numTasks: number;
  /** ms; null when no task was submitted. */
  submissionTime: number | null;
  completionTime: number | null;
  failureReason: string | null;
}

/** What makes a stage. */
export interface StageFields {
  readonly id: number;
  readonly rdd: Rdd;
  readonly numTasks: number;
  /** In the order of Scala's HashSet by stage id. */
  readonly parents: readonly Stage[];
  readonly firstJobId: number;
  /** Short call site. */
  readonly name: string;
  readonly collections: ScalaCollections;
}

/** What both kinds of stage have. */
abstract class StageBase {
  readonly id: number;
  readonly rdd: Rdd;
  readonly numTasks: number;
  readonly parents: readonly Stage[];
  readonly firstJobId: number;
  readonly name: string;
  /** Jobs that need it. */
  readonly jobIds: IntSet;
  /** Attempts that failed since the last success, by fetch failure. */
  readonly failedAttemptIds = new Set<number>();
  /** Its output is other data when it runs again. */
  readonly isIndeterminate: boolean;
  /** Another attempt of it was seen to write other data (since 4.1). */
  isChecksumMismatched = false;
  /** The newest attempt in which that was seen. */
  maxChecksumMismatchedId = 0;
  /** Attempts up to this one read data that are no longer valid (since 4.1.1); -1: none. */
  maxAttemptIdToIgnore = -1;
  latestInfo: StageAttempt;
  nextAttemptId = 0;

  constructor(fields: StageFields) {
    this.id = fields.id;
    this.rdd = fields.rdd;
    this.numTasks = fields.numTasks;
    this.parents = fields.parents;
    this.firstJobId = fields.firstJobId;
    this.name = fields.name;
    this.jobIds = newIntSet(fields.collections);
    this.isIndeterminate = outputDeterministicLevel(fields.rdd) === "INDETERMINATE";
    this.latestInfo = this.#attempt(fields.numTasks);
  }

  #attempt(numTasks: number): StageAttempt {
    return {
      attemptNumber: this.nextAttemptId,
      numTasks,
      submissionTime: null,
      completionTime: null,
      failureReason: null,
    };
  }

  get numPartitions(): number {
    return this.rdd.numPartitions;
  }

  makeNewStageAttempt(numPartitionsToCompute: number): void {
    this.latestInfo = this.#attempt(numPartitionsToCompute);
    this.nextAttemptId++;
  }

  /** What its attempts so far gave does not count any more; nothing when it was never submitted. */
  markAsRollingBack(): void {
    if (this.nextAttemptId > 0) this.maxAttemptIdToIgnore = this.latestInfo.attemptNumber;
  }

  /** It was found available without having run (since 3.2). */
  increaseAttemptIdOnFirstSkip(): void {
    if (this.nextAttemptId === 0) this.nextAttemptId = 1;
  }
}

/** Partitions of a map stage that have yet to complete in its latest attempt. */
export class PendingPartitions {
  readonly #pending: Uint8Array;
  size = 0;

  constructor(numPartitions: number) {
    this.#pending = new Uint8Array(numPartitions);
  }

  add(partition: number): void {
    if (this.#pending[partition] === 1) return;
    this.#pending[partition] = 1;
    this.size++;
  }

  delete(partition: number): void {
    if (this.#pending[partition] === 0) return;
    this.#pending[partition] = 0;
    this.size--;
  }

  clear(): void {
    this.#pending.fill(0);
    this.size = 0;
  }

  /** Ascending. */
  toArray(): number[] {
    const partitions: number[] = [];
    this.#pending.forEach((pending, partition) => {
      if (pending === 1) partitions.push(partition);
    });
    return partitions;
  }
}

/** A stage whose tasks write a shuffle. */
export class ShuffleMapStage extends StageBase {
  readonly shuffleDep: ShuffleDependency;
  readonly pendingPartitions: PendingPartitions;
  /** Map-stage jobs that wait for it, newest first. */
  mapStageJobs: ActiveJob[] = [];
  readonly #tracker: MapOutputTracker;

  constructor(
    fields: StageFields,
    shuffleDep: ShuffleDependency,
    tracker: MapOutputTracker,
  ) {
    super(fields);
    this.shuffleDep = shuffleDep;
    this.pendingPartitions = new PendingPartitions(fields.rdd.numPartitions);
    this.#tracker = tracker;
  }

  addActiveJob(job: ActiveJob): void {
    this.mapStageJobs = [job, ...this.mapStageJobs];
  }

  removeActiveJob(job: ActiveJob): void {
    this.mapStageJobs = this.mapStageJobs.filter((other) => other !== job);
  }

  get numAvailableOutputs(): number {
    return this.#tracker.getNumAvailableOutputs(this.shuffleDep.shuffleId);
  }

  /** All its outputs are there. */
  get isAvailable(): boolean {
    return this.numAvailableOutputs === this.numPartitions;
  }

  /** Its readers run again in full when an output changes. */
  get retriesOnChecksumMismatch(): boolean {
    return this.shuffleDep.checksumMismatchFullRetryEnabled === true;
  }

  /** Map partitions without an output. */
  findMissingPartitions(): number[] {
    return this.#tracker.findMissingPartitions(this.shuffleDep.shuffleId) ??
      Array.from({ length: this.numPartitions }, (_, partition) => partition);
  }

  override toString(): string {
    return `ShuffleMapStage ${this.id}`;
  }
}

/** The last stage of an action. */
export class ResultStage extends StageBase {
  /** RDD partitions that the action computes; a task's outputId is a position in it. */
  readonly partitions: ArrayLike<number>;
  activeJob: ActiveJob | null = null;

  constructor(fields: StageFields, partitions: ArrayLike<number>) {
    super(fields);
    this.partitions = partitions;
  }

  /** Positions in the job without a result. */
  findMissingPartitions(): number[] {
    const missing: number[] = [];
    const { finished } = this.activeJob!;
    for (let outputId = 0; outputId < finished.length; outputId++) {
      if (finished[outputId] === 0) missing.push(outputId);
    }
    return missing;
  }

  override toString(): string {
    return `ResultStage ${this.id}`;
  }
}

/** Either kind of stage. */
export type Stage = ShuffleMapStage | ResultStage;

/** What the submitter of a job is told (org.apache.spark.scheduler.JobListener, JobWaiter). */
export interface JobListener {
  /**
   * A result arrived: of the partition at that position, or of the whole map stage (0).
   *
   * @returns a message when handling it failed ("a result handler that throws"): the job then counts as failed for its
   * submitter, while its tasks go on.
   */
  taskSucceeded(outputId: number): string | void;
  jobFailed(message: string): void;
}

/** A job's local properties that the scheduler reads. */
export interface JobProperties {
  /** Short call site: the name of its result stage. */
  readonly callSite: string;
  /** spark.jobGroup.id */
  readonly group: string | null;
  /** spark.scheduler.pool */
  readonly pool: string | null;
  /** spark.job.interruptOnCancel */
  readonly interruptOnCancel: boolean;
}

/** A job that runs. */
export class ActiveJob {
  /** 1 for each position with a result. */
  readonly finished: Uint8Array;
  numFinished = 0;

  constructor(
    readonly jobId: number,
    readonly finalStage: Stage,
    readonly listener: JobListener,
    readonly properties: JobProperties,
  ) {
    this.finished = new Uint8Array(
      finalStage instanceof ResultStage ? finalStage.partitions.length : 1,
    );
  }

  get numPartitions(): number {
    return this.finished.length;
  }
}
