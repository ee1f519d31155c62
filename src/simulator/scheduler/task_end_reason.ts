/**
 * Why a task ended (org.apache.spark.TaskEndReason): what counts as a failure, and the texts that end up in messages.
 *
 * @module
 */
import type { TaskEndReason } from "../../spark/events.ts";
import type { SparkRules } from "../../spark/versions.ts";

/** Any reason but Success and Resubmitted: what handleFailedTask takes. */
export type TaskFailedReason = Exclude<
  TaskEndReason,
  { readonly reason: "Success" | "Resubmitted" }
>;

export const SUCCESS: TaskEndReason = { reason: "Success" };
export const RESUBMITTED: TaskEndReason = { reason: "Resubmitted" };
export const TASK_RESULT_LOST: TaskFailedReason = { reason: "TaskResultLost" };
export const UNKNOWN_REASON: TaskFailedReason = { reason: "UnknownReason" };
/** What a success becomes when another attempt was faster. */
export const FINISHED_TOO_LATE: TaskFailedReason = {
  reason: "TaskKilled",
  killReason: "Finish but did not commit due to another attempt succeeded",
};
/** What a refused result becomes (SPARK-29177). */
export const RESULT_TOO_LARGE: TaskFailedReason = {
  reason: "TaskKilled",
  killReason: "Tasks result size has exceeded maxResultSize",
};

/** Class name of a result that cannot be serialized; it aborts the stage at once. */
export const NOT_SERIALIZABLE = "java.io.NotSerializableException";
/** Class name of a task that finds its output file there already; it aborts the stage at once (since 3.0). */
export const OUTPUT_FILE_EXISTS = "org.apache.spark.TaskOutputFileAlreadyExistException";

/**
 * TaskFailedReason.countTowardsTaskFailures: whether it adds to the partition's failures.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { countsTowardsTaskFailures } from "./task_end_reason.ts";
 *
 * assertEquals(countsTowardsTaskFailures({ reason: "TaskResultLost" }), true);
 * assertEquals(countsTowardsTaskFailures({ reason: "TaskKilled", killReason: "stage cancelled" }), false);
 * ```
 */
export function countsTowardsTaskFailures(reason: TaskFailedReason): boolean {
  switch (reason.reason) {
    case "FetchFailed":
    case "TaskKilled":
    case "TaskCommitDenied":
      return false;
    case "ExecutorLostFailure":
      return reason.exitCausedByApp;
    default:
      return true;
  }
}

/**
 * TaskFailedReason.toErrorString.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { rulesFor } from "../../spark/versions.ts";
 * import { toErrorString } from "./task_end_reason.ts";
 *
 * assertEquals(
 *   toErrorString({ reason: "ExecutorLostFailure", executorId: "e1", exitCausedByApp: true, lossReason: "lost" }, rulesFor("2.4.0")),
 *   "ExecutorLostFailure (executor e1 exited caused by one of the running tasks) Reason: lost",
 * );
 * ```
 */
export function toErrorString(
  reason: TaskFailedReason,
  rules: SparkRules,
): string {
  switch (reason.reason) {
    case "TaskResultLost":
      return "TaskResultLost (result lost from block manager)";
    case "UnknownReason":
      return "UnknownReason";
    case "TaskKilled":
      return `TaskKilled (${reason.killReason})`;
    case "ExceptionFailure":
      return reason.fullStackTrace;
    case "TaskCommitDenied":
      return "TaskCommitDenied (Driver denied task commit) for job: " +
        `${reason.jobId}, partition: ${reason.partitionId}, attemptNumber: ${reason.attemptNumber}`;
    case "ExecutorLostFailure": {
      const exit = reason.exitCausedByApp ? "caused by one of the running tasks" : "unrelated to the running tasks";
      const cause = reason.lossReason === null ? "" : ` Reason: ${reason.lossReason}`;
      return `ExecutorLostFailure (executor ${reason.executorId} exited ${exit})${cause}`;
    }
    case "FetchFailed": {
      const address = reason.executorId === null
        ? "null"
        : `BlockManagerId(${reason.executorId}, ${reason.host}, 7337, None)`;
      const map = rules.scheduler.fetchFailedText === "mapIndex"
        ? `mapIndex=${reason.mapIndex}, mapId=${reason.mapId}`
        : `mapId=${reason.mapId}`;
      return `FetchFailed(${address}, shuffleId=${reason.shuffleId}, ${map}, ` +
        `reduceId=${reason.reduceId}, message=\n${reason.message}\n)`;
    }
  }
}

/** Why an executor is gone (org.apache.spark.scheduler.ExecutorLossReason). */
export type ExecutorLossReason =
  | {
    /** SlaveLost up to 3.0, ExecutorProcessLost since: the process, or its whole worker, is gone. */
    readonly kind: "processLost";
    readonly message: string;
    /** The machine is gone as well. */
    readonly workerLost: boolean;
    /** Since 3.1: false when the application is not to blame. */
    readonly causedByApp: boolean;
  }
  | {
    readonly kind: "exited";
    readonly exitCode: number;
    readonly exitCausedByApp: boolean;
    readonly message: string;
  }
  /** The driver asked for it (dynamic allocation, for example). */
  | { readonly kind: "killed" }
  /** Gone, and the cluster manager has yet to tell why. */
  | { readonly kind: "pending" };

/** ExecutorLossReason.toString, as ExecutorLostFailure quotes it. */
export function lossMessage(reason: ExecutorLossReason): string {
  switch (reason.kind) {
    case "killed":
      return "Executor killed by driver.";
    case "pending":
      return "Pending loss reason.";
    default:
      return reason.message;
  }
}
