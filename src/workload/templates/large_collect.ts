import { clusterParameters, defineTemplate } from "../template.ts";

/** collect(): every task sends its partition to the driver. */
export const largeCollect = defineTemplate({
  name: "large-collect",
  description: "A collect() of large partitions: above spark.task.maxDirectResultSize results go by way of the block " +
    "manager and take storage memory, and their total must stay below spark.driver.maxResultSize.",
  parameters: {
    ...clusterParameters(4, 2),
    tasks: { kind: "count", default: 100, min: 1, max: 100_000, description: "Partitions" },
    resultBytes: {
      kind: "bytes",
      default: 8 * 2 ** 20,
      min: 0,
      max: 2 ** 31,
      description: "Serialized result of a task: the median",
    },
    spread: {
      kind: "number",
      default: 0.3,
      min: 0,
      max: 3,
      description: "Standard deviation of the logarithm of the result sizes; 0 makes them equal",
    },
  },
  build: ({ executors, cores, tasks, resultBytes, spread }) => ({
    conf: { "spark.executor.memory": "2g", "spark.executor.cores": String(cores) },
    cluster: { executors, cores },
    stages: [{
      id: "collect",
      name: "collect at Report.scala:42",
      tasks,
      computeMs: { distribution: "normal", mean: 800, standardDeviation: 120, min: 200 },
      deserializeMs: 10,
      // Kryo or Java serialization of arrays of rows runs at about 200 MB/s.
      resultSerializationMs: Math.ceil(resultBytes / 200_000),
      inputBytes: Math.round(resultBytes * 1.2),
      inputRecords: Math.ceil(resultBytes / 100),
      resultBytes: spread === 0
        ? resultBytes
        : { distribution: "lognormal", median: resultBytes, sigma: spread, max: 2 ** 31 - 1 },
    }],
  }),
});
