/**
 * What Spark's memory manager, result path and scheduler do differently by version: every such rule, as data.
 *
 * 2.4.0 is the reference. "run" rules were seen on the real classes of the versions named, "read" ones in their
 * source; a `since` with several versions means that older lines got the change in a later patch.
 * Defaults of settings that differ by version are in conf_entries.ts.
 *
 * @module
 */
import { type ByVersion, resolveVersion, type Since, valueIn } from "./spark_version.ts";

/** Collectors of the JVM that Spark or the sizing of the heap tell apart. */
export type Collector = "g1" | "parallel" | "serial" | "zgc" | "shenandoah";

/** One rule that differs by version. */
export interface VersionRule<T> {
  /** One sentence: what the value decides. */
  readonly summary: string;
  /** The issue that changed it, where one was found. */
  readonly issue: string | null;
  /** How it is known: seen on the real classes, or read in their source. */
  readonly known: "run" | "read";
  readonly values: ByVersion<T>;
}

function rule<T>(
  known: "run" | "read",
  issue: string | null,
  summary: string,
  values: readonly (readonly [since: Since, value: T])[],
): VersionRule<T> {
  return Object.freeze({ summary, issue, known, values });
}

/** A rule that came in with a version and stayed. */
function from(
  known: "run" | "read",
  since: Since,
  issue: string | null,
  summary: string,
): VersionRule<boolean> {
  return rule(known, issue, summary, [["1.0", false], [since, true]]);
}

