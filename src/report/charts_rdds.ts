/**
 * Cached RDDs, as a fold: how much of each is in memory over time, what left it, how often it was read.
 *
 * @module
 */
import type { BlockUpdated, SparkEvent } from "../spark/events.ts";
import { storageLevelName } from "../spark/storage_level.ts";
import { StateSeries } from "./charts_series.ts";
import type { GridHolder, TimeGrid } from "./charts_time_grid.ts";

/** A cached RDD. Sizes in bytes; counts are of blocks, replicas counted one by one. */
export interface RddChart {
  readonly rddId: number;
  readonly name: string;
  readonly storageLevel: string;
  readonly numPartitions: number;
  readonly peakMemoryBytes: number;
  readonly endMemoryBlocks: number;
  readonly endMemoryBytes: number;
  readonly endDiskBlocks: number;
  readonly endDiskBytes: number;
  readonly evictions: number;
  readonly refused: number;
  /** Reads from memory or disk, and partitions that had to be computed again or first; null when not recorded. */
  readonly hits: number | null;
  readonly misses: number | null;
  /** Bytes in memory over time. */
  readonly points: readonly { timeMs: number; memoryBytes: number }[];
}

class Rdd implements GridHolder {
  name = "";
  level = "not recorded";
  numPartitions = 0;
  memoryBlocks = 0;
  memoryBytes = 0;
  diskBlocks = 0;
  diskBytes = 0;
  evictions = 0;
  refused = 0;
  hits = 0;
  misses = 0;
  readonly series = new StateSeries(1);

  halve(): void {
    this.series.halve();
  }
}

/** The RDD id of a block id, or null for blocks of no RDD (org.apache.spark.storage.RDDBlockId). */
export function rddIdOf(blockId: string): number | null {
  if (!blockId.startsWith("rdd_")) return null;
  const end = blockId.indexOf("_", 4);
  const id = Number(blockId.slice(4, end));
  return end > 4 && Number.isSafeInteger(id) ? id : null;
}

/** The fold. */
export class RddCharts {
  readonly #grid: TimeGrid;
  readonly #maxRdds: number;
  readonly #rdds = new Map<number, Rdd>();
  /** Blocks by executor: their bytes in memory and on disk. */
  readonly #blocks = new Map<
    string,
    Map<string, { memory: number; disk: number }>
  >();
  readonly #state = new Float64Array(1);
  #isSimulated = false;
  #sawReads = false;

  /** @param maxRdds how many are given, those with the largest peaks first */
  constructor(grid: TimeGrid, maxRdds: number) {
    this.#grid = grid;
    this.#maxRdds = maxRdds;
  }

  event(event: SparkEvent): void {
    switch (event.kind) {
      case "stageSubmitted":
      case "stageCompleted":
        for (const info of event.stageInfo.rddInfos) {
          const { useMemory, useDisk } = info.storageLevel;
          if (!useMemory && !useDisk) continue;
          const rdd = this.#rdd(info.rddId);
          rdd.name = info.name;
          rdd.level = storageLevelName(info.storageLevel);
          rdd.numPartitions = info.numPartitions;
        }
        return;
      case "blockUpdated":
        return this.#blockUpdated(event);
      case "blockManagerRemoved":
      case "executorRemoved":
        return this.#removed(event.executorId, event.time);
      case "unpersistRdd":
        return this.#unpersisted(event.rddId);
      case "blockEvicted": {
        this.#isSimulated = true;
        const rddId = rddIdOf(event.blockId);
        if (rddId !== null) this.#rdd(rddId).evictions++;
        return;
      }
      case "putRefused": {
        const rddId = rddIdOf(event.blockId);
        if (rddId !== null) this.#rdd(rddId).refused++;
        return;
      }
      case "cacheRead": {
        this.#sawReads = true;
        const rddId = rddIdOf(event.blockId);
        if (rddId === null) return;
        if (event.from === "miss") this.#rdd(rddId).misses++;
        else this.#rdd(rddId).hits++;
        return;
      }
    }
  }

