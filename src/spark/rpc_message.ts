/**
 * The limit on messages between driver and executors: a task that does not fit is never sent.
 *
 * @module
 */
import type { SparkConf } from "./conf.ts";
import { BYTE_UNITS } from "./sizes.ts";

const { KiB, MiB } = BYTE_UNITS;

/** What Akka keeps of its frame in 1.x (AkkaUtils.reservedSizeBytes). */
export const AKKA_RESERVED_BYTES = 200 * KiB;

/** A serialized task, as CoarseGrainedSchedulerBackend.launchTasks sees it. */
export interface SerializedTask {
  readonly taskId: number;
  readonly index: number;
  /** Bytes of the serialized task description. */
  readonly size: number;
}

/**
 * Why a task is too large to be sent, in Spark's words, or null when it fits: the stage is aborted with this message, and
 * the task never starts (CoarseGrainedSchedulerBackend, 1.x to 4.2: refused from the limit on, not above it).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "./conf.ts";
 * import { taskTooLargeToSend } from "./rpc_message.ts";
 *
 * const task = { taskId: 35, index: 4, size: 250906987 };
 * assertEquals(
 *   taskTooLargeToSend(task, SparkConf.from({}, "3.5.1")),
 *   "Serialized task 35:4 was 250906987 bytes, which exceeds max allowed: spark.rpc.message.maxSize " +
 *     "(134217728 bytes). Consider increasing spark.rpc.message.maxSize or using broadcast variables for large values.",
 * );
 * assertEquals(taskTooLargeToSend(task, SparkConf.from({ "spark.rpc.message.maxSize": "240" }, "3.5.1")), null);
 * ```
 */
export function taskTooLargeToSend({ taskId, index, size }: SerializedTask, conf: SparkConf): string | null {
  const akka = conf.rules.results.indirectFrom === "akkaFrame";
  const { key, bytes: limit } = messageLimit(conf);
  if (size < limit - (akka ? AKKA_RESERVED_BYTES : 0)) return null;
  const reserved = akka ? ` - reserved (${AKKA_RESERVED_BYTES} bytes)` : "";
  return `Serialized task ${taskId}:${index} was ${size} bytes, which exceeds max allowed: ${key} (${limit} bytes)` +
    `${reserved}. Consider increasing ${key} or using broadcast variables for large values.`;
}

/**
 * The largest message, and the property that sets it: spark.akka.frameSize in 1.x.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "./conf.ts";
 * import { messageLimit } from "./rpc_message.ts";
 *
 * assertEquals(messageLimit(SparkConf.from({}, "3.5.1")), { key: "spark.rpc.message.maxSize", bytes: 134217728 });
 * assertEquals(messageLimit(SparkConf.from({}, "1.6.3")).key, "spark.akka.frameSize");
 * ```
 */
export function messageLimit(conf: SparkConf): { readonly key: string; readonly bytes: number } {
  const key = conf.rules.results.indirectFrom === "akkaFrame" ? "spark.akka.frameSize" : "spark.rpc.message.maxSize";
  return { key, bytes: conf.getInt(key) * MiB };
}