/** Every rule that differs by version, by area. */
export const VERSION_RULES = Object.freeze({
  memory: {
    manager: rule<"static" | "unified">(
      "read",
      "SPARK-10000",
      "one pool that storage and execution share, or two fixed ones (StaticMemoryManager)",
      [["1.0", "static"], ["1.6", "unified"]],
    ),
    refusesEmptyExecutionPool: from(
      "run",
      "3.0.0",
      null,
      "an on-heap execution pool of 0 bytes is refused at start, and spark.memory.storageFraction must be below 1",
    ),
    checksExecutorMemory: from(
      "read",
      "2.0",
      "SPARK-12759",
      "spark.executor.memory below 1.5 times the reserved memory is refused",
    ),
    borrowsOnlyWhatIsMissing: from(
      "run",
      "2.2.0",
      "SPARK-21090",
      "storage borrows from execution what it lacks; before, up to the whole request",
    ),
    evictionReachesExecutionAtOnce: from(
      "run",
      "2.0",
      null,
      "bytes evicted for execution join its pool in the same call; in 1.6 they become free storage first",
    ),
    offHeapStorage: from(
      "read",
      "2.0",
      "SPARK-13992",
      "blocks can be stored off-heap; in 1.6 all of spark.memory.offHeap.size belongs to execution",
    ),
    locksBlocks: from(
      "read",
      "2.0",
      "SPARK-12757",
      "blocks that are being read or written are not evicted",
    ),
    missingBlockError: rule<"IllegalStateException" | "SparkException">(
      "run",
      null,
      "unlocking a block that is not there: IllegalStateException 'Block X not found', or SparkException 'Block X does not exist'",
      [["1.0", "IllegalStateException"], ["3.3.0", "SparkException"]],
    ),
    wrongEntryError: rule<"plain" | "internal" | "internalSqlState">(
      "run",
      null,
      "reading an entry as the wrong kind: IllegalArgumentException, or SparkException [INTERNAL_ERROR_STORAGE], from 4.0 with SQLSTATE",
      [["1.0", "plain"], ["3.5.0", "internal"], ["4.0.0", "internalSqlState"]],
    ),
    minMemoryError: rule<"double" | "plain" | "errorClass">(
      "run",
      null,
      "how too little memory is refused: 1.6 prints a Double, 2.0 names the options, 3.5 has [INVALID_DRIVER_MEMORY]",
      [["1.0", "double"], ["2.0", "plain"], ["3.5.0", "errorClass"]],
    ),
    confValueError: rule<"plain" | "named" | "errorClass">(
      "run",
      null,
      "how a bad setting is refused: the check's text, with key and value from 3.2, [INVALID_CONF_VALUE...] from 4.1",
      [["1.0", "plain"], ["3.2.0", "named"], ["4.1.0", "errorClass"]],
    ),
    pageSizeLeavesHeaderUnder: rule<readonly Collector[]>(
      "run",
      "SPARK-37593",
      "collectors under which the default on-heap page is 16 bytes smaller, so that it fits their regions",
      [
        ["1.0", []],
        ["3.3.0", ["g1"]],
        ["4.1.0", ["g1", "zgc", "shenandoah"]],
      ],
    ),
    unmanagedConsumers: from(
      "run",
      "4.1.0",
      "SPARK-53001",
      "memory of consumers outside the manager lowers what storage and execution may take (off by default)",
    ),
  },
  results: {
    indirectFrom: rule<"akkaFrame" | "maxDirectResultSize">(
      "read",
      null,
      "a result goes by way of the block manager from spark.akka.frameSize less 200 KiB on, or above spark.task.maxDirectResultSize",
      [["1.0", "akkaFrame"], ["2.0", "maxDirectResultSize"]],
    ),
    hasMaxResultSize: from(
      "read",
      "1.2",
      "SPARK-3466",
      "spark.driver.maxResultSize exists",
    ),
    mapStagesAbort: rule<boolean>(
      "run",
      "SPARK-32470",
      "results of shuffle map tasks above spark.driver.maxResultSize abort the stage",
      [["1.0", true], ["3.1.0", false]],
    ),
    countsValueBytesOnly: from(
      "run",
      "3.4.0",
      "SPARK-40261",
      "a direct result counts its value towards spark.driver.maxResultSize, without its accumulator updates",
    ),
    refusedResultIsKilled: from(
      "run",
      ["2.4.5", "3.0.0"],
      "SPARK-29177",
      "a task whose result was refused ends as TaskKilled; before, its end was never reported",
    ),
    undoSubtractsWholeResult: from(
      "run",
      "3.4.0",
      "SPARK-40261",
      "a success that lost against another attempt takes its whole size off the total, more than was added",
    ),
    ignoresQueuedResultOfLostExecutor: from(
      "run",
      "3.3.0",
      "SPARK-37300",
      "a success that still waits to be fetched when its executor is lost is ignored",
    ),
  },
  scheduler: {
    killsTasksAtJobEnd: from(
      "run",
      "3.0.0",
      null,
      "attempts of the result stage that still run when its job ends are killed",
    ),
    dagNotifiesPartitionCompletion: from(
      "run",
      "3.0.0",
      null,
      "the DAGScheduler tells the task sets of a stage that a partition is done; before, the TaskSetManager did",
    ),
    epochOfEmptyMapStage: from(
      "run",
      "3.2.0",
      null,
      "a map stage that is available when it is submitted also raises the epoch",
    ),
    taskStartHasOwnAttempt: from(
      "run",
      "3.2.0",
      null,
      "a task's start names the stage attempt that it belongs to, not the stage's newest",
    ),
    workerLossRemovesHostOutputs: from(
      "run",
      "3.1.0",
      null,
      "an executor lost with its worker takes the shuffle outputs of the whole host with it",
    ),
    separateFileLostEpoch: from(
      "run",
      ["2.4.7", "3.0.1"],
      "SPARK-32003",
      "lost shuffle files have their own epoch, so a fetch failure after the executor's loss still removes outputs",
    ),
    skippedStageUsesAttempt: from(
      "run",
      ["3.2.1", "3.3.0"],
      "SPARK-37481",
      "a skipped stage uses up attempt 0",
    ),
    failureCountRestartsOnSuccess: from(
      "run",
      "3.3.0",
      null,
      "a success sets the count of a partition's failures back to 0",
    ),
    lossBeforeRunningIsNotCounted: from(
      "run",
      "3.4.0",
      null,
      "the loss of an executor that had not reported the task as running is no failure of the task",
    ),
    newTaskSetMakesOldZombie: from(
      "run",
      ["2.3.4", "2.4.1", "3.0.0"],
      "SPARK-23433",
      "a stage's new task set makes the older ones zombies; before, a second active one was an error",
    ),
    reportsNotSerializable: from(
      "run",
      "3.4.0",
      null,
      "a NotSerializableException ends the task in the events before the stage is aborted",
    ),
    hasStageMaxAttempts: from(
      "read",
      "3.5.0",
      "SPARK-42577",
      "spark.stage.maxAttempts limits all attempts of a stage",
    ),
    unregistersIndeterminateOutputs: from(
      "read",
      "3.0.0",
      null,
      "an indeterminate map stage that is not complete loses all its outputs when it is resubmitted",
    ),
    ignoresOldIndeterminateAttempts: from(
      "read",
      "3.5.0",
      null,
      "successes of older attempts of an indeterminate map stage are ignored",
    ),
    abortsAfterKillingTasks: from(
      "run",
      "4.0.0",
      null,
      "a failing job kills its tasks first and posts the abort of the stage afterwards",
    ),
    completesFailedAttempts: from(
      "run",
      "4.0.0",
      null,
      "a job that fails also kills and completes stages with failed attempts",
    ),
    suspendsKilledTaskSets: from(
      "run",
      "4.0.0",
      null,
      "task sets whose attempts were all killed launch nothing any more",
    ),
    removesExecutorsAsync: from(
      "run",
      "4.1.0",
      null,
      "the block manager master is told of a lost executor without waiting",
    ),
    checksumRollback: from(
      "read",
      "4.1.0",
      null,
      "a shuffle output whose checksum changed rolls back the succeeding stages",
    ),
    hashOrder: rule<"2.12" | "2.13">(
      "run",
      null,
      "the order in which Scala's hash sets are walked (Spark 4 is built for Scala 2.13 only)",
      [["1.0", "2.12"], ["4.0.0", "2.13"]],
    ),
    lostTaskText: rule<"host" | "hostExecutor" | "separate">(
      "run",
      null,
      "'Lost task 0.3 in stage 0.0 (TID 4, h1)', '(TID 4, h1, executor e1)', or '(TID 4) (h1 executor e1)'",
      [["1.0", "host"], ["2.1", "hostExecutor"], ["3.1.0", "separate"]],
    ),
    stageCancelledText: rule<"plain" | "reason">(
      "run",
      null,
      "tasks are killed with 'Stage cancelled', or with 'Stage cancelled: ' and the reason",
      [["1.0", "plain"], ["3.5.0", "reason"]],
    ),
    jobCancelledText: rule<"plain" | "errorClass">(
      "run",
      null,
      "'Job 0 cancelled ...', or '[SPARK_JOB_CANCELLED] Job 0 cancelled ... SQLSTATE: XXKDA'",
      [["1.0", "plain"], ["4.0.0", "errorClass"]],
    ),
    fetchFailedAbortText: rule<"inline" | "newLine">(
      "run",
      null,
      "the failure that made a stage give up follows 'Most recent failure reason:' after a space, or on a new line",
      [["1.0", "inline"], ["3.2.0", "newLine"]],
    ),
  },
  spilling: {
    largestFirst: from(
      "read",
      "2.2",
      null,
      "the consumer to spill is the smallest that suffices, else the largest; before, they were asked in no order",
    ),
    selfSpill: rule<"once" | "repeated" | "asConsumer">(
      "run",
      "SPARK-35486",
      "a requester spills itself once; until nothing is released; or as the last of the consumers, if it holds memory",
      [["1.0", "once"], ["3.2.0", "repeated"], ["3.3.0", "asConsumer"]],
    ),
    outOfMemoryText: rule<"plain" | "errorClass">(
      "run",
      null,
      "'Unable to acquire N bytes of memory, got M', or '[UNABLE_TO_ACQUIRE_MEMORY] ... got M.'",
      [["1.0", "plain"], ["3.4.0", "errorClass"]],
    ),
    recordsPeaksByMode: from(
      "run",
      "4.0.0",
      null,
      "a task's peak of on-heap and of off-heap execution memory is recorded",
    ),
  },
  texts: {
    unitStyle: rule<"MB" | "MiB">(
      "run",
      "SPARK-25696",
      "sizes in messages read KB, MB, GB, or KiB, MiB, GiB (1024-based in both)",
      [["1.0", "MB"], ["3.0.0", "MiB"]],
    ),
  },
});

