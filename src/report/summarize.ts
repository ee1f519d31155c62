/**
 * The Summary of a run as a fold over its events, the same for real and simulated runs.
 *
 * @module
 */
import { SparkConf } from "../spark/conf.ts";
import type {
  BlockUpdated,
  EventSink,
  EventSource,
  JobEnd,
  JobStart,
  RddInfo,
  SimulationEvent,
  SparkEvent,
  SparkPlanInfo,
  StageInfo,
  TaskEnd,
} from "../spark/events.ts";
import { REFERENCE_SPARK_VERSION } from "../spark/spark_version.ts";
import { BlockFold, rddOfBlock } from "./block_fold.ts";
import { ExecutorFold } from "./executor_fold.ts";
import type { ExecutorLoss, FailureGroup, RunFacts } from "./run_facts.ts";
import { StageFold } from "./stage_fold.ts";
import type { Summary, SummaryWarning } from "./summary.ts";
import { thresholdsOf } from "./thresholds.ts";

/** Kinds of failures, kills and plan nodes that are kept apart at most; a message is cut to so many characters. */
const MAX_GROUPS = 64;
const MAX_MESSAGE = 4000;

interface JobState {
  start: JobStart | null;
  stageIds: readonly number[];
  end: JobEnd | null;
}

/** Whether a job's failure says that somebody cancelled it, which is not a failure of the run. */
export function isCancelled(message: string): boolean {
  return /^(\[SPARK_JOB_CANCELLED\] )?Job \d+ cancelled\b/.test(message) &&
    !message.includes("SparkContext was shut down");
}

/**
 * Takes the events of a run and gives its Summary, and the facts that a verdict is made from.
 *
 * In simulated runs the counts of evictions, refused blocks, cache reads, waits and results come from the simulator's own
 * events and are true; in a log they are what it tells, and null for what it does not record.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Summarizer } from "./summarize.ts";
 *
 * const summarizer = new Summarizer({ source: "observed" });
 * summarizer.event({ kind: "logStart", sparkVersion: "3.5.9" });
 * summarizer.event({ kind: "jobStart", jobId: 0, time: 5, stageInfos: [], stageIds: [0], properties: {} });
 * summarizer.event({ kind: "jobEnd", jobId: 0, time: 25, failure: null });
 * assertEquals(summarizer.summary().jobs, [
 *   { jobId: 0, status: "succeeded", reason: null, stageIds: [0], durationMs: 20 },
 * ]);
 * ```
 */
export class Summarizer implements EventSink {
  readonly #source: EventSource;
  readonly #observed: boolean;
  readonly #blocks: BlockFold;
  readonly #executors = new ExecutorFold();
  readonly #stages = new Map<string, StageFold>();
  readonly #jobs = new Map<number, JobState>();
  readonly #running = new Set<StageFold>();
  readonly #warnings = new Map<string, SummaryWarning>();
  readonly #failures = new Map<string, FailureGroup>();
  readonly #kills = new Map<string, number>();
  readonly #losses: ExecutorLoss[] = [];
  readonly #persisted = new Map<number, RddInfo>();
  readonly #unpersisted = new Set<number>();
  readonly #planNodes = new Map<string, number>();
  readonly #sqlErrors: string[] = [];
  #lastStage: StageFold | null = null;
  #sparkVersion: string | null = null;
  #properties: Readonly<Record<string, string>> = {};
  #app = { id: null as string | null, name: "", startTime: null as number | null };
  #endTime: number | null = null;
  #exitCode: number | null = null;
  #lastTime: number | null = null;
  #maxResultBytes: number | null = null;
  #oomTasks = 0;
  #putsRefused = 0;
  #cacheHits = 0;
  #cacheMisses = 0;
  #waits = 0;
  #waitMs = 0;
  #speculativeTasks = 0;
  #sqlExecutions = 0;
  #forStorage = 0;
  #forExecution = 0;

  constructor(options: { readonly source: EventSource }) {
    this.#source = options.source;
    this.#observed = options.source === "observed";
    this.#blocks = new BlockFold(options.source);
  }

