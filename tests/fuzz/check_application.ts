/**
 * What must be true of every simulated run, whatever the application: nothing is lost, time does not run backwards, the Summary
 * agrees with a plain count, a written log says the same, a run can be repeated and cut in slices.
 *
 * @module
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { InputError, LimitError } from "../../src/errors.ts";
import { readEventLog } from "../../src/event_log/read.ts";
import { EventLogWriter } from "../../src/event_log/write.ts";
import type { Kernel } from "../../src/kernel.ts";
import { NO_TASK, OFF_HEAP, ON_HEAP } from "../../src/kernel/types.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import type { Summary } from "../../src/report/summary.ts";
import { textReport } from "../../src/report/text.ts";
import { verdictOf } from "../../src/report/verdict.ts";
import type { Executor } from "../../src/simulator/executor.ts";
import { SimulatedApplication } from "../../src/simulator/simulated_application.ts";
import type { SimulationLimits } from "../../src/simulator/simulate.ts";
import type { Workload } from "../../src/simulator/workload.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import type { SparkEvent, TaskEnd } from "../../src/spark/events.ts";
import { workloadFromJobSpec } from "../../src/workload/job_spec.ts";
import type { JobSpec } from "../../src/workload/job_spec_types.ts";
import { type MirrorCounts, mirroredKernel } from "./mirrored_kernel.ts";

/** A run within these is judged; none of the applications needs nearly as much. */
const LIMITS: Partial<SimulationLimits> = { maxEvents: 400_000, maxVirtualMs: 7 * 86_400_000 };

/** What was looked at, for the numbers in README.md. */
export interface ApplicationCounts extends MirrorCounts {
  runs: number;
  refused: number;
  events: number;
  tasks: number;
  failedTasks: number;
  evictions: number;
  spills: number;
  waits: number;
  executorsLost: number;
  failedJobs: number;
  stuck: number;
}

/** Counts at the beginning. */
export function noCounts(): ApplicationCounts {
  return {
    runs: 0,
    refused: 0,
    events: 0,
    tasks: 0,
    failedTasks: 0,
    evictions: 0,
    spills: 0,
    waits: 0,
    executorsLost: 0,
    failedJobs: 0,
    stuck: 0,
    mirroredCalls: 0,
    mirroredEvictions: 0,
  };
}

interface Run {
  readonly simulation: SimulatedApplication;
  readonly events: SparkEvent[];
  readonly summary: Summary;
}

interface RunOptions {
  readonly slice: number;
  readonly limits?: Partial<SimulationLimits>;
  readonly kernel?: Kernel;
}

function run(workload: Workload, { slice, limits = LIMITS, kernel }: RunOptions): Run {
  const summarizer = new Summarizer({ source: "simulated" });
  const events: SparkEvent[] = [];
  const simulation = new SimulatedApplication(workload, {
    conf: SparkConf.from(workload.conf, workload.sparkVersion),
    limits,
    kernel,
    sink: {
      event(event) {
        summarizer.event(event);
        events.push(structuredClone(event));
      },
    },
  });
  while (!simulation.run(slice));
  const summary = summarizer.summary();
  const verdict = verdictOf(summary, summarizer.facts());
  assert(textReport(summary, verdict).length > 0);
  assertEquals(JSON.parse(JSON.stringify(summary)), summary, "a figure of the Summary is not a number");
  return { simulation, events, summary };
}

/**
 * Runs an application in every way and checks it; throws where something is wrong. What Spark refuses to start is bad input,
 * which is an answer.
 */
