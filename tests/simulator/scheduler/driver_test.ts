import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { InputError } from "../../../src/errors.ts";
import { type TaskFailedReason, toErrorString } from "../../../src/simulator/scheduler/task_end_reason.ts";
import { MapOutputTracker } from "../../../src/simulator/scheduler/map_output_tracker.ts";
import { countsTowardsTaskFailures } from "../../../src/simulator/scheduler/task_end_reason.ts";
import { rulesFor } from "../../../src/spark/versions.ts";
import { type Outcome, rdd, shuffle, ToyCluster } from "./toy_cluster.ts";

const BOOM: TaskFailedReason = {
  reason: "ExceptionFailure",
  className: "java.lang.IllegalStateException",
  description: "boom",
  fullStackTrace: "java.lang.IllegalStateException: boom",
};
const LOST = { kind: "processLost", message: "lost", workerLost: false, causedByApp: true } as const;

function succeeded(cluster: ToyCluster, stageId: number): number[] {
  return cluster.ends.filter((end) => end.stageId === stageId && end.reason === "Success").map((end) => end.partition);
}

Deno.test("a result whose class is not found aborts the stage, any other failure to read it does, too", () => {
  const run = (classNotFound: boolean, message: string) => {
    const cluster = new ToyCluster({
      outcome: ({ partition }): Outcome => ({
        afterMs: 10,
        result: partition === 1 ? { deserializationError: { classNotFound, message } } : {},
      }),
    });
    cluster.submit(rdd(0, 3));
    cluster.run();
    return cluster.log.filter((line) => line.startsWith("job"));
  };
  // TaskResultGetter.enqueueSuccessfulTask of Spark 2.4.0.
  assertEquals(run(true, "sun.misc.Launcher$AppClassLoader@1"), [
    "job 0 failed: Job aborted due to stage failure: ClassNotFound with classloader: sun.misc.Launcher$AppClassLoader@1",
  ]);
  assertEquals(run(false, "java.io.EOFException"), [
    "job 0 failed: Job aborted due to stage failure: Exception while getting task result: java.io.EOFException",
  ]);
});

Deno.test("a result handler that throws fails the job for its submitter, while the job goes on", () => {
  const cluster = new ToyCluster();
  cluster.onResult = (_jobId, outputId) => outputId === 0 ? "handler threw" : undefined;
  cluster.submit(rdd(0, 2));
  cluster.run();
  // DAGScheduler.handleTaskCompletion: jobFailed(new SparkDriverExecutionException(e)), whose message is "Execution error".
  assertEquals(cluster.log, [
    "stage 0.0 submitted",
    "submitter of job 0 told: Execution error",
    "job 0 succeeded",
  ]);
});

Deno.test("accumulators count once for a result partition, and again for a map task that is run again", () => {
  const cluster = new ToyCluster({
    executors: { e1: "h1", e2: "h2" },
    outcome: ({ stageId, attempt, executor }): Outcome => {
      if (stageId === 0) return { afterMs: executor === "e1" ? 10 : 50 };
      return attempt === 0 ? { afterMs: 10, failure: BOOM } : { afterMs: 10 };
    },
  });
  cluster.submit(rdd(1, 2, [shuffle(0, rdd(0, 4), 2)]));
  // e1's finished map tasks are lost before the stage ends.
  cluster.after(30, () => cluster.loseExecutor("e1", LOST));
  cluster.run();
  assertEquals(cluster.log.at(-1), "job 0 succeeded");
  const counted = (stageId: number) =>
    cluster.accumulated.filter((each) => each.stageId === stageId).map((each) => each.partition).sort();
  assertEquals(succeeded(cluster, 0).sort(), [0, 0, 1, 2, 2, 3]);
  assertEquals(counted(0), succeeded(cluster, 0).sort());
  // Result tasks: the failed attempts count (those accumulators that count failed values), the successes once.
  assertEquals(counted(1), [0, 0, 1, 1]);
});