  event(event: SparkEvent): void {
    switch (event.kind) {
      case "taskEnd":
        return this.#taskEnd(event);
      case "taskStart":
        return this.#seen(event.launchTime);
      case "blockUpdated":
        return this.#blockUpdated(event);
      case "stageSubmitted":
        return this.#stageSubmitted(event.stageInfo);
      case "stageCompleted":
        return this.#stageCompleted(event.stageInfo);
      case "jobStart":
        return this.#jobStart(event);
      case "jobEnd":
        this.#seen(event.time);
        this.#job(event.jobId).end = event;
        return;
      case "warning":
        return this.#warn(event.code, event.message, event.count);
      case "unpersistRdd":
        this.#unpersisted.add(event.rddId);
        return this.#blocks.unpersisted(event.rddId);
      default:
        this.#applicationEvent(event);
        this.#executorEvent(event);
        this.#sqlEvent(event);
        if (!this.#observed) this.#simulationEvent(event as SimulationEvent);
    }
  }

  /** The Summary of what was taken so far. */
  summary(): Summary {
    const conf = this.#conf();
    const recorded = this.#blocksRecorded(conf);
    const refused = this.#refusedStages();
    const stages = this.#stageList().map((stage) => stage.summary(!this.#observed || !refused.has(stage)));
    const sum = (of: (stage: StageFold) => number) => this.#stageList().reduce((total, stage) => total + of(stage), 0);
    const whenRecorded = <T>(value: T) => recorded ? value : null;
    const whenSimulated = <T>(value: T) => this.#observed ? null : value;
    const now = this.#blocks.now();
    const executors = this.#executors.summaries(this.#blocks, recorded);
    return {
      app: {
        id: this.#app.id,
        name: this.#app.name,
        sparkVersion: this.#sparkVersion ?? "unknown",
        source: this.#source,
      },
      outcome: this.#outcome(),
      thresholds: thresholdsOf(conf),
      durationMs: this.#app.startTime === null || this.#lastTime === null
        ? null
        : (this.#endTime ?? this.#lastTime) - this.#app.startTime,
      jobs: this.#jobSummaries(),
      stages,
      results: {
        direct: sum((stage) => stage.direct),
        indirect: sum((stage) => stage.indirect),
        dropped: this.#observed && refused.size > 0 ? null : sum((stage) => stage.dropped),
        lost: sum((stage) => stage.lost),
        totalBytes: sum((stage) => stage.resultBytes),
        maxBytes: this.#maxResultBytes,
      },
      storage: {
        blocksStored: whenRecorded(this.#blocks.stored),
        blocksEvicted: whenRecorded(this.#blocks.evicted),
        bytesEvicted: whenRecorded(this.#blocks.bytesEvicted),
        blocksDroppedToDisk: whenRecorded(this.#blocks.droppedToDisk),
        putsRefused: whenSimulated(this.#putsRefused),
        cacheHits: whenSimulated(this.#cacheHits),
        cacheMisses: whenSimulated(this.#cacheMisses),
        cachedAtEnd: {
          memoryBlocks: whenRecorded(now.memoryBlocks),
          memoryBytes: whenRecorded(now.memoryBytes),
          diskBlocks: whenRecorded(now.diskBlocks),
          diskBytes: whenRecorded(now.diskBytes),
        },
        peakBytes: sumOrNull(executors.map(({ peakStorageBytes }) => peakStorageBytes)),
      },
      execution: {
        memoryBytesSpilled: sum((stage) => stage.memoryBytesSpilled),
        diskBytesSpilled: sum((stage) => stage.diskBytesSpilled),
        spilledTasks: sum((stage) => stage.spilledTasks),
        waits: whenSimulated(this.#waits),
        waitMs: whenSimulated(this.#waitMs),
        oomTasks: this.#oomTasks,
        peakBytes: sumOrNull(executors.map(({ peakExecutionBytes }) => peakExecutionBytes)),
      },
      executors,
      warnings: this.#allWarnings(recorded, refused.size > 0),
    };
  }

  /** What the verdict is made from. */
  facts(): RunFacts {
    const conf = this.#conf();
    const ran = new Set(this.#stageList().map(({ stageId }) => stageId));
    const skipped = new Set([...this.#jobs.values()].flatMap(({ stageIds }) => stageIds.filter((id) => !ran.has(id))));
    return {
      conf,
      local: this.#isLocal(),
      stages: this.#stageList(),
      failures: [...this.#failures.values()],
      kills: this.#kills,
      losses: this.#losses,
      persisted: this.#persisted,
      rddBlocks: this.#blocks.rdds(),
      evictions: this.#evictionCauses(),
      unpersisted: this.#unpersisted,
      skippedStages: skipped.size,
      speculativeTasks: this.#speculativeTasks,
      sqlErrors: this.#sqlErrors,
      sqlExecutions: this.#sqlExecutions,
      exitCode: this.#exitCode,
      blocksRecorded: this.#blocksRecorded(conf),
      planNodes: this.#planNodes,
    };
  }

  #seen(time: number | null): void {
    if (time !== null && time > (this.#lastTime ?? -Infinity)) this.#lastTime = time;
  }

  #taskEnd(event: TaskEnd): void {
    this.#seen(event.finishTime);
    const stage = this.#stage(event.stageId, event.stageAttemptId);
    stage.taskEnd(event, this.#observed);
    this.#executors.taskEnd(event.executorId);
    if (event.speculative) this.#speculativeTasks++;
    const size = event.metrics?.resultSize ?? null;
    if (size !== null && size > (this.#maxResultBytes ?? -1)) this.#maxResultBytes = size;
    if (event.reason.reason !== "Success") this.#taskFailed(event);
  }

  #taskFailed(event: TaskEnd): void {
    const { reason } = event;
    if (reason.reason === "TaskKilled") return count(this.#kills, reason.killReason.slice(0, MAX_MESSAGE));
    let className = "";
    let message = "";
    switch (reason.reason) {
      case "ExceptionFailure":
        className = reason.className;
        message = reason.description;
        if (/\bOutOfMemoryError$/.test(className)) this.#oomTasks++;
        break;
      case "FetchFailed":
        message = reason.message;
        break;
      case "ExecutorLostFailure": {
        message = reason.lossReason ?? "";
        const loss = this.#losses.find(({ executorId }) => executorId === reason.executorId);
        if (loss !== undefined) loss.tasksLost++;
        break;
      }
    }
    // Messages of one kind differ in numbers and addresses.
    const key = `${reason.reason} ${className} ${message.split("\n", 1)[0].slice(0, 200).replace(/\d+/g, "#")}`;
    let group = this.#failures.get(key);
    if (group === undefined) {
      if (this.#failures.size >= MAX_GROUPS) return;
      group = {
        reason: reason.reason,
        className,
        message: message.slice(0, MAX_MESSAGE),
        count: 0,
        stageIds: new Set(),
        executorIds: new Set(),
      };
      this.#failures.set(key, group);
    }
    group.count++;
    group.stageIds.add(event.stageId);
    group.executorIds.add(event.executorId);
  }

  #blockUpdated(event: BlockUpdated): void {
    const change = this.#blocks.updated(event);
    const stage = this.#currentStage();
    if (stage === null) return;
    if (change === "stored") stage.blocksStored++;
    else if (change === "evicted" && this.#observed) stage.evictions.total++;
    if (event.storageLevel.useMemory && event.blockId.startsWith("broadcast_")) {
      stage.broadcastBytes += event.memorySize;
    }
  }

  /** The stage to which a block's change is put down: the one that was submitted last of those that run. */
  #currentStage(): StageFold | null {
    let current: StageFold | null = null;
    for (const stage of this.#running) current = stage;
    return current;
  }

  #stageSubmitted(info: StageInfo): void {
    this.#seen(info.submissionTime);
    const stage = this.#stage(info.stageId, info.attemptId);
    stage.info = info;
    stage.submitted = true;
    this.#running.add(stage);
    this.#persistedOf(info);
  }

  #stageCompleted(info: StageInfo): void {
    this.#seen(info.completionTime);
    const stage = this.#stage(info.stageId, info.attemptId);
    stage.info = { ...info, rddInfos: info.rddInfos, accumulables: [] };
    stage.completed = true;
    this.#running.delete(stage);
    this.#persistedOf(info);
  }

  #persistedOf(info: StageInfo): void {
    for (const rdd of info.rddInfos) {
      if (rdd.storageLevel.useMemory || rdd.storageLevel.useDisk) this.#persisted.set(rdd.rddId, rdd);
    }
  }

  #jobStart(event: JobStart): void {
    this.#seen(event.time);
    const job = this.#job(event.jobId);
    job.start = { ...event, stageInfos: [] };
    job.stageIds = event.stageIds;
  }

  #applicationEvent(event: SparkEvent): void {
    switch (event.kind) {
      case "logStart":
        this.#sparkVersion = event.sparkVersion;
        break;
      case "applicationStart":
        this.#seen(event.time);
        this.#app = { id: event.appId, name: event.appName, startTime: event.time };
        break;
      case "applicationEnd":
        this.#seen(event.time);
        this.#endTime = event.time;
        this.#exitCode = event.exitCode;
        break;
      case "environmentUpdate":
        this.#properties = { ...this.#properties, ...event.sparkProperties };
        break;
    }
  }

  #executorEvent(event: SparkEvent): void {
    switch (event.kind) {
      case "executorAdded":
        this.#seen(event.time);
        this.#executors.added(event);
        break;
      case "blockManagerAdded":
        this.#executors.blockManagerAdded(event);
        break;
      case "stageExecutorMetrics":
        this.#executors.metrics(event);
        break;
      case "blockManagerRemoved":
        this.#blocks.executorGone(event.executorId);
        break;
      case "executorRemoved":
        this.#seen(event.time);
        this.#blocks.executorGone(event.executorId);
        this.#executors.removed(event);
        this.#losses.push({
          executorId: event.executorId,
          reason: event.reason,
          time: event.time,
          tasksLost: 0,
        });
        break;
    }
  }

  #sqlEvent(event: SparkEvent): void {
    switch (event.kind) {
      case "sqlExecutionStart":
        this.#sqlExecutions++;
        this.#planOf(event.plan);
        break;
      case "sqlExecutionEnd":
        if (event.errorMessage !== null && this.#sqlErrors.length < MAX_GROUPS) {
          this.#sqlErrors.push(event.errorMessage.slice(0, MAX_MESSAGE));
        }
        break;
    }
  }

  #planOf(plan: SparkPlanInfo | null): void {
    if (plan === null) return;
    count(this.#planNodes, plan.nodeName.replace(/ \(\d+\)$/, ""));
    for (const child of plan.children) this.#planOf(child);
  }

  #simulationEvent(event: SimulationEvent): void {
    switch (event.kind) {
      case "blockEvicted": {
        this.#blocks.evictedInSimulation(event);
        if (rddOfBlock(event.blockId) === null) break;
        const stage = this.#currentStage();
        if (stage !== null) stage.evictions.total++;
        if (event.forTaskId !== null) this.#forExecution++;
        else this.#forStorage++;
        break;
      }
      case "blockReadBack":
        this.#blocks.readBack(event.executorId, event.blockId, event.memorySize);
        break;
      case "putRefused":
        if (rddOfBlock(event.blockId) !== null) this.#putsRefused++;
        break;
      case "cacheRead":
        if (event.from === "miss") this.#cacheMisses++;
        else this.#cacheHits++;
        break;
      case "memoryWait":
        this.#waits++;
        this.#waitMs += event.waitMs;
        break;
      case "taskResult":
        this.#stage(event.stageId, event.stageAttemptId)[event.path]++;
        break;
      case "memoryState":
        this.#executors.memoryState(event);
        break;
    }
  }

  #stage(stageId: number, attempt: number): StageFold {
    const last = this.#lastStage;
    if (last !== null && last.stageId === stageId && last.attempt === attempt) return last;
    const key = `${stageId}.${attempt}`;
    let stage = this.#stages.get(key);
    if (stage === undefined) this.#stages.set(key, stage = new StageFold(stageId, attempt));
    return this.#lastStage = stage;
  }

  #stageList(): StageFold[] {
    return [...this.#stages.values()];
  }

  #job(jobId: number): JobState {
    let job = this.#jobs.get(jobId);
    if (job === undefined) this.#jobs.set(jobId, job = { start: null, stageIds: [], end: null });
    return job;
  }

  #jobSummaries(): Summary["jobs"] {
    return [...this.#jobs].map(([jobId, { start, stageIds, end }]) => ({
      jobId,
      status: end === null ? "unfinished" : end.failure === null ? "succeeded" : "failed",
      reason: end?.failure ?? null,
      stageIds: [...stageIds],
      durationMs: start === null || end === null || start.time < 0 || end.time < 0 ? null : end.time - start.time,
    }));
  }

  #outcome(): Summary["outcome"] {
    const failure = [...this.#jobs.values()].map(({ end }) => end?.failure ?? null)
      .find((message): message is string => message !== null && !isCancelled(message));
    if (this.#endTime === null) {
      return { status: "unfinished", reason: failure ?? "the application has no end in the log" };
    }
    if (failure !== undefined) return { status: "failed", reason: failure };
    const open = [...this.#jobs].find(([, { end }]) => end === null);
    if (open !== undefined) return { status: "unfinished", reason: `job ${open[0]} has no end in the log` };
    return { status: "succeeded", reason: null };
  }

  /** Stages that were aborted because of spark.driver.maxResultSize: a log does not tell dropped results from refused ones. */
  #refusedStages(): Set<StageFold> {
    return new Set(
      this.#stageList().filter(({ info }) => info?.failureReason?.includes("spark.driver.maxResultSize") ?? false),
    );
  }

  #evictionCauses(): RunFacts["evictions"] {
    if (!this.#observed) return { storage: this.#forStorage, execution: this.#forExecution, broadcast: 0 };
    const causes = { storage: 0, execution: 0, broadcast: 0 };
    for (const stage of this.#stageList()) {
      if (stage.blocksStored > 0) causes.storage += stage.evictions.total;
      else if (stage.peak.max > 0) causes.execution += stage.evictions.total;
      else if (stage.broadcastBytes > 0) causes.broadcast += stage.evictions.total;
    }
    return causes;
  }

  #blocksRecorded(conf: SparkConf): boolean {
    return this.#blocks.recorded || !this.#observed || conf.getBoolean("spark.eventLog.logBlockUpdates.enabled");
  }

  #conf(): SparkConf {
    return SparkConf.from(this.#properties, this.#sparkVersion ?? REFERENCE_SPARK_VERSION);
  }

  #isLocal(): boolean {
    const master = this.#properties["spark.master"] ?? "";
    return master === "local" || master.startsWith("local[");
  }

  #warn(code: string, message: string, times: number): void {
    const known = this.#warnings.get(code);
    if (known === undefined) this.#warnings.set(code, { code, message, count: times });
    else known.count += times;
  }

  #allWarnings(recorded: boolean, refused: boolean): SummaryWarning[] {
    const warnings = [...this.#warnings.values()].map((warning) => ({ ...warning }));
    const add = (code: string, message: string, times = 1) => warnings.push({ code, message, count: times });
    if (!this.#observed) return warnings;
    if (!recorded) {
      add(
        "storage.not_recorded",
        "the log does not record cached blocks and evictions: spark.eventLog.logBlockUpdates.enabled=true makes it do so",
      );
    }
    if (this.#blocks.unseen > 0) {
      add(
        "storage.read_back",
        "blocks were evicted that came back to memory from disk, of which Spark records nothing: " +
          "blocks in memory at the end may be more than counted",
        this.#blocks.unseen,
      );
    }
    if (refused) {
      add(
        "results.lower_bound",
        "sizes of refused results are not recorded: counts and bytes of results are what the driver accepted",
      );
    }
    return warnings;
  }
}

function count(counts: Map<string, number>, key: string): void {
  if (counts.size >= MAX_GROUPS && !counts.has(key)) return;
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function sumOrNull(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((a, b) => a + b, 0);
}