export async function checkApplication(spec: JobSpec, counts: ApplicationCounts = noCounts()): Promise<void> {
  let once: Run;
  try {
    once = run(workloadFromJobSpec(spec), { slice: 1 << 20 });
  } catch (error) {
    if (!(error instanceof InputError) || error instanceof LimitError) throw error;
    assert(error.message.length > 20 && error.code.includes("."), `an error that says little: ${error}`);
    counts.refused++;
    return;
  }
  const { events, simulation, summary } = once;
  checkTimes(events);
  // A result that the driver cannot read, or up to 2.4.4 refuses, leaves its task without an end (TaskResultGetter).
  const { refusedResultIsKilled } = simulation.conf.rules.results;
  const refuses = events.some((event) =>
    event.kind === "jobEnd" && event.failure !== null &&
    (/ClassNotFound with|Exception while getting task result/.test(event.failure) ||
      !refusedResultIsKilled && event.failure.includes("Total size of serialized results"))
  );
  const running = checkTasks(events, refuses);
  // Where the driver's event loop failed, jobs end that have not begun, as in Spark (trace a56).
  const loopFailed = summary.warnings.some(({ code }) => code === "simulation.scheduler");
  if (!loopFailed) checkJobsAndStages(simulation, events);
  const busy = busyExecutors(events, running);
  checkMemory(simulation, busy);
  checkBlocks(simulation, events, busy);
  checkCached(simulation);
  checkSummary(events, summary);
  const mapStageJobs = simulation.workload.jobs.some(({ kind }) => kind === "mapStage");
  await checkWrittenLog(events, summary, { running: running.size, mapStageJobs });
  const text = JSON.stringify(events);
  // The second run is in slices, and each of its calls of the kernel is made on the model too.
  const sliced = run(workloadFromJobSpec(JSON.parse(JSON.stringify(spec))), {
    slice: 1 + (spec.seed ?? 0) % 50,
    kernel: mirroredKernel(counts),
  });
  assertEquals(JSON.stringify(sliced.events), text, "the same application gives other events in slices");
  checkLimits(simulation, spec);
  count(counts, once);
}

function count(counts: ApplicationCounts, { simulation, events, summary }: Run): void {
  counts.runs++;
  counts.events += simulation.eventsHandled;
  for (const event of events) {
    if (event.kind === "taskEnd") {
      counts.tasks++;
      if (event.reason.reason !== "Success") counts.failedTasks++;
    } else if (event.kind === "blockEvicted") counts.evictions++;
    else if (event.kind === "spill") counts.spills++;
    else if (event.kind === "memoryWait") counts.waits++;
    else if (event.kind === "executorRemoved") counts.executorsLost++;
    else if (event.kind === "jobEnd" && event.failure !== null) counts.failedJobs++;
  }
  if (summary.warnings.some(({ code }) => code === "simulation.stuck")) counts.stuck++;
}

function timeOf(event: SparkEvent): number | null {
  switch (event.kind) {
    case "taskStart":
      return event.launchTime;
    case "taskEnd":
      // Tells again when the attempt ended whose output is lost now.
      return event.reason.reason === "Resubmitted" ? null : event.finishTime;
    case "stageSubmitted":
      return event.stageInfo.submissionTime;
    case "stageCompleted":
      return event.stageInfo.completionTime;
    default:
      return "time" in event ? event.time : null;
  }
}

/** Times are finite and do not run backwards; whole milliseconds may be told of what happened within one. */
function checkTimes(events: readonly SparkEvent[]): void {
  let time = 0;
  for (const event of events) {
    const at = timeOf(event);
    if (at === null) continue;
    assert(Number.isFinite(at), `${event.kind} at ${at}`);
    // The end of a task is when its result arrived (fetched results: later than the status that told of them).
    assert(at >= time - 1, `${JSON.stringify(event).slice(0, 300)} at ${at}, after ${time}`);
    time = Math.max(time, at);
  }
}

