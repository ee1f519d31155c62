/**
 * How configured memory becomes pools: UnifiedMemoryManager.apply and MemoryManager's constructor, Spark 1.6 to 4.2.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type { SparkConf } from "./conf.ts";
import { type ContainerMemory, containerMemory } from "./container.ts";
import { type HeapCommitted, runtimeMaxMemory } from "./heap.ts";
import { javaDoubleText } from "./java_numbers.ts";
import { localMaster } from "./master.ts";
import { BYTE_UNITS, MAX_SIZE } from "./sizes.ts";
import { EXCEPTIONS, refusalError } from "./spark_refusal.ts";
import type { Collector } from "./versions.ts";

const { MiB } = BYTE_UNITS;

/** UnifiedMemoryManager.RESERVED_SYSTEM_MEMORY_BYTES. */
export const RESERVED_SYSTEM_MEMORY_BYTES = 300 * MiB;

/** Platform.LONG_ARRAY_OFFSET: the header of a long[]. */
const LONG_ARRAY_OFFSET = 16;

/** Whose memory is sized. In local mode the one executor lives in the driver. */
export type Role = "executor" | "driver";

/** What {@linkcode sizing} is asked. */
export interface SizingOptions {
  /** The settings, and the version whose rules and defaults hold. */
  readonly conf: SparkConf;
  /** `executor` unless said. */
  readonly role?: Role;
  /** Runtime.maxMemory in bytes, where it is known; else it is computed from the heap and the collector. */
  readonly heapMax?: number;
  /** As the JVM's options say; without any: parallel before Spark 3.0, G1 from then on. */
  readonly collector?: Collector;
  /** `small` unless said. */
  readonly heapCommitted?: HeapCommitted;
  /** Cores of the executor; spark.executor.cores, in local mode the master's, unless said. */
  readonly cores?: number;
}

/** What one task can get of a pool of execution memory while `tasks` of them run, in bytes. */
export interface TaskShare {
  /** What it waits for before it goes on with less: 1/2N of the pool. */
  readonly min: number;
  /** What it never gets more of: 1/N of the pool, cached blocks inside their region not counted. */
  readonly max: number;
}

/** Sizes in bytes. */
export interface Sizing {
  /** As it was asked for. */
  readonly sparkVersion: string;
  /** Whose memory it is. */
  readonly role: Role;
  /** What the JVM was started with. */
  readonly heap: {
    /** -Xmx; null when Runtime.maxMemory was given. */
    readonly size: number | null;
    readonly collector: Collector;
    readonly committed: HeapCommitted;
  };
  /** Runtime.maxMemory. */
  readonly systemMemory: number;
  /** What Spark keeps for itself: 300 MiB, or spark.testing.reservedMemory. */
  readonly reservedMemory: number;
  /** Storage and execution on the heap: what Spark reports as the executor's memory. */
  readonly unifiedMemory: number;
  /** Initial storage pool: cached blocks up to here are safe from execution. */
  readonly storageRegion: number;
  /** Initial execution pool. */
  readonly executionRegion: number;
  /** The pools off the heap; sizes 0 where they are not enabled. */
  readonly offHeap: {
    /** Tungsten takes its memory off-heap. */
    readonly enabled: boolean;
    readonly size: number;
    readonly storageRegion: number;
    readonly executionRegion: number;
    readonly perTask: TaskShare;
  };
  /** What is left of the heap for objects of the application. */
  readonly userMemory: number;
  /** Cores of the executor; of the driver in local mode. */
  readonly cores: number;
  /** Tasks that run at once: cores / spark.task.cpus. */
  readonly tasks: number;
  /** Of the memory that Tungsten uses: on the heap, or off-heap where that is enabled. */
  readonly perTask: TaskShare;
  /** Where Tungsten (sorting, aggregation, joins) takes its pages. */
  readonly tungstenMemoryMode: "ON_HEAP" | "OFF_HEAP";
  /** MemoryManager.pageSizeBytes: what a Tungsten page has at least. */
  readonly pageSize: number;
  /** What the cluster manager is asked for. */
  readonly container: ContainerMemory;
  /** What a user should know: settings without effect, assumptions. */
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}

