/**
 * The stages of a hand-written job spec as a graph: names become indices, cycles and unknown names are refused.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type { JobSpec, StageSpec } from "./job_spec_types.ts";
import { checkCount, type JobSpecLimits } from "./limits.ts";
import { duplicate, outOfRange, unknownReference } from "./spec_errors.ts";

/** Stages and cached RDDs by their indices in the spec. */
export interface StageGraph {
  readonly indexOf: ReadonlyMap<number | string, number>;
  /** Number of tasks of each stage. */
  readonly tasks: readonly number[];
  readonly parents: readonly (readonly number[])[];
  /** Stages that read a stage's shuffle. */
  readonly children: readonly (readonly number[])[];
  /** Cached RDDs that a stage reads. */
  readonly reads: readonly (readonly number[])[];
  /** Cached RDDs that a stage computes on its way. */
  readonly caches: readonly (readonly number[])[];
  /** Stages, each after the stages that it depends on, also by way of cached RDDs. */
  readonly order: readonly number[];
  /** Cached RDDs that no stage computes: they come from outside of Spark. */
  readonly sources: readonly number[];
}

/**
 * Resolves the names of a spec.
 *
 * @throws {InputError} `job_spec.duplicate`, `job_spec.unknown_reference`, `job_spec.cycle`, `job_spec.missing`,
 * `job_spec.range`.
 * @throws {LimitError} `limit.stages`, `limit.tasks`, `limit.rdds`, `limit.blocks`, `limit.dependencies`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { limitsOf } from "./limits.ts";
 * import { resolveStages } from "./stage_graph.ts";
 *
 * const graph = resolveStages({
 *   stages: [{ id: "b", parents: ["a"], tasks: 2 }, { id: "a", tasks: 4 }],
 * }, { pointer: "", limits: limitsOf() });
 * assertEquals(graph.order, [1, 0]);
 * assertEquals(graph.children, [[], [0]]);
 * ```
 */
export function resolveStages(
  spec: JobSpec,
  { pointer, limits }: { pointer: string; limits: JobSpecLimits },
): StageGraph {
  const stages = spec.stages ?? [];
  const cached = spec.cached ?? [];
  checkCount("stages", stages.length, limits, `${pointer}/stages`);
  checkCount("rdds", cached.length, limits, `${pointer}/cached`);
  const indexOf = uniqueNames(
    "stage",
    stages.map(({ id }) => id),
    `${pointer}/stages`,
    "id",
  );
  const cachedIndex = uniqueNames(
    "cached RDD",
    cached.map(({ name }) => name),
    `${pointer}/cached`,
    "name",
  );
  checkCount(
    "blocks",
    cached.reduce((sum, { partitions }) => sum + partitions, 0),
    limits,
    `${pointer}/cached`,
  );
  type Names = ReadonlyMap<number | string, number>;
  const resolve = (field: "parents" | "reads" | "caches", what: string, names: Names) =>
    stages.map((stage, i) => resolveNames(stage[field] ?? [], what, names, `${pointer}/stages/${i}/${field}`));
  const parents = resolve("parents", "stage", indexOf);
  const reads = resolve("reads", "cached RDD", cachedIndex);
  const caches = resolve("caches", "cached RDD", cachedIndex);
  checkCount(
    "dependencies",
    [parents, reads, caches].flat().reduce((sum, list) => sum + list.length, 0),
    limits,
    `${pointer}/stages`,
  );
  const definers = definersOf(
    caches,
    cached.length,
    pointer,
    cached.map(({ name }) => name),
  );
  const tasks = stages.map((stage, i) => {
    const used = [...caches[i], ...reads[i]].map((c) => cached[c].partitions);
    return taskCount(stage, caches[i].length, used, `${pointer}/stages/${i}`);
  });
  checkCount(
    "tasks",
    tasks.reduce((a, b) => a + b, 0),
    limits,
    `${pointer}/stages`,
  );
  const needs = stages.map((_, i) => [
    ...parents[i],
    ...reads[i].map((c) => definers[c]).filter((definer) => definer >= 0),
  ]);
  return {
    indexOf,
    tasks,
    parents,
    children: childrenOf(parents),
    reads,
    caches,
    order: topologicalOrder(needs, stages, pointer),
    sources: definers.flatMap((definer, c) => definer < 0 ? [c] : []),
  };
}

/** The stages that read each stage's shuffle. */
function childrenOf(parents: readonly (readonly number[])[]): number[][] {
  const children: number[][] = parents.map(() => []);
  for (const [i, list] of parents.entries()) {
    for (const parent of list) children[parent].push(i);
  }
  return children;
}

