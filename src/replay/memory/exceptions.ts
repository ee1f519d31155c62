/**
 * The exceptions of Spark's memory manager and block store, as "class: message", for the kernel's statuses.
 *
 * @module
 */
import type { MemoryStatus } from "../../kernel.ts";
import type { SparkRules } from "../../spark/versions.ts";

/** The places of messages that depend on the call. */
export interface ExceptionDetails {
  readonly block?: string;
  readonly numBytes?: number;
  readonly task?: number;
}

const ASSERTION = "java.lang.AssertionError: assertion failed";
const REQUIREMENT = "java.lang.IllegalArgumentException: requirement failed";

/**
 * What Spark throws, with the class's full name.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { rulesFor } from "../../spark/versions.ts";
 * import { exceptionText } from "./exceptions.ts";
 *
 * assertEquals(
 *   exceptionText("BLOCK_NOT_FOUND", { block: "rdd_0_1" }, rulesFor("2.4.0")),
 *   "java.lang.IllegalStateException: Block rdd_0_1 not found",
 * );
 * ```
 */
export function exceptionText(status: MemoryStatus, details: ExceptionDetails, rules: SparkRules): string {
  switch (status) {
    case "ASSERTION_FAILED":
      return ASSERTION;
    case "INVALID_NUMBER_OF_BYTES":
      return `${ASSERTION}: invalid number of bytes requested: ${details.numBytes}`;
    case "REQUIREMENT_FAILED":
      return REQUIREMENT;
    case "BLOCK_ALREADY_PRESENT":
      return `${REQUIREMENT}: Block ${details.block} is already present in the MemoryStore`;
    case "BLOCK_NOT_IN_MEMORY":
      return "java.lang.NullPointerException";
    case "BLOCK_NOT_FOUND":
      return blockNotFound(details.block!, rules);
    case "BLOCK_NOT_LOCKED":
      return `${ASSERTION}: Block ${details.block} is not locked for reading`;
    case "DROP_FAILED":
      return "java.lang.RuntimeException: Mock error dropping block"; // thrown by the recording harness's handler
    case "TRANSFER_FAILED":
      return `${ASSERTION}: transferring unroll memory to storage memory failed`;
    case "BLOCK_NOT_SERIALIZED":
      return wrongEntry("should only call getBytes on serialized blocks", rules);
    case "BLOCK_NOT_DESERIALIZED":
      return wrongEntry("should only call getValues on deserialized blocks", rules);
    case "TASK_NOT_ACTIVE":
      return `java.util.NoSuchElementException: key not found: ${details.task}`;
    case "INTERRUPTED":
      return "java.lang.InterruptedException";
    case "EXECUTION_MEMORY_REQUIRED":
      return `${REQUIREMENT}: onHeapExecutionMemory must be > 0`;
    default:
      throw new Error(`${status} is no exception of Spark's`);
  }
}

function blockNotFound(block: string, rules: SparkRules): string {
  return rules.memory.missingBlockError === "SparkException"
    ? `org.apache.spark.SparkException: Block ${block} does not exist`
    : `java.lang.IllegalStateException: Block ${block} not found`;
}

function wrongEntry(message: string, rules: SparkRules): string {
  const kind = rules.memory.wrongEntryError;
  if (kind === "plain") return `java.lang.IllegalArgumentException: ${message}`;
  const sqlState = kind === "internalSqlState" ? " SQLSTATE: XX000" : "";
  return `org.apache.spark.SparkException: [INTERNAL_ERROR_STORAGE] ${message}${sqlState}`;
}
