/**
 * The driver's scheduling as a whole: DAG scheduler, task scheduler, map output tracker and commit coordinator, wired as
 * SparkContext wires them.
 *
 * @module
 */
import { InputError } from "../../errors.ts";
import { type DagEventHooks, DagEventLoop } from "./dag_event_loop.ts";
import { DAGScheduler } from "./dag_scheduler.ts";
import type { BlockManagerMaster, SchedulerListener } from "./dag_scheduler_types.ts";
import { MapOutputTracker } from "./map_output_tracker.ts";
import { NameTable } from "./names.ts";
import { OutputCommitCoordinator } from "./output_commit_coordinator.ts";
import type { Rdd, ShuffleDependency } from "./rdd.ts";
import type { SchedulerSettings } from "./settings.ts";
import type { JobListener, JobProperties } from "./stage.ts";
import { TaskInfos } from "./task_infos.ts";
import type { GetterThreads, ResultBlocks } from "./task_result_getter.ts";
import { TaskSchedulerImpl, type TaskSchedulerOptions } from "./task_scheduler.ts";
import type { SchedulerBackend } from "./task_scheduler_types.ts";

/** What the host gives the driver. */
export interface DriverOptions {
  readonly settings: SchedulerSettings;
  readonly backend: SchedulerBackend;
  readonly blockManagerMaster: BlockManagerMaster;
  readonly resultBlocks: ResultBlocks;
  readonly listener: SchedulerListener;
  /** Virtual time in ms, above 0. */
  nowMs(): number;
  /** Call `Driver.resubmitFailedStages` after so long. */
  scheduleResubmit(delayMs: number): void;
  /** The result getter's threads; 4 of them by default. */
  readonly getterThreads?: GetterThreads;
  /** Records that a finished task read and its run time; for efficiency-aware speculation. */
  taskProgress?(tid: number): { records: number; runTimeMs: number };
  /** Numbers of names, when the host has them already. */
  readonly executors?: NameTable;
  readonly hosts?: NameTable;
  /** The tracker, when it is not to be a plain one (the replay of traces records its calls). */
  readonly tracker?: MapOutputTracker;
  /** Makes the task scheduler, when it is not to be a plain one. */
  createTaskScheduler?(options: TaskSchedulerOptions): TaskSchedulerImpl;
  /** Hooks into the DAG scheduler's event loop. */
  readonly dagEventHooks?: DagEventHooks;
}

/** A listener that ignores everything, to spread into one's own. */
export const SILENT_LISTENER: SchedulerListener = {
  jobStart() {},
  jobEnd() {},
  stageSubmitted() {},
  stageCompleted() {},
  taskStart() {},
  taskGettingResult() {},
  taskEnd() {},
  accumulatorsUpdated() {},
  speculativeTaskSubmitted() {},
  schedulerFailed() {},
};

/** Properties of a job that sets none. */
const NO_PROPERTIES: JobProperties = {
  callSite: "",
  group: null,
  pool: null,
  interruptOnCancel: false,
};

/**
 * The driver. After each call that posts events (submitting, cancelling, offers, statuses, losses, timers) the host calls
 * `drain`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "../../spark/conf.ts";
 * import { Driver, SILENT_LISTENER } from "./driver.ts";
 * import { mapStatus } from "./map_status.ts";
 * import { schedulerSettings } from "./settings.ts";
 *
 * let nowMs = 1000;
 * const log: string[] = [];
 * const driver = new Driver({
 *   settings: schedulerSettings(SparkConf.from({}, "3.5.1"), 2),
 *   backend: { reviveOffers() {}, killTask() {} },
 *   blockManagerMaster: { removeExecutor() {}, getLocations: () => [] },
 *   resultBlocks: { fetch: (_tid, _size, done) => done(true), remove() {} },
 *   listener: {
 *     ...SILENT_LISTENER,
 *     stageSubmitted: (stage) => log.push(`stage ${stage.id} with ${stage.latestInfo.numTasks} tasks`),
 *     jobEnd: (jobId, failure) => log.push(`job ${jobId} ${failure ?? "succeeded"} at ${nowMs}`),
 *   },
 *   nowMs: () => nowMs,
 *   scheduleResubmit() {},
 * });
 * const input = { id: 0, numPartitions: 3, dependencies: [], creationSite: "parallelize", isPersisted: false };
 * const shuffle = { kind: "shuffle" as const, shuffleId: 0, rdd: input, numReducers: 2 };
 * const counts = { id: 1, numPartitions: 2, dependencies: [shuffle], creationSite: "reduceByKey", isPersisted: false };
 * driver.submitJob({ rdd: counts, partitions: [0, 1] }, { taskSucceeded() {}, jobFailed() {} }, { callSite: "count" });
 * driver.drain();
 * // One executor with two cores: offer what is free, let each task run 10 ms.
 * const offers = { executors: [driver.executors.idOf("1")], hosts: [driver.hosts.idOf("a")], cores: [2] };
 * for (let running = driver.taskScheduler.resourceOffers(offers).slice(); running.length > 0;) {
 *   driver.drain();
 *   nowMs += 10;
 *   for (const tid of running) {
 *     const isMap = driver.taskScheduler.managerOf(tid).taskSet.isShuffleMap;
 *     const output = isMap ? mapStatus([100, 200]) : null;
 *     driver.taskScheduler.taskFinished(tid, { kind: "direct", size: 600, valueSize: 100, output });
 *     driver.drain();
 *   }
 *   running = driver.taskScheduler.resourceOffers(offers).slice();
 * }
 * assertEquals(log, ["stage 0 with 3 tasks", "stage 1 with 2 tasks", "job 0 succeeded at 1030"]);
 * assertEquals(driver.tracker.getStatistics(0, 2), new Float64Array([3 * 106, 3 * 207])); // as compressed
 * ```
 */
