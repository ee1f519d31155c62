/**
 * What reduce tasks see of the map outputs: the driver's tracker, and which executors are dead.
 *
 * @module
 */
import type { Executor } from "./executor.ts";
import { SharedMapOutputSizes } from "./map_output_sizes.ts";
import type { MapOutputSizes } from "./scheduler/map_status.ts";
import { type MapOutputTracker, MISSING, type ShuffleStatus } from "./scheduler/map_output_tracker.ts";
import type { MapOutputs } from "./shuffle_fetch.ts";
import type { Workload } from "./workload.ts";

/** By dense index of the shuffle. */
export class MapOutputView implements MapOutputs {
  readonly #workload: Workload;
  readonly #tracker: MapOutputTracker;
  readonly #executors: readonly Executor[];
  /** Outputs survive their executor. */
  readonly #externalShuffleService: boolean;
  /** Executors that have died, dense indexes. */
  readonly #dead: number[] = [];

  constructor(
    workload: Workload,
    options: { tracker: MapOutputTracker; executors: readonly Executor[]; externalShuffleService: boolean },
  ) {
    this.#workload = workload;
    this.#tracker = options.tracker;
    this.#executors = options.executors;
    this.#externalShuffleService = options.externalShuffleService;
  }

  /** An executor has died: what it wrote is gone, whether the driver knows or not. */
  died(executor: number): void {
    this.#dead.push(executor);
  }

  /** What a map task of a shuffle reports about its output. */
  sizesOf(shuffle: number, totalBytes: number): MapOutputSizes {
    const { numReducers, reducerShares } = this.#workload.shuffles[shuffle];
    return new SharedMapOutputSizes(totalBytes, { numReducers, shares: reducerShares });
  }

  numMaps(shuffle: number): number {
    return this.#status(shuffle)?.numMaps ?? 0;
  }

  countOn(shuffle: number, executor: number): number {
    return this.#status(shuffle)?.countOn(executor) ?? 0;
  }

  shareOn(shuffle: number, executor: number): number {
    const status = this.#status(shuffle);
    return status === undefined || status.numMaps === 0 ? 0 : status.countOn(executor) / status.numMaps;
  }

  firstUnavailable(shuffle: number): { readonly map: number; readonly executor: number | null } | null {
    const status = this.#status(shuffle);
    if (status === undefined) return { map: 0, executor: null };
    if (status.numAvailableOutputs < status.numMaps) return { map: status.executors.indexOf(MISSING), executor: null };
    if (this.#externalShuffleService) return null;
    for (const executor of this.#dead) {
      if (this.#executors[executor].alive || status.countOn(executor) === 0) continue;
      return { map: status.executors.indexOf(executor), executor };
    }
    return null;
  }

  #status(shuffle: number): ShuffleStatus | undefined {
    return this.#tracker.shuffleStatuses.get(this.#workload.shuffles[shuffle].id);
  }
}
