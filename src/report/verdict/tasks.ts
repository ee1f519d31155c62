/**
 * The shape of the work: skew, tiny tasks, speculation, stages that did not have to run.
 *
 * @module
 */
import type { Spread } from "../stage_fold.ts";
import { advise, duration, type Evidence, type Finding, plural, size } from "./finding.ts";

/** A task, or a block, that is so many times larger than the others' mean is skewed. */
const SKEW = 3;
const MIN_TASKS = 4;
const MIN_SKEWED_BYTES = 2 ** 20;
/** Tasks that run shorter than this cost more to start than to run. */
const TINY_MS = 50;
const MANY_TASKS = 1000;

/** How many times larger the largest is than the mean of the others. */
function skewOf({ max, sum, count }: Spread): number {
  if (count < MIN_TASKS) return 1;
  const others = (sum - max) / (count - 1);
  return others <= 0 ? max > 0 ? Infinity : 1 : max / others;
}

function times(ratio: number): string {
  return ratio === Infinity
    ? "all of the data while the others have none"
    : `${ratio.toFixed(1)} times the others' mean`;
}

/** Stages in which one task read far more than the others, and RDDs with one far larger cached block. */
export function skew({ facts }: Evidence): Finding[] {
  const evidence: string[] = [];
  for (const stage of facts.stages) {
    const ratio = skewOf(stage.shuffleRead);
    if (ratio >= SKEW && stage.shuffleRead.max >= MIN_SKEWED_BYTES) {
      evidence.push(
        `stage ${stage.stageId} (${stage.info?.name ?? ""}): one task read ${
          size(stage.shuffleRead.max)
        } of shuffle data, ${times(ratio)}; longest task ${duration(stage.duration.max)}, mean ${
          duration(stage.duration.sum / Math.max(1, stage.duration.count))
        }`,
      );
    }
  }
  for (const rdd of facts.rddBlocks) {
    const ratio = skewOf({ max: rdd.maxBytes, sum: rdd.bytes, count: rdd.partitions });
    if (ratio >= SKEW && rdd.maxBytes >= MIN_SKEWED_BYTES) {
      evidence.push(`RDD ${rdd.rddId}: one cached block has ${size(rdd.maxBytes)}, ${times(ratio)}`);
    }
  }
  if (evidence.length === 0) return [];
  return [{
    code: "tasks.skew",
    severity: "problem",
    sentence: `The data is skewed: single tasks or cached blocks are far larger than the others (${
      plural(evidence.length, "place")
    }).`,
    why:
      "memory is shared evenly among running tasks, and a block is cached whole or not at all: the largest partition decides " +
      "what spills, what fits and how long a stage takes",
    evidence: evidence.slice(0, 6),
    settings: [
      { key: "partitioning", value: null, advice: "split the large key (salting), or repartition by another key" },
      advise(
        facts.conf,
        "spark.sql.adaptive.skewJoin.enabled",
        "splits skewed partitions of joins (adaptive execution, since 3.0)",
      ),
    ],
  }];
}

/** Thousands of tasks that run for a few milliseconds. */
export function tinyTasks({ facts }: Evidence): Finding[] {
  const tasks = facts.stages.reduce((n, stage) => n + stage.tasksWithMetrics, 0);
  const run = facts.stages.reduce((n, stage) => n + stage.executorRunMs, 0);
  if (tasks < MANY_TASKS || run / tasks >= TINY_MS) return [];
  const results = facts.stages.reduce((n, stage) => n + stage.resultBytes, 0);
  return [{
    code: "tasks.tiny",
    severity: "notice",
    sentence: `${tasks.toLocaleString("en-US")} tasks ran for ${
      (run / tasks).toFixed(1)
    } ms on average: starting them costs more than running them.`,
    why:
      "each task is scheduled, sent, and answered by a message with its metrics; the driver and the event log carry that",
    evidence: [`their results came to ${size(results)}, ${size(results / tasks)} each`],
    settings: [
      advise(
        facts.conf,
        facts.sqlExecutions > 0 ? "spark.sql.shuffle.partitions" : "spark.default.parallelism",
        "fewer partitions",
      ),
      ...facts.sqlExecutions > 0
        ? [advise(facts.conf, "spark.sql.adaptive.coalescePartitions.enabled", "joins small partitions (since 3.0)")]
        : [],
    ],
  }];
}