/**
 * How the configured memory of an executor or the driver becomes pools, exactly as the version's Spark computes it.
 *
 * @throws {InputError} what Spark refuses, in its words: `conf.memory`, `conf.type`, `conf.value`; and
 * `sizing.static` for the memory manager before 1.6 (and spark.memory.useLegacyMode).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "./conf.ts";
 * import { sizing } from "./sizing.ts";
 *
 * const { unifiedMemory, storageRegion } = sizing({
 *   conf: SparkConf.from({ "spark.executor.memory": "1g" }, "3.5.1"),
 *   collector: "g1",
 * });
 * // (1073741824 - 314572800) x 0.6, and half of it.
 * assertEquals([unifiedMemory, storageRegion], [455501414, 227750707]);
 * ```
 */
export function sizing(options: SizingOptions): Sizing {
  const { conf } = options;
  const role = options.role ?? "executor";
  const jvm = jvmOf(options, role);
  if (conf.rules.memory.manager === "static" || conf.reads(LEGACY) && conf.getBoolean(LEGACY)) {
    throw staticManagerError(conf, jvm.systemMemory);
  }
  const reservedMemory = reservedMemoryOf(conf);
  checkMinimumMemory(conf, jvm.systemMemory, reservedMemory);
  const unifiedMemory = toLong((jvm.systemMemory - reservedMemory) * conf.getDouble("spark.memory.fraction"));
  const fraction = conf.getDouble("spark.memory.storageFraction");
  const storageRegion = toLong(unifiedMemory * fraction);
  const executionRegion = unifiedMemory - storageRegion;
  checkPools(conf, storageRegion, executionRegion);
  const offHeapSize = conf.getSizeAsBytes("spark.memory.offHeap.size");
  const offHeapStorage = conf.rules.memory.offHeapStorage ? toLong(offHeapSize * fraction) : 0;
  const offHeapEnabled = conf.getBoolean("spark.memory.offHeap.enabled");
  if (offHeapEnabled && offHeapSize <= 0) {
    throw requirementFailed("spark.memory.offHeap.size must be > 0 when spark.memory.offHeap.enabled == true");
  }
  const cores = Math.max(1, coresOf(options, role));
  const tasks = Math.max(1, Math.floor(cores / Math.max(1, conf.getInt("spark.task.cpus"))));
  const tungstenPool = offHeapEnabled ? offHeapSize - offHeapStorage : executionRegion;
  return {
    sparkVersion: conf.sparkVersion,
    role,
    heap: { size: jvm.heap, collector: jvm.collector, committed: jvm.committed },
    systemMemory: jvm.systemMemory,
    reservedMemory,
    unifiedMemory,
    storageRegion,
    executionRegion,
    offHeap: {
      enabled: offHeapEnabled,
      size: offHeapSize,
      storageRegion: offHeapStorage,
      executionRegion: offHeapSize - offHeapStorage,
      perTask: taskShare(offHeapSize, tasks),
    },
    userMemory: jvm.systemMemory - reservedMemory - unifiedMemory,
    cores,
    tasks,
    perTask: taskShare(offHeapEnabled ? offHeapSize : unifiedMemory, tasks),
    tungstenMemoryMode: offHeapEnabled ? "OFF_HEAP" : "ON_HEAP",
    pageSize: conf.getSizeAsBytesOption("spark.buffer.pageSize") ??
      defaultPageSize(tungstenPool, cores, shortPages(conf, jvm.collector, offHeapEnabled)),
    container: containerMemory(conf, role),
    // Put together when they are asked for: to find the nearest name of an unknown property takes long.
    get warnings() {
      return [...conf.warnings(), ...jvm.warnings, ...fractionWarnings(conf)];
    },
  };
}

