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
  RddInfo,
  SimulationEvent,
  SparkEvent,
  SparkPlanInfo,
  StageInfo,
  TaskEnd,
} from "../spark/events.ts";
import { REFERENCE_SPARK_VERSION } from "../spark/spark_version.ts";
import { type BlockChange, BlockFold, rddOfBlock } from "./block_fold.ts";
import { ExecutorFold } from "./executor_fold.ts";
import { count, FailureFold, MAX_GROUPS, MAX_MESSAGE } from "./failure_fold.ts";
import { JobFold } from "./job_fold.ts";
import type { ExecutorLoss, RunFacts } from "./run_facts.ts";
import { managedPeak, StageFold } from "./stage_fold.ts";
import type { Summary, SummaryWarning } from "./summary.ts";
import { thresholdsOf } from "./thresholds.ts";

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
  readonly #jobs = new JobFold();
  readonly #failures = new FailureFold();
  readonly #running = new Set<StageFold>();
  readonly #warnings = new Map<string, SummaryWarning>();
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
  #putsRefused = 0;
  #cacheHits = 0;
  #cacheMisses = 0;
  #waits = 0;
  #waitMs = 0;
  #speculativeTasks = 0;
  #sqlExecutions = 0;
  #forStorage = 0;
  #forExecution = 0;

  /** An observed run is told apart from a simulated one: what only one of them knows is null in the other. */
  constructor(options: { readonly source: EventSource }) {
    this.#source = options.source;
    this.#observed = options.source === "observed";
    this.#blocks = new BlockFold(options.source);
  }

  /** Takes the next event of the run. */
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
        this.#seen(event.time);
        return this.#jobs.started(event);
      case "jobEnd":
        this.#seen(event.time);
        return this.#jobs.ended(event);
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
      jobs: this.#jobs.summaries(),
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
        oomTasks: this.#failures.oomTasks,
        peakBytes: sumOrNull(executors.map(({ peakExecutionBytes }) => peakExecutionBytes)),
      },
      executors,
      driver: { peakHeapBytes: this.#executors.driverPeakHeap() },
      warnings: this.#allWarnings(recorded, refused.size > 0),
    };
  }

  /** What became of the run; of a simulated one that hangs why it does. */
  #outcome(): Summary["outcome"] {
    const outcome = this.#jobs.outcome(this.#endTime !== null);
    const stuck = this.#observed ? undefined : this.#warnings.get("simulation.stuck");
    return outcome.status === "unfinished" && stuck !== undefined ? { ...outcome, reason: stuck.message } : outcome;
  }

  /** @internal What the verdict is made from. */
  facts(): RunFacts {
    const conf = this.#conf();
    return {
      conf,
      local: this.#isLocal(),
      unified: this.#executors.unified(),
      stages: this.#stageList(),
      failures: this.#failures.groups,
      kills: this.#failures.kills,
      losses: this.#losses,
      tasksLost: this.#failures.tasksLost,
      persisted: this.#persisted,
      rddBlocks: this.#blocks.rdds(),
      evictions: this.#evictionCauses(),
      unpersisted: this.#unpersisted,
      blocksLost: this.#blocks.lost,
      broadcastBytes: this.#blocks.broadcastPeak,
      partialJobs: this.#partialJobs(),
      skippedStages: this.#jobs.skippedStages(new Set(this.#stageList().map(({ stageId }) => stageId))),
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
    this.#executors.taskEnd(
      event.executorId,
      event.peakHeapMemory ?? null,
      event.metrics === null ? null : managedPeak(event.metrics),
    );
    if (event.speculative) this.#speculativeTasks++;
    const size = event.metrics?.resultSize ?? null;
    if (size !== null && size > (this.#maxResultBytes ?? -1)) this.#maxResultBytes = size;
    const blocks = event.metrics?.updatedBlocks ?? null;
    if (this.#observed && blocks !== null) {
      this.#blocks.recorded = true;
      for (const block of blocks) this.#blockChanged(this.#blocks.updatedByTask(event.executorId, block), stage);
    }
    if (event.reason.reason !== "Success") this.#failures.taskEnd(event);
  }

  #blockUpdated(event: BlockUpdated): void {
    const change = this.#blocks.updated(event);
    const stage = this.#currentStage();
    if (stage === null) return;
    this.#blockChanged(change, stage, event.memorySize);
    if (event.storageLevel.useMemory && event.blockId.startsWith("broadcast_")) {
      stage.broadcastBytes += event.memorySize;
    }
  }

  #blockChanged(change: BlockChange, stage: StageFold, bytes = 0): void {
    if (change === "stored") stage.blocksStored++;
    else if (change === "evicted" && this.#observed) {
      stage.evictions++;
      stage.bytesEvicted += bytes;
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
        this.#losses.push({ executorId: event.executorId, reason: event.reason, time: event.time });
        break;
    }
  }

  #sqlEvent(event: SparkEvent): void {
    switch (event.kind) {
      case "sqlExecutionStart":
        this.#sqlExecutions++;
        this.#jobs.executionStarted(event);
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
        if (stage !== null) stage.evictions++;
        if (event.forTaskId !== null) this.#forExecution++;
        else this.#forStorage++;
        break;
      }
      case "blockReadBack":
        this.#blocks.readBack(event.executorId, event.blockId, event.memorySize);
        break;
      case "blockRemoved":
        this.#blocks.removedInSimulation(event.executorId, event.blockId);
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
      if (stage.blocksStored === 0 && stage.peak.max > 0) causes.execution += stage.evictions;
      else if (stage.blocksStored === 0 && stage.broadcastBytes * 2 > stage.bytesEvicted) {
        causes.broadcast += stage.evictions;
      } else causes.storage += stage.evictions; // blocks that come back from disk are stored without an update
    }
    return causes;
  }

  /** Result stages that ran fewer tasks than their RDD, the first of the description, has partitions. */
  #partialJobs(): number {
    return this.#stageList().filter(({ taskType, attempt, info }) =>
      taskType === "ResultTask" && attempt === 0 && info !== null && info.rddInfos.length > 0 &&
      info.numTasks < info.rddInfos[0].numPartitions
    ).length;
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
    const { warning } = this.#conf().rules;
    if (warning !== null) add("conf.version", warning);
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

function sumOrNull(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((a, b) => a + b, 0);
}
