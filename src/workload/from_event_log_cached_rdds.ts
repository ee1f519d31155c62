/**
 * Sizes, elements and costs of the cached RDDs of an event log.
 *
 * @module
 */
import type { Column, Evidence, Grade } from "../simulator/workload.ts";
import type { StorageLevel } from "../spark/storage_level.ts";
import { objectsFromSerialized, serializedFromObjects } from "./from_event_log_block_forms.ts";
import type { RddBlockSizes } from "./from_event_log_blocks.ts";
import type { CacheUse } from "./from_event_log_cache_use.ts";
import { median } from "./from_event_log_demands.ts";
import type { RddRecord } from "./from_event_log_stages.ts";

/** What is known of one cached RDD's blocks. */
export interface CachedRddFigures {
  readonly deserializedBytes: Column | null;
  readonly serializedBytes: Column | null;
  readonly diskBytes: Column | null;
  readonly elements: Column | null;
  readonly evidence: readonly Evidence[];
}

/** Size of an element where nothing tells their number. Elements decide how far unrolling overshoots, no more. */
const ASSUMED_ELEMENT_BYTES = 128;

const BLOCK_UPDATES = "spark.eventLog.logBlockUpdates.enabled=true";

/** The level that persist() asked for: the last one that stores anything; null when never cached. */
export function persistedLevel(rdd: RddRecord): StorageLevel | null {
  for (const { level } of [...rdd.levels].reverse()) if (level.useMemory || level.useDisk) return level;
  return null;
}

/** A PySpark RDD: its elements are pickled byte arrays already, and its levels are always serialized. */
export function isPythonRdd(rdd: RddRecord): boolean {
  return rdd.name.startsWith("PythonRDD") || rdd.name === "PairwiseRDD";
}

/**
 * A cached DataFrame or table (InMemoryRelation.cachedName): its name is the table's or the cached plan, in which every
 * column carries its expression id; its elements are batches of columns.
 */
export function isColumnarCache(rdd: RddRecord): boolean {
  return rdd.name.startsWith("In-memory table ") || /#\d+L?\b/.test(rdd.name);
}

/**
 * Puts together what block updates, found blocks and stage descriptions say of one cached RDD, by falling evidence.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { isColumnarCache } from "./from_event_log_cached_rdds.ts";
 *
 * assertEquals(isColumnarCache({ name: "*(1) Project [id#0L]" } as never), true);
 * ```
 */
export function cachedRddFigures(
  rdd: RddRecord,
  use: CacheUse,
  blocks: RddBlockSizes | undefined,
  others: LikelyFigures,
): CachedRddFigures {
  return new Figures(rdd, use, blocks, others).build();
}

/** Figures of other cached RDDs, for what is not known of one. */
export interface LikelyFigures {
  /** Bytes of blocks of any RDD. */
  readonly blockBytes: readonly number[];
  /** Bytes of an element of RDDs that were made at the same place of the program. */
  readonly elementBytes: readonly number[];
}

class Figures {
  readonly #rdd: RddRecord;
  readonly #use: CacheUse;
  readonly #blocks: RddBlockSizes | undefined;
  readonly #others: LikelyFigures;
  readonly #evidence: Evidence[] = [];

  constructor(rdd: RddRecord, use: CacheUse, blocks: RddBlockSizes | undefined, others: LikelyFigures) {
    this.#rdd = rdd;
    this.#use = use;
    this.#blocks = blocks;
    this.#others = others;
  }

  build(): CachedRddFigures {
    const level = persistedLevel(this.#rdd);
    const stored = this.#stored(level?.deserialized ?? true);
    const elements = this.#elements(stored);
    const remote = this.#use.found.remote.get(this.#rdd.id);
    const deserialized = this.#column(this.#blocks?.deserialized) ?? (level?.deserialized === false ? null : stored);
    const serialized = this.#column(this.#blocks?.serialized) ?? this.#like(deserialized, this.#blocks?.disk) ??
      this.#like(deserialized, remote) ?? (level?.deserialized === false ? stored : null);
    const disk = this.#like(serialized, this.#blocks?.disk);
    const objects = deserialized ?? this.#convert(serialized, elements, objectsFromSerialized, "deserializedBytes");
    const bytes = serialized ?? this.#convert(deserialized, elements, serializedFromObjects, "serializedBytes");
    return {
      deserializedBytes: objects,
      serializedBytes: bytes,
      diskBytes: disk ?? bytes,
      elements,
      evidence: this.#evidence,
    };
  }

  /** The column of sizes in the form that the level stores. */
  #stored(deserialized: boolean): Column | null {
    const form = deserialized ? this.#blocks?.deserialized : this.#blocks?.serialized;
    const field = deserialized ? "deserializedBytes" : "serializedBytes";
    const updates = this.#column(form);
    if (updates !== null) {
      this.#say(field, "observed", `block updates of ${form!.size} of ${this.#rdd.numPartitions} partitions`);
      return updates;
    }
    const found = this.#use.found.local.get(this.#rdd.id);
    const local = this.#column(found);
    if (local !== null) {
      this.#say(field, "inferred", `input bytes of tasks that found ${found!.size} of its blocks`, BLOCK_UPDATES);
      return local;
    }
    const { memorySize, diskSize, numCachedPartitions, numPartitions } = this.#rdd;
    if (numCachedPartitions > 0 && memorySize + diskSize > 0) {
      this.#say(field, "inferred", "storage size in the stages' descriptions by cached partitions", BLOCK_UPDATES);
      return new Float64Array(numPartitions).fill((memorySize + diskSize) / numCachedPartitions);
    }
    if (this.#others.blockBytes.length > 0) {
      this.#say(
        field,
        "assumed",
        "no block of it was found or reported: as large as other RDDs' blocks",
        BLOCK_UPDATES,
      );
      return new Float64Array(numPartitions).fill(median(this.#others.blockBytes));
    }
    this.#say(field, "assumed", "no block of it was found or reported: its size is not known", BLOCK_UPDATES);
    return null;
  }

  /** Elements of found blocks; a partition that was never found has them in proportion to its size. */
  #elements(stored: Column | null): Column | null {
    const found = this.#use.found.elements.get(this.#rdd.id);
    if (found !== undefined && found.size > 0) {
      this.#say("elements", "inferred", `input records of tasks that found ${found.size} of its blocks`);
      return this.#like(stored, found);
    }
    const { elementBytes } = this.#others;
    const each = elementBytes.length > 0 ? median(elementBytes) : ASSUMED_ELEMENT_BYTES;
    const like = elementBytes.length > 0 ? "as in RDDs made at the same place" : "a usual size";
    this.#say("elements", "assumed", `none of its blocks was found by a task: ${Math.round(each)} bytes each, ${like}`);
    return stored?.map((bytes) => Math.max(1, Math.round(bytes / each))) ?? null;
  }