Deno.test("only one attempt of a task may commit its output", () => {
  const cluster = new ToyCluster({
    conf: { "spark.speculation": "true" },
    cores: 4,
    outcome: ({ partition, attempt }): Outcome => ({ afterMs: partition === 3 && attempt === 0 ? 5000 : 100 }),
  });
  cluster.submit(rdd(0, 4));
  cluster.after(300, () => cluster.driver.taskScheduler.checkSpeculatableTasks());
  const answers: boolean[] = [];
  cluster.after(350, () => {
    const { commitCoordinator } = cluster.driver;
    for (const taskAttempt of [1, 0, 1]) {
      answers.push(commitCoordinator.canCommit(0, 3, { stageAttempt: 0, taskAttempt }));
    }
  });
  cluster.run();
  assertEquals(answers, [true, false, false]);
  assertEquals(cluster.log.at(-1), "job 0 succeeded");
  // After the stage's end nobody may commit (OutputCommitCoordinator.stageEnd).
  assertEquals(cluster.driver.commitCoordinator.canCommit(0, 3, { stageAttempt: 0, taskAttempt: 2 }), false);
});

Deno.test("four threads fetch results; the fifth waits, and the total is counted before the fetch", () => {
  const cluster = new ToyCluster({
    cores: 8,
    executors: { e1: "h1" },
    fetchMs: 100,
    outcome: () => ({ afterMs: 10, result: { kind: "indirect", size: 1 << 20 } }),
  });
  const results: [number, number][] = [];
  cluster.onResult = (_jobId, outputId) => {
    results.push([outputId, cluster.nowMs]);
  };
  cluster.submit(rdd(0, 5));
  cluster.run();
  // Launched at 1000, finished at 1010; four fetches at a time of 100 ms each.
  assertEquals(results, [[0, 1110], [1, 1110], [2, 1110], [3, 1110], [4, 1210]]);
});

Deno.test("an indirect result whose block is gone counts as a failure and runs again", () => {
  const cluster = new ToyCluster({
    hasBlock: (tid) => tid >= 2,
    outcome: () => ({ afterMs: 10, result: { kind: "indirect", size: 1 << 20 } }),
  });
  cluster.submit(rdd(0, 1));
  cluster.run();
  assertEquals(cluster.ends.map(({ reason }) => reason), ["TaskResultLost", "TaskResultLost", "Success"]);
});

Deno.test("a partition that fails four times fails the job with Spark's message", () => {
  const cluster = new ToyCluster({
    executors: { e1: "h1" },
    outcome: ({ partition }) => partition === 1 ? { afterMs: 10, failure: BOOM } : { afterMs: 1000 },
  });
  cluster.submit(rdd(0, 2));
  cluster.run();
  // TaskSetManager.handleFailedTask of Spark 2.4.0 (trace b03 has the same with other names).
  assertEquals(
    cluster.log.find((line) => line.startsWith("job")),
    "job 0 failed: Job aborted due to stage failure: Task 1 in stage 0.0 failed 4 times, most recent failure: Lost task 1.3 " +
      "in stage 0.0 (TID 4, h1, executor e1): java.lang.IllegalStateException: boom\nDriver stacktrace:",
  );
});

Deno.test("local tasks wait spark.locality.wait for their host, then go anywhere", () => {
  const launches: [string, number][] = [];
  const cluster = new ToyCluster({
    cores: 1,
    executors: { e1: "h1", e2: "h2" },
    conf: { "spark.locality.wait": "1s" },
    outcome: ({ executor }) => {
      launches.push([executor, cluster.nowMs]);
      return { afterMs: 1500 };
    },
  });
  const hosts = [cluster.driver.hosts.idOf("h1")];
  cluster.submit({ ...rdd(0, 3), preferredHosts: () => hosts });
  // CoarseGrainedSchedulerBackend revives offers every second.
  for (let ms = 1000; ms < 4000; ms += 1000) {
    cluster.after(ms, () => cluster.driver.taskScheduler.backend.reviveOffers());
  }
  cluster.run();
  assertEquals(launches, [["e1", 1000], ["e2", 2000], ["e1", 2500]]);
});