/** Every attempt starts once and ends once; gives the attempts that have not ended, and their executors. */
function checkTasks(events: readonly SparkEvent[], refusesResults: boolean): Map<number, string> {
  const started = new Map<number, string>();
  const ended = new Set<number>();
  // Attempts whose cores are given to others before their results are fetched and their ends told.
  const fetched = new Set(
    events.flatMap((event) => event.kind === "taskResult" || event.kind === "taskGettingResult" ? [event.taskId] : []),
  );
  const gone = new Set<string>();
  const alive = new Set<string>();
  const cores = new Map<string, number>();
  const busy = new Map<string, number>();
  for (const event of events) {
    if (event.kind === "executorAdded") {
      assert(!alive.has(event.executorId) && !gone.has(event.executorId), `executor ${event.executorId} comes twice`);
      alive.add(event.executorId);
      cores.set(event.executorId, event.totalCores);
    } else if (event.kind === "executorRemoved") {
      assert(alive.delete(event.executorId), `executor ${event.executorId} goes without having come`);
      gone.add(event.executorId);
    } else if (event.kind === "taskStart") {
      assert(!started.has(event.taskId), `task ${event.taskId} starts twice`);
      assert(
        alive.has(event.executorId),
        `task ${event.taskId} starts on executor ${event.executorId}, which is not there`,
      );
      started.set(event.taskId, event.executorId);
      if (fetched.has(event.taskId)) continue;
      const now = (busy.get(event.executorId) ?? 0) + 1;
      assert(now <= cores.get(event.executorId)!, `${now} tasks run on executor ${event.executorId}`);
      busy.set(event.executorId, now);
    } else if (event.kind === "taskEnd") {
      checkTaskEnd(event);
      if (event.reason.reason === "Resubmitted") continue;
      assertEquals(started.get(event.taskId), event.executorId, `task ${event.taskId} ends where it did not start`);
      assert(!ended.has(event.taskId), `task ${event.taskId} ends twice`);
      ended.add(event.taskId);
      if (!fetched.has(event.taskId)) busy.set(event.executorId, busy.get(event.executorId)! - 1);
    }
  }
  const running = new Map([...started].filter(([task]) => !ended.has(task)));
  for (const [task, executor] of running) {
    assert(refusesResults || !gone.has(executor), `task ${task} has no end though executor ${executor} is gone`);
  }
  return running;
}

/** Executors on which an attempt has no end, but for those that wait for the driver to take their result. */
function busyExecutors(events: readonly SparkEvent[], running: ReadonlyMap<number, string>): Set<string> {
  const left = new Map(running);
  for (const event of events) {
    if (event.kind === "taskResult" || event.kind === "taskGettingResult") left.delete(event.taskId);
  }
  return new Set(left.values());
}

function checkTaskEnd(event: TaskEnd): void {
  assert(event.finishTime >= event.launchTime, `task ${event.taskId} ends before it starts`);
  assertEquals(event.failed && event.killed, false);
  const { metrics } = event;
  if (event.reason.reason === "Success") assert(metrics !== null, `task ${event.taskId} succeeds without metrics`);
  if (metrics === null) return;
  for (const [name, value] of Object.entries(metrics)) {
    if (typeof value !== "number") continue;
    assert(Number.isInteger(value) && value >= 0, `task ${event.taskId} has ${name} ${value}`);
  }
  const took = metrics.executorDeserializeTime + metrics.executorRunTime + metrics.resultSerializationTime;
  assert(took <= event.finishTime - event.launchTime + 1, `task ${event.taskId} ran longer than it took`);
}