  #rdd(rddId: number): Rdd {
    let rdd = this.#rdds.get(rddId);
    if (rdd === undefined) {
      rdd = new Rdd();
      this.#rdds.set(rddId, rdd);
      this.#grid.add(rdd);
    }
    return rdd;
  }

  #blockUpdated(event: BlockUpdated): void {
    const rddId = rddIdOf(event.blockId);
    if (rddId === null) return;
    const rdd = this.#rdd(rddId);
    let blocks = this.#blocks.get(event.executorId);
    if (blocks === undefined) {
      blocks = new Map();
      this.#blocks.set(event.executorId, blocks);
    }
    const known = blocks.get(event.blockId);
    const memory = event.storageLevel.useMemory ? event.memorySize : 0;
    const disk = event.storageLevel.useDisk ? event.diskSize : 0;
    if (known !== undefined) this.#subtract(rdd, known);
    // Spark writes no update when an RDD is unpersisted, so a block that leaves memory was evicted.
    const left = known !== undefined && known.memory > 0 && memory === 0;
    if (left && !this.#isSimulated) rdd.evictions++;
    if (memory > 0 || disk > 0) {
      blocks.set(event.blockId, { memory, disk });
      if (memory > 0) rdd.memoryBlocks++;
      if (disk > 0) rdd.diskBlocks++;
      rdd.memoryBytes += memory;
      rdd.diskBytes += disk;
    } else blocks.delete(event.blockId);
    this.#changed(rdd, event.time ?? this.#grid.nowMs);
  }

  #subtract(rdd: Rdd, block: { memory: number; disk: number }): void {
    if (block.memory > 0) rdd.memoryBlocks--;
    if (block.disk > 0) rdd.diskBlocks--;
    rdd.memoryBytes -= block.memory;
    rdd.diskBytes -= block.disk;
  }

  #changed(rdd: Rdd, timeMs: number): void {
    this.#state[0] = rdd.memoryBytes;
    rdd.series.add(this.#grid.bucketOf(timeMs), this.#state);
  }

  #removed(executorId: string, timeMs: number): void {
    const blocks = this.#blocks.get(executorId);
    if (blocks === undefined) return;
    this.#blocks.delete(executorId);
    const touched = new Set<Rdd>();
    for (const [blockId, block] of blocks) {
      const rdd = this.#rdd(rddIdOf(blockId)!);
      this.#subtract(rdd, block);
      touched.add(rdd);
    }
    for (const rdd of touched) this.#changed(rdd, timeMs);
  }

  #unpersisted(rddId: number): void {
    const rdd = this.#rdds.get(rddId);
    if (rdd === undefined) return;
    const prefix = `rdd_${rddId}_`;
    for (const blocks of this.#blocks.values()) {
      for (const [blockId, block] of blocks) {
        if (!blockId.startsWith(prefix)) continue;
        this.#subtract(rdd, block);
        blocks.delete(blockId);
      }
    }
    this.#changed(rdd, this.#grid.nowMs);
  }

  finish(): RddChart[] {
    return [...this.#rdds].map(([rddId, rdd]) => ({
      rddId,
      name: rdd.name,
      storageLevel: rdd.level,
      numPartitions: rdd.numPartitions,
      peakMemoryBytes: rdd.series.buckets.reduce(
        (peak, _, i) => Math.max(peak, rdd.series.fullest(i)[0]),
        0,
      ),
      endMemoryBlocks: rdd.memoryBlocks,
      endMemoryBytes: rdd.memoryBytes,
      endDiskBlocks: rdd.diskBlocks,
      endDiskBytes: rdd.diskBytes,
      evictions: rdd.evictions,
      refused: rdd.refused,
      hits: this.#sawReads ? rdd.hits : null,
      misses: this.#sawReads ? rdd.misses : null,
      points: rdd.series.buckets.map((bucket, i) => ({
        timeMs: this.#grid.timeOf(bucket),
        memoryBytes: rdd.series.last(i)[0],
      })),
    }))
      .sort((a, b) => b.peakMemoryBytes - a.peakMemoryBytes || a.rddId - b.rddId)
      .slice(0, this.#maxRdds);
  }
}
