import { clusterParameters, defineTemplate } from "../template.ts";

/** ORDER BY: a job that samples the keys for the range partitioner, then the shuffle and the sort of each range. */
export const sort = defineTemplate({
  name: "sort",
  description:
    "A global sort: a sampling job, a shuffle, and an external sorter in each reducer that spills once its " +
    "share of memory is used up.",
  parameters: {
    ...clusterParameters(4, 4),
    maps: { kind: "count", default: 64, min: 1, max: 50_000, description: "Input partitions" },
    reducers: { kind: "count", default: 64, min: 1, max: 50_000, description: "Ranges" },
    inputBytes: {
      kind: "bytes",
      default: 128 * 2 ** 20,
      min: 0,
      max: 2 ** 40,
      description: "Input of a map task",
    },
    rowBytes: { kind: "count", default: 100, min: 8, max: 1e6, description: "A row in memory" },
  },
  build: ({ executors, cores, maps, reducers, inputBytes, rowBytes }) => {
    const records = Math.ceil(inputBytes / rowBytes);
    const reduceRecords = Math.ceil(records * maps / reducers);
    return {
      conf: { "spark.executor.memory": "2g", "spark.executor.cores": String(cores) },
      cluster: { executors, cores },
      stages: [
        {
          id: "sample",
          name: "sample of the range partitioner",
          tasks: maps,
          computeMs: { distribution: "normal", mean: 1500, standardDeviation: 200, min: 500 },
          deserializeMs: 15,
          inputBytes,
          inputRecords: records,
          // Median of a recorded sampling stage of Spark 3.5.9: about 20 keys for each range.
          resultBytes: 21_600,
        },
        {
          id: "exchange",
          name: "Exchange rangepartitioning",
          tasks: maps,
          computeMs: { distribution: "normal", mean: 2500, standardDeviation: 300, min: 800 },
          deserializeMs: 10,
          inputBytes,
          inputRecords: records,
          shuffleWriteBytes: Math.round(inputBytes * 0.6),
          shuffleWriteRecords: records,
          resultBytes: 1800,
        },
        {
          id: "sort",
          name: "Sort",
          parents: ["exchange"],
          tasks: reducers,
          computeMs: { distribution: "normal", mean: 5000, standardDeviation: 500, min: 1500 },
          deserializeMs: 10,
          outputBytes: Math.round(inputBytes * maps / reducers),
          outputRecords: reduceRecords,
          resultBytes: 4200,
          memory: [{
            kind: "UnsafeExternalSorter",
            name: "Sort",
            bytes: reduceRecords * rowBytes,
            records: reduceRecords,
            fillEnd: 0.6,
            diskBytesPerByte: 0.6,
          }],
        },
      ],
    };
  },
});
