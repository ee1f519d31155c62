/**
 * The RDDs of a hand-written job spec: one for each stage and one for each cached RDD, as a driver program would make
 * them.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type { Column, Rdd, RddDependency } from "../simulator/workload.ts";
import type { DeterministicLevel } from "../spark/events.ts";
import { parseStorageLevel } from "../spark/storage_level.ts";
import { consumersFromSpec, figure, optionalFigure } from "./demand_form.ts";
import type { CachedRddSpec, JobSpec, StageSpec } from "./job_spec_types.ts";
import type { Unit } from "./quantity.ts";
import type { ShufflePlan, ShuffleRead } from "./shuffle_plan.ts";
import { outOfRange } from "./spec_errors.ts";
import type { StageGraph } from "./stage_graph.ts";

/** RDDs and where the stages' own are. */
export interface SpecRdds {
  readonly list: readonly Rdd[];
  /** Id of a stage's final RDD. */
  readonly ofStage: readonly number[];
}

/** Name of a stage in events and tables. */
export function stageName(stage: StageSpec): string {
  return stage.name ?? `stage ${stage.id}`;
}

/**
 * Builds the lineage. The cached RDDs of a stage lie between its inputs and its own RDD, so that a stage that misses a
 * partition computes it from there (RDD.getOrCompute).
 *
 * @throws {InputError} `job_spec.missing`, `job_spec.range`, `storage_level.unknown` and those of `columnOf`.
 */
export function buildRdds(
  spec: JobSpec,
  graph: StageGraph,
  shuffles: ShufflePlan,
  place: { seed: number; pointer: string },
): SpecRdds {
  const list: Rdd[] = [];
  const ofStage: number[] = graph.tasks.map(() => -1);
  const ofCached = new Map<number, number>();
  const addCached = (
    index: number,
    dependencies: readonly RddDependency[],
    read: ShuffleRead | null,
  ) => {
    ofCached.set(index, list.length);
    list.push(cachedRdd(spec, index, {
      ...place,
      id: list.length,
      dependencies,
      read,
    }));
  };
  for (const index of graph.sources) addCached(index, [], null);
  for (const i of graph.order) {
    let inputs = inputsOf(i, spec, graph, shuffles, ofCached);
    for (const [k, index] of graph.caches[i].entries()) {
      addCached(index, inputs, k === 0 ? shuffles.reads[i] : null);
      inputs = [narrow(ofCached.get(index)!, "oneToOne")];
    }
    ofStage[i] = list.length;
    list.push({
      ...UNCACHED,
      id: list.length,
      name: stageName(spec.stages![i]),
      callSite: stageName(spec.stages![i]),
      ...operationOf(spec.stages![i], graph.parents[i].map((parent) => spec.stages![parent])),
      numPartitions: graph.tasks[i],
      dependencies: inputs,
      ...statedLevel(spec.stages![i]),
    });
  }
  return { list, ofStage };
}

/**
 * The RDD that collects what a stage fetches, as Spark names it: its class, and in its scope the operation (RDD.name, RDDOperationScope).
 * With that an event log of a simulated run tells which collections its tasks held.
 */
function operationOf({ memory }: StageSpec, parents: readonly StageSpec[]): Partial<Pick<Rdd, "name" | "scope">> {
  const collection = memory?.find(({ kind }) => kind === "ExternalAppendOnlyMap" || kind === "ExternalSorter");
  if (collection === undefined || parents.length === 0) return {};
  if (parents.length > 1) return collection.kind === "ExternalSorter" ? {} : { name: "CoGroupedRDD", scope: "cogroup" };
  if (collection.kind === "ExternalSorter") return { name: "ShuffledRDD", scope: "sortByKey" };
  const isCombined = parents[0].memory?.some(({ kind }) => kind === "ExternalSorter") ?? false;
  return { name: "ShuffledRDD", scope: isCombined ? "reduceByKey" : "groupByKey" };
}

/** The level that a spec states, as an RDD has it: absent when it states none. */
export function statedLevel(
  { outputDeterministicLevel }: { readonly outputDeterministicLevel?: DeterministicLevel | null },
): Pick<Rdd, "outputDeterministicLevel"> {
  return outputDeterministicLevel === undefined || outputDeterministicLevel === null
    ? {}
    : { outputDeterministicLevel };
}

