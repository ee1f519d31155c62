import { clusterParameters, defineTemplate } from "../template.ts";

/**
 * PageRank as in Spark's examples: links are grouped once and cached, each iteration joins them with the ranks (both
 * partitioned alike, so the join is narrow) and shuffles the contributions.
 */
export const cachedIterative = defineTemplate({
  name: "cached-iterative",
  description: "A cached RDD that every iteration reads, as in PageRank: does it stay in memory while the iterations " +
    "aggregate and shuffle?",
  parameters: {
    ...clusterParameters(4, 4),
    partitions: { kind: "count", default: 48, min: 1, max: 20_000, description: "Partitions of all RDDs" },
    iterations: { kind: "count", default: 8, min: 1, max: 100, description: "Iterations, a stage each" },
    linksBytes: {
      kind: "bytes",
      default: 96 * 2 ** 20,
      min: 0,
      max: 2 ** 40,
      description: "A cached partition of links, as objects",
    },
    ranksBytes: {
      kind: "bytes",
      default: 12 * 2 ** 20,
      min: 0,
      max: 2 ** 40,
      description: "What a task of an iteration shuffles",
    },
    storageLevel: { kind: "storageLevel", default: "MEMORY_ONLY", description: "Of links" },
  },
  build: ({ executors, cores, partitions, iterations, linksBytes, ranksBytes, storageLevel }) => {
    // Grouped links as JVM objects take about three times their serialized size.
    const serialized = Math.round(linksBytes / 3);
    const objects = storageLevel.includes("_SER") || storageLevel.startsWith("DISK") || storageLevel === "OFF_HEAP"
      ? {}
      : { bytes: linksBytes };
    return {
      conf: { "spark.executor.memory": "4g", "spark.executor.cores": String(cores) },
      cluster: { executors, cores },
      cached: [{
        name: "links",
        partitions,
        storageLevel,
        ...objects,
        deserializedBytes: linksBytes,
        serializedBytes: serialized,
        diskBytes: serialized,
        elements: Math.ceil(linksBytes / 600),
        computeMs: 2500,
        memory: [{
          kind: "ExternalAppendOnlyMap",
          name: "groupByKey",
          bytes: linksBytes,
          records: Math.ceil(linksBytes / 60),
          keys: Math.ceil(linksBytes / 600),
          diskBytesPerByte: 0.35,
        }],
      }],
      stages: [
        {
          id: "parse",
          name: "distinct at PageRank",
          tasks: partitions,
          computeMs: { distribution: "normal", mean: 3000, standardDeviation: 300, min: 1000 },
          deserializeMs: 20,
          inputBytes: serialized,
          inputRecords: Math.ceil(linksBytes / 60),
          shuffleWriteBytes: Math.round(serialized * 0.8),
          shuffleWriteRecords: Math.ceil(linksBytes / 60),
        },
        ...Array.from({ length: iterations }, (_, i) => iteration(i + 1, partitions, ranksBytes)),
        {
          id: "save",
          name: "collect at PageRank",
          parents: [`iteration ${iterations}`],
          tasks: partitions,
          computeMs: 400,
          resultBytes: Math.round(ranksBytes / 100) + 1900,
        },
      ],
    };
  },
});

/** The stage of the i-th iteration, which shuffles `ranksBytes` a task. */
function iteration(i: number, partitions: number, ranksBytes: number) {
  return {
    id: `iteration ${i}`,
    name: `flatMap at PageRank (iteration ${i})`,
    parents: [i === 1 ? "parse" : `iteration ${i - 1}`],
    tasks: partitions,
    ...(i === 1 ? { caches: ["links"] } : { reads: ["links"] }),
    computeMs: { distribution: "normal", mean: 1500, standardDeviation: 200, min: 500 } as const,
    deserializeMs: 5,
    shuffleWriteBytes: ranksBytes,
    shuffleWriteRecords: Math.ceil(ranksBytes / 16),
    memory: [{
      kind: "ExternalAppendOnlyMap" as const,
      name: "combine of contributions",
      bytes: 2 * ranksBytes,
      records: Math.ceil(ranksBytes / 8),
      keys: Math.ceil(ranksBytes / 16),
      fillEnd: 0.8,
      diskBytesPerByte: 0.5,
    }],
  };
}
