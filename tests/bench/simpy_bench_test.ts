import { assertEquals } from "@std/assert";
import { simulate } from "../../src/simulator/simulate.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import { queueShape } from "./simpy_bench.ts";
import { wholeJob } from "./simulation_bench.ts";

Deno.test("SimPy is given as many timeouts as the job has events, the sorts' in the stages that sort", () => {
  const job = wholeJob(2000, 20);
  const events = simulate(job, { conf: SparkConf.from({}, job.sparkVersion), sink: { event() {} } });
  const { tasks, stages, executors, cores } = queueShape(job, events);
  assertEquals([tasks, stages.length, executors, cores], [100, 20, 20, 4]);
  assertEquals(stages.flatMap(({ pages }, i) => pages > 0 ? [i] : []), [3, 8, 13, 18]);
  const timeouts = stages.reduce((sum, { pages }) => sum + tasks * (pages === 0 ? 3 : 3 + pages), 0);
  assertEquals(Math.round(100 * timeouts / events), 100);
});
