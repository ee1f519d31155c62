/**
 * The chain of decisions about one block, stage or task of a run.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import { duration, size } from "../report/verdict/finding.ts";
import type { EventSink, SparkEvent, TaskEnd } from "../spark/events.ts";

/** What is to be explained. */
export type Subject =
  | { readonly kind: "block"; readonly blockId: string }
  | { readonly kind: "stage"; readonly stageId: number }
  | { readonly kind: "task"; readonly taskId: number };

/** Lines kept; a stage of many tasks has more to tell than anyone reads. */
const MAX_LINES = 2000;

/**
 * Reads `rdd_12_3`, `stage 4` or `task 17`.
 *
 * @throws {InputError} `explain.subject`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { parseSubject } from "./explain_subject.ts";
 *
 * assertEquals(parseSubject("stage 4"), { kind: "stage", stageId: 4 });
 * assertEquals(parseSubject("rdd_12_3"), { kind: "block", blockId: "rdd_12_3" });
 * ```
 */
export function parseSubject(text: string): Subject {
  const numbered = /^\s*(stage|task)\s*(\d{1,9})\s*$/i.exec(text);
  if (numbered !== null) {
    const n = Number(numbered[2]);
    return numbered[1].toLowerCase() === "stage" ? { kind: "stage", stageId: n } : { kind: "task", taskId: n };
  }
  const block = /^\s*((?:rdd_\d+_\d+|broadcast_\d+(?:_piece\d+)?|taskresult_\d+))\s*$/.exec(text);
  if (block !== null) return { kind: "block", blockId: block[1] };
  throw new InputError(
    "explain.subject",
    `Cannot explain ${text}: must be a block (rdd_12_3), a stage (stage 4) or a task (task 17)`,
    { parameters: { subject: text } },
  );
}

/**
 * A sink that keeps what a run decided about a subject, in the order of time.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SubjectLog } from "./explain_subject.ts";
 *
 * const log = new SubjectLog({ kind: "block", blockId: "rdd_1_0" });
 * log.event({ kind: "applicationStart", appName: "", appId: null, time: 100, user: "", appAttemptId: null });
 * log.event({
 *   kind: "putRefused", time: 350, executorId: "0", blockId: "rdd_1_0", numBytes: 1024, taskId: 7, toDisk: false,
 * });
 * assertEquals(log.lines, ["   0.250 s  executor 0  rdd_1_0 (1.0 KiB) finds no room and is not stored (task 7)"]);
 * ```
 */
export class SubjectLog implements EventSink {
  readonly lines: string[] = [];
  /** Lines that were left out. */
  dropped = 0;
  readonly #subject: Subject;
  #startTime = 0;
  /** Tasks of the stage that is explained. */
  readonly #tasks = new Set<number>();

  constructor(subject: Subject) {
    this.#subject = subject;
    if (subject.kind === "task") this.#tasks.add(subject.taskId);
  }

  event(event: SparkEvent): void {
    if (event.kind === "applicationStart") this.#startTime = event.time;
    const { kind } = this.#subject;
    if (kind === "block") return this.#block(event, this.#subject.blockId);
    if (kind === "stage") this.#stage(event, this.#subject.stageId);
    this.#task(event);
  }

