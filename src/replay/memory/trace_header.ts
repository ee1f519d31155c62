/**
 * The header of a memory trace: how the executor is laid out.
 *
 * @module
 */
import { InputError } from "../../errors.ts";
import type { ExecutorMemoryOptions, MemoryRules, UnrollSettings } from "../../kernel.ts";
import { SparkConf } from "../../spark/conf.ts";
import { javaDoubleText } from "../../spark/java_numbers.ts";
import { defaultPageSize } from "../../spark/sizing.ts";
import { rulesFor, type SparkRules } from "../../spark/versions.ts";
import { REFERENCE_SPARK_VERSION } from "../../spark/spark_version.ts";
import type { ReplayOptions, TraceLine } from "../trace.ts";

/** What a header says, and the version's rules. */
export interface MemoryTraceSettings {
  readonly executor: ExecutorMemoryOptions;
  readonly unroll: UnrollSettings;
  /** Bytes of a Tungsten page, on the heap; null when the header does not say how many cores there are. */
  readonly pageSizeBytes: number | null;
  /** What Spark throws at the start of such a layout; null when it starts. */
  readonly refusal: string | null;
  /** Milliseconds between two polls of unmanaged memory; 0: never. */
  readonly unmanagedPollMs: number;
  readonly sparkVersion: string;
  readonly rules: SparkRules;
}

/**
 * Reads a header. The recorded manager was made with all of the heap as unified memory, so that the storage region is
 * the fraction of it, truncated (UnifiedMemoryManager.apply).
 *
 * @throws {InputError} `replay.header` for a size or fraction that is none; `replay.version` for a version without a
 * unified memory manager
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { readTraceHeader } from "./trace_header.ts";
 *
 * const header = { heap: 10007, off: 0, frac: 0.7, unrollThreshold: 454, checkPeriod: 16, growth: 1.5 };
 * assertEquals(readTraceHeader(header, {}).executor.onHeapStorageRegionSize, 7004);
 * ```
 */
export function readTraceHeader(header: TraceLine, options: ReplayOptions): MemoryTraceSettings {
  const sparkVersion = options.sparkVersion ?? header.spark ?? REFERENCE_SPARK_VERSION;
  const rules = rulesFor(sparkVersion);
  if (rules.memory.manager !== "unified") {
    throw new InputError(
      "replay.version",
      `Cannot replay a memory trace: Spark must have a unified memory manager (1.6 and later): received ${sparkVersion}`,
      { parameters: { sparkVersion } },
    );
  }
  const heap = size(header, "heap");
  const off = size(header, "off");
  const fraction = number(header, "frac", (value) => value >= 0 && value <= 1, "in [0, 1]");
  const onHeapStorageRegionSize = Math.trunc(heap * fraction);
  return {
    executor: {
      maxHeapMemory: heap,
      onHeapStorageRegionSize,
      maxOffHeapMemory: off,
      offHeapStorageRegionSize: rules.memory.offHeapStorage ? Math.trunc(off * fraction) : 0,
      rules: memoryRules(rules),
      wakeOrder: "host",
    },
    unroll: {
      memoryThreshold: size(header, "unrollThreshold"),
      checkPeriod: number(header, "checkPeriod", (value) => Number.isInteger(value) && value > 0, "a positive integer"),
      growthFactor: number(header, "growth", (value) => value > 0, "positive"),
    },
    pageSizeBytes: pageSizeOf(header, heap - onHeapStorageRegionSize),
    refusal: refusalOf(sparkVersion, fraction, heap - onHeapStorageRegionSize),
    unmanagedPollMs: header.unmanagedPollMs ?? 0,
    sparkVersion,
    rules,
  };
}

/** The page size that MemoryManager computes; the recording JVM had the serial collector, whose pages are not shortened. */
function pageSizeOf(header: TraceLine, executionPool: number): number | null {
  if (header.cores === undefined) return null;
  const cores = number(header, "cores", (value) => Number.isInteger(value) && value > 0, "a positive integer");
  return defaultPageSize(executionPool, cores);
}

/** What Spark throws: the check of the setting comes first, then the requirement of MemoryManager's constructor. */
function refusalOf(sparkVersion: string, fraction: number, executionPool: number): string | null {
  try {
    const settings = { "spark.memory.storageFraction": javaDoubleText(fraction) };
    SparkConf.from(settings, sparkVersion).getDouble("spark.memory.storageFraction");
  } catch (error) {
    if (!(error instanceof InputError) || error.code !== "conf.value") throw error;
    return `${error.parameters.exception}: ${error.parameters.sparkMessage}`;
  }
  const { memory } = rulesFor(sparkVersion);
  if (!memory.refusesEmptyExecutionPool || executionPool > 0) return null;
  return "java.lang.IllegalArgumentException: requirement failed: onHeapExecutionMemory must be > 0";
}

/**
 * The rules that concern the kernel.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { rulesFor } from "../../spark/versions.ts";
 * import { memoryRules } from "./trace_header.ts";
 *
 * assertEquals(memoryRules(rulesFor("1.6.3")).offHeapStorage, false);
 * ```
 */
export function memoryRules({ memory }: SparkRules): MemoryRules {
  return {
    refusesEmptyExecutionPool: memory.refusesEmptyExecutionPool,
    borrowsOnlyWhatIsMissing: memory.borrowsOnlyWhatIsMissing,
    evictionReachesExecutionAtOnce: memory.evictionReachesExecutionAtOnce,
    offHeapStorage: memory.offHeapStorage,
    unmanagedConsumers: memory.unmanagedConsumers,
  };
}

function size(header: TraceLine, field: string): number {
  return number(header, field, (value) => Number.isSafeInteger(value) && value >= 0, "whole bytes up to 2^53 - 1");
}

function number(header: TraceLine, field: string, fits: (value: number) => boolean, must: string): number {
  const value = header[field];
  if (typeof value !== "number" || !fits(value)) {
    throw new InputError(
      "replay.header",
      `Cannot replay a memory trace: ${field} must be ${must}: received ${JSON.stringify(value)}`,
      { line: 1, parameters: { field, value } },
    );
  }
  return value;
}
