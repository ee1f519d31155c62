import { assertEquals } from "@std/assert";
import { simulate } from "../../../src/simulator/simulate.ts";
import { SparkConf } from "../../../src/spark/conf.ts";
import type { SparkEvent } from "../../../src/spark/events.ts";
import { workloadFromJobSpec } from "../../../src/workload/job_spec.ts";
import type { JobSpec } from "../../../src/workload/job_spec_types.ts";

/** Tasks that ran of each stage when the short job (stage 1) ended, on 4 cores that a long one (stage 0) has first. */
function startedBeforeShortJobEnds(conf: Record<string, string>, spec: Partial<JobSpec> = {}): number[] {
  const workload = workloadFromJobSpec({
    cluster: { executors: 1, cores: 4 },
    stages: [{ id: 0, tasks: 100, computeMs: 100 }, { id: 1, tasks: 12, computeMs: 100 }],
    jobs: [{ stage: 0, pool: "long" }, { stage: 1, pool: "short", after: [], delayMs: 1000 }],
    ...spec,
  });
  const started = [0, 0];
  let result: number[] | null = null;
  simulate(workload, {
    conf: SparkConf.from(conf, "3.5.9"),
    sink: {
      event(event: SparkEvent) {
        if (event.kind === "taskStart") started[event.stageId]++;
        else if (event.kind === "jobEnd" && event.jobId === 1) result ??= started.slice();
      },
    },
  });
  return result!;
}

Deno.test("a short job waits for a long one under FIFO, and shares the cores under FAIR", () => {
  assertEquals(startedBeforeShortJobEnds({}), [100, 12]);
  const fair = { "spark.scheduler.mode": "FAIR" };
  const [shared] = startedBeforeShortJobEnds(fair);
  // A pool with its minimum of all cores goes first.
  const pools = [{ name: "short", minShare: 4 }];
  const [ahead] = startedBeforeShortJobEnds(fair, { pools });
  const beforeShortJob = 40;
  assertEquals([shared < 100 && shared > ahead, ahead <= beforeShortJob + 8], [true, true], `${shared}, ${ahead}`);
});
