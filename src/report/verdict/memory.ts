/**
 * Evictions and spills, and the collector's time: where memory was short, and why.
 *
 * @module
 */
import type { RddInfo } from "../../spark/events.ts";
import { storageLevelName } from "../../spark/storage_level.ts";
import type { StageFold } from "../stage_fold.ts";
import {
  type Advice,
  advise,
  concurrentTasks,
  duration,
  type Evidence,
  type Finding,
  memoryKey,
  plural,
  size,
  unifiedMemory,
} from "./finding.ts";

/** Reserved by Spark (UnifiedMemoryManager.RESERVED_SYSTEM_MEMORY_BYTES). */
const RESERVED_BYTES = 300 * 2 ** 20;
/** Collections that take more than this part of the tasks' time are worth a word, on runs of some length. */
const GC_SHARE = 0.1;
const GC_MIN_RUN_MS = 20_000;

/** Spark's default level of a cached DataFrame or RDD, in words. */
function levels(rdds: readonly RddInfo[]): string {
  return [...new Set(rdds.map(({ storageLevel }) => storageLevelName(storageLevel)))].join(", ");
}

function storageFraction({ facts }: Evidence): number {
  const fraction = facts.conf.getDoubleOption("spark.memory.storageFraction");
  return fraction !== null && fraction >= 0 && fraction <= 1 ? fraction : 0.5;
}

/** The heap at which the cached data would fit, by the rule of sizing. */
function heapFor(bytesEach: number, { facts }: Evidence): string {
  const fraction = facts.conf.getDoubleOption("spark.memory.fraction") ?? 0.6;
  const heap = bytesEach / Math.max(0.01, fraction) + RESERVED_BYTES;
  return `${Math.ceil(heap / 2 ** 20 / 64) * 64}m`;
}

/** Cached blocks that were evicted: for what, and what would hold them. */
export function evictions(run: Evidence): Finding[] {
  const { summary, facts } = run;
  const { blocksEvicted, bytesEvicted, blocksDroppedToDisk } = summary.storage;
  if (!blocksEvicted) return [];
  const cached = facts.rddBlocks.filter(({ evicted }) => evicted > 0);
  const bytes = facts.rddBlocks.reduce((n, rdd) => n + rdd.bytes, 0);
  const unified = unifiedMemory(summary);
  const executors = Math.max(1, summary.executors.filter(({ maxMemory }) => maxMemory !== null).length);
  const { storage, execution, broadcast } = facts.evictions;
  const main = execution > storage && execution >= broadcast
    ? "execution"
    : broadcast > storage
    ? "broadcast"
    : "storage";
  const rdds = cached.map(({ rddId }) => facts.persisted.get(rddId)).filter((rdd) => rdd !== undefined);
  const region = unified === null ? null : unified * storageFraction(run);
  const why = {
    storage: `the cached data of ${plural(facts.rddBlocks.length, "RDD")} (${size(bytes)} in blocks) does not fit ${
      unified === null ? "storage memory" : `${plural(executors, "executor")} with ${size(unified)} each`
    }: storing a block evicts the least recently used blocks of other RDDs, never of its own`,
    execution: `tasks needed execution memory, which evicts cached blocks until storage is down to its region${
      region === null ? "" : ` of ${size(region)} an executor`
    }`,
    broadcast:
      "broadcast variables are kept in the same storage memory as cached blocks and evict them like other blocks",
  }[main];
  return [{
    code: `memory.evictions.${main}`,
    severity: "problem",
    sentence: `${plural(blocksEvicted, "cached block")} (${size(bytesEvicted ?? 0)}) ${
      blocksEvicted === 1 ? "was" : "were"
    } evicted from memory${blocksDroppedToDisk ? `, ${blocksDroppedToDisk} of them to disk` : ""}: ${
      {
        storage: "the cached data does not fit",
        execution: "tasks' execution memory took their place",
        broadcast: "broadcasts took their place",
      }[main]
    }.`,
    why,
    evidence: [
      ...cached.slice(0, 6).map(({ rddId, evicted, partitions, bytes }) =>
        `RDD ${rddId}${nameOf(facts.persisted.get(rddId))}: ${plural(partitions, "block")}, ${size(bytes)}, evicted ${
          plural(evicted, "time")
        }`
      ),
      ...unified === null ? [] : [`unified memory of an executor: ${size(unified)}, storage region ${size(region!)}`],
      ...rdds.length === 0 ? [] : [`storage level: ${levels(rdds)}`],
    ],
    settings: evictionAdvice(run, main, bytes / executors, rdds),
  }];
}

function nameOf(rdd: RddInfo | undefined): string {
  return rdd === undefined || rdd.name === "" ? "" : ` (${rdd.name.slice(0, 60)})`;
}