const LEGACY = "spark.memory.useLegacyMode";

/** Java's (long) of a double: towards zero, saturating; NaN is 0. */
function toLong(value: number): number {
  if (Number.isNaN(value)) return 0;
  return Math.min(Math.max(Math.trunc(value), -MAX_SIZE), MAX_SIZE) + 0;
}

function taskShare(pool: number, tasks: number): TaskShare {
  return { min: Math.floor(pool / (2 * tasks)), max: Math.floor(pool / tasks) };
}

/** What is known of the JVM. */
interface Jvm {
  readonly heap: number | null;
  readonly collector: Collector;
  readonly committed: HeapCommitted;
  readonly systemMemory: number;
  readonly warnings: readonly { readonly code: string; readonly message: string }[];
}

function jvmOf(options: SizingOptions, role: Role): Jvm {
  const { conf, heapMax } = options;
  const committed = options.heapCommitted ?? "small";
  const local = localMaster(conf.get("spark.master")) !== null;
  const warnings: { code: string; message: string }[] = [];
  const heapKey = role === "driver" || local ? "spark.driver.memory" : "spark.executor.memory";
  if (local && conf.contains("spark.executor.memory")) {
    warnings.push({
      code: "sizing.localExecutorMemory",
      message: "spark.executor.memory does not size anything in local mode: the one executor lives in the driver, " +
        "whose heap is spark.driver.memory",
    });
  }
  const named = options.collector ?? collectorOf(conf, heapKey === "spark.driver.memory" ? "driver" : "executor");
  const collector = named ?? conf.rules.memory.usualCollector;
  const known = conf.getIntOption("spark.testing.memory") ?? heapMax;
  if (named === null && (known === undefined || conf.rules.memory.pageSizeLeavesHeaderUnder.length > 0)) {
    const effect = known === undefined
      ? "which decides how much of the heap Spark sees"
      : "on which the page size depends";
    warnings.push({
      code: "sizing.collector",
      message: `No collector is named: ${collector} is assumed, ${effect}`,
    });
  }
  if (known !== undefined) return { heap: null, collector, committed, systemMemory: known, warnings };
  // Spark 1.0 has no spark.driver.memory: spark-submit gives the driver 512 MiB.
  const heap = conf.getSizeAsBytesOption(heapKey) ?? 512 * MiB;
  return { heap, collector, committed, systemMemory: runtimeMaxMemory(heap, collector, committed), warnings };
}

const COLLECTOR_FLAGS: readonly (readonly [flag: RegExp, collector: Collector])[] = [
  [/-XX:\+UseG1GC\b/, "g1"],
  [/-XX:\+UseParallel(?:Old)?GC\b/, "parallel"],
  [/-XX:\+UseSerialGC\b/, "serial"],
  [/-XX:\+UseZGC\b/, "zgc"],
  [/-XX:\+UseShenandoahGC\b/, "shenandoah"],
];

/**
 * The collector that the JVM options of the settings name, or null.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "./conf.ts";
 * import { collectorOf } from "./sizing.ts";
 *
 * const conf = SparkConf.from({ "spark.driver.extraJavaOptions": "-XX:+UseG1GC" });
 * assertEquals([collectorOf(conf, "driver"), collectorOf(conf, "executor")], ["g1", null]);
 * ```
 */
export function collectorOf(conf: SparkConf, role: Role): Collector | null {
  const options = [conf.get(`spark.${role}.defaultJavaOptions`), conf.get(`spark.${role}.extraJavaOptions`)]
    .filter((text) => text !== null).join(" ");
  return COLLECTOR_FLAGS.find(([flag]) => flag.test(options))?.[1] ?? null;
}

function coresOf({ conf, cores }: SizingOptions, role: Role): number {
  if (cores !== undefined) return cores;
  const local = localMaster(conf.get("spark.master"));
  if (local !== null && local.cores !== null) return local.cores;
  if (role === "driver") return conf.getInt("spark.driver.cores");
  return conf.getInt("spark.executor.cores");
}