type Rules = typeof VERSION_RULES;

/** The rules of one version, by area: the values of {@linkcode VERSION_RULES}. */
export type SparkRules =
  & {
    /** The version as it was asked for. */
    readonly sparkVersion: string;
    /** Why these are the rules of another version; null when they are not. */
    readonly warning: string | null;
  }
  & {
    readonly [Area in keyof Rules]: {
      readonly [Name in keyof Rules[Area]]: Rules[Area][Name] extends VersionRule<infer T> ? T : never;
    };
  };

const cache = new Map<string, SparkRules>();
const CACHE_LIMIT = 256;

/**
 * The rules of a Spark version. A version that is not known gets the newest known rules and says so in `warning`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { rulesFor } from "./versions.ts";
 *
 * assertEquals(rulesFor("2.4.0").texts.unitStyle, "MB");
 * assertEquals(rulesFor("3.5.1").results.countsValueBytesOnly, true);
 * assertEquals(rulesFor("3.3.0").memory.pageSizeLeavesHeaderUnder, ["g1"]);
 * assertEquals(rulesFor("7.0.0").warning, "Spark 7.0.0 is not known: the rules of 4.2 are used");
 * ```
 */
export function rulesFor(sparkVersion: string): SparkRules {
  const cached = cache.get(sparkVersion);
  if (cached !== undefined) return cached;
  const version = resolveVersion(sparkVersion);
  const rules: Record<string, unknown> = {
    sparkVersion,
    warning: version.warning,
  };
  for (const [area, byName] of Object.entries(VERSION_RULES)) {
    const values: Record<string, unknown> = {};
    for (const [name, { values: byVersion }] of Object.entries(byName)) {
      values[name] = valueIn(version, byVersion as ByVersion<unknown>);
    }
    rules[area] = Object.freeze(values);
  }
  const result = Object.freeze(rules) as unknown as SparkRules;
  if (cache.size >= CACHE_LIMIT) cache.clear();
  cache.set(sparkVersion, result);
  return result;
}

