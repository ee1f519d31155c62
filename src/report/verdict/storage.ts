/**
 * Cached data: what was evicted and for what, what stayed, what the log does not say.
 *
 * @module
 */
import type { RddInfo } from "../../spark/events.ts";
import { storageLevelName } from "../../spark/storage_level.ts";
import { type Advice, advise, type Evidence, type Finding, memoryKey, plural, size } from "./finding.ts";

/** Reserved by Spark (UnifiedMemoryManager.RESERVED_SYSTEM_MEMORY_BYTES). */
const RESERVED_BYTES = 300 * 2 ** 20;
/** Broadcast variables that take more than this part of unified memory are worth a word. */
const BROADCAST_SHARE = 0.05;

type Cause = "storage" | "execution" | "broadcast";

const WHAT: Readonly<Record<Cause, string>> = {
  storage: "the cached data does not fit",
  execution: "tasks' execution memory took their place",
  broadcast: "broadcast variables took their place",
};

function levels(rdds: readonly RddInfo[]): string {
  return [...new Set(rdds.map(({ storageLevel }) => storageLevelName(storageLevel)))].join(", ");
}

function nameOf(rdd: RddInfo | undefined): string {
  return rdd === undefined || rdd.name === "" ? "" : ` (${rdd.name.split("\n", 1)[0].slice(0, 60)})`;
}

/** The memory that holds the given RDDs: what there is of it in an executor, and which part of it is the storage region. */
function memoryOf(rdds: readonly RddInfo[], { facts }: Evidence) {
  const offHeap = rdds.length > 0 && rdds.every(({ storageLevel }) => storageLevel.useOffHeap);
  const set = facts.conf.getDoubleOption("spark.memory.storageFraction") ?? 0.5;
  const fraction = set >= 0 && set <= 1 ? set : 0.5;
  const unified = facts.unified === null ? null : offHeap ? facts.unified.offHeap : facts.unified.onHeap;
  return { offHeap, unified, region: unified === null ? null : unified * fraction };
}

/** The setting that would hold so many bytes in an executor, by the rule of sizing. */
function holdingAdvice(bytesEach: number, offHeap: boolean, less: string, { facts }: Evidence): Advice {
  const round = (bytes: number) => `${Math.ceil(bytes / 2 ** 20 / 64) * 64}m`;
  if (offHeap) {
    return advise(
      facts.conf,
      "spark.memory.offHeap.size",
      `about ${round(bytesEach)} would hold the cached data${less}`,
    );
  }
  const fraction = facts.conf.getDoubleOption("spark.memory.fraction") ?? 0.6;
  const heap = bytesEach / Math.max(0.01, fraction) + RESERVED_BYTES;
  return advise(facts.conf, memoryKey(facts), `about ${round(heap)} would hold the cached data${less}`);
}

function causeOf({ facts }: Evidence): Cause {
  const { storage, execution, broadcast } = facts.evictions;
  return execution > storage && execution >= broadcast ? "execution" : broadcast > storage ? "broadcast" : "storage";
}

/** Cached blocks that were evicted: for what, and what would hold them. */
export function evictions(run: Evidence): Finding[] {
  const { summary, facts } = run;
  const { blocksEvicted, bytesEvicted, blocksDroppedToDisk } = summary.storage;
  if (!blocksEvicted) return [];
  const cause = causeOf(run);
  const evicted = facts.rddBlocks.filter((rdd) => rdd.evicted > 0);
  const rdds = evicted.map(({ rddId }) => facts.persisted.get(rddId)).filter((rdd) => rdd !== undefined);
  const bytes = facts.rddBlocks.reduce((n, rdd) => n + rdd.bytes, 0);
  const { offHeap, unified, region } = memoryOf(rdds, run);
  const executors = Math.max(1, summary.executors.filter(({ maxMemory }) => maxMemory !== null).length);
  const why: Record<Cause, string> = {
    storage: `the cached data of ${plural(facts.rddBlocks.length, "RDD")} (${size(bytes)} in blocks) does not fit ${
      unified === null
        ? "storage memory"
        : `${plural(executors, "executor")} with ${size(unified)}${offHeap ? " off-heap" : ""} each`
    }: storing a block evicts the least recently used blocks of other RDDs, never of its own`,
    execution: `tasks needed execution memory, which evicts cached blocks until storage is down to its region${
      region === null ? "" : ` of ${size(region)} an executor`
    }`,
    broadcast:
      "broadcast variables are kept in the same storage memory as cached blocks and evict them like other blocks",
  };
  const toDisk = blocksDroppedToDisk ? `, ${blocksDroppedToDisk.toLocaleString("en-US")} of them to disk` : "";
  return [{
    code: `memory.evictions.${cause}`,
    severity: "problem",
    sentence: `${plural(blocksEvicted, "cached block was", "cached blocks were")} evicted from memory (${
      size(bytesEvicted ?? 0)
    }${toDisk}): ${WHAT[cause]}.`,
    why: why[cause],
    evidence: [
      ...evicted.slice(0, 6).map((rdd) =>
        `RDD ${rdd.rddId}${nameOf(facts.persisted.get(rdd.rddId))}: ${plural(rdd.partitions, "block")}, ${
          size(rdd.bytes)
        }, ${plural(rdd.evicted, "eviction")}${facts.unpersisted.has(rdd.rddId) ? ", unpersisted later" : ""}`
      ),
      ...unified === null
        ? []
        : [`an executor has ${size(unified)} of unified memory; the storage region is ${size(region!)}`],
      ...rdds.length === 0 ? [] : [`storage level ${levels(rdds)}`],
    ],
    settings: evictionAdvice(
      run,
      cause,
      holdingAdvice(bytes / executors, offHeap, cause === "storage" ? "" : ", without what tasks need", run),
      rdds,
    ),
  }];
}

