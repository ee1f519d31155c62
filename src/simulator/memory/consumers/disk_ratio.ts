/**
 * What a byte in a consumer becomes on disk, from tasks that spilled.
 *
 * @module
 */
import type { ConsumerKind } from "../../workload.ts";
import { type SoloResult, soloRun, type TaskSettings } from "./solo_run.ts";
import type { ConsumerInput } from "./stepped_consumer.ts";

/** A consumer and what it was fed with. */
export interface FedConsumer {
  readonly kind: ConsumerKind;
  readonly input: ConsumerInput;
}

/** What a log records of a task that spilled; bytes. */
export interface SpilledTask {
  /** Its consumers, without those that got no records. */
  readonly consumers: readonly FedConsumer[];
  readonly memoryBytesSpilled: number;
  readonly diskBytesSpilled: number;
  /** The task's peakExecutionMemory: the sum over its operators; null when not recorded. */
  readonly peakMemory: number | null;
}

/** How far a run's spilled memory may be from the recorded one to be the same course of events, and a similar one. */
const SAME = 0.001;
const SIMILAR = 0.1;
const HALVINGS = 26;
/** Tasks that are looked at; the others of a stage are of the same kind. */
const MOST_TASKS = 8;

/**
 * Disk bytes for each byte of the records that were spilled: the median over tasks; null when none spilled.
 *
 * A log has memoryBytesSpilled, but that counts whole pages and arrays, or estimates. Which records were in memory is
 * found with the models: the consumer that is held to the least memory that reaches its part of the recorded peak, and
 * then spills as much memory as was recorded, wrote those records; or a sorter that was read gave up all of itself, save
 * perhaps one page. Where no consumer fits, what was written is set against the memory spilled.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { rulesFor } from "../../../spark/versions.ts";
 * import { ON_HEAP } from "../execution_memory.ts";
 * import { diskBytesPerByte } from "./disk_ratio.ts";
 *
 * // A sort-merge join of Spark 3.5.9: the left side gave up 5 pages and its array, which had to hold all of its rows.
 * const sorted = (records: number, recordBytes: number) => ({
 *   kind: "UnsafeExternalSorter" as const,
 *   input: { name: "Sort", records, bytes: records * recordBytes, parameters: { radixSort: 1 } },
 * });
 * const ratio = diskBytesPerByte([{
 *   consumers: [sorted(499765, 24), sorted(499626, 40)],
 *   memoryBytesSpilled: 29360032,
 *   diskBytesSpilled: 5942841,
 *   peakMemory: 71302880,
 * }], { pageSizeBytes: 2097136, tungstenMemoryMode: ON_HEAP, rules: rulesFor("3.5.9").spilling });
 * assertEquals(ratio, 5942841 / (499765 * 24));
 * ```
 */
export function diskBytesPerByte(tasks: readonly SpilledTask[], settings: TaskSettings): number | null {
  const ratios = tasks
    .filter(({ memoryBytesSpilled, diskBytesSpilled }) => memoryBytesSpilled > 0 && diskBytesSpilled > 0)
    .slice(0, MOST_TASKS)
    .map((task) => task.diskBytesSpilled / spilledRecordBytes(task, settings))
    .sort((a, b) => a - b);
  return ratios.length === 0 ? null : ratios[ratios.length >> 1];
}

/** A course of events that could be the recorded one. */
interface Course {
  readonly recordBytes: number;
  /** Its memory spilled, off the recorded by this share. */
  readonly off: number;
}

/** Bytes of the records that a task wrote to disk. */
function spilledRecordBytes(task: SpilledTask, settings: TaskSettings): number {
  const whole = task.consumers.map(({ kind, input }) => soloRun(kind, plain(input), Infinity, settings));
  const courses = task.consumers.flatMap((consumer, i) => coursesOf(task, consumer, whole, i, settings))
    .filter(({ recordBytes }) => recordBytes > 0)
    .sort((a, b) => a.off - b.off);
  const [best] = courses;
  return best !== undefined && best.off <= SIMILAR ? best.recordBytes : task.memoryBytesSpilled;
}

function coursesOf(
  task: SpilledTask,
  { kind, input }: FedConsumer,
  whole: readonly SoloResult[],
  index: number,
  settings: TaskSettings,
): Course[] {
  const offBy = (memory: number) => Math.abs(memory - task.memoryBytesSpilled) / task.memoryBytesSpilled;
  const { peakExecutionMemory } = whole[index];
  if (kind === "UnsafeExternalSorter") {
    const off = Math.min(offBy(peakExecutionMemory), offBy(peakExecutionMemory - settings.pageSizeBytes));
    if (off <= SAME) return [{ recordBytes: input.bytes, off }];
  }
  const others = whole.reduce((sum, run, i) => i === index ? sum : sum + run.peakExecutionMemory, 0);
  const peak = task.peakMemory === null ? task.memoryBytesSpilled : task.peakMemory - others;
  const run = runWithPeak(kind, plain(input), peak, settings);
  return run === null ? [] : [{ recordBytes: run.diskBytesSpilled, off: offBy(run.memoryBytesSpilled) }];
}

/** A run with the least memory that reaches a peak; null when none does. */
function runWithPeak(
  kind: ConsumerKind,
  input: ConsumerInput,
  peak: number,
  settings: TaskSettings,
): SoloResult | null {
  let low = 0;
  let high = 4 * Math.max(peak, 2 ** 20);
  let best: SoloResult | null = null;
  for (let i = 0; i < HALVINGS; i++) {
    const middle = Math.floor((low + high) / 2);
    const run = soloRun(kind, input, middle, settings);
    if (run.failed || run.peakExecutionMemory < peak) low = middle;
    else {
      high = middle;
      best = run;
    }
  }
  return best;
}

/** Written as it is, so that the disk bytes of a run are those of its records. */
function plain(input: ConsumerInput): ConsumerInput {
  return { ...input, diskBytesPerByte: 1 };
}
