/**
 * The lineage of a workload's RDDs, as a task walks it: from an RDD down its narrow dependencies to the cached
 * RDDs and shuffles that it reads from (RDD.iterator, RDD.getOrCompute, Spark 2.4.0).
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type { Rdd, RddDependency, Workload } from "./workload.ts";

/** A dependency without a shuffle. */
export type NarrowDependency = Extract<RddDependency, { kind: "narrow" }>;

/** A step down a narrow dependency, with the parent as a dense index. */
interface Step {
  readonly parent: number;
  readonly dependency: NarrowDependency;
}

/** What lies below one RDD within a task. */
interface Below {
  /** Some cached RDD is reached through narrow dependencies. */
  readonly hasCached: boolean;
  /** Shuffles that are read when no cached RDD in between has the partition, as dense indexes. */
  readonly shuffles: readonly number[];
}

/** Partition numbers are below this (Int.MaxValue). */
const MAX_PARTITIONS = 2 ** 31;

/** A partition of a cached RDD. */
export interface CachedInput {
  /** Dense index of the RDD. */
  rdd: number;
  partition: number;
}

/**
 * Dense indexes and reachability over the RDDs of a workload.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { STORAGE_LEVELS } from "../spark/storage_level.ts";
 * import { Lineage } from "./lineage.ts";
 *
 * const rdd = (id: number, storageLevel = null as null | typeof STORAGE_LEVELS.NONE, parent?: number) => ({
 *   id, name: "", callSite: "", scope: null, numPartitions: 2, storageLevel,
 *   dependencies: parent === undefined ? [] : [{ kind: "narrow" as const, rddId: parent, mapping: "oneToOne" as const }],
 *   deserializedBytes: null, serializedBytes: null, diskBytes: null, elements: null, computeMs: null, inputBytes: null,
 *   shuffleReadBytes: null, shuffleReadRecords: null, consumers: [], unpersistBeforeJob: null, alwaysSerialized: false,
 *   preferredHosts: null,
 * });
 * const lineage = new Lineage({ rdds: [rdd(7), rdd(8, STORAGE_LEVELS.MEMORY_ONLY, 7), rdd(9, null, 8)], shuffles: [] });
 * assertEquals(lineage.cachedInputs(lineage.rddIndex(9), 1), [{ rdd: 1, partition: 1 }]);
 * assertEquals(lineage.cachedInputs(lineage.rddIndex(8), 1), []);
 * ```
 */
export class Lineage {
  readonly rdds: readonly Rdd[];
  readonly #indexOfRdd = new Map<number, number>();
  readonly #indexOfShuffle = new Map<number, number>();
  readonly #steps: Step[][];
  readonly #shuffles: number[][];
  readonly #below: (Below | undefined)[];

  /** @throws {InputError} `workload.lineage` for an unknown parent, a duplicate id or a cycle. */
  constructor(workload: Pick<Workload, "rdds" | "shuffles">) {
    this.rdds = workload.rdds;
    index(workload.rdds, this.#indexOfRdd, "rdd");
    index(workload.shuffles, this.#indexOfShuffle, "shuffle");
    this.#steps = workload.rdds.map((rdd) => this.#narrowSteps(rdd));
    this.#shuffles = workload.rdds.map((rdd) =>
      rdd.dependencies.flatMap((dependency) =>
        dependency.kind === "shuffle" ? [this.shuffleIndex(dependency.shuffleId)] : []
      )
    );
    this.#below = new Array(workload.rdds.length);
    this.#refuseCycles(workload);
  }

  /** Dense index of an RDD by its id. */
  rddIndex(rddId: number): number {
    return known(this.#indexOfRdd, rddId, "rdd");
  }

  /** Dense index of a shuffle by its id. */
  shuffleIndex(shuffleId: number): number {
    return known(this.#indexOfShuffle, shuffleId, "shuffle");
  }

  /** Whether computing a partition of the RDD reads from some cached RDD below it. */
  hasCachedInputs(rdd: number): boolean {
    return this.#reach(rdd).hasCached;
  }

  /** The shuffles that computing a partition reads, those behind cached RDDs left out. */
  shuffleInputs(rdd: number): readonly number[] {
    return this.#reach(rdd).shuffles;
  }

  /** The nearest cached partitions below one partition, in the order in which a task reads them. */
  cachedInputs(rdd: number, partition: number): CachedInput[] {
    const found: CachedInput[] = [];
    if (!this.#reach(rdd).hasCached) return found;
    const stack: CachedInput[] = [{ rdd, partition }];
    // A partition that is reached twice adds nothing: without this, diamonds would be walked once for each way down.
    const seen = new Set<number>();
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      const key = at.rdd * MAX_PARTITIONS + at.partition;
      if (seen.has(key)) continue;
      seen.add(key);
      if (at.rdd !== rdd && this.rdds[at.rdd].storageLevel !== null) found.push(at);
      else this.#pushParents(at, stack);
    }
    return found;
  }

  /** The RDD and all it depends on without a shuffle, itself first (RDD.getNarrowAncestors); dense indexes. */
  narrowAncestors(rdd: number): number[] {
    const found = new Set([rdd]);
    for (const ancestor of found) {
      for (const { parent } of this.#steps[ancestor]) found.add(parent);
    }
    return [...found];
  }

  /** Partitions of a parent that one partition needs (NarrowDependency.getParents). */
  parentPartitions(child: number, parent: number, dependency: NarrowDependency, partition: number): number[] {
    const [from, until] = this.#parentRange(child, parent, dependency, partition);
    return Array.from({ length: until - from }, (_, i) => from + i);
  }

  /** Pushes what one partition needs directly, last first, so that it is taken in order. */
  #pushParents({ rdd, partition }: CachedInput, stack: CachedInput[]): void {
    const steps = this.#steps[rdd];
    for (let i = steps.length - 1; i >= 0; i--) {
      const { parent, dependency } = steps[i];
      if (
        this.rdds[parent].storageLevel === null &&
        !this.#reach(parent).hasCached
      ) continue;
      const [from, until] = this.#parentRange(
        rdd,
        parent,
        dependency,
        partition,
      );
      for (let p = until - 1; p >= from; p--) {
        stack.push({ rdd: parent, partition: p });
      }
    }
  }

  /** Partitions of the parent that one partition needs, as a half-open range. */
  #parentRange(child: number, parent: number, dependency: NarrowDependency, partition: number): [number, number] {
    return parentRange(dependency, partition, this.rdds[child].numPartitions, this.rdds[parent].numPartitions);
  }

  #reach(rdd: number): Below {
    const done = this.#below[rdd];
    if (done !== undefined) return done;
    let hasCached = false;
    const shuffles = [...this.#shuffles[rdd]];
    for (const { parent } of this.#steps[rdd]) {
      if (this.rdds[parent].storageLevel !== null) {
        hasCached = true;
        continue;
      }
      const below = this.#reach(parent);
      hasCached ||= below.hasCached;
      for (const shuffle of below.shuffles) {
        if (!shuffles.includes(shuffle)) shuffles.push(shuffle);
      }
    }
    return this.#below[rdd] = { hasCached, shuffles };
  }

  #narrowSteps(rdd: Rdd): Step[] {
    const steps: Step[] = [];
    for (const dependency of rdd.dependencies) {
      if (dependency.kind === "narrow") {
        steps.push({ parent: this.rddIndex(dependency.rddId), dependency });
      }
    }
    return steps;
  }

