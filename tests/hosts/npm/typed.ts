// The package in TypeScript: what an event log says, and what would have been.
import { readFile } from "node:fs/promises";
import {
  InputError,
  sizing,
  SparkConf,
  summarize,
  type Summary,
  sweep,
  type Workload,
  workloadFromEventLog,
} from "@sparkmem/sparkmem";

const bytes = await readFile(process.argv[2]);
const log = () => new Blob([new Uint8Array(bytes)]).stream() as ReadableStream<Uint8Array>;
const observed: Summary = await summarize(log());
const workload: Workload = await workloadFromEventLog(log());
console.log(observed.storage.blocksEvicted, workload.sparkVersion);
for (const result of sweep(workload, { "spark.memory.fraction": ["0.4", "0.6"] })) {
  console.log(result.id, result.figures?.blocksEvicted);
}
try {
  sizing({ conf: SparkConf.from({ "spark.executor.memory": "100m" }) });
} catch (error) {
  console.log(error instanceof InputError && error.code);
}
// @ts-expect-error a value is a text
SparkConf.from({ "spark.executor.memory": 4 });