  #convert(
    from: Column | null,
    elements: Column | null,
    convert: (bytes: number, elements: number | null) => number,
    field: string,
  ): Column | null {
    if (from === null) return null;
    const like = isColumnarCache(this.#rdd) || isPythonRdd(this.#rdd);
    this.#say(
      field,
      "assumed",
      like ? "its elements are arrays of bytes: as large as in the other form" : "from the other form, by elements",
      "a run with that storage level",
    );
    return from.map((bytes, p) => like ? bytes : convert(bytes, elements?.[p] ?? null));
  }

  /** A column by partition; partitions without a figure get the median. Null without any figure. */
  #column(known: ReadonlyMap<number, number> | undefined): Column | null {
    if (known === undefined || known.size === 0) return null;
    const column = new Float64Array(this.#rdd.numPartitions).fill(median([...known.values()]));
    for (const [partition, value] of known) if (partition < column.length) column[partition] = value;
    return column;
  }

  /** A column of which some are known and the rest is in the same proportion to another column. */
  #like(other: Column | null, known: ReadonlyMap<number, number> | undefined): Column | null {
    if (other === null || known === undefined || known.size === 0) return this.#column(known);
    const ratios: number[] = [];
    for (const [partition, value] of known) if (other[partition] > 0) ratios.push(value / other[partition]);
    const ratio = median(ratios);
    return other.map((value, partition) => known.get(partition) ?? Math.round(value * ratio));
  }

  #say(field: string, grade: Grade, how: string, wouldRecord?: string): void {
    this.#evidence.push({
      subject: `rdd ${this.#rdd.id} (${this.#rdd.name.split("\n", 1)[0].slice(0, 60)})`,
      field,
      grade,
      how,
      ...(wouldRecord === undefined ? {} : { wouldRecord }),
    });
  }
}

/** Costs of computing cached partitions. */
export interface ComputeCosts {
  /** By RDD, then partition: ms to compute it from its parents. */
  readonly byRdd: Map<number, Map<number, number>>;
  /** By row: ms of it that went into cached partitions. */
  readonly byRow: Map<number, number>;
  /** RDDs whose stages never found all blocks, so that the split is an assumption. */
  readonly assumed: Set<number>;
}

/** Share of a task's time that computing its cached partitions takes where no task with hits shows the rest. */
const ASSUMED_CACHED_SHARE = 0.9;

/**
 * Splits the run time of tasks that computed cached partitions: what tasks of the same kind take that found
 * everything is their own, the rest was spent on the partitions, in equal parts when there are several.
 *
 * @param computed what was computed by which row
 * @param kindOfRow names what a row's stage does: rows of one kind take about as long
 * @param ownMs run times (ms) of rows by kind that found everything
 * @param netMs run time of a row without waiting, ms
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { computeCosts } from "./from_event_log_cached_rdds.ts";
 *
 * const costs = computeCosts(
 *   { rddId: [1], partition: [0], row: [0] }, () => "count", new Map([["count", [5, 7]]]), () => 106,
 * );
 * assertEquals(costs.byRdd.get(1)?.get(0), 100);
 * ```
 */
export function computeCosts(
  computed: CacheUse["computed"],
  kindOfRow: (row: number) => string,
  ownMs: ReadonlyMap<string, readonly number[]>,
  netMs: (row: number) => number,
): ComputeCosts {
  const costs: ComputeCosts = { byRdd: new Map(), byRow: new Map(), assumed: new Set() };
  const partsOfRow = new Map<number, number>();
  for (const row of computed.row) partsOfRow.set(row, (partsOfRow.get(row) ?? 0) + 1);
  for (const [i, row] of computed.row.entries()) {
    const own = ownMs.get(kindOfRow(row));
    const net = netMs(row);
    const inCached = own === undefined ? net * ASSUMED_CACHED_SHARE : Math.max(0, net - median(own));
    costs.byRow.set(row, inCached);
    const rddId = computed.rddId[i];
    if (own === undefined) costs.assumed.add(rddId);
    let byPartition = costs.byRdd.get(rddId);
    if (byPartition === undefined) costs.byRdd.set(rddId, byPartition = new Map());
    const partition = computed.partition[i];
    if (!byPartition.has(partition)) byPartition.set(partition, inCached / partsOfRow.get(row)!);
  }
  return costs;
}
