/**
 * The shuffles of a hand-written job spec: who writes, how many reducers, what each of them reads.
 *
 * @module
 */
import type { Column, Shuffle, StageDemand } from "../simulator/workload.ts";
import type { JobSpec } from "./job_spec_types.ts";
import type { StageGraph } from "./stage_graph.ts";

/** What the tasks of a stage fetch. */
export interface ShuffleRead {
  readonly bytes: Column;
  readonly records: Column;
}

/** The shuffles of a spec; RDD ids are not known yet. */
export interface ShufflePlan {
  readonly list: readonly Omit<Shuffle, "rddId">[];
  /** Id of the shuffle that a stage writes, -1 for none. */
  readonly ofStage: readonly number[];
  /** What a stage's tasks read from all its parents, null for a stage without. */
  readonly reads: readonly (ShuffleRead | null)[];
}

/**
 * Plans one shuffle for each stage that others read from or that a map-stage job runs. A reader that says what each of
 * its tasks reads decides the reducers' shares; otherwise they are equal.
 *
 * @param demands What the spec says, by stage.
 */
export function planShuffles(
  spec: JobSpec,
  graph: StageGraph,
  demands: readonly StageDemand[],
): ShufflePlan {
  const mapStages = new Set(
    (spec.jobs ?? []).filter(({ kind }) => kind === "mapStage")
      .map(({ stage }) => graph.indexOf.get(stage)),
  );
  const ofStage: number[] = graph.tasks.map(() => -1);
  const list: Omit<Shuffle, "rddId">[] = [];
  for (const writer of graph.order) {
    const readers = graph.children[writer];
    if (readers.length === 0 && !mapStages.has(writer)) continue;
    const numReducers = readers.reduce(
      (most, reader) => Math.max(most, graph.tasks[reader]),
      readers.length === 0 ? graph.tasks[writer] : 1,
    );
    ofStage[writer] = list.length;
    list.push({
      id: list.length,
      numReducers,
      demand: writer,
      reducerShares: readerShares(writer, numReducers, spec, graph, demands),
    });
  }
  const reads = graph.parents.map((parents, reader) =>
    parents.length === 0 ? null : shuffleRead(reader, { spec, graph, demands, list, ofStage })
  );
  return { list, ofStage, reads };
}

/** Shares as the first reader with a task for each reducer has them; null for equal ones. */
function readerShares(
  writer: number,
  numReducers: number,
  spec: JobSpec,
  graph: StageGraph,
  demands: readonly StageDemand[],
): Column | null {
  for (const reader of graph.children[writer]) {
    if (spec.stages![reader].shuffleReadBytes === undefined) continue;
    const { shuffleReadBytes } = demands[reader];
    const total = sum(shuffleReadBytes);
    const equal = shuffleReadBytes.every((size) => size === shuffleReadBytes[0]);
    if (graph.tasks[reader] === numReducers && total > 0 && !equal) {
      return shuffleReadBytes.map((size) => size / total);
    }
  }
  return null;
}

interface PlanSoFar extends Omit<ShufflePlan, "reads"> {
  readonly spec: JobSpec;
  readonly graph: StageGraph;
  readonly demands: readonly StageDemand[];
}

function shuffleRead(reader: number, plan: PlanSoFar): ShuffleRead {
  const stage = plan.spec.stages![reader];
  const demand = plan.demands[reader];
  return {
    bytes: stage.shuffleReadBytes === undefined ? sharesOf(reader, "shuffleWriteBytes", plan) : demand.shuffleReadBytes,
    records: stage.shuffleReadRecords === undefined
      ? sharesOf(reader, "shuffleWriteRecords", plan)
      : demand.shuffleReadRecords,
  };
}

/** What each reader gets of what its parents write, in whole units. */
function sharesOf(
  reader: number,
  field: "shuffleWriteBytes" | "shuffleWriteRecords",
  { graph, demands, list, ofStage }: PlanSoFar,
): Column {
  const column = new Float64Array(graph.tasks[reader]);
  for (const parent of graph.parents[reader]) {
    const total = sum(demands[parent][field]);
    const { reducerShares } = list[ofStage[parent]];
    for (let i = 0; i < column.length; i++) {
      column[i] += Math.floor(
        reducerShares?.length === column.length ? total * reducerShares[i] : total / column.length,
      );
    }
  }
  return column;
}

function sum(column: Column): number {
  return column.reduce((total, value) => total + value, 0);
}