function reservedMemoryOf(conf: SparkConf): number {
  const set = conf.getIntOption("spark.testing.reservedMemory");
  if (set !== null) return set;
  return conf.contains("spark.testing") ? 0 : RESERVED_SYSTEM_MEMORY_BYTES;
}

/** The two checks of UnifiedMemoryManager.getMaxMemory (the second one since SPARK-12759). */
function checkMinimumMemory(conf: SparkConf, systemMemory: number, reservedMemory: number): void {
  const { minMemoryError, checksExecutorMemory } = conf.rules.memory;
  const minimum = reservedMemory * 1.5;
  if (systemMemory < (minMemoryError === "double" ? minimum : Math.ceil(minimum))) {
    throw minimumError(conf, "System", systemMemory, minimum);
  }
  if (!checksExecutorMemory || !conf.contains("spark.executor.memory")) return;
  const executorMemory = bytesOfExecutorMemory(conf);
  if (executorMemory < Math.ceil(minimum)) throw minimumError(conf, "Executor", executorMemory, minimum);
}

/** The check reads spark.executor.memory with getSizeAsBytes, so a bare number is bytes, though it starts as MiB. */
function bytesOfExecutorMemory(conf: SparkConf): number {
  const text = conf.get("spark.executor.memory")!.trim();
  return /^\d+$/.test(text) ? Math.min(Number(text), MAX_SIZE) : conf.getSizeAsBytes("spark.executor.memory");
}

function minimumError(conf: SparkConf, whose: "System" | "Executor", memory: number, minimum: number): InputError {
  const style = conf.rules.memory.minMemoryError;
  const least = Math.ceil(minimum);
  const parameters = { memory, minimum: least, shortfall: least - memory };
  if (style === "double") {
    return refusalError({
      code: "conf.memory",
      exception: EXCEPTIONS.illegalArgument,
      message: `System memory ${memory} must be at least ${javaDoubleText(minimum)}. Please use a larger heap size.`,
      parameters,
    });
  }
  const key = whose === "System" ? "spark.driver.memory" : "spark.executor.memory";
  const increase = whose === "System"
    ? "Please increase heap size using the --driver-memory option or"
    : "Please increase executor memory using the --executor-memory option or";
  if (style === "plain") {
    return refusalError({
      code: "conf.memory",
      exception: EXCEPTIONS.illegalArgument,
      message: `${whose} memory ${memory} must be at least ${least}. ${increase} ${key} in Spark configuration.`,
      parameters,
    });
  }
  const errorClass = whose === "System" ? "INVALID_DRIVER_MEMORY" : "INVALID_EXECUTOR_MEMORY";
  const sqlState = conf.rules.texts.appendsSqlState;
  return refusalError({
    code: "conf.memory",
    exception: EXCEPTIONS.sparkIllegalArgument,
    message: `[${errorClass}] ${whose} memory ${memory} must be at least ${least}.${
      sqlState ? "\n" : " "
    }${increase} "${key}" in Spark configuration.${sqlState ? " SQLSTATE: F0000" : ""}`,
    parameters,
  });
}

/** MemoryManager's constructor and MemoryPool.incrementPoolSize. */
function checkPools(conf: SparkConf, storage: number, execution: number): void {
  if (conf.rules.memory.refusesEmptyExecutionPool && execution <= 0) {
    throw requirementFailed("onHeapExecutionMemory must be > 0");
  }
  if (storage < 0 || execution < 0) throw requirementFailed(null);
}

function requirementFailed(what: string | null): InputError {
  return refusalError({
    code: "conf.memory",
    exception: EXCEPTIONS.illegalArgument,
    message: what === null ? "requirement failed" : `requirement failed: ${what}`,
  });
}