function uniqueNames(
  what: string,
  names: readonly (number | string)[],
  pointer: string,
  field: string,
): Map<number | string, number> {
  const index = new Map<number | string, number>();
  for (const [i, name] of names.entries()) {
    if (index.has(name)) {
      throw duplicate(what, name, `${pointer}/${i}/${field}`);
    }
    index.set(name, i);
  }
  return index;
}

function resolveNames(
  names: readonly (number | string)[],
  what: string,
  index: ReadonlyMap<number | string, number>,
  pointer: string,
): number[] {
  const found = new Set<number>();
  for (const [k, name] of names.entries()) {
    const i = index.get(name);
    if (i === undefined) throw unknownReference(what, name, `${pointer}/${k}`);
    if (found.has(i)) throw duplicate(what, name, `${pointer}/${k}`);
    found.add(i);
  }
  return [...found];
}

/** The stage that computes each cached RDD, -1 for none. */
function definersOf(
  caches: readonly (readonly number[])[],
  count: number,
  pointer: string,
  names: readonly string[],
): number[] {
  const definers = new Array<number>(count).fill(-1);
  for (const [i, list] of caches.entries()) {
    for (const [k, c] of list.entries()) {
      if (definers[c] >= 0) {
        throw new InputError(
          "job_spec.duplicate",
          `Cannot use the job spec: one stage may cache ${names[c]}, others read it: received a second one`,
          {
            parameters: { name: names[c] },
            pointer: `${pointer}/stages/${i}/caches/${k}`,
          },
        );
      }
      definers[c] = i;
    }
  }
  return definers;
}

/** Tasks of a stage: given, or the partitions of what it caches or reads. */
function taskCount(
  stage: StageSpec,
  cachesCount: number,
  used: readonly number[],
  pointer: string,
): number {
  const tasks = stage.tasks ??
    (used.length === 0 ? undefined : Math.min(...used));
  if (tasks === undefined) {
    throw new InputError(
      "job_spec.missing",
      `Cannot use the job spec: ${pointer}/tasks: must be given for a stage without cached RDDs: received nothing`,
      { pointer: `${pointer}/tasks` },
    );
  }
  for (const [k, partitions] of used.entries()) {
    if (k < cachesCount ? partitions === tasks : partitions >= tasks) continue;
    const must = k < cachesCount
      ? `have as many tasks as the RDD that it caches has partitions, ${partitions}`
      : `have no more tasks than the RDD that it reads has partitions, ${partitions}`;
    throw outOfRange(must, tasks, `${pointer}/tasks`);
  }
  return tasks;
}

/** Kahn's algorithm; among stages that are ready the first of the spec goes first. */
function topologicalOrder(
  needs: readonly (readonly number[])[],
  stages: readonly StageSpec[],
  pointer: string,
): number[] {
  const waiting = needs.map((list) => list.length);
  const dependents: number[][] = needs.map(() => []);
  for (const [i, list] of needs.entries()) {
    for (const need of list) dependents[need].push(i);
  }
  const order: number[] = [];
  let ready = waiting.flatMap((count, i) => count === 0 ? [i] : []);
  while (ready.length > 0) {
    const next: number[] = [];
    for (const i of ready) {
      order.push(i);
      for (const dependent of dependents[i]) {
        if (--waiting[dependent] === 0) next.push(dependent);
      }
    }
    ready = next.sort((a, b) => a - b);
  }
  if (order.length < needs.length) {
    throw cycleError(needs, waiting, stages, pointer);
  }
  return order;
}

function cycleError(
  needs: readonly (readonly number[])[],
  waiting: readonly number[],
  stages: readonly StageSpec[],
  pointer: string,
): InputError {
  const inCycle = (i: number) => waiting[i] > 0;
  const path: number[] = [];
  let at = waiting.findIndex((count) => count > 0);
  while (!path.includes(at)) {
    path.push(at);
    at = needs[at].find(inCycle)!;
  }
  const cycle = path.slice(path.indexOf(at));
  const names = [...cycle, at].slice(0, 20).map((i) => stages[i].id);
  return new InputError(
    "job_spec.cycle",
    `Cannot use the job spec: stages must not depend on themselves: received ${names.join(" <- ")}`,
    {
      parameters: { cycle: names },
      pointer: `${pointer}/stages/${cycle[0]}/parents`,
    },
  );
}