Deno.test("submitJob() refuses a partition that the RDD does not have", () => {
  const cluster = new ToyCluster();
  const error = assertThrows(
    () => cluster.driver.submitJob({ rdd: rdd(0, 2), partitions: [0, 2] }, { taskSucceeded() {}, jobFailed() {} }),
    InputError,
    "Cannot submit the job: must compute partitions 0 to 1 of RDD 0: received 2",
  );
  assertEquals(error.code, "job.partition");
});

Deno.test("a job on no partition is posted since 3.0", () => {
  const logOf = (sparkVersion: string) => {
    const cluster = new ToyCluster({ sparkVersion });
    cluster.submit(rdd(0, 0));
    cluster.run();
    return cluster.log;
  };
  assertEquals(logOf("2.4.0"), []);
  assertEquals(logOf("3.0.0"), ["job 0 succeeded"]);
});

Deno.test("an exception inside the driver cancels all jobs and stops the context", () => {
  const cluster = new ToyCluster();
  const map = shuffle(0, rdd(0, 2), 2);
  cluster.submit(rdd(1, 2, [map]));
  cluster.driver.drain();
  // Trace a56: a map stage that a running job made.
  cluster.driver.submitMapStage(map, { taskSucceeded() {}, jobFailed() {} });
  cluster.driver.drain();
  assertEquals(cluster.log.slice(1), [
    "submitter of job 0 told: Job 0 cancelled as part of cancellation of all jobs",
    "job 0 failed: Job 0 cancelled as part of cancellation of all jobs",
    "java.util.NoSuchElementException: key not found: 1",
  ]);
});

// Random clusters, lineages and troubles. After each run: every job has ended exactly once, every attempt that was launched
// has ended at most once (a refused result up to 2.4.4 never does), nothing runs, all cores are free.
const VERSIONS = ["2.4.0", "3.0.3", "3.1.3", "3.5.1", "4.0.0", "4.1.0"];

