import { clusterParameters, defineTemplate } from "../template.ts";

/** A SQL aggregation over many keys: partial and final hash aggregation around a shuffle. */
export const wideAggregation = defineTemplate({
  name: "wide-aggregation",
  description: "A GROUP BY over many keys: do the hash maps of the tasks that share an executor fit, or do they spill?",
  parameters: {
    ...clusterParameters(4, 4),
    maps: { kind: "count", default: 96, min: 1, max: 50_000, description: "Input partitions" },
    reducers: { kind: "count", default: 48, min: 1, max: 50_000, description: "spark.sql.shuffle.partitions" },
    inputBytes: {
      kind: "bytes",
      default: 128 * 2 ** 20,
      min: 0,
      max: 2 ** 40,
      description: "Input of a map task (spark.sql.files.maxPartitionBytes)",
    },
    keysPerReducer: { kind: "count", default: 2_000_000, min: 0, max: 1e10, description: "Groups of a reducer" },
    rowBytes: { kind: "count", default: 56, min: 16, max: 1e6, description: "A group in memory (key and buffer rows)" },
  },
  build: ({ executors, cores, maps, reducers, inputBytes, keysPerReducer, rowBytes }) => {
    const inputRecords = Math.ceil(inputBytes / 40);
    const mapKeys = Math.min(inputRecords, Math.ceil(keysPerReducer * reducers / 2));
    const readRecords = Math.floor(mapKeys * maps / reducers);
    return {
      conf: { "spark.executor.memory": "4g", "spark.executor.cores": String(cores) },
      cluster: { executors, cores },
      stages: [
        {
          id: "partial",
          name: "HashAggregate (partial)",
          tasks: maps,
          computeMs: { distribution: "normal", mean: 4000, standardDeviation: 500, min: 1500 },
          deserializeMs: 15,
          inputBytes,
          inputRecords,
          shuffleWriteBytes: Math.round(mapKeys * rowBytes * 0.5),
          shuffleWriteRecords: mapKeys,
          resultBytes: 3200,
          memory: [{
            kind: "HashAggregation",
            name: "HashAggregate (partial)",
            bytes: inputRecords * rowBytes,
            records: inputRecords,
            keys: mapKeys,
            fillEnd: 0.8,
            diskBytesPerByte: 0.5,
          }],
        },
        {
          id: "final",
          name: "HashAggregate (final)",
          parents: ["partial"],
          tasks: reducers,
          computeMs: { distribution: "normal", mean: 6000, standardDeviation: 700, min: 2000 },
          deserializeMs: 10,
          outputBytes: Math.round(keysPerReducer * 12),
          outputRecords: keysPerReducer,
          resultBytes: 4200,
          memory: [{
            kind: "HashAggregation",
            name: "HashAggregate (final)",
            bytes: readRecords * rowBytes,
            records: readRecords,
            keys: Math.min(readRecords, keysPerReducer),
            diskBytesPerByte: 0.5,
          }],
        },
      ],
    };
  },
});
