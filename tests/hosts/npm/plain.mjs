// The package in plain JavaScript: a template under other settings, and the kernel alone.
import { jobSpecFromTemplate, Kernel, whatIf, workloadFromJobSpec } from "@sparkmem/sparkmem";

const { spec } = jobSpecFromTemplate("cached-iterative");
const { predicted } = whatIf(workloadFromJobSpec(spec), null, { conf: { "spark.executor.memory": "2g" } });
console.log(predicted.storage.blocksEvicted);

const executor = Kernel.create().createExecutor({ maxHeapMemory: 1000, onHeapStorageRegionSize: 500 });
console.log(executor.acquireExecutionMemory(600, 1, 0));