  #say(time: number | null, where: string, text: string): void {
    if (this.lines.length >= MAX_LINES) {
      this.dropped++;
      return;
    }
    const at = time === null ? "".padStart(10) : `${((time - this.#startTime) / 1000).toFixed(3).padStart(8)} s`;
    this.lines.push(`${at}  ${where === "" ? "" : `executor ${where}  `}${text}`);
  }

  #block(event: SparkEvent, blockId: string): void {
    if (!("blockId" in event) || event.blockId !== blockId) return;
    switch (event.kind) {
      case "blockUpdated": {
        const { useMemory, useDisk } = event.storageLevel;
        const place = useMemory
          ? `is in memory (${size(event.memorySize)})`
          : useDisk
          ? "is on disk only"
          : "is gone from this executor";
        return this.#say(
          event.time,
          event.executorId,
          `${blockId} ${place}`,
        );
      }
      case "blockEvicted": {
        const cause = event.forBlockId !== null
          ? `to make room for ${event.forBlockId}`
          : event.forTaskId !== null
          ? `for the execution memory of task ${event.forTaskId}`
          : "to make room";
        const where = event.droppedToDisk ? ", written to disk" : "";
        return this.#say(
          event.time,
          event.executorId,
          `${blockId} (${size(event.memorySize)}) is evicted ${cause}${where}`,
        );
      }
      case "putRefused": {
        const where = event.toDisk ? "goes to disk" : "is not stored";
        const task = event.taskId === null ? "" : ` (task ${event.taskId})`;
        return this.#say(
          event.time,
          event.executorId,
          `${blockId} (${size(event.numBytes)}) finds no room and ${where}${task}`,
        );
      }
      case "cacheRead":
        return this.#say(event.time, event.executorId, `task ${event.taskId} ${READS[event.from]} ${blockId}`);
    }
  }

  #stage(event: SparkEvent, stageId: number): void {
    if (event.kind === "stageSubmitted" && event.stageInfo.stageId === stageId) {
      const { attemptId, name, numTasks, submissionTime } = event.stageInfo;
      this.#say(submissionTime, "", `stage ${stageId}.${attemptId} (${name}) is submitted with ${numTasks} tasks`);
    } else if (event.kind === "stageCompleted" && event.stageInfo.stageId === stageId) {
      const { attemptId, failureReason, completionTime } = event.stageInfo;
      this.#say(
        completionTime,
        "",
        `stage ${stageId}.${attemptId} ${failureReason === null ? "is finished" : `fails: ${failureReason}`}`,
      );
    } else if (event.kind === "taskStart" && event.stageId === stageId) this.#tasks.add(event.taskId);
  }

  #task(event: SparkEvent): void {
    if (!("taskId" in event) || event.taskId === null || !this.#tasks.has(event.taskId)) return;
    const task = `task ${event.taskId}`;
    switch (event.kind) {
      case "taskStart":
        return this.#say(
          event.launchTime,
          event.executorId,
          `${task} (partition ${event.partitionId}, attempt ${event.attempt}) starts, ${event.locality}`,
        );
      case "cacheRead":
        return this.#say(event.time, event.executorId, `${task} ${READS[event.from]} ${event.blockId}`);
      case "putRefused":
        return this.#say(event.time, event.executorId, `${task}: ${event.blockId} finds no room`);
      case "memoryWait":
        return this.#say(
          event.time,
          event.executorId,
          `${task} has waited ${duration(event.waitMs)} for ${size(event.numBytes)}`,
        );
      case "spill":
        return this.#say(
          event.time,
          event.executorId,
          `${task}: ${event.consumer} spills ${size(event.memoryBytes)} because ${
            event.trigger === event.consumer ? "it" : event.trigger
          } gets no more memory`,
        );
      case "outOfMemory":
        return this.#say(
          event.time,
          event.executorId,
          `${task}: ${event.consumer} must have ${size(event.requested)} and gets ${size(event.granted)}`,
        );
      case "taskResult":
        return this.#say(event.time, event.executorId, `${task}: a result of ${size(event.numBytes)} is ${event.path}`);
      case "taskEnd":
        return this.#say(event.finishTime, event.executorId, `${task} ${endOf(event)}`);
    }
  }
}

const READS = {
  memory: "finds in memory",
  disk: "reads from disk",
  remoteMemory: "fetches from another executor's memory",
  remoteDisk: "fetches from another executor's disk",
  miss: "does not find and computes",
} as const;

function endOf({ reason }: TaskEnd): string {
  switch (reason.reason) {
    case "Success":
      return "succeeds";
    case "TaskKilled":
      return `is killed: ${reason.killReason}`;
    case "ExceptionFailure":
      return `fails: ${reason.className}: ${reason.description}`;
    case "ExecutorLostFailure":
      return `fails with its executor: ${reason.lossReason ?? "lost"}`;
    default:
      return `ends: ${reason.reason}`;
  }
}
