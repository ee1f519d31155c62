import { clusterParameters, defineTemplate } from "../template.ts";

/** A sort-merge join of two tables whose key is skewed: one reducer gets most of the larger side. */
export const skewedJoin = defineTemplate({
  name: "skewed-join",
  description: "A sort-merge join with a skewed key: the reducers' sizes follow a Zipf law, so a few tasks spill and " +
    "run long after the others have ended.",
  parameters: {
    ...clusterParameters(4, 4),
    maps: { kind: "count", default: 64, min: 1, max: 50_000, description: "Partitions of the large table" },
    reducers: { kind: "count", default: 100, min: 1, max: 50_000, description: "spark.sql.shuffle.partitions" },
    largeBytes: {
      kind: "bytes",
      default: 16 * 2 ** 30,
      min: 0,
      max: 2 ** 45,
      description: "Shuffled bytes of the large table, in all",
    },
    smallBytes: {
      kind: "bytes",
      default: 2 * 2 ** 30,
      min: 0,
      max: 2 ** 45,
      description: "Shuffled bytes of the small table, in all",
    },
    skew: {
      kind: "number",
      default: 0.9,
      min: 0,
      max: 3,
      description: "Exponent of the Zipf law: 0 is no skew, 1 gives the first of 100 reducers 19 %",
    },
  },
  build: ({ executors, cores, maps, reducers, largeBytes, smallBytes, skew }) => {
    const smallMaps = Math.max(1, Math.ceil(maps / 8));
    const zipf = (total: number) => ({ distribution: "zipf", total, exponent: skew, shuffled: true, seed: 1 }) as const;
    // Rows in memory take about twice their compressed shuffle bytes.
    const sorter = (name: string, bytes: ReturnType<typeof zipf> | number, total: number) => ({
      kind: "UnsafeExternalSorter" as const,
      name,
      bytes: typeof bytes === "number" ? bytes : zipf(2 * total),
      records: typeof bytes === "number" ? Math.ceil(bytes / 100) : zipf(Math.ceil(total / 50)),
      fillEnd: 0.5,
      diskBytesPerByte: 0.5,
    });
    const scan = (id: string, tasks: number, total: number) => ({
      id,
      name: `Exchange hashpartitioning (${id})`,
      tasks,
      computeMs: { distribution: "normal", mean: 3000, standardDeviation: 400, min: 800 } as const,
      deserializeMs: 12,
      inputBytes: Math.round(total * 1.5 / tasks),
      inputRecords: Math.ceil(total / 50 / tasks),
      shuffleWriteBytes: Math.round(total / tasks),
      shuffleWriteRecords: Math.ceil(total / 50 / tasks),
      resultBytes: 1900,
    });
    return {
      conf: { "spark.executor.memory": "4g", "spark.executor.cores": String(cores) },
      cluster: { executors, cores },
      stages: [
        scan("large", maps, largeBytes),
        scan("small", smallMaps, smallBytes),
        {
          id: "join",
          name: "SortMergeJoin",
          parents: ["large", "small"],
          tasks: reducers,
          computeMs: { ...zipf(reducers * 4000 + largeBytes / 2 ** 20 * 15) },
          deserializeMs: 10,
          shuffleReadBytes: zipf(largeBytes + smallBytes),
          outputRecords: zipf(Math.ceil(largeBytes / 50)),
          outputBytes: zipf(largeBytes),
          resultBytes: 4300,
          memory: [
            sorter("Sort (large)", zipf(largeBytes), largeBytes),
            sorter("Sort (small)", Math.ceil(2 * smallBytes / reducers), smallBytes),
          ],
        },
      ],
    };
  },
});
