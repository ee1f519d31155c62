/**
 * Messages of the start: too little memory, settings that are refused, the capacity of the memory store.
 *
 * @module
 */
import { heapsOfMaxMemory, runtimeMaxMemory } from "../../spark/heap.ts";
import { BYTE_UNITS } from "../../spark/sizes.ts";
import { RESERVED_SYSTEM_MEMORY_BYTES } from "../../spark/sizing.ts";
import type { Collector } from "../../spark/versions.ts";
import { BYTES, kind, mebibytes, type MessageKind, printed, re, type Reading, SIZE } from "./message_kind.ts";

const { MiB } = BYTE_UNITS;

/** Says which -Xmx has a Runtime.maxMemory. */
function heapText(maxMemory: number): string {
  const heaps = heapsOfMaxMemory(maxMemory).filter(({ committed }) => committed === "small");
  if (heaps.length === 0) return `${mebibytes(maxMemory)}`;
  return heaps.map(({ heap, collector }) => `-Xmx${heap / MiB}m under the ${collector} collector`).join(", or ");
}

function tooLittle(whose: "System" | "Executor", memory: number, minimum: number): Reading {
  const shortfall = minimum - memory;
  const heaps = whose === "System" ? heapsOfMaxMemory(memory) : [];
  return {
    values: { memory, minimum, shortfall, starts: false, heapMiB: heaps.map(({ heap }) => heap / MiB) },
    arithmetic: [
      `300 MiB reserved x 1.5 = ${RESERVED_SYSTEM_MEMORY_BYTES * 1.5} bytes are needed; ${minimum} - ${memory} = ` +
      `${shortfall} bytes (${mebibytes(shortfall)}) are missing`,
      ...(whose === "System"
        ? [`Runtime.maxMemory of ${memory} bytes (${mebibytes(memory)}) is ${heapText(memory)}`]
        : []),
    ],
  };
}

/** Heaps that people configure, for guessing which one a capacity belongs to. */
const COMMON_HEAPS_MIB = [
  ...[512, 640, 768, 896, 1024, 1536, 1964, 2048, 2560, 3072, 4096, 5120, 6144, 6656, 7168, 8192],
  ...[10, 12, 14, 15, 16, 18, 20, 24, 28, 30, 32, 40, 48, 50, 56, 60, 64, 80, 96, 100, 128].map((gib) => gib * 1024),
];

const COLLECTORS: readonly (readonly [Collector, "small" | "full", string])[] = [
  ["g1", "small", "G1"],
  ["parallel", "small", "parallel"],
  ["parallel", "full", "parallel, whole heap committed"],
  ["serial", "small", "serial"],
];

/**
 * The heaps of common sizes whose unified memory lies in a range, by collector.
 *
 * @param fraction spark.memory.fraction.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { heapsOfCapacity } from "./startup_messages.ts";
 *
 * // "366.3 MB"
 * const [first] = heapsOfCapacity(384041124, 384145981, 0.6);
 * assertEquals([first.heapMiB, first.collector, first.unified], [1024, "parallel", 384093388]);
 * ```
 */
export function heapsOfCapacity(
  min: number,
  max: number,
  fraction: number,
): { heapMiB: number; collector: string; maxMemory: number; unified: number }[] {
  const found = [];
  for (const heapMiB of COMMON_HEAPS_MIB) {
    for (const [collector, committed, name] of COLLECTORS) {
      const maxMemory = runtimeMaxMemory(heapMiB * MiB, collector, committed);
      const unified = Math.trunc((maxMemory - RESERVED_SYSTEM_MEMORY_BYTES) * fraction);
      if (unified >= min && unified <= max) found.push({ heapMiB, collector: name, maxMemory, unified });
    }
  }
  return found;
}

function capacityReading(text: string, fraction: number): Reading {
  const size = printed(text);
  const heaps = heapsOfCapacity(size.min, size.max, fraction);
  return {
    values: {
      capacityMin: size.min,
      capacityMax: size.max,
      heapMiB: heaps.map(({ heapMiB }) => heapMiB),
      unified: heaps.length === 1 ? heaps[0].unified : null,
    },
    arithmetic: [
      `${text} is ${size.min} to ${size.max} bytes`,
      ...heaps.map(({ heapMiB, collector, maxMemory, unified }) =>
        `-Xmx${heapMiB}m (${collector}): (${maxMemory} - ${RESERVED_SYSTEM_MEMORY_BYTES}) x ${fraction} = ${unified}`
      ),
    ],
    meaning: heaps.length === 0
      ? "No common heap size explains this capacity with the default fraction and nothing off-heap: " +
        "spark.memory.fraction or spark.memory.offHeap.size is set, or the heap is of an unusual size."
      : "",
  };
}

const MORE_MEMORY = [
  "Give the JVM more heap: spark.driver.memory (before it starts: --driver-memory) or spark.executor.memory",
  "In a container without -Xmx the heap is a quarter of the container's memory: set the heap, or give the container more",
];

