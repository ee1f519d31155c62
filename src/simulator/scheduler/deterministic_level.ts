/**
 * Whether an RDD is the same when it is computed again (org.apache.spark.rdd.DeterministicLevel,
 * RDD.outputDeterministicLevel).
 *
 * @module
 */
import type { DeterministicLevel } from "../../spark/events.ts";
import type { Rdd } from "./rdd.ts";

/** From the most determinate to the least, as Spark orders them. */
const LEVELS: readonly DeterministicLevel[] = ["DETERMINATE", "UNORDERED", "INDETERMINATE"];

const known = new WeakMap<Rdd, DeterministicLevel>();

/**
 * The level of an RDD: its own where it states one, else the least determinate that its dependencies give it. A narrow
 * dependency hands on its parent's; a shuffle hands on INDETERMINATE and makes anything else UNORDERED, as blocks arrive
 * in no order. (Spark knows two more cases, which an RDD has to state here: a parent with the same partitioner hands on
 * its level, and a shuffle that aggregates and sorts is DETERMINATE.)
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { outputDeterministicLevel } from "./deterministic_level.ts";
 * import type { Rdd } from "./rdd.ts";
 *
 * const rest = { numPartitions: 1, creationSite: "", isPersisted: false };
 * const input: Rdd = { id: 0, dependencies: [], ...rest };
 * const shuffled: Rdd = {
 *   id: 1, dependencies: [{ kind: "shuffle", shuffleId: 0, rdd: input, numReducers: 1 }], ...rest,
 * };
 * const sampled: Rdd = { ...shuffled, id: 2, outputDeterministicLevel: "INDETERMINATE" };
 * const mapped: Rdd = { id: 3, dependencies: [{ kind: "narrow", rdd: sampled, getParents: (i) => [i] }], ...rest };
 * assertEquals([input, shuffled, mapped].map(outputDeterministicLevel), ["DETERMINATE", "UNORDERED", "INDETERMINATE"]);
 * ```
 */
export function outputDeterministicLevel(rdd: Rdd): DeterministicLevel {
  // Parents first, without recursion: lineages may be long.
  const waiting = [rdd];
  for (let next = waiting.at(-1); next !== undefined; next = waiting.at(-1)) {
    const unknown = known.has(next) || next.outputDeterministicLevel !== undefined
      ? []
      : next.dependencies.map((dependency) => dependency.rdd).filter((parent) => !known.has(parent));
    if (unknown.length > 0) {
      for (const parent of unknown) waiting.push(parent);
      continue;
    }
    if (!known.has(next)) known.set(next, next.outputDeterministicLevel ?? fromParents(next));
    waiting.pop();
  }
  return known.get(rdd)!;
}

/** RDD.getOutputDeterministicLevel, the levels of the parents being known. */
function fromParents({ dependencies }: Rdd): DeterministicLevel {
  let least = 0;
  for (const { kind, rdd } of dependencies) {
    const level = LEVELS.indexOf(known.get(rdd)!);
    least = Math.max(least, kind === "shuffle" ? Math.max(level, LEVELS.indexOf("UNORDERED")) : level);
  }
  return LEVELS[least];
}