/** A generator of numbers below 1, the same in every run (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function randomRun(seed: number): { cluster: ToyCluster; jobs: number } {
  const next = numbers(seed);
  const below = (n: number) => Math.floor(next() * n);
  const trouble = next() * 0.3;
  const executors: Record<string, string> = {};
  for (let i = 0; i <= below(4); i++) executors[`e${i}`] = `h${i >> 1}`;
  const cluster = new ToyCluster({
    sparkVersion: VERSIONS[below(VERSIONS.length)],
    conf: {
      "spark.speculation": String(below(2) === 0),
      "spark.shuffle.service.enabled": String(below(3) === 0),
      "spark.driver.maxResultSize": below(5) === 0 ? "3000" : "1g",
      "spark.locality.wait": "100ms",
    },
    executors,
    cores: 1 + below(3),
    fetchMs: below(50),
    hasBlock: () => next() > trouble / 2,
    outcome: ({ stageId }): Outcome => {
      const afterMs = 1 + below(100);
      if (next() >= trouble) return { afterMs, result: below(4) === 0 ? { kind: "indirect" } : {} };
      const stage = cluster.driver.dagScheduler.stage(stageId);
      const parent = stage.parents[0];
      if (parent === undefined || below(2) === 0) return { afterMs, failure: BOOM };
      const mapIndex = below(parent.numPartitions);
      const names = Object.keys(executors);
      const executorId = names[below(names.length)];
      const shuffleId = "shuffleDep" in parent ? parent.shuffleDep.shuffleId : 0;
      const host = executors[executorId];
      const failure = { executorId, host, shuffleId, mapId: mapIndex, mapIndex, reduceId: 0, message: "gone" };
      return { afterMs, failure: { reason: "FetchFailed", ...failure } };
    },
  });
  const rdds = [rdd(0, 1 + below(6))];
  for (let id = 1; id < 1 + below(5); id++) {
    const parents = [shuffle(2 * id, rdds[below(rdds.length)], 2)];
    if (below(3) === 0) parents.push(shuffle(2 * id + 1, rdds[below(rdds.length)], 2));
    rdds.push(rdd(id, 1 + below(6), parents));
  }
  const jobs = 1 + below(3);
  for (let i = 0; i < jobs; i++) cluster.after(below(200), () => cluster.submit(rdds[below(rdds.length)]));
  for (let ms = 100; ms < 3000; ms += 100) {
    cluster.after(ms, () => cluster.driver.taskScheduler.checkSpeculatableTasks());
    cluster.after(ms, () => cluster.driver.taskScheduler.backend.reviveOffers());
  }
  if (below(2) === 0) {
    cluster.after(below(400), () => cluster.loseExecutor("e0", { ...LOST, workerLost: below(2) === 0 }));
    cluster.after(500, () => cluster.addExecutor("e9", "h9"));
  }
  if (below(4) === 0) cluster.after(below(300), () => cluster.driver.cancelJob(0, "because the test says so"));
  cluster.run();
  return { cluster, jobs };
}

Deno.test("whatever goes wrong, each job ends once and nothing is left running", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 - 1 }), (seed) => {
      const { cluster, jobs } = randomRun(seed);
      const ended = cluster.log.filter((line) => /^job \d+ /.test(line)).map((line) => line.split(" ")[1]).sort();
      assertEquals(ended, Array.from({ length: jobs }, (_, jobId) => String(jobId)));
      assertEquals(cluster.numRunning, 0);
      assertEquals(cluster.freeCores, cluster.totalCores);
      // Resubmitted is the second end of a success whose output went with its executor. Up to 3.2 an attempt that failed
      // with its executor may yet succeed, when its result was there already (trace b20).
      const counts = ({ reason }: { reason: string }) =>
        reason !== "Resubmitted" &&
        (reason !== "ExecutorLostFailure" || cluster.rules.results.ignoresQueuedResultOfLostExecutor);
      const ends = cluster.ends.filter(counts).map(({ tid }) => tid);
      assertEquals(new Set(ends).size, ends.length);
      assertEquals([...cluster.driver.dagScheduler.graph.stageIdToStage.keys()], []);
      assertEquals(cluster.driver.dagScheduler.runningStages.size, 0);
    }),
    { numRuns: 500, seed: 7 },
  );
});

Deno.test("the same seed gives the same run twice", () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const first = randomRun(seed).cluster;
    const second = randomRun(seed).cluster;
    assertEquals(second.log, first.log);
    assertEquals(second.ends, first.ends);
    assertEquals(second.nowMs, first.nowMs);
  }
});

Deno.test("a stage, a group of jobs and all jobs can be cancelled, in the words of the DAGScheduler", () => {
  const cancelled = (cancel: (cluster: ToyCluster) => void) => {
    const cluster = new ToyCluster();
    cluster.submit(rdd(0, 2));
    const partitions = [0, 1];
    const listener = { taskSucceeded() {}, jobFailed() {} };
    cluster.driver.submitJob({ rdd: rdd(1, 2), partitions }, listener, { group: "nightly" } as never);
    cluster.after(5, () => cancel(cluster));
    cluster.run();
    return cluster.log.filter((line) => /^job \d (failed|succeeded)/.test(line));
  };
  // handleStageCancellation, handleJobGroupCancelled and doCancelAllJobs of Spark 2.4.0.
  assertEquals(cancelled(({ driver }) => driver.cancelStage(0, "too slow")), [
    "job 0 failed: Job 0 cancelled because too slow",
    "job 1 succeeded",
  ]);
  assertEquals(cancelled(({ driver }) => driver.cancelJobGroup("nightly")), [
    "job 1 failed: Job 1 cancelled part of cancelled job group nightly",
    "job 0 succeeded",
  ]);
  assertEquals(cancelled(({ driver }) => driver.cancelAllJobs()), [
    "job 0 failed: Job 0 cancelled as part of cancellation of all jobs",
    "job 1 failed: Job 1 cancelled as part of cancellation of all jobs",
  ]);
});

Deno.test("reasons of failed tasks are printed as TaskFailedReason.toErrorString does", () => {
  const text = (reason: TaskFailedReason, version = "2.4.0") => toErrorString(reason, rulesFor(version));
  assertEquals(
    text({ reason: "TaskKilled", killReason: "Stage cancelled" } as TaskFailedReason),
    "TaskKilled (Stage cancelled)",
  );
  const denied = { reason: "TaskCommitDenied", jobId: 1, partitionId: 2, attemptNumber: 3 } as TaskFailedReason;
  assertEquals(text(denied), "TaskCommitDenied (Driver denied task commit) for job: 1, partition: 2, attemptNumber: 3");
  assertEquals(countsTowardsTaskFailures(denied), false);
  const fetch = {
    reason: "FetchFailed",
    executorId: "e1",
    host: "h1",
    shuffleId: 4,
    mapId: 5,
    mapIndex: 6,
    reduceId: 7,
    message: "gone",
  } as unknown as TaskFailedReason;
  assertEquals(countsTowardsTaskFailures(fetch), false);
  assertEquals(
    text(fetch),
    "FetchFailed(BlockManagerId(e1, h1, 7337, None), shuffleId=4, mapId=5, reduceId=7, message=\ngone\n)",
  );
  // SPARK-25341 (3.0) tells the map's index and its task id.
  assertEquals(
    text(fetch, "3.5.9"),
    "FetchFailed(BlockManagerId(e1, h1, 7337, None), shuffleId=4, mapIndex=6, mapId=5, reduceId=7, message=\ngone\n)",
  );
  assertEquals(
    text({ ...fetch, executorId: null } as TaskFailedReason).startsWith("FetchFailed(null, shuffleId=4"),
    true,
  );
});

/** Partitions of which copies ran, of ten tasks on two hosts: two slow ones, of which one reads as fast as the others. */
function copiesOf(conf: Record<string, string>): number[] {
  const copied = new Set<number>();
  const started = new Map<number, number>();
  const cluster: ToyCluster = new ToyCluster({
    sparkVersion: "3.5.9",
    conf: { "spark.speculation": "true", "spark.speculation.minTaskRuntime": "0", ...conf },
    executors: { e1: "h1", e2: "h2" },
    cores: 5,
    outcome: ({ tid, partition, attempt }): Outcome => {
      if (attempt > 0) copied.add(partition);
      else started.set(partition, tid);
      return { afterMs: partition < 8 || attempt > 0 ? 100 : 1000 };
    },
    // the others read ten records a ms
    progress: { records: 1000, runTimeMs: 100 },
  });
  cluster.submit(rdd(0, 10));
  cluster.after(160, () => {
    // Executor.reportHeartBeat: 1,600 records in 160 ms are as fast as the others; 16 are not
    cluster.driver.taskScheduler.executorHeartbeatReceived(started.get(8)!, 1600, 160);
    cluster.driver.taskScheduler.executorHeartbeatReceived(started.get(9)!, 16, 160);
    cluster.driver.taskScheduler.executorHeartbeatReceived(999, 16, 160);
  });
  cluster.after(170, () => cluster.driver.taskScheduler.checkSpeculatableTasks());
  cluster.run();
  return [...copied].sort();
}

