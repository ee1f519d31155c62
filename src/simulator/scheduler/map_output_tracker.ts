/**
 * Where each map output is (org.apache.spark.MapOutputTrackerMaster).
 *
 * @module
 */
import type { MapOutputSizes } from "./map_status.ts";
import { SchedulerException } from "./scheduler_exception.ts";

/** No executor: the output is missing. */
export const MISSING = -1;

/** A block manager: an executor at a host. */
export interface BlockManagerId {
  readonly executor: number;
  readonly host: number;
}

/** The outputs of one shuffle, by map partition (ShuffleStatus). */
export class ShuffleStatus {
  /** Executor that has the output of a map partition, or {@linkcode MISSING}. */
  readonly executors: Int32Array;
  readonly hosts: Int32Array;
  readonly sizes: (MapOutputSizes | null)[];
  numAvailableOutputs = 0;
  /** Number of outputs by executor, so that losing one that has none costs nothing. */
  readonly #countByExecutor: number[] = [];
  /** Checksum of the last output of each map partition, the removed ones' too; null while none matters. */
  #checksums: Map<number, number> | null = null;

  constructor(numMaps: number) {
    this.executors = new Int32Array(numMaps).fill(MISSING);
    this.hosts = new Int32Array(numMaps).fill(MISSING);
    this.sizes = new Array(numMaps).fill(null);
  }

  get numMaps(): number {
    return this.executors.length;
  }

  /** Number of outputs that lie on an executor. */
  countOn(executor: number): number {
    return this.#countByExecutor[executor] ?? 0;
  }

  addMapOutput(
    mapId: number,
    location: BlockManagerId,
    sizes: MapOutputSizes | null,
  ): void {
    const { executor, host } = location;
    const before = this.executors[mapId];
    if (before === MISSING) this.numAvailableOutputs++;
    else this.#countByExecutor[before]--;
    this.executors[mapId] = executor;
    this.hosts[mapId] = host;
    this.sizes[mapId] = sizes;
    while (this.#countByExecutor.length <= executor) {
      this.#countByExecutor.push(0);
    }
    this.#countByExecutor[executor]++;
  }

  /** Notes the checksum of an output. @returns whether the one before was another (ShuffleStatus.addMapOutput, since 4.1). */
  noteChecksum(mapId: number, checksum: number): boolean {
    this.#checksums ??= new Map();
    const before = this.#checksums.get(mapId);
    this.#checksums.set(mapId, checksum);
    return before !== undefined && before !== checksum;
  }

  removeMapOutput(mapId: number): void {
    if (this.executors[mapId] === MISSING) return;
    this.#countByExecutor[this.executors[mapId]]--;
    this.numAvailableOutputs--;
    this.executors[mapId] = MISSING;
    this.hosts[mapId] = MISSING;
    this.sizes[mapId] = null;
  }