function evictionAdvice(run: Evidence, cause: Cause, holding: Advice, rdds: readonly RddInfo[]): Advice[] {
  const { conf, local } = run.facts;
  const advice: Advice[] = [holding];
  if (cause === "execution") {
    advice.unshift(
      advise(conf, "spark.memory.storageFraction", "raise it to protect more cached data; tasks then spill earlier"),
    );
  }
  if (holding.key !== "spark.memory.offHeap.size") {
    advice.push(advise(conf, "spark.memory.fraction", "raise it when user code needs little of the heap"));
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

/** Persisted data of which the log does not say whether it stayed. */
export function cacheNotRecorded({ facts }: Evidence): Finding[] {
  if (facts.blocksRecorded || facts.persisted.size === 0) return [];
  return [{
    code: "memory.cache_not_recorded",
    severity: "notice",
    sentence: `${plural(facts.persisted.size, "RDD is", "RDDs are")} persisted (${
      levels([...facts.persisted.values()])
    }), but the log does not say which blocks were stored or evicted.`,
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

/** Cached data that stayed, wholly or in part. */
export function cacheHeld(run: Evidence): Finding[] {
  const { summary, facts } = run;
  const { blocksEvicted, blocksStored } = summary.storage;
  if (!facts.blocksRecorded || blocksEvicted !== 0 || !blocksStored || facts.persisted.size === 0) return [];
  const rdds = [...facts.persisted.values()];
  const bytes = facts.rddBlocks.reduce((n, rdd) => n + rdd.bytes, 0);
  const partitions = facts.rddBlocks.reduce((n, rdd) => n + rdd.partitions, 0);
  const wanted = rdds.reduce((n, rdd) => n + rdd.numPartitions, 0);
  const full = partitions >= wanted;
  const { unified, offHeap } = memoryOf(rdds, run);
  const unpersisted = rdds.filter(({ rddId }) => facts.unpersisted.has(rddId)).length;
  return [{
    code: full ? "memory.cache_held" : "memory.cache_partial",
    severity: full ? "good" : "notice",
    sentence: full
      ? `All cached data fitted: ${plural(blocksStored, "block")} stored (${size(bytes)}), none evicted.`
      : `Cached data is incomplete: ${plural(partitions, "partition")} of ${
        wanted.toLocaleString("en-US")
      } were stored, none evicted.`,
    why: full
      ? null
      : "partitions that no job reads are not cached (take and first read only some), and those that do not fit are left out",
    evidence: [
      `storage level ${levels(rdds)}`,
      ...unified === null ? [] : [`an executor has ${size(unified)} of unified memory${offHeap ? " off-heap" : ""}`],
      ...unpersisted === 0 ? [] : [`${plural(unpersisted, "RDD was", "RDDs were")} unpersisted during the run`],
      ...facts.blocksLost === 0 ? [] : [`${plural(facts.blocksLost, "block was", "blocks were")} lost with executors`],
    ],
    settings: [],
  }];
}

/** Broadcast variables in storage memory. */
export function broadcasts({ facts }: Evidence): Finding[] {
  const unified = facts.unified?.onHeap ?? null;
  if (unified === null || facts.broadcastBytes < unified * BROADCAST_SHARE) return [];
  return [{
    code: "memory.broadcasts",
    severity: "notice",
    sentence: `Broadcast variables took up to ${size(facts.broadcastBytes)} of an executor's storage memory (${
      Math.round(facts.broadcastBytes / unified * 100)
    } % of ${size(unified)}).`,
    why:
      "the pieces of a broadcast (serialized) and its value (as an object) are blocks in the same storage memory as cached data: " +
      "they evict cached blocks and can be evicted",
    evidence: [],
    settings: [
      { key: "the job", value: null, advice: "destroy or unpersist broadcast variables that are no longer needed" },
      ...facts.sqlExecutions > 0
        ? [advise(facts.conf, "spark.sql.autoBroadcastJoinThreshold", "lower it when joins broadcast too much")]
        : [],
    ],
  }];
}
