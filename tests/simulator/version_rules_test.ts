// Rules of which the recorded traces do not tell: with the value of the version before, a job that meets the rule runs otherwise.
// Each was read in the sources of the versions on both sides of it.
import { assertEquals, assertNotEquals } from "@std/assert";
import { toErrorString } from "../../src/simulator/scheduler/task_end_reason.ts";
import { simulate } from "../../src/simulator/simulate.ts";
import type { Workload } from "../../src/simulator/workload.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import type { SparkEvent, TaskEnd } from "../../src/spark/events.ts";
import { mixedRules, rulesFor } from "../../src/spark/versions.ts";
import { workloadFromJobSpec } from "../../src/workload/job_spec.ts";
import type { JobSpec } from "../../src/workload/job_spec_types.ts";
import { demandOf, jobOf, MIB, rddOf, workloadOf } from "../support/workloads.ts";

/** The events of a run; `rule` as another version has it. */
function run(workload: Workload, rule: { readonly name: string; readonly of: string } | null = null): SparkEvent[] {
  const conf = SparkConf.from(workload.conf, workload.sparkVersion);
  const rules = rule === null ? conf.rules : mixedRules(conf.rules, rulesFor(rule.of), [rule.name]);
  const events: SparkEvent[] = [];
  simulate(workload, {
    conf: conf.withRules(rules),
    sink: { event: (event) => void events.push(structuredClone(event)) },
  });
  return events;
}

/** Checks that the rule is met, and gives the events under `from` and under `to`. */
function both(
  name: string,
  [from, to]: readonly [string, string],
  spec: JobSpec | Workload,
): [SparkEvent[], SparkEvent[]] {
  const workload = "cluster" in spec && "rdds" in spec ? spec as Workload : workloadFromJobSpec(spec as JobSpec);
  const after = run({ ...workload, sparkVersion: to });
  const before = run({ ...workload, sparkVersion: to }, { name, of: from });
  assertNotEquals(before, after, `${name}: no difference between ${from} and ${to}`);
  return [before, after];
}

const ends = (events: readonly SparkEvent[]) => events.filter((event): event is TaskEnd => event.kind === "taskEnd");
const failures = (events: readonly SparkEvent[]) =>
  events.flatMap((event) => event.kind === "jobEnd" ? [event.failure] : []);

/** Eight tasks of 10 s, on one of two hosts five times as long. */
const SPECULATED: JobSpec = {
  cluster: { executors: 2, cores: 4, hosts: 2 },
  conf: { "spark.speculation": "true", "spark.speculation.quantile": "0.5" },
  stages: [{ id: "work", tasks: 8, computeMs: 10_000 }],
  faults: [{ kind: "slowHost", host: "host-1", factor: 5 }],
};

Deno.test("a success kills the other attempts from 2.1 on (SPARK-10530)", () => {
  const [before, after] = both("scheduler.killsOtherAttempts", ["2.0.2", "2.1.3"], SPECULATED);
  const killed = (events: SparkEvent[]) => ends(events).filter(({ reason }) => reason.reason === "TaskKilled").length;
  assertEquals([killed(before), killed(after)], [0, 4]);
});

Deno.test("killed tasks have metrics from 2.4 on (SPARK-20087)", () => {
  const [before, after] = both("scheduler.countsKilledTasks", ["2.3.4", "2.4.0"], SPECULATED);
  const metrics = (events: SparkEvent[]) =>
    ends(events).filter(({ reason }) => reason.reason === "TaskKilled").map((end) => end.metrics !== null);
  assertEquals([metrics(before), metrics(after)], [[false, false, false, false], [true, true, true, true]]);
});

Deno.test("copies are told to listeners from 2.3 on (SPARK-19326)", () => {
  const [before, after] = both("scheduler.postsSpeculativeTasks", ["2.2.3", "2.3.4"], SPECULATED);
  const told = (events: SparkEvent[]) => events.filter(({ kind }) => kind === "speculativeTaskSubmitted").length;
  assertEquals([told(before), told(after)], [0, 4]);
});

Deno.test("a task whose output file exists aborts its stage from 3.0 on (SPARK-27194)", () => {
  const [before, after] = both("scheduler.existingOutputFileAborts", ["2.4.8", "3.0.3"], {
    stages: [{ id: "write", tasks: 4, computeMs: 1000 }],
    faults: [{
      kind: "taskException",
      stage: "write",
      partition: 1,
      attempts: 1,
      className: "org.apache.spark.TaskOutputFileAlreadyExistException",
    }],
  });
  assertEquals([failures(before)[0] === null, failures(after)[0] === null], [true, false]);
});

Deno.test("a job on no partition is told from 3.0 on", () => {
  const [before, after] = both(
    "scheduler.postsEmptyJobs",
    ["2.4.8", "3.0.3"],
    workloadOf({ rdds: [rddOf(0, 4)], demands: [demandOf(4)], jobs: [{ ...jobOf(0, 0, 0), partitions: [] }] }),
  );
  assertEquals([failures(before), failures(after)], [[], [null]]);
});

Deno.test("a fetch failure names the map task by index and id from 3.0 on", () => {
  // FetchFailed.toErrorString, which Spark logs.
  const reason = {
    reason: "FetchFailed",
    executorId: "1",
    host: "h1",
    shuffleId: 0,
    mapId: 7,
    mapIndex: 3,
    reduceId: 2,
    message: "gone",
  } as const;
  assertEquals(
    ["2.4.8", "3.0.3"].map((version) => toErrorString(reason, rulesFor(version))),
    ["mapId=7", "mapIndex=3, mapId=7"].map((map) =>
      `FetchFailed(BlockManagerId(1, h1, 7337, None), shuffleId=0, ${map}, reduceId=2, message=\ngone\n)`
    ),
  );
});

Deno.test("a result above spark.task.maxDirectResultSize goes by the block manager from 2.0 on", () => {
  const [before, after] = both("results.indirectFrom", ["1.6.3", "2.0.2"], {
    stages: [{ id: "collect", tasks: 2, computeMs: 100, resultBytes: 4 * MIB }],
  });
  const paths = (events: SparkEvent[]) => events.flatMap((event) => event.kind === "taskResult" ? [event.path] : []);
  assertEquals([paths(before), paths(after)], [["direct", "direct"], ["indirect", "indirect"]]);
});

Deno.test("results below 1 MiB are limited from 2.4 on", () => {
  const [before, after] = both("results.maxResultSizeInMib", ["2.3.4", "2.4.0"], {
    conf: { "spark.driver.maxResultSize": "100k" },
    stages: [{ id: "collect", tasks: 2, computeMs: 100, resultBytes: "80k" }],
  });
  assertEquals([failures(before)[0] === null, failures(after)[0] === null], [true, false]);
});

Deno.test("a worker that goes takes shuffle outputs from 2.0 on, in spite of the shuffle service", () => {
  const [before, after] = both("scheduler.workerLossTakesOutputs", ["1.6.3", "2.0.2"], {
    conf: { "spark.shuffle.service.enabled": "true" },
    cluster: { executors: 2, cores: 2, hosts: 2 },
    stages: [
      { id: "map", tasks: 4, computeMs: 1000, shuffleWriteBytes: "1m" },
      { id: "reduce", parents: ["map"], tasks: 8, computeMs: 1000 },
    ],
    faults: [{ kind: "executorLost", executor: "1", atMs: 1500, workerLost: true, replacedAfterMs: 100 }],
  });
  const stages = (events: SparkEvent[]) => events.filter(({ kind }) => kind === "stageSubmitted").length;
  assertEquals(stages(before) < stages(after), true, `${stages(before)} ${stages(after)}`);
});