/** Jobs and stages end once, after their start; a job that succeeds has no open stage of its own. */
function checkJobsAndStages({ workload, conf }: SimulatedApplication, events: readonly SparkEvent[]): void {
  const hasMapStageJobs = workload.jobs.some(({ kind }) => kind === "mapStage");
  const { completesFailedAttempts, taskStartHasOwnAttempt } = conf.rules.scheduler;
  const jobs = new Map<number, boolean>();
  const stages = new Map<string, boolean>();
  let stuck = false;
  for (const event of events) {
    if (event.kind === "warning" && event.code === "simulation.stuck") stuck = true;
    if (event.kind === "jobStart") {
      assert(!jobs.has(event.jobId), `job ${event.jobId} starts twice`);
      jobs.set(event.jobId, false);
    } else if (event.kind === "jobEnd") {
      assert(jobs.has(event.jobId), `job ${event.jobId} ends before its start`);
      // Spark tells twice of a map-stage job whose output is there already (testdata/scheduler, trace a54).
      const again = hasMapStageJobs && event.failure === null;
      assert(again || !jobs.get(event.jobId), `job ${event.jobId} ends twice`);
      jobs.set(event.jobId, true);
    } else if (event.kind === "stageSubmitted" || event.kind === "stageCompleted") {
      const { stageId, attemptId, submissionTime, completionTime } = event.stageInfo;
      const name = `${stageId}.${attemptId}`;
      if (event.kind === "stageSubmitted") {
        assert(!stages.has(name), `stage ${name} is submitted twice`);
        stages.set(name, false);
      } else {
        assert(stages.has(name), `stage ${name} completes before its submission`);
        // Since 4.1 the failed attempts of a job that is cancelled are completed once more.
        const again = completesFailedAttempts && event.stageInfo.failureReason !== null;
        assert(again || !stages.get(name), `stage ${name} completes twice`);
        stages.set(name, true);
        assert(submissionTime === null || completionTime! >= submissionTime, `stage ${name} ends before it starts`);
      }
    } else if (event.kind === "taskStart") {
      // Until 3.1 a task of a stage that the driver has forgotten starts as one of attempt -1 (DAGScheduler.handleBeginEvent): of a
      // map-stage job whose own output was there, while that of the stages below it was lost.
      const forgotten = event.stageAttemptId === -1 && !taskStartHasOwnAttempt;
      const attempt = forgotten ? 0 : event.stageAttemptId;
      assert(stages.has(`${event.stageId}.${attempt}`), `task ${event.taskId} of a stage not submitted`);
    }
  }
  if (!stuck) assertEquals([...jobs].filter(([, ended]) => !ended), [], "jobs that never end");
  assertEquals([events[0].kind, events.at(-1)!.kind], ["logStart", "applicationEnd"]);
}

/** Where no task runs, no execution or unroll memory is held, nobody waits, and storage memory is that of the blocks. */
function checkMemory(simulation: SimulatedApplication, running: ReadonlySet<string>): void {
  for (const executor of simulation.executors) {
    if (!executor.alive) continue;
    const { memory, id } = executor;
    const state = memory.state();
    for (const [mode, max] of [[ON_HEAP, executor.maxOnHeapMemory], [OFF_HEAP, executor.maxOffHeapMemory]] as const) {
      let blocks = 0;
      memory.blocks(mode, (_, size) => blocks += size);
      const unroll = mode === ON_HEAP ? state.onHeapUnrollMemory : state.offHeapUnrollMemory;
      assertEquals(memory.storageMemoryUsed(mode), blocks + unroll, `storage memory of executor ${id}, mode ${mode}`);
      assertEquals(memory.storagePoolSize(mode) + memory.executionPoolSize(mode), max, `pools of executor ${id}`);
    }
    if (running.has(id)) continue;
    const held = [memory.executionMemoryUsed(ON_HEAP), memory.executionMemoryUsed(OFF_HEAP)];
    assertEquals(held, [0, 0], `execution memory of executor ${id}, which runs nothing`);
    // What a replica that did not fit has reserved belongs to no task, and 1.6 never gives it back (MemoryStore.unrollSafely).
    const leaked = [ON_HEAP, OFF_HEAP].map((mode) =>
      executor.blocks.rules.freesConsumedUnroll ? 0 : memory.unrollMemoryForTask(NO_TASK, mode)
    );
    assertEquals([state.onHeapUnrollMemory, state.offHeapUnrollMemory], leaked, `unroll memory of executor ${id}`);
    assertEquals([state.onHeapActiveTasks, state.offHeapActiveTasks], [0, 0], `active tasks of executor ${id}`);
    assertEquals(executor.waiting.size, 0, `waiting tasks of executor ${id}`);
    assertEquals(pinned(executor), [], `blocks of executor ${id} that are pinned though nothing runs`);
  }
}