export class Driver {
  readonly executors: NameTable;
  readonly hosts: NameTable;
  readonly infos = new TaskInfos();
  readonly tracker: MapOutputTracker;
  readonly commitCoordinator = new OutputCommitCoordinator();
  readonly eventLoop: DagEventLoop;
  readonly taskScheduler: TaskSchedulerImpl;
  readonly dagScheduler: DAGScheduler;
  readonly #options: DriverOptions;
  #nextJobId = 0;

  constructor(options: DriverOptions) {
    this.#options = options;
    this.eventLoop = new DagEventLoop(options.dagEventHooks);
    const nowMs = () => options.nowMs();
    this.executors = options.executors ?? new NameTable();
    this.hosts = options.hosts ?? new NameTable();
    this.tracker = options.tracker ?? new MapOutputTracker();
    const taskSchedulerOptions: TaskSchedulerOptions = {
      settings: options.settings,
      executors: this.executors,
      hosts: this.hosts,
      infos: this.infos,
      dagScheduler: this.eventLoop,
      backend: options.backend,
      resultBlocks: options.resultBlocks,
      getterThreads: options.getterThreads,
      nowMs,
      epoch: () => this.tracker.epoch,
      taskProgress: options.taskProgress?.bind(options),
    };
    this.taskScheduler = options.createTaskScheduler?.(taskSchedulerOptions) ??
      new TaskSchedulerImpl(taskSchedulerOptions);
    this.dagScheduler = new DAGScheduler({
      settings: options.settings,
      taskScheduler: this.taskScheduler,
      tracker: this.tracker,
      commitCoordinator: this.commitCoordinator,
      blockManagerMaster: options.blockManagerMaster,
      listener: options.listener,
      executors: this.executors,
      hosts: this.hosts,
      nowMs,
      scheduleResubmit: (delayMs) => options.scheduleResubmit(delayMs),
      postStageFailed: (stageId, message) => this.eventLoop.post({ kind: "stageFailed", stageId, message }),
    });
    this.eventLoop.start(this.dagScheduler, this.taskScheduler);
  }

  /** Handles all events that have been posted. */
  drain(): void {
    this.eventLoop.drain();
  }

  /**
   * Submits an action (SparkContext.runJob).
   *
   * @returns the job's id.
   * @throws {InputError} `job.partition` for a partition that the RDD does not have.
   */
  submitJob(
    action: { readonly rdd: Rdd; readonly partitions: ArrayLike<number> },
    listener: JobListener,
    properties: Partial<JobProperties> = {},
  ): number {
    const { rdd, partitions } = action;
    for (let i = 0; i < partitions.length; i++) {
      if (partitions[i] >= 0 && partitions[i] < rdd.numPartitions) continue;
      throw new InputError(
        "job.partition",
        `Cannot submit the job: must compute partitions 0 to ${rdd.numPartitions - 1} of RDD ${rdd.id}: received ${
          partitions[i]
        }`,
        { parameters: { rdd: rdd.id, partition: partitions[i] } },
      );
    }
    const jobId = this.#nextJobId++;
    const all = { ...NO_PROPERTIES, ...properties };
    if (partitions.length === 0) {
      this.#finishEmptyJob(jobId, all);
    } else {
      this.eventLoop.post({
        kind: "jobSubmitted",
        jobId,
        rdd,
        partitions,
        listener,
        properties: all,
      });
    }
    return jobId;
  }

  /** A job on no partition is done at once; listeners hear of it since 3.0. */
  #finishEmptyJob(jobId: number, properties: JobProperties): void {
    if (!this.#options.settings.rules.scheduler.postsEmptyJobs) return;
    this.#options.listener.jobStart(jobId, [], properties);
    this.#options.listener.jobEnd(jobId, null);
  }

  /** Submits a map stage on its own (SparkContext.submitMapStage). @returns the job's id. */
  submitMapStage(
    dependency: ShuffleDependency,
    listener: JobListener,
    properties: Partial<JobProperties> = {},
  ): number {
    const jobId = this.#nextJobId++;
    this.eventLoop.post({
      kind: "mapStageSubmitted",
      jobId,
      dependency,
      listener,
      properties: { ...NO_PROPERTIES, ...properties },
    });
    return jobId;
  }

  cancelJob(jobId: number, reason: string | null = null): void {
    this.eventLoop.post({ kind: "jobCancelled", jobId, reason });
  }

  cancelStage(stageId: number, reason: string | null = null): void {
    this.eventLoop.post({ kind: "stageCancelled", stageId, reason });
  }

  cancelJobGroup(group: string): void {
    this.eventLoop.post({ kind: "jobGroupCancelled", group });
  }

  cancelAllJobs(): void {
    this.eventLoop.post({ kind: "allJobsCancelled" });
  }

  /** The resubmit timer fired. */
  resubmitFailedStages(): void {
    this.eventLoop.post({ kind: "resubmitFailedStages" });
  }
}