Deno.test("speculation with efficiency copies slow tasks that read slowly too (TaskSetManager.TaskProcessRateCalculator, SPARK-36414)", () => {
  assertEquals(copiesOf({ "spark.speculation.efficiency.enabled": "false" }), [8, 9]);
  assertEquals(copiesOf({ "spark.speculation.efficiency.enabled": "true" }), [9]);
});

Deno.test("an output file that exists aborts the stage at its first failure, from 3.0 on", () => {
  const failure: TaskFailedReason = {
    reason: "ExceptionFailure",
    className: "org.apache.spark.TaskOutputFileAlreadyExistException",
    description: "file:/out/part-0",
    fullStackTrace: "",
  };
  const run = (sparkVersion: string) => {
    const outcome = (): Outcome => ({ afterMs: 10, failure });
    const cluster = new ToyCluster({ sparkVersion, executors: { e1: "h1" }, outcome });
    cluster.submit(rdd(0, 1));
    cluster.run();
    return [cluster.ends.length, cluster.log.find((line) => line.startsWith("job 0 failed"))];
  };
  // TaskSetManager.handleFailedTask (SPARK-27194)
  assertEquals(run("3.5.9"), [
    1,
    "job 0 failed: Job aborted due to stage failure: Task 0.0 in stage 0.0 (TID 0) can not write to output file: " +
    "file:/out/part-0",
  ]);
  assertEquals(run("2.4.0")[0], 4);
});

