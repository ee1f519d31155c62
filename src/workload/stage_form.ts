/**
 * The form of the job spec that is written by hand: stages, cached RDDs, jobs. It becomes the lineage of RDDs and
 * shuffles that Spark would have.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type { Broadcast, Cluster, Fault, Job, QueryPlan, Rdd, Shuffle, StageDemand } from "../simulator/workload.ts";
import { demandFromSpec } from "./demand_form.ts";
import { faultsFromSpec } from "./fault_form.ts";
import { jobsFromSpec } from "./job_form.ts";
import type { JobSpec } from "./job_spec_types.ts";
import { checkCount, type JobSpecLimits } from "./limits.ts";
import { constantColumn, scalar } from "./quantity.ts";
import { buildRdds, stageName } from "./rdd_form.ts";
import { planShuffles, type ShufflePlan } from "./shuffle_plan.ts";
import { duplicate, outOfRange, unknownReference } from "./spec_errors.ts";
import { resolveStages, type StageGraph } from "./stage_graph.ts";

/** What a form depends on besides its own part of the spec. */
export interface ExpandContext {
  readonly seed: number;
  readonly limits: JobSpecLimits;
  readonly pointer: string;
  readonly cluster: Cluster;
}

/** The parts of a workload that a form gives. */
export interface WorkloadParts {
  readonly rdds: readonly Rdd[];
  readonly shuffles: readonly Shuffle[];
  readonly jobs: readonly Job[];
  readonly demands: readonly StageDemand[];
  readonly broadcasts: readonly Broadcast[];
  readonly faults: readonly Fault[];
  readonly queries?: readonly QueryPlan[];
}

/**
 * Serialized result of a map task (a MapStatus) and of a task of a small action: medians of the runs recorded from
 * Spark 3.5.9 (groupByKey over a shuffle of 4 reducers, and the count behind it).
 */
const MAP_RESULT_BYTES = 1100;
const ACTION_RESULT_BYTES = 1900;

/**
 * Expands stages into RDDs, shuffles, demands and jobs. Demand i is that of stage i. A stage that others read from
 * writes one shuffle; its size is split equally among the readers unless a reader says how much each of its tasks reads.
 *
 * @throws {InputError} `job_spec.*`, `input.range`, `size.bytes`, `size.time`, `storage_level.unknown`.
 * @throws {LimitError} `limit.*`
 */
export function expandStages(
  spec: JobSpec,
  context: ExpandContext,
): WorkloadParts {
  const { pointer, limits, cluster } = context;
  const broadcasts = broadcastsFromSpec(spec, context);
  const graph = resolveStages(spec, context);
  const demands = stageDemands(spec, graph, broadcasts.ids, context);
  const shuffles = planShuffles(spec, graph, demands);
  const rdds = buildRdds(spec, graph, shuffles, context);
  const jobs = jobsFromSpec(spec, {
    graph,
    shuffleOfStage: shuffles.ofStage,
    rddOfStage: rdds.ofStage,
    pointer,
    limits,
  });
  return {
    rdds: rdds.list,
    shuffles: shuffles.list.map((shuffle) => ({
      ...shuffle,
      rddId: rdds.ofStage[shuffle.demand],
    })),
    jobs,
    demands: demands.map((demand, i) => withShuffleRead(demand, i, graph, shuffles)),
    broadcasts: broadcasts.list,
    faults: faultsFromSpec(spec.faults ?? [], {
      graph,
      cluster,
      pointer: `${pointer}/faults`,
    }),
  };
}

function broadcastsFromSpec(
  spec: JobSpec,
  { pointer, limits }: ExpandContext,
): { list: Broadcast[]; ids: ReadonlyMap<string, number> } {
  const specs = spec.broadcasts ?? [];
  checkCount("broadcasts", specs.length, limits, `${pointer}/broadcasts`);
  const ids = new Map<string, number>();
  const list = specs.map(({ name, bytes, valueBytes }, id) => {
    const place = `${pointer}/broadcasts/${id}`;
    if (ids.has(name)) throw duplicate("broadcast", name, `${place}/name`);
    ids.set(name, id);
    const pieceBytes = scalar(bytes, "bytes", `${place}/bytes`);
    return {
      id,
      pieceBytes,
      valueBytes: valueBytes === undefined ? 3 * pieceBytes : scalar(valueBytes, "bytes", `${place}/valueBytes`),
    };
  });
  return { list, ids };
}

function stageDemands(
  spec: JobSpec,
  graph: StageGraph,
  broadcasts: ReadonlyMap<string, number>,
  { seed, pointer, limits }: ExpandContext,
): StageDemand[] {
  const stages = spec.stages!;
  const consumers = [...stages, ...spec.cached ?? []].reduce(
    (sum, { memory }) => sum + (memory?.length ?? 0),
    0,
  );
  checkCount("consumers", consumers, limits, `${pointer}/stages`);
  return stages.map((stage, i) => {
    const place = `${pointer}/stages/${i}`;
    const broadcastIds = (stage.broadcasts ?? []).map((name, k) => {
      const id = broadcasts.get(name);
      if (id !== undefined) return id;
      throw unknownReference("broadcast", name, `${place}/broadcasts/${k}`);
    });
    if (stage.barrier === true) throw unsupportedBarrier(`${place}/barrier`);
    if (stage.shuffleReadBytes !== undefined && graph.parents[i].length === 0) {
      throw outOfRange("be left out for a stage without parents", "a value", `${place}/shuffleReadBytes`);
    }
    const context = {
      seed,
      length: graph.tasks[i],
      pointer: place,
      stream: `stages/${stage.id}`,
    };
    return demandFromSpec(stage, context, {
      name: stageName(stage),
      resultBytes: graph.children[i].length > 0 ? MAP_RESULT_BYTES : ACTION_RESULT_BYTES,
      recordedStageId: null,
      broadcastIds: [...new Set(broadcastIds)],
    });
  });
}

function unsupportedBarrier(pointer: string): InputError {
  return new InputError(
    "job_spec.unsupported",
    `Cannot use the job spec: ${pointer}: must be false, as barrier stages are not simulated: received true`,
    { pointer },
  );
}

/** A stage that caches RDDs reads its shuffle input only where they miss: the figure is then theirs. */
function withShuffleRead(
  demand: StageDemand,
  i: number,
  graph: StageGraph,
  shuffles: ShufflePlan,
): StageDemand {
  const none = constantColumn(graph.tasks[i], 0);
  const read = graph.caches[i].length > 0 ? null : shuffles.reads[i];
  return {
    ...demand,
    shuffleReadBytes: read?.bytes ?? none,
    shuffleReadRecords: read?.records ?? none,
  };
}
