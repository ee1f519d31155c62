import { clusterParameters, defineTemplate } from "../template.ts";

/** Thousands of tasks of a few milliseconds: the driver and the map outputs' bookkeeping are the work. */
export const manyTinyTasks = defineTemplate({
  name: "many-tiny-tasks",
  description: "Thousands of tasks of a few milliseconds, as too many partitions make them: how much of " +
    "spark.driver.maxResultSize do the small results alone take?",
  parameters: {
    ...clusterParameters(2, 2),
    maps: { kind: "count", default: 5000, min: 1, max: 100_000, description: "Map tasks" },
    reducers: { kind: "count", default: 50, min: 1, max: 50_000, description: "Reduce tasks" },
    computeMs: { kind: "ms", default: 9, min: 0, max: 60_000, description: "A map task's computing" },
  },
  // The defaults are the medians of a recorded run of Spark 3.5.9 with 5,000 maps and 50 reducers.
  build: ({ executors, cores, maps, reducers, computeMs }) => ({
    conf: { "spark.executor.memory": "1g", "spark.executor.cores": String(cores) },
    cluster: { executors, cores },
    stages: [
      {
        id: "map",
        name: "map at Tiny.scala:10",
        tasks: maps,
        computeMs,
        deserializeMs: 1,
        resultBytes: 1214,
        shuffleWriteBytes: 56,
        shuffleWriteRecords: 1,
      },
      {
        id: "reduce",
        name: "count at Tiny.scala:12",
        parents: ["map"],
        tasks: reducers,
        computeMs: 63,
        deserializeMs: 1,
        resultBytes: 1747,
        memory: [{
          kind: "ExternalAppendOnlyMap",
          name: "reduceByKey",
          bytes: Math.ceil(maps / reducers) * 56,
          records: Math.ceil(maps / reducers),
          keys: Math.ceil(maps / reducers),
        }],
      },
    ],
  }),
});