function pinned(executor: Executor): number[] {
  const found: number[] = [];
  for (const mode of [ON_HEAP, OFF_HEAP] as const) {
    executor.memory.blocks(mode, (block, _, readers) => {
      if (readers !== 0) found.push(block);
    });
  }
  return found;
}

/** The blocks that the events tell are those that the executors hold, and that the master knows. */
function checkBlocks(simulation: SimulatedApplication, events: readonly SparkEvent[], busy: ReadonlySet<string>): void {
  const told = toldBlocks(events);
  for (const executor of simulation.executors) {
    // What is unpersisted while a task reads it goes when the task ends.
    if (!executor.alive || busy.has(executor.id)) continue;
    const held = new Map<string, string>();
    for (const { name, block, memoryBytes, diskBytes } of executor.blocks.entries()) {
      if (!name.startsWith("rdd_")) continue;
      if (memoryBytes > 0 || diskBytes > 0) held.set(name, `${memoryBytes} in memory, ${diskBytes} on disk`);
      const known = simulation.master.locations(block).includes(executor.index);
      assertEquals(
        known,
        memoryBytes > 0 || diskBytes > 0 || executor.memory.contains(executor.blocks.entry(block)!.local),
      );
    }
    assertEquals(sorted(told.get(executor.id) ?? new Map()), sorted(held), `blocks of executor ${executor.id}`);
  }
}

/** The master's running counts of each RDD are those of the blocks that executors hold. */
function checkCached({ workload, master, executors }: SimulatedApplication): void {
  for (const [rdd, { id, numPartitions, storageLevel }] of workload.rdds.entries()) {
    const counted = { partitions: 0, memorySize: 0, diskSize: 0 };
    for (let partition = 0; storageLevel !== null && partition < numPartitions; partition++) {
      const block = master.rddBlock(rdd, partition);
      if (master.isStored(block)) counted.partitions++;
      for (const { blocks } of executors) {
        counted.memorySize += blocks.entry(block)?.memoryBytes ?? 0;
        counted.diskSize += blocks.entry(block)?.diskBytes ?? 0;
      }
    }
    assertEquals(master.cachedOf(rdd), counted, `what is cached of RDD ${id}`);
  }
}

function sorted(blocks: ReadonlyMap<string, string>): [string, string][] {
  return [...blocks].sort(([a], [b]) => a < b ? -1 : 1);
}

function toldBlocks(events: readonly SparkEvent[]): Map<string, Map<string, string>> {
  const blocks = new Map<string, Map<string, string>>();
  const disk = new Map<string, number>();
  for (const event of events) {
    if (event.kind === "executorAdded") blocks.set(event.executorId, new Map());
    else if (event.kind === "unpersistRdd") {
      for (const held of blocks.values()) {
        for (const name of held.keys()) if (name.startsWith(`rdd_${event.rddId}_`)) held.delete(name);
      }
    } else if (event.kind === "blockUpdated" && event.blockId.startsWith("rdd_")) {
      const { blockId, storageLevel, memorySize, diskSize, executorId } = event;
      const inMemory = storageLevel.useMemory ? memorySize : 0;
      const onDisk = storageLevel.useDisk ? diskSize : 0;
      disk.set(`${executorId} ${blockId}`, onDisk);
      const held = blocks.get(executorId);
      assert(held !== undefined, `a block is told of executor ${executorId}, which has not come`);
      if (inMemory + onDisk === 0) held.delete(blockId);
      else held.set(blockId, `${inMemory} in memory, ${onDisk} on disk`);
    } else if (event.kind === "blockRemoved") {
      blocks.get(event.executorId)?.delete(event.blockId);
    } else if (event.kind === "blockReadBack") {
      // Unpersisted while its writer stores it, it goes with the write.
      const held = blocks.get(event.executorId)!;
      if (!held.has(event.blockId)) continue;
      const onDisk = disk.get(`${event.executorId} ${event.blockId}`) ?? 0;
      held.set(event.blockId, `${event.memorySize} in memory, ${onDisk} on disk`);
    }
  }
  return blocks;
}

