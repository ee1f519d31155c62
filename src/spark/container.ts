/**
 * The container around an executor's or the driver's JVM: what YARN and Kubernetes are asked for.
 *
 * @module
 */
import type { SparkConf } from "./conf.ts";
import { BYTE_UNITS } from "./sizes.ts";

const { MiB } = BYTE_UNITS;

/** Memory asked for one container, in bytes. */
export interface ContainerMemory {
  /** -Xmx. */
  readonly heap: number;
  /** What is beside the heap: stacks, code, direct buffers, and everything that is not the JVM's. */
  readonly overhead: number;
  /** Where the overhead comes from: the property that sets it, the factor of the heap, or the minimum. */
  readonly overheadFrom: "spark.executor.memoryOverhead" | "spark.driver.memoryOverhead" | "factor" | "minimum";
  /** spark.memory.offHeap.size where it is counted (from 3.0); else 0. */
  readonly offHeap: number;
  /** spark.executor.pyspark.memory; 0 where it is not set. */
  readonly pyspark: number;
  /** All together; the cluster manager kills the container above it (YARN rounds it up to its own steps). */
  readonly total: number;
}

/**
 * What the container of an executor or of the driver asks for: heap, overhead (set, or a factor of the heap and at
 * least 384 MiB), off-heap memory where it is counted (from 3.0, SPARK-28577) and Python's limit. YarnAllocator and
 * ResourceProfile of Spark 2.4 to 4.1; in whole MiB as there.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "./conf.ts";
 * import { containerMemory } from "./container.ts";
 *
 * const conf = SparkConf.from({ "spark.executor.memory": "8g" }, "3.5.1");
 * // 8192 MiB and a tenth of it: 819 MiB.
 * assertEquals(containerMemory(conf, "executor").total, (8192 + 819) * 1048576);
 * ```
 */
export function containerMemory(conf: SparkConf, role: "executor" | "driver"): ContainerMemory {
  const heap = conf.getSizeAsBytes(role === "executor" ? "spark.executor.memory" : "spark.driver.memory");
  const key = role === "executor" ? "spark.executor.memoryOverhead" : "spark.driver.memoryOverhead";
  const set = conf.getSizeAsBytesOption(key);
  const minimum = conf.getSizeAsBytesOption(
    role === "executor" ? "spark.executor.minMemoryOverhead" : "spark.driver.minMemoryOverhead",
  ) ?? 384 * MiB;
  const byFactor = Math.trunc(overheadFactor(conf, role) * (heap / MiB)) * MiB;
  const overhead = set ?? Math.max(byFactor, minimum);
  const executor = role === "executor";
  const offHeap = executor && conf.rules.memory.containerHoldsOffHeap && conf.getBoolean("spark.memory.offHeap.enabled")
    ? conf.getSizeAsBytes("spark.memory.offHeap.size")
    : 0;
  const pyspark = executor ? conf.getSizeAsBytesOption("spark.executor.pyspark.memory") ?? 0 : 0;
  return {
    heap,
    overhead,
    overheadFrom: set !== null ? key : byFactor >= minimum ? "factor" : "minimum",
    offHeap,
    pyspark,
    total: heap + overhead + offHeap + pyspark,
  };
}

function overheadFactor(conf: SparkConf, role: "executor" | "driver"): number {
  const key = role === "executor" ? "spark.executor.memoryOverheadFactor" : "spark.driver.memoryOverheadFactor";
  if (conf.contains(key)) return conf.getDouble(key);
  const kubernetes = conf.get("spark.master")?.startsWith("k8s") ?? false;
  if (kubernetes && conf.contains("spark.kubernetes.memoryOverheadFactor")) {
    return conf.getDouble("spark.kubernetes.memoryOverheadFactor");
  }
  return 0.1;
}