Deno.test("a stage is not submitted more often than spark.stage.maxAttempts (3.5, SPARK-42577), whoever asks for it", () => {
  const cluster: ToyCluster = new ToyCluster({
    sparkVersion: "3.5.9",
    // The larger of the two counts, and no stage may fail twice in a row.
    conf: { "spark.stage.maxAttempts": "2", "spark.stage.maxConsecutiveAttempts": "2" },
    outcome: ({ stageId, stageAttemptId }): Outcome => {
      if (stageId === 0 || stageAttemptId > 0) return { afterMs: 10 };
      const { hosts, executors } = cluster.driver;
      const lost = { executorId: executors.nameOf(0), host: hosts.nameOf(0), executor: 0 };
      const where = { shuffleId: 0, mapId: 0, mapIndex: 0, reduceId: 0, message: "gone" };
      const failure = { reason: "FetchFailed", ...lost, ...where } as unknown as TaskFailedReason;
      // One reader of the shuffle finds an output gone at once, the other when that has been made anew.
      return { afterMs: stageId === 1 ? 10 : 1000, failure };
    },
  });
  const map = shuffle(0, rdd(0, 2), 1);
  const readers = [1, 2].map((id) => shuffle(id, rdd(id, 1, [map]), 1));
  cluster.submit(rdd(3, 1, readers));
  cluster.run();
  assertEquals(cluster.log.filter((line) => line.startsWith("stage 0")), [
    "stage 0.0 submitted",
    "stage 0.1 submitted",
  ]);
  // DAGScheduler.submitStage
  assertEquals(
    cluster.log.find((line) => line.startsWith("job 0"))?.replace(/\(name=.*?\) /, ""),
    "job 0 failed: Job aborted due to stage failure: ShuffleMapStage 0 has been resubmitted for the maximum allowable " +
      "number of times: 2, which is the max value of config `spark.stage.maxAttempts` and " +
      "`spark.stage.maxConsecutiveAttempts`.",
  );
});

Deno.test("an output of an unknown shuffle cannot be unregistered, one that is not there is passed over", () => {
  const tracker = new MapOutputTracker();
  const at = { executor: 0, host: 0 };
  // MapOutputTrackerMaster.unregisterMapOutput
  const error = assertThrows(() => tracker.unregisterMapOutput(3, 0, at), Error);
  assertEquals(error.message.includes("unregisterMapOutput called for nonexistent shuffle ID"), true);
  tracker.registerShuffle(3, 2);
  tracker.registerMapOutput(3, 0, at, null);
  tracker.unregisterMapOutput(3, 0, at);
  tracker.unregisterMapOutput(3, 0, at);
  assertEquals([tracker.epoch, [...tracker.getStatistics(3, 2)]], [2, [0, 0]]);
});