/** What the Summary says is cached at the end is what the events have told of the executors that are left. */
function checkCachedAtEnd(events: readonly SparkEvent[], summary: Summary): void {
  const told = toldBlocks(events);
  for (const event of events) if (event.kind === "executorRemoved") told.delete(event.executorId);
  const sizes = [...told.values()].flatMap((held) => [...held.values()]).map((text) => text.match(/\d+/g)!.map(Number));
  const of = (i: number) => sizes.map((bytes) => bytes[i]).filter((bytes) => bytes > 0);
  const sum = (bytes: readonly number[]) => bytes.reduce((a, b) => a + b, 0);
  assertEquals(summary.storage.cachedAtEnd, {
    memoryBlocks: of(0).length,
    memoryBytes: sum(of(0)),
    diskBlocks: of(1).length,
    diskBytes: sum(of(1)),
  }, "what is cached at the end");
}

/** The Summary against a plain count over the events. */
function checkSummary(events: readonly SparkEvent[], summary: Summary): void {
  checkCachedAtEnd(events, summary);
  const ends = events.filter((event): event is TaskEnd & SparkEvent => event.kind === "taskEnd");
  const of = (kind: SparkEvent["kind"]) => events.filter((event) => event.kind === kind).length;
  const sum = (figure: (event: TaskEnd) => number) => ends.reduce((total, event) => total + figure(event), 0);
  assertEquals(summary.stages.length, of("stageSubmitted"));
  // Where the driver's event loop failed, a job may end that has not begun.
  const jobs = events.flatMap((event) => event.kind === "jobStart" || event.kind === "jobEnd" ? [event.jobId] : []);
  assertEquals(summary.jobs.length, new Set(jobs).size);
  for (const stage of summary.stages) {
    const own = ends.filter(({ stageId, stageAttemptId }) =>
      stageId === stage.stageId && stageAttemptId === stage.attempt
    );
    const by = (keep: (end: TaskEnd) => boolean) =>
      own.filter((end) => end.reason.reason !== "Resubmitted" && keep(end)).length;
    assertEquals(stage.tasks.succeeded, by(({ reason }) => reason.reason === "Success"), `stage ${stage.stageId}`);
    assertEquals(stage.tasks.killed, by(({ reason }) => reason.reason === "TaskKilled"), `stage ${stage.stageId}`);
    assertEquals(
      stage.memoryBytesSpilled,
      own.reduce((total, { metrics }) => total + (metrics?.memoryBytesSpilled ?? 0), 0),
    );
  }
  const paths = (path: string) => events.filter((event) => event.kind === "taskResult" && event.path === path).length;
  assertEquals(summary.results.dropped, paths("dropped"));
  assertEquals(summary.results.direct, paths("direct"));
  assertEquals(summary.results.lost, paths("lost"));
  assertEquals(summary.results.indirect, paths("indirect"));
  assertEquals(summary.execution.memoryBytesSpilled, sum(({ metrics }) => metrics?.memoryBytesSpilled ?? 0));
  assertEquals(summary.execution.diskBytesSpilled, sum(({ metrics }) => metrics?.diskBytesSpilled ?? 0));
  assertEquals(summary.execution.waits, of("memoryWait"));
  assertEquals(
    summary.storage.blocksEvicted,
    events.filter((event) => event.kind === "blockEvicted" && event.blockId.startsWith("rdd_")).length,
  );
  const reads = events.filter((event) => event.kind === "cacheRead");
  assertEquals(summary.storage.cacheMisses, reads.filter(({ from }) => from === "miss").length);
  assertEquals(summary.storage.cacheHits, reads.filter(({ from }) => from !== "miss").length);
}