function evictionAdvice(
  run: Evidence,
  main: "storage" | "execution" | "broadcast",
  bytesEach: number,
  rdds: readonly RddInfo[],
): Advice[] {
  const { conf, local } = run.facts;
  const key = memoryKey(run.facts);
  const advice: Advice[] = [
    advise(
      conf,
      key,
      `about ${heapFor(bytesEach, run)} would hold the cached data${
        main === "storage" ? "" : ", without what tasks need"
      }`,
    ),
    advise(conf, "spark.memory.fraction", "raise it when user code needs little of the heap"),
  ];
  if (main === "execution") {
    advice.unshift(
      advise(conf, "spark.memory.storageFraction", "raise it to protect more cached data; tasks then spill earlier"),
    );
  }
  if (!local) advice.push({ key: "number of executors", value: null, advice: "more executors hold more blocks" });
  if (rdds.some(({ storageLevel }) => !storageLevel.useDisk)) {
    advice.push({
      key: "storage level",
      value: levels(rdds),
      advice: "with a disk level (MEMORY_AND_DISK) an evicted block is read back instead of computed again",
    });
  }
  if (rdds.some(({ storageLevel }) => storageLevel.deserialized)) {
    advice.push({
      key: "storage level",
      value: levels(rdds),
      advice: "a serialized level (..._SER) takes less memory",
    });
  }
  return advice;
}

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
  const unified = unifiedMemory(summary);
  const tasks = concurrentTasks(run);
  const fallbacks = sortFallbacks(facts.stages);
  const sql = facts.sqlExecutions > 0;
  const share = unified === null || tasks === null
    ? ""
    : `: an executor has ${size(unified)} for execution and storage, and each of ${
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
      advise(facts.conf, memoryKey(facts), "more heap, more execution memory"),
      ...facts.local ? [] : [advise(facts.conf, "spark.executor.cores", "fewer tasks at once have larger shares")],
      advise(facts.conf, "spark.memory.fraction", "raise it when user code needs little of the heap"),
      ...summary.storage.cachedAtEnd.memoryBytes
        ? [
          advise(
            facts.conf,
            "spark.memory.storageFraction",
            "lower it: cached blocks in the storage region are not evicted for tasks",
          ),
        ]
        : [],
      ...facts.conf.getBoolean("spark.memory.offHeap.enabled")
        ? [advise(facts.conf, "spark.memory.offHeap.size", "tasks of SQL take their memory from here")]
        : [],
    ],
  }];
}

/** Persisted data of which the log does not say whether it stayed. */
export function cacheNotRecorded({ facts }: Evidence): Finding[] {
  if (facts.blocksRecorded || facts.persisted.size === 0) return [];
  return [{
    code: "memory.cache_not_recorded",
    severity: "notice",
    sentence: `${
      plural(facts.persisted.size, "RDD is", "RDDs are")
    } persisted, but the log does not say which blocks were stored or evicted.`,
    why: "Spark writes block updates to the event log only when asked to",
    evidence: [],
    settings: [
      advise(
        facts.conf,
        "spark.eventLog.logBlockUpdates.enabled",
        "true records cached blocks and evictions in the next run",
      ),
    ],
  }];
}

/** Cached data that stayed. */
export function cacheHeld({ summary, facts }: Evidence): Finding[] {
  const { blocksEvicted, blocksStored } = summary.storage;
  if (!facts.blocksRecorded || blocksEvicted !== 0 || !blocksStored || facts.persisted.size === 0) return [];
  const bytes = facts.rddBlocks.reduce((n, rdd) => n + rdd.bytes, 0);
  const unified = unifiedMemory(summary);
  const full = facts.rddBlocks.every(({ rddId, partitions }) =>
    partitions >= (facts.persisted.get(rddId)?.numPartitions ?? 0)
  );
  return [{
    code: full ? "memory.cache_held" : "memory.cache_partial",
    severity: full ? "good" : "notice",
    sentence: full
      ? `All cached data fitted: ${plural(blocksStored, "block")} stored (${size(bytes)}), none evicted.`
      : `Cached data is incomplete: ${plural(facts.rddBlocks.reduce((n, rdd) => n + rdd.partitions, 0), "block")} of ${
        plural([...facts.persisted.values()].reduce((n, rdd) => n + rdd.numPartitions, 0), "partition")
      } were stored, none evicted.`,
    why: full
      ? null
      : "partitions that no job reads are not cached (take and first read only some), and those that do not fit are left out",
    evidence: unified === null ? [] : [`unified memory of an executor: ${size(unified)}`],
    settings: [],
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
