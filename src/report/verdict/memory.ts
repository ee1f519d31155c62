/**
 * Spills and the collector's time: where tasks had too little memory.
 *
 * @module
 */
import type { StageFold } from "../stage_fold.ts";
import { advise, concurrentTasks, duration, type Evidence, type Finding, memoryKey, plural, size } from "./finding.ts";

/** Collections that take more than this part of the tasks' time are worth a word, on runs of some length. */
const GC_SHARE = 0.1;
const GC_MIN_RUN_MS = 20_000;

/** What a stage was doing, from the scopes of its RDDs. */
function operationsOf(stage: StageFold): string {
  const scopes = (stage.info?.rddInfos ?? []).map(({ scope }) => scope).filter((scope) => scope !== null);
  const telling = [...new Set(scopes)].filter((scope) =>
    /sort|group|reduce|aggregate|combine|cogroup|join|distinct|repartition|exchange|window/i.test(scope)
  );
  return telling.slice(0, 3).join(", ");
}

/** Sorts and joins in the plans, where tasks of SQL spill. */
function operatorsOf({ facts }: Evidence): string[] {
  const names = [
    "Sort",
    "SortMergeJoin",
    "ShuffledHashJoin",
    "HashAggregate",
    "ObjectHashAggregate",
    "SortAggregate",
    "Window",
  ];
  return names.filter((name) => facts.planNodes.has(name));
}

function sortFallbacks(stages: readonly StageFold[]): number {
  return stages.reduce((n, { sqlMetrics }) => n + (sqlMetrics.get("number of sort fallback tasks")?.sum ?? 0), 0);
}

/** Tasks that spilled, the share of memory that each had, and what to change. */
export function spills(run: Evidence): Finding[] {
  const { summary, facts } = run;
  const { spilledTasks, memoryBytesSpilled, diskBytesSpilled } = summary.execution;
  if (!spilledTasks) return [];
  const spilling = facts.stages.filter((stage) => stage.spilledTasks > 0)
    .sort((a, b) => b.memoryBytesSpilled - a.memoryBytesSpilled);
  const offHeap = facts.conf.getBoolean("spark.memory.offHeap.enabled");
  const unified = facts.unified === null ? null : offHeap ? facts.unified.offHeap : facts.unified.onHeap;
  const tasks = concurrentTasks(run);
  const fallbacks = sortFallbacks(facts.stages);
  const sql = facts.sqlExecutions > 0;
  const share = unified === null || tasks === null
    ? ""
    : `: an executor has ${size(unified)}${offHeap ? " off-heap" : ""} for execution and storage, and each of ${
      plural(tasks, "task")
    } that run at once gets ${
      tasks === 1 ? "it all" : `between ${size(unified / tasks / 2)} and ${size(unified / tasks)}`
    }, less what cached blocks hold in the storage region`;
  return [{
    code: "memory.spills",
    severity: "problem",
    sentence: `${plural(spilledTasks, "task")} spilled: ${size(memoryBytesSpilled ?? 0)} of data in memory went to ${
      size(diskBytesSpilled ?? 0)
    } on disk, because their execution memory was too small.`,
    why: `a sort or a hash map that gets no more memory writes what it has to disk and merges it later${share}`,
    evidence: [
      ...spilling.slice(0, 5).map((stage) => {
        const doing = operationsOf(stage);
        return `stage ${stage.stageId} (${stage.info?.name ?? ""}${
          doing === "" ? "" : `; ${doing}`
        }): ${stage.spilledTasks} of ${plural(stage.succeeded + stage.failed + stage.killed, "task")}, ${
          size(stage.memoryBytesSpilled)
        }${stage.peak.max > 0 ? `, peak execution memory of a task ${size(stage.peak.max)}` : ""}`;
      }),
      ...fallbacks > 0 ? [`hash aggregation fell back to sorting in ${plural(fallbacks, "task")}`] : [],
      ...sql && operatorsOf(run).length > 0 ? [`plans have ${operatorsOf(run).join(", ")}`] : [],
    ],
    settings: [
      advise(
        facts.conf,
        sql ? "spark.sql.shuffle.partitions" : "spark.default.parallelism",
        "more partitions give each task less data",
      ),
      offHeap
        ? advise(facts.conf, "spark.memory.offHeap.size", "raise it: tasks of SQL take their memory from there")
        : advise(facts.conf, memoryKey(facts), "raise it: execution memory grows with the heap"),
      ...facts.local ? [] : [advise(facts.conf, "spark.executor.cores", "fewer tasks at once have larger shares")],
      ...offHeap
        ? []
        : [advise(facts.conf, "spark.memory.fraction", "raise it when user code needs little of the heap")],
      ...summary.storage.cachedAtEnd.memoryBytes
        ? [
          advise(
            facts.conf,
            "spark.memory.storageFraction",
            "lower it: cached blocks in the storage region are not evicted for tasks",
          ),
        ]
        : [],
    ],
  }];
}

/** Time that the collector took from the tasks. */
export function garbageCollection({ facts }: Evidence): Finding[] {
  const run = facts.stages.reduce((n, stage) => n + stage.executorRunMs, 0);
  const gc = facts.stages.reduce((n, stage) => n + stage.gcMs, 0);
  if (run < GC_MIN_RUN_MS || gc < run * GC_SHARE) return [];
  return [{
    code: "memory.gc",
    severity: gc > run * 0.25 ? "problem" : "notice",
    sentence: `Garbage collection took ${Math.round(gc / run * 100)} % of the tasks' time (${duration(gc)} of ${
      duration(run)
    }).`,
    why: "a heap that is nearly full is collected often; cached objects are looked at by every full collection",
    evidence: [],
    settings: [
      advise(facts.conf, memoryKey(facts), "raise it, or leave more of it free"),
      advise(facts.conf, "spark.memory.fraction", "lower it when the old generation is full of cached objects"),
      {
        key: "storage level",
        value: null,
        advice: "serialized or off-heap blocks are a few large objects instead of many small ones",
      },
    ],
  }];
}
