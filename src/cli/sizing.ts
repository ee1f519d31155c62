/**
 * `sizing`: how configured memory becomes pools.
 *
 * @module
 */
import { SparkConf } from "../spark/conf.ts";
import type { HeapCommitted } from "../spark/heap.ts";
import { bytesToString, MAX_SIZE, uiBytesToString } from "../spark/sizes.ts";
import { type Role, type Sizing, sizing as computeSizing } from "../spark/sizing.ts";
import { REFERENCE_SPARK_VERSION } from "../spark/spark_version.ts";
import type { Collector } from "../spark/versions.ts";
import type { Command, Io } from "./command.ts";
import { confChanges, noPositionals, parseOptions, wholeNumber } from "./options.ts";

const HELP = `
usage: deno task sizing [--conf key=value ...] [options]

How configured memory becomes Spark's pools, in bytes: heap, reserved, storage and execution, off-heap, what one task can get,
the page size, the container. What Spark refuses is refused with its own words (exit status 2).

  --conf key=value         any Spark property, for example --conf spark.executor.memory=4g; repeats; key= unsets
  --role executor|driver   whose memory (executor; in local mode the driver's heap counts either way)
  --heap-max BYTES         Runtime.maxMemory of the JVM, where it is known; else it is computed from the heap
  --collector NAME         g1, parallel, serial, zgc or shenandoah: how much of -Xmx Runtime.maxMemory is depends on it
                           (from the JVM's options; without any parallel before Spark 3.0, G1 from then on)
  --heap-committed small|full   full where -Xms is -Xmx (small)
  --spark-version V        whose rules and defaults (${REFERENCE_SPARK_VERSION})
  --format text|json
`;

const OPTIONS = {
  conf: { type: "string", multiple: true },
  role: { type: "string", choices: ["executor", "driver"] },
  "heap-max": { type: "string" },
  collector: { type: "string", choices: ["g1", "parallel", "serial", "zgc", "shenandoah"] },
  "heap-committed": { type: "string", choices: ["small", "full"] },
  "spark-version": { type: "string" },
  format: { type: "string", choices: ["text", "json"] },
} as const;

function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseOptions("sizing", args, OPTIONS);
  noPositionals("sizing", positionals);
  const heapMax = values["heap-max"];
  const conf = SparkConf.from({}, values["spark-version"]).with(confChanges("sizing", values.conf));
  const result = computeSizing({
    conf,
    role: values.role as Role | undefined,
    heapMax: heapMax === undefined ? undefined : wholeNumber("sizing", "heap-max", heapMax, 0, MAX_SIZE),
    collector: values.collector as Collector | undefined,
    heapCommitted: values["heap-committed"] as HeapCommitted | undefined,
  });
  io.stdout(values.format === "json" ? JSON.stringify(result, null, 2) + "\n" : sizingText(result, conf));
  return Promise.resolve(0);
}

type Row = readonly [name: string, bytes: number, note: string];

/** The answer as a table, with where each number comes from. */
function sizingText(result: Sizing, conf: SparkConf): string {
  const { unitStyle } = conf.rules.texts;
  const show = (bytes: number) => bytesToString(bytes, unitStyle);
  const lines = [title(result), ""];
  const table = (rows: readonly Row[]) => {
    for (const [name, bytes, note] of rows) {
      lines.push(`  ${name.padEnd(22)}${String(bytes).padStart(15)}  ${show(bytes).padStart(11)}  ${note}`.trimEnd());
    }
    lines.push("");
  };
  table(heapRows(result, conf));
  table(offHeapRows(result, conf));
  table(taskRows(result));
  lines.push(
    `Spark shows the unified memory as ${show(result.unifiedMemory + result.offHeap.size)} in its log ` +
      `and as ${uiBytesToString(result.unifiedMemory + result.offHeap.size)} on its pages` +
      `${result.offHeap.size > 0 ? ", off-heap included" : ""}.`,
  );
  for (const { code, message } of result.warnings) lines.push(`warning[${code}]: ${message}`);
  return lines.join("\n") + "\n";
}

function title({ sparkVersion, role, heap, cores, tasks }: Sizing): string {
  const committed = heap.collector === "parallel" ? `, ${heap.committed} committed heap` : "";
  return `Spark ${sparkVersion}, ${role}: ${heap.collector} collector${committed}, ` +
    `${cores} core${cores === 1 ? "" : "s"}, ${tasks} task${tasks === 1 ? "" : "s"} at once`;
}

function heapRows(result: Sizing, conf: SparkConf): Row[] {
  const fraction = conf.get("spark.memory.fraction");
  const storageFraction = conf.get("spark.memory.storageFraction");
  const rows: Row[] = [
    ["Runtime.maxMemory", result.systemMemory, maxMemoryNote(result)],
    ["reserved", result.reservedMemory, ""],
    ["user memory", result.userMemory, "objects of the application"],
    ["unified memory", result.unifiedMemory, `(maxMemory - reserved) x spark.memory.fraction ${fraction}`],
    ["storage region", result.storageRegion, `unified x spark.memory.storageFraction ${storageFraction}`],
    ["execution region", result.executionRegion, "the rest"],
  ];
  return result.heap.size === null ? rows : [["heap", result.heap.size, "-Xmx"], ...rows];
}

function maxMemoryNote({ heap, systemMemory }: Sizing): string {
  if (heap.size === null) return "";
  return systemMemory === heap.size ? "the whole heap" : "the heap less one survivor space";
}

function offHeapRows({ offHeap, container }: Sizing, conf: SparkConf): Row[] {
  const rows: Row[] = [];
  if (offHeap.size > 0) {
    rows.push(
      ["off-heap", offHeap.size, offHeap.enabled ? "used by Tungsten" : "for blocks only: offHeap.enabled is false"],
      ["off-heap storage", offHeap.storageRegion, ""],
      ["off-heap execution", offHeap.executionRegion, ""],
    );
  }
  const overhead = container.overheadFrom === "factor"
    ? "a tenth of the heap, unless a factor is set"
    : container.overheadFrom === "minimum"
    ? "the least there is"
    : container.overheadFrom;
  rows.push(["container overhead", container.overhead, overhead]);
  if (container.pyspark > 0) rows.push(["Python workers", container.pyspark, "spark.executor.pyspark.memory"]);
  const counted = offHeap.enabled && !conf.rules.memory.containerHoldsOffHeap ? ", off-heap memory not counted" : "";
  rows.push(["container", container.total, `what YARN or Kubernetes is asked for${counted}`]);
  return rows;
}

function taskRows({ perTask, pageSize, tungstenMemoryMode, tasks }: Sizing): Row[] {
  const where = tungstenMemoryMode === "ON_HEAP" ? "" : ", off-heap";
  return [
    ["a task gets at most", perTask.max, `1/${tasks} of what execution can have${where}`],
    ["a task waits for", perTask.min, `1/${2 * tasks}, before it goes on with less`],
    ["page size", pageSize, ""],
  ];
}

/** The `sizing` command. */
export const sizing: Command = {
  name: "sizing",
  summary: "how configured memory becomes storage, execution and the rest",
  help: HELP,
  run,
};
