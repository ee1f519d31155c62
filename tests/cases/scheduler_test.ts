import { assertEquals } from "@std/assert";
import { mapStatus } from "../../src/simulator/scheduler/map_status.ts";
import type { Rdd } from "../../src/simulator/scheduler/rdd.ts";
import { ShuffleMapStage } from "../../src/simulator/scheduler/stage.ts";
import type { TaskFailedReason } from "../../src/simulator/scheduler/task_end_reason.ts";
import { caseOf, casesLeft } from "../support/cases.ts";
import { DriverUnderTest } from "../support/driver.ts";

function source(id: number, numPartitions: number): Rdd {
  return { id, numPartitions, dependencies: [], creationSite: "source", isPersisted: false };
}

function shuffled(id: number, parent: Rdd, shuffleId: number, numPartitions: number): Rdd {
  return {
    id,
    numPartitions,
    dependencies: [{ kind: "shuffle", shuffleId, rdd: parent, numReducers: numPartitions }],
    creationSite: "shuffled",
    isPersisted: false,
  };
}

function fetchFailed(executorId: string, shuffleId: number, reduceId: number): TaskFailedReason {
  return {
    reason: "FetchFailed",
    executorId,
    host: `host of ${executorId}`,
    shuffleId,
    mapId: 0,
    mapIndex: 0,
    reduceId,
    message: "gone",
  };
}

function mapFinished(test: DriverUnderTest, tid: number, reducers: number): void {
  const output = mapStatus(new Array(reducers).fill(100));
  test.driver.taskScheduler.taskFinished(tid, { kind: "direct", size: 600, valueSize: 100, output });
  test.driver.drain();
}

Deno.test("dag-19263: an old success from a lost executor is not registered, but its partition is not pending any more", () => {
  const { answer } = caseOf("dag-19263");
  const test = new DriverUnderTest({}, "2.4.0");
  const first = source(0, 1);
  const second = shuffled(1, first, 0, 2);
  const result = shuffled(2, second, 1, 1);
  test.submit(result);
  const [map] = test.offer("A", 1);
  mapFinished(test, map, 2);
  // Stage 1: both tasks on A. Task 1 cannot fetch from A, which counts as lost with that.
  const [task1, task2] = test.offer("A", 2);
  test.driver.taskScheduler.taskFailed(task1, "FAILED", fetchFailed("A", 0, 0));
  test.driver.drain();
  assertEquals(test.resubmits, [200]);
  test.driver.resubmitFailedStages();
  test.driver.drain();
  const [again] = test.offer("B", 1);
  mapFinished(test, again, 2);
  assertEquals(test.log.submitted, ["0.0 (1)", "1.0 (2)", "0.1 (1)", "1.1 (2)"]);
  const [retry1] = test.offer("B", 1);
  const stage = test.driver.dagScheduler.stage(1);
  if (!(stage instanceof ShuffleMapStage)) throw new Error("stage 1 is a map stage");
  assertEquals([...stage.pendingPartitions.toArray()].sort(), [0, 1]);
  mapFinished(test, task2, 1);
  // "ignored as possibly bogus, but partition removed from pending"
  assertEquals([...stage.pendingPartitions.toArray()], [0]);
  assertEquals(test.driver.tracker.findMissingPartitions(1), [0, 1]);
  mapFinished(test, retry1, 1);
  // "stage marked finished, not available, missing partition 2, resubmitted (conflicting task set problem)"
  assertEquals(test.driver.tracker.findMissingPartitions(1), [1]);
  assertEquals(test.log.submitted.at(-1), "1.2 (1)");
  assertEquals(answer.when_pending_empty.includes("conflicting task set"), true);
});

Deno.test("dag-cloudsqale: the next attempt has the partitions that are not finished, late results of the old one count", () => {
  const { config, observed, answer } = caseOf("dag-cloudsqale");
  const test = new DriverUnderTest({ "spark.task.maxFailures": "4" }, "3.5.0");
  const tasks = config.result_stage_tasks;
  const result = shuffled(1, source(0, 1), 0, tasks);
  test.submit(result);
  const [map] = test.offer("A", 1);
  mapFinished(test, map, tasks);
  const started = test.offer("B", observed.started_before_failure);
  assertEquals(started.length, observed.started_before_failure);
  // Three have finished when task 14 cannot fetch.
  for (const tid of started.slice(0, 3)) test.finished(tid, 1000, "direct");
  test.driver.taskScheduler.taskFailed(started[14], "FAILED", fetchFailed("A", 0, 14));
  test.driver.drain();
  // Two more of the old attempt finish while the map stage runs again: they are not killed, and they count.
  for (const tid of started.slice(3, 5)) test.finished(tid, 1000, "direct");
  assertEquals(test.log.ended.filter(({ reason }) => reason === "TaskKilled"), []);
  test.driver.resubmitFailedStages();
  test.driver.drain();
  const [again] = test.offer("C", 1);
  mapFinished(test, again, tasks);
  assertEquals(test.log.submitted.at(-1), `1.1 (${tasks - 5})`, answer.stage_attempt_1_tasks);
  // A late result after that counts as well: only what is then missing runs.
  test.finished(started[5], 1000, "direct");
  const left = test.offer("C", tasks);
  const indexes = new Set(left.map((tid) =>
    test.driver.taskScheduler.managerOf(tid).taskSet.partitions[
      test.driver.infos.index[tid]
    ]
  ));
  assertEquals([left.length, indexes.has(5), indexes.has(14)], [tasks - 6, false, true]);
});

Deno.test("dag-result-lost: a result that is gone is a failure of its task; one is enough with maxFailures 1", () => {
  const { config, observed, answer } = caseOf("dag-result-lost");
  const jobAfter = (maxFailures: number, losses: number) => {
    const test = new DriverUnderTest({ "spark.task.maxFailures": String(maxFailures) }, "2.4.0");
    test.resultsAreThere = false;
    test.submit(source(0, 1));
    for (let i = 0; i < losses; i++) {
      const [tid] = test.offer("driver", 1);
      test.finished(tid, 2_000_000, "indirect");
      assertEquals(test.log.ended.at(-1)!.reason, observed.reason);
    }
    return test.log.jobs;
  };
  const [failure] = jobAfter(config["spark.task.maxFailures"], 1);
  assertEquals(failure?.includes("failed 1 times, most recent failure"), answer.counts_as_failure);
  assertEquals(failure?.includes("TaskResultLost (result lost from block manager)"), true);
  assertEquals(jobAfter(4, 3), []);
  assertEquals(jobAfter(4, 4).length, 1);
});

Deno.test("every case of this kind has a test above", () => {
  assertEquals(casesLeft("dag"), []);
});