/** Speculative copies of slow tasks. */
export function speculation({ summary, facts }: Evidence): Finding[] {
  if (facts.speculativeTasks === 0) {
    if (!facts.conf.getBoolean("spark.speculation")) return [];
    const hosts = new Set(summary.executors.map(({ host }) => host)).size;
    return [{
      code: "tasks.no_speculation",
      severity: "notice",
      sentence: `spark.speculation is on, but no task got a speculative copy${
        hosts === 1 ? ": all executors are on one host" : ""
      }.`,
      why:
        "a copy never runs on the host of its original, and only tasks that take longer than the multiplier times the median get one",
      evidence: [plural(hosts, "host")],
      settings: [
        advise(facts.conf, "spark.speculation.multiplier", "how much slower than the median a task must be"),
        advise(facts.conf, "spark.speculation.quantile", "which part of the stage must be done before"),
      ],
    }];
  }
  const killed = [...facts.kills].filter(([reason]) => /another attempt succeeded/.test(reason))
    .reduce((n, [, count]) => n + count, 0);
  return [{
    code: "tasks.speculation",
    severity: "notice",
    sentence: `${plural(facts.speculativeTasks, "speculative copy", "speculative copies")} of slow tasks ran.`,
    why:
      "the first of two attempts counts, the other is killed; the result of a loser that was already counted is taken off again",
    evidence: [`${plural(killed, "attempt")} killed because another attempt succeeded`],
    settings: [
      advise(facts.conf, "spark.speculation", "false switches it off"),
      advise(facts.conf, "spark.speculation.multiplier", "how much slower than the median a task must be"),
      advise(facts.conf, "spark.speculation.quantile", "which part of the stage must be done before"),
    ],
  }];
}

/** Jobs that looked at some partitions only. */
export function partialJobs({ facts }: Evidence): Finding[] {
  if (facts.partialJobs === 0) return [];
  return [{
    code: "jobs.partial",
    severity: "notice",
    sentence: `${plural(facts.partialJobs, "job", "jobs")} read only some partitions (take, first or limit).`,
    why:
      "such an action runs a job on one partition first, then on more until it has enough: several small jobs instead of one, " +
      "and cached data that is only partly there",
    evidence: [],
    settings: [
      advise(
        facts.conf,
        facts.sqlExecutions > 0 ? "spark.sql.limit.scaleUpFactor" : "spark.rdd.limit.scaleUpFactor",
        "how fast the number of partitions grows",
      ),
    ],
  }];
}

/** Settings of executors in a run that had none. */
export function localMode({ facts }: Evidence): Finding[] {
  if (!facts.local || !facts.conf.contains("spark.executor.memory")) return [];
  return [{
    code: "settings.local_mode",
    severity: "notice",
    sentence: "spark.executor.memory is set and has no effect: in local mode the one executor lives in the driver.",
    why: null,
    evidence: [`spark.master is ${facts.conf.get("spark.master")}`],
    settings: [
      advise(
        facts.conf,
        "spark.driver.memory",
        "this is the heap; it must be set before the JVM starts (spark-submit, spark-defaults.conf)",
      ),
    ],
  }];
}

/** Stages that were skipped because their shuffle output was there. */
export function skippedStages({ facts }: Evidence): Finding[] {
  if (facts.skippedStages === 0) return [];
  return [{
    code: "stages.skipped",
    severity: "notice",
    sentence: `${
      plural(facts.skippedStages, "stage was", "stages were")
    } skipped: the shuffle output was there, or the data was cached.`,
    why: "a job runs only the stages whose output is missing; such stages are in the job's plan and have no tasks",
    evidence: [],
    settings: [],
  }];
}
