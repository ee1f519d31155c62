/**
 * `deno task bench [--json] [--tasks N] [--megabytes N] [--rounds N] [--spark]`: the speed claims, measured in this run. Each
 * compared pair is checked by a checksum; `--spark` adds Spark's own reader (needs Java, Maven Central and PyPI).
 *
 * @module
 */
import { parseArgs } from "node:util";
import { eventLogBench } from "./event_log_bench.ts";
import { simulationBench } from "./simulation_bench.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: {
    json: { type: "boolean", default: false },
    tasks: { type: "string", default: "100000" },
    megabytes: { type: "string", default: "200" },
    rounds: { type: "string", default: "5" },
    spark: { type: "boolean", default: false },
  },
});

const rounds = Number(values.rounds);
const simulation = simulationBench({ tasks: Number(values.tasks), rounds });
const eventLog = await eventLogBench({ megabytes: Number(values.megabytes), rounds, spark: values.spark });

if (values.json) {
  console.log(JSON.stringify({ simulation, eventLog }, null, 2));
} else {
  console.log("simulation (CPU seconds of the process: median, low to high)");
  for (const { name, tasks, cpuSeconds, low, high, eventsPerSecond, checksum } of simulation) {
    const spread = `${cpuSeconds.toFixed(3)} s (${low.toFixed(3)} to ${high.toFixed(3)})`;
    console.log(`  ${name}, ${tasks} tasks: ${spread}, ${Math.round(eventsPerSecond)} events/s; ${checksum}`);
  }
  const [smallest, largest] = [simulation[0], simulation.filter(({ name }) => name === "whole job").at(-1)!];
  const growth = largest.cpuSeconds / largest.tasks / (smallest.cpuSeconds / smallest.tasks);
  console.log(`  time a task grows from ${smallest.tasks} to ${largest.tasks} tasks by ${growth.toFixed(2)}`);
  console.log("event log (MB a CPU second: median, low to high)");
  for (const { name, megabytesPerCpuSecond, low, high } of eventLog.results) {
    console.log(`  ${name}: ${megabytesPerCpuSecond.toFixed(0)} (${low.toFixed(0)} to ${high.toFixed(0)})`);
  }
}
