import { clusterParameters, defineTemplate } from "../template.ts";

/** A broadcast hash join: the small side is collected to the driver, broadcast, and held by every executor. */
export const broadcast = defineTemplate({
  name: "broadcast",
  description: "A broadcast hash join: the small side goes through the driver, its pieces and its value live in the " +
    "storage pool of every executor beside the cached table.",
  parameters: {
    ...clusterParameters(4, 4),
    tasks: { kind: "count", default: 96, min: 1, max: 50_000, description: "Partitions of the large side" },
    broadcastBytes: {
      kind: "bytes",
      default: 64 * 2 ** 20,
      min: 0,
      max: 8 * 2 ** 30,
      description: "The small side, serialized and compressed",
    },
    cachedBytes: {
      kind: "bytes",
      default: 48 * 2 ** 20,
      min: 0,
      max: 2 ** 40,
      description: "A cached partition of the large side, as columnar batches",
    },
    storageLevel: { kind: "storageLevel", default: "MEMORY_AND_DISK", description: "Of the large side" },
  },
  build: ({ executors, cores, tasks, broadcastBytes, cachedBytes, storageLevel }) => {
    const buildTasks = 8;
    const rows = Math.ceil(cachedBytes / 60);
    return {
      conf: { "spark.executor.memory": "4g", "spark.executor.cores": String(cores) },
      cluster: { executors, cores },
      cached: [{
        name: "In-memory table fact",
        partitions: tasks,
        storageLevel,
        serializedBytes: cachedBytes,
        deserializedBytes: cachedBytes,
        diskBytes: cachedBytes,
        // InMemoryRelation stores batches of 10,000 rows (spark.sql.inMemoryColumnarStorage.batchSize).
        elements: Math.ceil(rows / 10_000),
        alwaysSerialized: true,
        computeMs: 2500,
        inputBytes: Math.round(cachedBytes * 1.3),
      }],
      // The hash relation in memory is about three times its compressed serialized form.
      broadcasts: [{ name: "dimension", bytes: broadcastBytes, valueBytes: 3 * broadcastBytes }],
      stages: [
        {
          id: "cache",
          name: "count at Join.scala:18",
          caches: ["In-memory table fact"],
          computeMs: { distribution: "normal", mean: 300, standardDeviation: 60, min: 100 },
          deserializeMs: 15,
          resultBytes: 2400,
        },
        {
          id: "build",
          name: "BroadcastExchange",
          tasks: buildTasks,
          computeMs: { distribution: "normal", mean: 1200, standardDeviation: 150, min: 400 },
          deserializeMs: 10,
          inputBytes: Math.round(broadcastBytes / buildTasks),
          resultBytes: Math.ceil(broadcastBytes / buildTasks) + 1900,
          resultSerializationMs: Math.ceil(broadcastBytes / buildTasks / 200_000),
        },
        {
          id: "join",
          name: "BroadcastHashJoin",
          reads: ["In-memory table fact"],
          broadcasts: ["dimension"],
          computeMs: { distribution: "normal", mean: 1800, standardDeviation: 250, min: 500 },
          deserializeMs: 10,
          outputBytes: Math.round(cachedBytes * 0.5),
          outputRecords: rows,
          resultBytes: 3600,
        },
      ],
    };
  },
});