/** A rule that two versions answer differently. */
export interface RuleChange {
  /** `area.name`, as in {@linkcode SparkRules}. */
  readonly rule: string;
  readonly summary: string;
  readonly issue: string | null;
  readonly from: unknown;
  readonly to: unknown;
}

/**
 * The rules that change between two versions: what an upgrade can make a difference by.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { changedRules } from "./versions.ts";
 *
 * const rules = changedRules("3.5.1", "4.1.0").map(({ rule }) => rule);
 * assertEquals(rules.includes("memory.unmanagedConsumers"), true);
 * assertEquals(changedRules("3.5.0", "3.5.6"), []);
 * ```
 */
export function changedRules(
  fromVersion: string,
  toVersion: string,
): RuleChange[] {
  const before = rulesFor(fromVersion);
  const after = rulesFor(toVersion);
  const changes: RuleChange[] = [];
  for (const [area, byName] of Object.entries(VERSION_RULES)) {
    for (const [name, { summary, issue }] of Object.entries(byName)) {
      const from = valueOf(before, area, name);
      const to = valueOf(after, area, name);
      if (JSON.stringify(from) === JSON.stringify(to)) continue;
      changes.push({ rule: `${area}.${name}`, summary, issue, from, to });
    }
  }
  return changes;
}

function valueOf(rules: SparkRules, area: string, name: string): unknown {
  return (rules as unknown as Record<string, Record<string, unknown>>)[area][
    name
  ];
}