function inputsOf(
  i: number,
  spec: JobSpec,
  graph: StageGraph,
  shuffles: ShufflePlan,
  ofCached: ReadonlyMap<number, number>,
): RddDependency[] {
  return [
    ...graph.reads[i].map((index) =>
      narrow(
        ofCached.get(index)!,
        graph.tasks[i] === spec.cached![index].partitions ? "oneToOne" : "coalesce",
      )
    ),
    ...graph.parents[i].map((parent): RddDependency => ({
      kind: "shuffle",
      shuffleId: shuffles.ofStage[parent],
    })),
  ];
}

function narrow(
  rddId: number,
  mapping: "oneToOne" | "coalesce",
): RddDependency {
  return { kind: "narrow", rddId, mapping };
}

/** The fields of an RDD that is not cached. */
const UNCACHED: Omit<
  Rdd,
  "id" | "name" | "callSite" | "numPartitions" | "dependencies"
> = Object.freeze({
  scope: null,
  storageLevel: null,
  deserializedBytes: null,
  serializedBytes: null,
  diskBytes: null,
  elements: null,
  computeMs: null,
  inputBytes: null,
  shuffleReadBytes: null,
  shuffleReadRecords: null,
  consumers: [],
  unpersistBeforeJob: null,
  alwaysSerialized: false,
  preferredHosts: null,
});

/** Where a cached RDD stands. */
interface CachedPlace {
  readonly id: number;
  readonly seed: number;
  readonly pointer: string;
  readonly dependencies: readonly RddDependency[];
  readonly read: ShuffleRead | null;
}

function cachedRdd(
  { cached, jobs }: JobSpec,
  index: number,
  place: CachedPlace,
): Rdd {
  const spec = cached![index];
  const context = {
    seed: place.seed,
    length: spec.partitions,
    pointer: `${place.pointer}/cached/${index}`,
    stream: `cached/${spec.name}`,
  };
  const optional = (
    field: "diskBytes" | "elements" | "inputBytes",
    unit: Unit,
  ) => optionalFigure(spec[field], { ...context, unit, field });
  const storageLevel = parseStorageLevel(spec.storageLevel ?? "MEMORY_ONLY");
  const unpersist = spec.unpersistBeforeJob ?? null;
  if (unpersist !== null && jobs !== undefined && unpersist >= jobs.length) {
    throw outOfRange(
      `be the index of a job, below ${jobs.length}`,
      unpersist,
      `${context.pointer}/unpersistBeforeJob`,
    );
  }
  return {
    ...UNCACHED,
    id: place.id,
    name: spec.name,
    callSite: spec.name,
    numPartitions: spec.partitions,
    storageLevel,
    dependencies: place.dependencies,
    ...blockSizes(spec, storageLevel.deserialized, context),
    diskBytes: optional("diskBytes", "bytes"),
    elements: optional("elements", "count"),
    computeMs: figure(spec.computeMs, 0, {
      ...context,
      unit: "ms",
      field: "computeMs",
    }),
    inputBytes: optional("inputBytes", "bytes"),
    shuffleReadBytes: place.read?.bytes ?? null,
    shuffleReadRecords: place.read?.records ?? null,
    consumers: consumersFromSpec(spec.memory ?? [], context),
    unpersistBeforeJob: unpersist,
    alwaysSerialized: spec.alwaysSerialized ?? false,
    ...statedLevel(spec),
  };
}

/** `bytes` is the size in the form of the storage level; the other form is known only when it is given. */
function blockSizes(
  spec: CachedRddSpec,
  deserialized: boolean,
  context: { seed: number; length: number; pointer: string; stream: string },
): { deserializedBytes: Column | null; serializedBytes: Column | null } {
  const size = (field: "bytes" | "deserializedBytes" | "serializedBytes") =>
    optionalFigure(spec[field], { ...context, unit: "bytes", field });
  const bytes = size("bytes");
  const asObjects = deserialized && spec.alwaysSerialized !== true;
  const deserializedBytes = size("deserializedBytes") ??
    (asObjects ? bytes : null);
  const serializedBytes = size("serializedBytes") ??
    (asObjects ? null : bytes);
  if ((asObjects ? deserializedBytes : serializedBytes) === null) {
    throw new InputError(
      "job_spec.missing",
      `Cannot use the job spec: ${context.pointer}/bytes: must be given: received nothing`,
      { pointer: `${context.pointer}/bytes` },
    );
  }
  return { deserializedBytes, serializedBytes };
}