  /** A depth-first walk over RDDs and, through shuffles, their map sides; its own stack, as lineages can be long. */
  #refuseCycles(workload: Pick<Workload, "rdds" | "shuffles">): void {
    const parents = workload.rdds.map((_, i) => [
      ...this.#steps[i].map(({ parent }) => parent),
      ...this.#shuffles[i].map((shuffle) => this.rddIndex(workload.shuffles[shuffle].rddId)),
    ]);
    const state = new Uint8Array(parents.length); // 1: on the path, 2: done
    const order: number[] = [];
    for (let root = 0; root < parents.length; root++) {
      const path = state[root] === 0 ? [root] : [];
      const next = path.map(() => 0);
      while (path.length > 0) {
        const top = path.length - 1;
        state[path[top]] = 1;
        const child = parents[path[top]][next[top]++];
        if (child === undefined) {
          state[path[top]] = 2;
          order.push(path.pop()!);
          next.pop();
        } else if (state[child] === 1) {
          const id = workload.rdds[child].id;
          throw new InputError(
            "workload.lineage",
            `Cannot use the workload: rdd ${id} depends on itself`,
            {
              parameters: { rddId: id },
            },
          );
        } else if (state[child] === 0) {
          path.push(child);
          next.push(0);
        }
      }
    }
    for (const rdd of order) this.#reach(rdd); // parents first, so that the recursion stays flat
  }
}

function index(
  items: readonly { readonly id: number }[],
  into: Map<number, number>,
  what: string,
): void {
  for (const [i, { id }] of items.entries()) {
    if (into.has(id)) {
      throw new InputError(
        "workload.lineage",
        `Cannot use the workload: ${what} ${id} is defined twice`,
        { parameters: { id } },
      );
    }
    into.set(id, i);
  }
}

function known(
  map: ReadonlyMap<number, number>,
  id: number,
  what: string,
): number {
  const found = map.get(id);
  if (found === undefined) {
    throw new InputError(
      "workload.lineage",
      `Cannot use the workload: ${what} ${id} is not defined`,
      { parameters: { id } },
    );
  }
  return found;
}

/**
 * Partitions of a narrow parent that one partition needs, as a half-open range.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { parentRange } from "./lineage.ts";
 *
 * assertEquals(parentRange({ mapping: "range", outStart: 2 }, 3, 5, 3), [1, 2]);
 * assertEquals(parentRange({ mapping: "coalesce" }, 1, 2, 5), [2, 5]);
 * ```
 */
export function parentRange(
  dependency: { readonly mapping: "oneToOne" | "range" | "coalesce" | "all"; readonly outStart?: number },
  partition: number,
  children: number,
  parents: number,
): [number, number] {
  // Counts of a damaged log may not fit together.
  if (partition >= children) return [0, 0];
  switch (dependency.mapping) {
    case "oneToOne":
      return partition < parents ? [partition, partition + 1] : [0, 0];
    case "range": {
      const p = partition - (dependency.outStart ?? 0);
      return p >= 0 && p < parents ? [p, p + 1] : [0, 0];
    }
    case "coalesce":
      // CoalescedRDD without locality: an even split (DefaultPartitionCoalescer, no preferred locations).
      return [Math.floor((partition * parents) / children), Math.floor(((partition + 1) * parents) / children)];
    case "all":
      return [0, parents];
  }
}