/** The kinds of messages at start. */
export const STARTUP_MESSAGES: readonly MessageKind[] = [
  kind({
    code: "startup.systemMemory",
    title: "the JVM's heap is too small for Spark to start",
    severity: "failure",
    printedBy: "UnifiedMemoryManager",
    since: "1.6",
    anchor: "System memory",
    pattern: re`System memory ${BYTES} must be at least (\d+(?:\.\d+E\d+)?)`,
    meaning: "Spark reserves 300 MiB and refuses to start with a heap below one and a half times that. The number is " +
      "Runtime.maxMemory, which is less than -Xmx under the parallel and serial collectors (one survivor space is not " +
      "counted). 1.6.0 prints the limit as 4.718592E8; the driver checks it too.",
    settings: ["spark.driver.memory", "spark.executor.memory"],
    remedies: MORE_MEMORY,
    read: ([, memory, minimum]) => tooLittle("System", Number(memory), Number(minimum)),
  }),
  kind({
    code: "startup.executorMemory",
    title: "spark.executor.memory is too small",
    severity: "failure",
    printedBy: "UnifiedMemoryManager",
    since: "2.0",
    anchor: "Executor memory",
    pattern: re`Executor memory ${BYTES} must be at least ${BYTES}`,
    meaning:
      "The configured spark.executor.memory is checked against the same 450 MiB as the heap. A bare number is read " +
      "as bytes here, although it starts the executor with that many MiB.",
    settings: ["spark.executor.memory"],
    remedies: ["Set spark.executor.memory to at least 450m, with a unit"],
    read: ([, memory, minimum]) => tooLittle("Executor", Number(memory), Number(minimum)),
  }),
  kind({
    code: "startup.fraction",
    title: "a memory fraction is outside 0 and 1",
    severity: "failure",
    printedBy: "SparkConf",
    anchor: "should be between 0 and 1",
    pattern: /(spark\.[\w.]+) should be between 0 and 1 \(was '([^']*)'\)/,
    meaning: "Fractions are parts of the memory, not percentages.",
    settings: ["spark.memory.fraction", "spark.memory.storageFraction"],
    remedies: ["Give a number from 0 to 1; leave it out for the default"],
    read: ([, key, value]) => ({ values: { key, value: Number(value) } }),
  }),
  kind({
    code: "startup.emptyExecutionPool",
    title: "no memory is left for execution",
    severity: "failure",
    printedBy: "MemoryManager",
    since: "3.0",
    anchor: "onHeapExecutionMemory must be > 0",
    pattern: /onHeapExecutionMemory must be > 0/,
    meaning:
      "spark.memory.fraction of 0, or a storageFraction that leaves execution nothing, is refused from 3.0 on; 2.4 " +
      "started with an execution pool of 0 bytes.",
    settings: ["spark.memory.fraction", "spark.memory.storageFraction"],
    remedies: ["Use a spark.memory.storageFraction below 1 and a spark.memory.fraction above 0"],
  }),
  kind({
    code: "startup.storageFraction",
    title: "spark.memory.storageFraction must be below 1",
    severity: "failure",
    printedBy: "internal.config",
    since: "3.0",
    anchor: "Storage fraction must be in [0,1)",
    pattern: /Storage fraction must be in \[0,1\)/,
    meaning: "A storage region that takes all of the memory leaves no execution pool, which 3.0 and later refuse.",
    settings: ["spark.memory.storageFraction"],
    remedies: ["Use a value below 1, for example 0.9"],
  }),
  kind({
    code: "startup.offHeapSize",
    title: "off-heap memory is on, but has no size",
    severity: "failure",
    printedBy: "MemoryManager",
    since: "1.6",
    anchor: "spark.memory.offHeap.size must be > 0",
    pattern: /spark\.memory\.offHeap\.size must be > 0 when spark\.memory\.offHeap\.enabled == true/,
    meaning:
      "spark.memory.offHeap.enabled moves Tungsten's memory off the heap and needs a size; nothing is taken from the " +
      "heap for it.",
    settings: ["spark.memory.offHeap.enabled", "spark.memory.offHeap.size"],
    remedies: ["Set spark.memory.offHeap.size, and give the container room for it, or turn it off"],
  }),
  kind({
    code: "startup.fractionalSize",
    title: "a size must be a whole number",
    severity: "failure",
    printedBy: "JavaUtils",
    anchor: "Fractional values are not supported",
    pattern: /Fractional values are not supported\. Input was: ([\d.]+)/,
    meaning: "Sizes have no fractions: 1.5g is written 1536m.",
    remedies: ["Write the size in a smaller unit"],
    read: ([, value]) => ({ values: { value: Number(value) } }),
  }),
  kind({
    code: "startup.sizeFormat",
    title: "a size could not be read",
    severity: "failure",
    printedBy: "JavaUtils",
    anchor: "Size must be specified as bytes",
    pattern: /Size must be specified as bytes \(b\)/,
    meaning: "A size is a whole number with b, k, m, g, t or p behind it (a second b may follow); without one the " +
      "property's own unit counts. Larger than a Long is refused.",
    remedies: ["Write for example 512m or 4g"],
  }),
  kind({
    code: "startup.confValue",
    title: "a setting has a value that Spark refuses",
    severity: "failure",
    printedBy: "ConfigBuilder",
    since: "4.1",
    anchor: "[INVALID_CONF_VALUE.",
    pattern: /\[INVALID_CONF_VALUE\.(\w+)\] The value '([^']*)' in the config "([^"]+)" is invalid/,
    meaning:
      "From 4.1 on a setting of the wrong type or outside its range is refused with this error class; before, the " +
      "text was '… should be int, but was …' or the check's own sentence.",
    remedies: ["Correct the value of the property that is named"],
    read: ([, subclass, value, key]) => ({ values: { subclass, value, key } }),
  }),
  kind({
    code: "startup.maxHeapOption",
    title: "-Xmx must not be among the executors' JVM options",
    severity: "failure",
    printedBy: "SparkConf",
    anchor: "is not allowed to specify max heap memory settings",
    pattern: /(spark\.[\w.]+) is not allowed to specify max heap memory settings/,
    meaning: "Spark starts executors with -Xmx of spark.executor.memory and sizes its pools and containers by it.",
    settings: ["spark.executor.memory", "spark.executor.extraJavaOptions"],
    remedies: ["Set spark.executor.memory instead"],
  }),
  kind({
    code: "startup.capacity",
    title: "the memory for cached blocks and execution",
    severity: "information",
    printedBy: "MemoryStore",
    anchor: "MemoryStore started with capacity",
    pattern: re`MemoryStore started with capacity ${SIZE}`,
    meaning:
      "This is the unified memory: (Runtime.maxMemory - 300 MiB) x spark.memory.fraction, with off-heap memory where " +
      "it is set. It is an upper limit for cached blocks; execution takes from the same memory. The pages of Spark show the " +
      "same number in 1000-based units.",
    settings: [
      "spark.executor.memory",
      "spark.driver.memory",
      "spark.memory.fraction",
      "spark.memory.offHeap.size",
    ],
    remedies: [
      "For more, raise the heap; in local mode that is spark.driver.memory, as spark.executor.memory is not used",
    ],
    read: ([, text], { conf }) => capacityReading(text, conf.getDouble("spark.memory.fraction")),
  }),
  kind({
    code: "startup.blockManager",
    title: "an executor's block manager is registered",
    severity: "information",
    printedBy: "BlockManagerMasterEndpoint",
    anchor: "Registering block manager",
    pattern: re`Registering block manager (\S+) with ${SIZE} RAM`,
    meaning: "The size is the executor's unified memory, the same number as its MemoryStore's capacity.",
    settings: ["spark.executor.memory", "spark.memory.fraction", "spark.memory.offHeap.size"],
    read: ([, , text], { conf }) => capacityReading(text, conf.getDouble("spark.memory.fraction")),
  }),
  kind({
    code: "startup.yarnMaximum",
    title: "an executor is larger than YARN allows",
    severity: "failure",
    printedBy: "yarn.Client",
    anchor: "is above the max threshold",
    pattern: /Required executor memory \((\d+)(?: MB)?\)?.{0,200}?is above the max threshold \((\d+) MB\)/,
    meaning:
      "Heap, overhead, off-heap memory and Python's limit together make the container, and YARN has a largest one.",
    settings: [
      "spark.executor.memory",
      "spark.executor.memoryOverhead",
      "spark.memory.offHeap.size",
      "spark.executor.pyspark.memory",
    ],
    remedies: [
      "Lower the heap so that heap and overhead (a tenth, at least 384 MiB) fit the threshold",
      "Or let the administrator raise yarn.scheduler.maximum-allocation-mb and yarn.nodemanager.resource.memory-mb",
    ],
    read: ([, heap, threshold]) => ({
      values: { heapMiB: Number(heap), thresholdMiB: Number(threshold) },
      arithmetic: [
        `${heap} MB and an overhead of max(384, 0.1 x ${heap}) = ${
          Math.max(384, Math.trunc(0.1 * Number(heap)))
        } MB are ${Number(heap) + Math.max(384, Math.trunc(0.1 * Number(heap)))} MB; ${threshold} MB are allowed`,
      ],
    }),
  }),
  kind({
    code: "startup.unrollThreshold",
    title: "the memory store is smaller than one unroll reservation",
    severity: "slow",
    printedBy: "MemoryStore",
    anchor: "is less than the initial memory threshold",
    pattern: re`Max memory ${SIZE} is less than the initial memory threshold ${SIZE}`,
    meaning: "Every block that is stored value by value first reserves the threshold; in so small a store none can be.",
    settings: ["spark.storage.unrollMemoryThreshold", "spark.executor.memory"],
    remedies: ["Give the executor more memory"],
  }),
];