const BLOCKS_ARE_LOGGED = "spark.eventLog.logBlockUpdates.enabled";

/** Stage attempts that were submitted and never completed. */
function openStages(events: readonly SparkEvent[]): number {
  const open = new Set<string>();
  for (const event of events) {
    if (event.kind !== "stageSubmitted" && event.kind !== "stageCompleted") continue;
    const name = `${event.stageInfo.stageId}.${event.stageInfo.attemptId}`;
    if (event.kind === "stageSubmitted") open.add(name);
    else open.delete(name);
  }
  return open.size;
}

/** A written log read back gives the Summary that the events give when they are taken as a log. */
async function checkWrittenLog(
  events: readonly SparkEvent[],
  simulated: Summary,
  { running, mapStageJobs }: { readonly running: number; readonly mapStageJobs: boolean },
): Promise<void> {
  const direct = new Summarizer({ source: "observed" });
  const lines: string[] = [];
  const writer = new EventLogWriter((line) => void lines.push(line));
  // Peaks by stage and executor are told by simulated runs of all versions; Spark logs them since 3.0.
  const tellsPeaks = Number.parseInt(simulated.app.sparkVersion) >= 3;
  for (const event of events) {
    if (event.kind !== "warning" && (tellsPeaks || event.kind !== "stageExecutorMetrics")) direct.event(event);
    writer.event(event);
  }
  const read = new Summarizer({ source: "observed" });
  const problems: string[] = [];
  await readEventLog(new Blob(lines).stream(), {
    event(event) {
      if (event.kind === "warning") problems.push(event.code);
      else read.event(event);
    },
  });
  const jobsOpen = simulated.jobs.some(({ status }) => status === "unfinished");
  // A map-stage job whose own output is there ends at once; a stage below it that was submitted for lost output is forgotten then.
  const forgotten = mapStageJobs && !jobsOpen && events.at(-1)?.kind === "applicationEnd" && openStages(events) > 0;
  const expected = [
    ...jobsOpen ? ["log.jobs_unfinished"] : [],
    ...forgotten ? ["log.stages_unfinished"] : [],
    ...running > 0 ? ["log.tasks_unfinished"] : [],
  ];
  assertEquals(problems.sort(), expected, "the written log is read with other warnings");
  assertEquals(read.summary(), direct.summary(), "a written log says something else");
  const { outcome, jobs, durationMs } = read.summary();
  // why an application hangs a log does not tell
  const hangs = simulated.outcome.status === "unfinished";
  assertEquals({ outcome, jobs, durationMs }, {
    outcome: hangs ? { ...simulated.outcome, reason: outcome.reason } : simulated.outcome,
    jobs: simulated.jobs,
    durationMs: simulated.durationMs,
  });
  const environment = events.find((event) => event.kind === "environmentUpdate");
  if (environment?.sparkProperties[BLOCKS_ARE_LOGGED] !== "true") return;
  assertEquals(read.summary().storage.blocksStored, simulated.storage.blocksStored, "blocks stored by the log");
}

/** A limit that is crossed is a LimitError, one that is just kept is none. */
function checkLimits(simulation: SimulatedApplication, spec: JobSpec): void {
  const { stepsTaken } = simulation;
  if (stepsTaken < 2 || (spec.seed ?? 0) % 4 !== 0) return;
  run(workloadFromJobSpec(spec), { slice: 1 << 20, limits: { maxEvents: stepsTaken } });
  assertThrows(
    () => run(workloadFromJobSpec(spec), { slice: 1 << 20, limits: { maxEvents: stepsTaken - 1 } }),
    LimitError,
  );
  const maxVirtualMs = simulation.elapsedMs / 2;
  assertThrows(() => run(workloadFromJobSpec(spec), { slice: 1 << 20, limits: { maxVirtualMs } }), LimitError);
}
