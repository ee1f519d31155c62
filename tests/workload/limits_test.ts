import { assertEquals, assertThrows } from "@std/assert";
import { InputError, LimitError } from "../../src/errors.ts";
import type { RddInfo, SparkEvent, StageInfo } from "../../src/spark/events.ts";
import { STORAGE_LEVELS } from "../../src/spark/storage_level.ts";
import { checkCount, DEFAULT_JOB_SPEC_LIMITS, LogCounts } from "../../src/workload/limits.ts";
import { WorkloadBuilder } from "../../src/workload/from_event_log.ts";

function rdd(numPartitions: number, fields: Partial<RddInfo> = {}): RddInfo {
  return {
    rddId: 0,
    name: "",
    callSite: "",
    scope: null,
    parentIds: [],
    storageLevel: STORAGE_LEVELS.NONE,
    numPartitions,
    numCachedPartitions: 0,
    memorySize: 0,
    diskSize: 0,
    ...fields,
  };
}

/** A log of one job with one stage, of which no task ended. */
function logOf(rddInfos: readonly RddInfo[]): SparkEvent[] {
  const stage: StageInfo = {
    stageId: 0,
    attemptId: 0,
    name: "",
    numTasks: rddInfos[0].numPartitions,
    rddInfos,
    parentIds: [],
    details: "",
    submissionTime: 0,
    completionTime: null,
    failureReason: null,
    resourceProfileId: 0,
    isShufflePushEnabled: null,
    accumulables: [],
  };
  return [{ kind: "jobStart", jobId: 0, time: 0, stageInfos: [stage], stageIds: [0], properties: {} }];
}

function refused(rddInfos: readonly RddInfo[]): string {
  const builder = new WorkloadBuilder({ tasks: 1000, blocks: 500, partitionDependencies: 10_000 });
  for (const event of logOf(rddInfos)) builder.event(event);
  return assertThrows(() => builder.workload(), LimitError).code;
}

Deno.test("checkCount() refuses what is beyond a limit, with the place", () => {
  checkCount("jobs", 20_000, DEFAULT_JOB_SPEC_LIMITS, "/jobs");
  const error = assertThrows(() => checkCount("jobs", 20_001, DEFAULT_JOB_SPEC_LIMITS, "/jobs"), InputError);
  assertEquals([error.code, error.pointer], ["limit.jobs", "/jobs"]);
});

Deno.test("what a log says but does not show is held to the limits, whatever column it would size", () => {
  assertEquals(refused([rdd(1001)]), "limit.tasks");
  assertEquals(refused([rdd(501, { storageLevel: STORAGE_LEVELS.MEMORY_ONLY })]), "limit.blocks");
  // Of an RDD below, which is no stage's own; and a cartesian product of 900 with 900.
  assertEquals(refused([rdd(1, { parentIds: [1] }), rdd(2 ** 31 - 1, { rddId: 1 })]), "limit.tasks");
  const product = [rdd(900, { parentIds: [1, 2] }), rdd(30, { rddId: 1 }), rdd(30, { rddId: 2 })];
  assertEquals(refused(product), "limit.partitionDependencies");
});

Deno.test("tasks that ended in the log raise the limits", () => {
  const counts = new LogCounts({ ...DEFAULT_JOB_SPEC_LIMITS, tasks: 10 }, 90);
  counts.add("tasks", 60);
  counts.add("tasks", 40);
  assertThrows(() => counts.add("tasks", 1), LimitError, "must have at most 100 tasks: received 101");
});