/** Whether pages leave room for an array's header, so that a page is a whole number of the collector's regions. */
function shortPages(conf: SparkConf, collector: Collector, offHeap: boolean): boolean {
  return !offHeap && conf.rules.memory.pageSizeLeavesHeaderUnder.includes(collector);
}

/**
 * MemoryManager.defaultPageSizeBytes: a sixteenth of a core's part of the initial execution pool, up to the next power
 * of two, from 1 to 64 MiB.
 *
 * @param executionPool Initial execution pool of the mode that Tungsten uses, in bytes.
 * @param cores Cores of the executor, at least 1.
 * @param leavesHeader 16 bytes less: G1 and an on-heap pool since 3.3 (SPARK-37593).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { defaultPageSize } from "./sizing.ts";
 *
 * assertEquals(defaultPageSize(227750707, 4), 4194304);
 * assertEquals(defaultPageSize(0, 4, true), 1048560);
 * ```
 */
export function defaultPageSize(executionPool: number, cores: number, leavesHeader = false): number {
  const wanted = Math.floor(Math.floor(executionPool / cores) / 16);
  let size = MiB;
  while (size < wanted && size < 64 * MiB) size *= 2;
  return leavesHeader ? size - LONG_ARRAY_OFFSET : size;
}

/**
 * The smallest spark.memory.fraction with which the unified memory holds `bytes`: what the peak of a job asks for.
 *
 * @param systemMemory Runtime.maxMemory, in bytes.
 * @returns Above 1 when the heap is too small.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { memoryFractionFor } from "./sizing.ts";
 *
 * // 200 MiB of a 1 GiB heap less 300 MiB: 209715200 / 759169024.
 * assertEquals(memoryFractionFor(209715200, 1073741824).toFixed(4), "0.2762");
 * ```
 */
export function memoryFractionFor(bytes: number, systemMemory: number): number {
  return bytes / Math.max(1, systemMemory - RESERVED_SYSTEM_MEMORY_BYTES);
}

function fractionWarnings(conf: SparkConf): { code: string; message: string }[] {
  const fraction = conf.getDouble("spark.memory.fraction");
  return fraction <= 1 ? [] : [{
    code: "sizing.fraction",
    message: `A SparkContext refuses spark.memory.fraction above 1 (received ${javaDoubleText(fraction)})`,
  }];
}

/**
 * What the memory manager before 1.6 gives to storage and to execution (StaticMemoryManager): fixed parts of
 * Runtime.maxMemory, in bytes. Only to explain old logs: nothing is simulated with it.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "./conf.ts";
 * import { staticMemory } from "./sizing.ts";
 *
 * // A 512 MiB driver of a public event log: Runtime.maxMemory is 491 MiB.
 * assertEquals(staticMemory(SparkConf.from({}, "1.3.0"), 514850816).storage, 278019440);
 * ```
 */
export function staticMemory(conf: SparkConf, systemMemory: number): { storage: number; execution: number } {
  const part = (fraction: string, safety: string) =>
    toLong(systemMemory * conf.getDouble(fraction) * conf.getDouble(safety));
  return {
    storage: part("spark.storage.memoryFraction", "spark.storage.safetyFraction"),
    execution: part("spark.shuffle.memoryFraction", "spark.shuffle.safetyFraction"),
  };
}

function staticManagerError(conf: SparkConf, systemMemory: number): InputError {
  const { storage, execution } = staticMemory(conf, systemMemory);
  const why = conf.rules.memory.manager === "static"
    ? `Spark ${conf.sparkVersion} has the static memory manager`
    : "spark.memory.useLegacyMode=true selects the static memory manager";
  return new InputError(
    "sizing.static",
    `Cannot size memory: must be the unified memory manager of Spark 1.6 or later: ${why}, whose pools do not share: ` +
      `${storage} bytes for storage, ${execution} for execution`,
    { parameters: { sparkVersion: conf.sparkVersion, systemMemory, storage, execution } },
  );
}