  removeOutputsOnExecutor(executor: number): void {
    if (!(this.#countByExecutor[executor] > 0)) return;
    for (let mapId = 0; mapId < this.numMaps; mapId++) {
      if (this.executors[mapId] === executor) this.removeMapOutput(mapId);
    }
  }

  removeOutputsOnHost(host: number): void {
    for (let mapId = 0; mapId < this.numMaps; mapId++) {
      if (this.hosts[mapId] === host) this.removeMapOutput(mapId);
    }
  }

  /** Map partitions without an output, ascending. */
  findMissingPartitions(): number[] {
    const missing: number[] = [];
    if (this.numAvailableOutputs === this.numMaps) return missing;
    for (let mapId = 0; mapId < this.numMaps; mapId++) {
      if (this.executors[mapId] === MISSING) missing.push(mapId);
    }
    return missing;
  }
}

/** With more maps or reducers than this reducers have no preference by size. */
const SHUFFLE_PREF_THRESHOLD = 1000;
/** More than there are hosts, so that executor and host make one key. */
const HOSTS = 2 ** 24;
/** A host that has so much of a reducer's input is preferred. */
const REDUCER_PREF_LOCS_FRACTION = 0.2;

/**
 * The tracker. The epoch rises whenever outputs are lost or a map stage completes; executors compare it with theirs, and
 * completions from a failed executor are judged by it.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { MapOutputTracker } from "./map_output_tracker.ts";
 *
 * const tracker = new MapOutputTracker();
 * tracker.registerShuffle(0, 2);
 * tracker.registerMapOutput(0, 1, { executor: 3, host: 5 }, null);
 * assertEquals(tracker.findMissingPartitions(0), [0]);
 * tracker.removeOutputsOnExecutor(3);
 * assertEquals([tracker.getNumAvailableOutputs(0), tracker.epoch], [0, 1]);
 * ```
 */
export class MapOutputTracker {
  epoch = 0;
  readonly shuffleStatuses: Map<number, ShuffleStatus> = new Map<number, ShuffleStatus>();

  containsShuffle(shuffleId: number): boolean {
    return this.shuffleStatuses.has(shuffleId);
  }

  registerShuffle(shuffleId: number, numMaps: number): void {
    this.shuffleStatuses.set(shuffleId, new ShuffleStatus(numMaps));
  }

  registerMapOutput(
    shuffleId: number,
    mapId: number,
    location: BlockManagerId,
    sizes: MapOutputSizes | null,
  ): void {
    this.shuffleStatuses.get(shuffleId)!.addMapOutput(mapId, location, sizes);
  }

  /** Forgets an output, if it is still the one at that block manager; the epoch rises all the same. */
  unregisterMapOutput(
    shuffleId: number,
    mapId: number,
    location: BlockManagerId,
  ): void {
    const status = this.shuffleStatuses.get(shuffleId);
    if (status === undefined) {
      throw new SchedulerException(
        "org.apache.spark.SparkException",
        "unregisterMapOutput called for nonexistent shuffle ID",
      );
    }
    if (
      status.executors[mapId] === location.executor &&
      status.hosts[mapId] === location.host
    ) status.removeMapOutput(mapId);
    this.incrementEpoch();
  }

  /** Forgets all outputs of a shuffle. */
  unregisterAllMapOutput(shuffleId: number): void {
    const status = this.shuffleStatuses.get(shuffleId);
    if (status === undefined) {
      throw new SchedulerException(
        "org.apache.spark.SparkException",
        `unregisterAllMapOutput called for nonexistent shuffle ID ${shuffleId}.`,
      );
    }
    for (let mapId = 0; mapId < status.numMaps; mapId++) status.removeMapOutput(mapId);
    this.incrementEpoch();
  }

  removeOutputsOnHost(host: number): void {
    for (const status of this.shuffleStatuses.values()) {
      status.removeOutputsOnHost(host);
    }
    this.incrementEpoch();
  }

  removeOutputsOnExecutor(executor: number): void {
    for (const status of this.shuffleStatuses.values()) {
      status.removeOutputsOnExecutor(executor);
    }
    this.incrementEpoch();
  }

  incrementEpoch(): void {
    this.epoch++;
  }

  getNumAvailableOutputs(shuffleId: number): number {
    return this.shuffleStatuses.get(shuffleId)?.numAvailableOutputs ?? 0;
  }

  /** Map partitions without an output; null for a shuffle that is not registered. */
  findMissingPartitions(shuffleId: number): number[] | null {
    return this.shuffleStatuses.get(shuffleId)?.findMissingPartitions() ?? null;
  }

  /** Bytes by reducer, as the driver knows them (getStatistics): what a map-stage job answers. */
  getStatistics(shuffleId: number, numReducers: number): Float64Array {
    const bytes = new Float64Array(numReducers);
    for (const sizes of this.shuffleStatuses.get(shuffleId)?.sizes ?? []) {
      if (sizes === null) continue;
      for (let reduceId = 0; reduceId < numReducers; reduceId++) {
        bytes[reduceId] += sizes.getSizeForBlock(reduceId);
      }
    }
    return bytes;
  }

  /**
   * Hosts that have at least a fifth of a reducer's input, each once (getPreferredLocationsForShuffle with
   * spark.shuffle.reduceLocality.enabled, which is on by default); none for shuffles of 1,000 maps or reducers and more.
   */
  getPreferredLocationsForShuffle(
    shuffleId: number,
    reduceId: number,
    numReducers: number,
  ): number[] {
    const status = this.shuffleStatuses.get(shuffleId);
    if (
      status === undefined || status.numMaps >= SHUFFLE_PREF_THRESHOLD ||
      numReducers >= SHUFFLE_PREF_THRESHOLD
    ) return [];
    const byLocation = new Map<number, { host: number; bytes: number }>();
    let total = 0;
    for (let mapId = 0; mapId < status.numMaps; mapId++) {
      const bytes = status.sizes[mapId]?.getSizeForBlock(reduceId) ?? 0;
      if (bytes <= 0) continue;
      const host = status.hosts[mapId];
      const key = status.executors[mapId] * HOSTS + host;
      const location = byLocation.get(key);
      if (location === undefined) byLocation.set(key, { host, bytes });
      else location.bytes += bytes;
      total += bytes;
    }
    const large = [...byLocation.values()]
      .filter(({ bytes }) => bytes / total >= REDUCER_PREF_LOCS_FRACTION);
    return [...new Set(large.map(({ host }) => host))];
  }
}
