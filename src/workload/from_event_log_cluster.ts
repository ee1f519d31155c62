/**
 * The executors of an event log: those the application had, and those it lost.
 *
 * @module
 */
import type { BlockManagerAdded, ExecutorAdded, ExecutorRemoved } from "../spark/events.ts";
import type { ExecutorSpec, Fault } from "../simulator/workload.ts";

/** One executor as the log shows it. */
export interface ExecutorRecord {
  readonly index: number;
  readonly id: string;
  host: string;
  cores: number | null;
  addedTime: number | null;
  removedTime: number | null;
  removedReason: string | null;
  maxOnHeapMemory: number | null;
  maxOffHeapMemory: number | null;
  /** Launch of its first task; what the log dates it by when it says that it came later. */
  firstLaunch: number | null;
  /** Tasks started on it so far. */
  tasksStarted: number;
  /** Of those, how many had started when it was removed. */
  tasksStartedAtRemoval: number;
}

/** In local mode the driver runs the tasks (LocalSchedulerBackend). */
export const DRIVER = "driver";

/**
 * Executors by id, with dense indexes.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { ExecutorTable } from "./from_event_log_cluster.ts";
 *
 * const table = new ExecutorTable();
 * table.added({ kind: "executorAdded", time: 5, executorId: "0", host: "h", totalCores: 2 });
 * table.removed({ kind: "executorRemoved", time: 9, executorId: "0", reason: "Command exited with code 137" });
 * assertEquals(table.faults(0).map(({ kind }) => kind), ["executorLost"]);
 * ```
 */
export class ExecutorTable {
  readonly records: ExecutorRecord[] = [];
  readonly #byId = new Map<string, ExecutorRecord>();

  added(event: ExecutorAdded): void {
    const record = this.get(event.executorId, event.host);
    record.host = event.host;
    record.cores = event.totalCores;
    record.addedTime ??= event.time;
  }

  blockManagerAdded(event: BlockManagerAdded): void {
    const record = this.get(event.executorId, event.host);
    // Before 2.3 only the sum is recorded; off-heap storage was not counted then.
    record.maxOnHeapMemory = event.maximumOnHeapMemory ?? event.maximumMemory;
    record.maxOffHeapMemory = event.maximumOffHeapMemory ?? 0;
    record.addedTime ??= event.time;
  }

  /** A task was launched on it. */
  launched(id: string, host: string, launchTime: number): void {
    const record = this.get(id, host);
    record.tasksStarted++;
    record.firstLaunch = Math.min(record.firstLaunch ?? launchTime, launchTime);
  }

  removed(event: ExecutorRemoved): void {
    const record = this.#byId.get(event.executorId);
    if (record === undefined) return;
    record.removedTime ??= event.time;
    record.removedReason ??= event.reason;
    record.tasksStartedAtRemoval = record.tasksStarted;
  }

  /** The executor with this id; one that the log never announced is made (logs that begin late). */
  get(id: string, host: string): ExecutorRecord {
    let record = this.#byId.get(id);
    if (record === undefined) {
      record = {
        index: this.records.length,
        id,
        host,
        cores: null,
        addedTime: null,
        removedTime: null,
        removedReason: null,
        maxOnHeapMemory: null,
        maxOffHeapMemory: null,
        firstLaunch: null,
        tasksStarted: 0,
        tasksStartedAtRemoval: 0,
      };
      this.records.push(record);
      this.#byId.set(id, record);
    }
    return record;
  }

  find(id: string): ExecutorRecord | undefined {
    return this.#byId.get(id);
  }

  /** Executors that the application started with or got later, without those that replaced a lost one. */
  specs(startTime: number, isLocal: boolean, localCores: number): ExecutorSpec[] {
    const replacements = new Set(this.#replacements().values());
    const workers = this.records.filter((record) =>
      isLocal ? record.id === DRIVER : record.id !== DRIVER && !replacements.has(record)
    );
    return workers.map((record) => {
      const removed = record.removedTime !== null && !isLoss(record);
      return {
        id: record.id,
        host: record.host,
        cores: record.cores ?? localCores,
        maxOnHeapMemory: record.maxOnHeapMemory,
        maxOffHeapMemory: record.maxOffHeapMemory,
        addedMs: Math.max(0, Math.min(record.addedTime ?? startTime, record.firstLaunch ?? Infinity) - startTime),
        removedMs: removed ? Math.max(0, record.removedTime! - startTime) : null,
        removedReason: removed ? record.removedReason : null,
      };
    });
  }

  /**
   * Losses, each after as many tasks as had started there: what a task or an outside hand does to an executor follows
   * the work more than the clock.
   */
  faults(startTime: number): Fault[] {
    const replacements = this.#replacements();
    return this.records.filter((record) => record.id !== DRIVER && isLoss(record)).map((record) => {
      const replacement = replacements.get(record);
      const idle = record.tasksStartedAtRemoval === 0;
      return {
        kind: "executorLost",
        executorId: record.id,
        atMs: idle ? Math.max(0, record.removedTime! - startTime) : null,
        afterTasks: idle ? null : record.tasksStartedAtRemoval,
        reason: record.removedReason ?? "",
        workerLost: /\bworker lost\b/i.test(record.removedReason ?? ""),
        exitCausedByApp: /exited with code|Container killed|OutOfMemory/i.test(record.removedReason ?? ""),
        replacedAfterMs: replacement === undefined
          ? null
          : Math.max(0, (replacement.addedTime ?? 0) - record.removedTime!),
      };
    });
  }

  /** The next executor that came after each loss. */
  #replacements(): Map<ExecutorRecord, ExecutorRecord> {
    const pairs = new Map<ExecutorRecord, ExecutorRecord>();
    const lost = this.records.filter(isLoss).sort((a, b) => a.removedTime! - b.removedTime!);
    const later = this.records.filter(({ id }) => id !== DRIVER)
      .sort((a, b) => (a.addedTime ?? 0) - (b.addedTime ?? 0));
    const taken = new Set<ExecutorRecord>();
    for (const record of lost) {
      const next = later.find((other) =>
        !taken.has(other) && other.addedTime !== null && other.addedTime >= record.removedTime!
      );
      if (next === undefined) continue;
      taken.add(next);
      pairs.set(record, next);
    }
    return pairs;
  }
}

/** Whether an executor went against the scheduler's will: not released by dynamic allocation or at the end. */
function isLoss({ removedTime, removedReason }: ExecutorRecord): boolean {
  return removedTime !== null &&
    !/killed by driver|idle|decommission|application (?:is )?(?:finished|stopp)|SparkContext was shut down/i.test(
      removedReason ?? "",
    );
}
