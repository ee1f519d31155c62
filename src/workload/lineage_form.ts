/**
 * The exact form of the job spec: RDDs, shuffles, demands and jobs as the simulator has them. It is what a log becomes,
 * and it gives the same workload again.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type {
  Column,
  Fault,
  Job,
  PlanOperator,
  Rdd,
  RddDependency,
  Shuffle,
  StageDemand,
  Workload,
} from "../simulator/workload.ts";
import { parseStorageLevel, storageLevelName } from "../spark/storage_level.ts";
import {
  consumersFromSpec,
  consumersToSpec,
  demandFromSpec,
  demandToSpec,
  optionalFigure,
  quantityOf,
} from "./demand_form.ts";
import type { ExactDemandSpec, ExactJobSpec, LineageSpec, RddSpec, ShuffleSpec } from "./job_spec_types.ts";
import { checkCount } from "./limits.ts";
import type { Unit } from "./quantity.ts";
import { statedLevel } from "./rdd_form.ts";
import { duplicate, outOfRange, unknownReference } from "./spec_errors.ts";
import type { ExpandContext, WorkloadParts } from "./stage_form.ts";

/** Columns of an RDD, all of which may be unknown. */
const RDD_COLUMNS = {
  deserializedBytes: "bytes",
  serializedBytes: "bytes",
  diskBytes: "bytes",
  elements: "count",
  computeMs: "ms",
  inputBytes: "bytes",
  shuffleReadBytes: "bytes",
  shuffleReadRecords: "count",
} as const satisfies Partial<Record<keyof Rdd, Unit>>;

type RddColumns = Record<keyof typeof RDD_COLUMNS, Column | null>;

/**
 * The parts of a workload from their exact form.
 *
 * @throws {InputError} `job_spec.duplicate`, `job_spec.unknown_reference`, `job_spec.cycle`, `job_spec.range`,
 * `job_spec.length`.
 * @throws {LimitError} `limit.*`
 */
export function lineageFromSpec(spec: LineageSpec, context: ExpandContext): WorkloadParts {
  const { pointer } = context;
  checkLimits(spec, context);
  const rdds = spec.rdds.map((rdd, i) => rddFromSpec(rdd, { ...context, pointer: `${pointer}/rdds/${i}` }));
  const demands = spec.demands.map((demand, i) =>
    exactDemand(demand, i, { ...context, pointer: `${pointer}/demands/${i}` })
  );
  const shuffles = (spec.shuffles ?? []).map((shuffle): Shuffle => ({
    ...shuffle,
    reducerShares: shuffle.reducerShares ? Float64Array.from(shuffle.reducerShares) : null,
  }));
  const jobs = spec.jobs.map((job): Job => ({ ...JOB_DEFAULTS, ...job }));
  const broadcasts = spec.broadcasts ?? [];
  const faults = spec.faults ?? [];
  checkReferences(spec, pointer);
  checkCycles(spec, pointer);
  const queries = spec.queries === undefined ? {} : { queries: spec.queries };
  return { rdds, shuffles, jobs, demands, broadcasts, faults, ...queries };
}

const JOB_DEFAULTS = {
  kind: "result",
  shuffleId: null,
  partitions: null,
  afterJobs: [],
  delayMs: 0,
  cancelAfterMs: null,
  failureHandled: false,
  name: "",
  group: null,
  pool: null,
  description: null,
  sqlExecutionId: null,
} as const;

function checkLimits(spec: LineageSpec, { limits, pointer }: ExpandContext): void {
  const sum = <T>(list: readonly T[], of: (element: T) => number) =>
    list.reduce((total, element) => total + of(element), 0);
  checkCount("rdds", spec.rdds.length, limits, `${pointer}/rdds`);
  checkCount("stages", spec.demands.length, limits, `${pointer}/demands`);
  checkCount("jobs", spec.jobs.length, limits, `${pointer}/jobs`);
  checkCount("stages", spec.shuffles?.length ?? 0, limits, `${pointer}/shuffles`);
  checkCount("broadcasts", spec.broadcasts?.length ?? 0, limits, `${pointer}/broadcasts`);
  checkCount("tasks", sum(spec.demands, ({ tasks }) => tasks), limits, `${pointer}/demands`);
  const runs = sum(spec.jobs, ({ demand }) => spec.demands[demand]?.tasks ?? 0);
  checkCount("tasks", runs, limits, `${pointer}/jobs`);
  const cached = spec.rdds.filter(({ storageLevel }) => storageLevel !== undefined && storageLevel !== null);
  checkCount("blocks", sum(cached, ({ numPartitions }) => numPartitions), limits, `${pointer}/rdds`);
  const dependencies = sum(spec.rdds, ({ dependencies }) => dependencies?.length ?? 0);
  checkCount("dependencies", dependencies, limits, `${pointer}/rdds`);
  const partitionsOf = new Map(spec.rdds.map(({ id, numPartitions }) => [id, numPartitions]));
  const allToAll = sum(
    spec.rdds,
    ({ numPartitions, dependencies }) =>
      sum(
        dependencies ?? [],
        (dependency) =>
          dependency.kind === "narrow" && dependency.mapping === "all"
            ? numPartitions * (partitionsOf.get(dependency.rddId) ?? 0)
            : 0,
      ),
  );
  checkCount("partitionDependencies", allToAll, limits, `${pointer}/rdds`);
  const consumers = sum([...spec.rdds, ...spec.demands], ({ memory }) => memory?.length ?? 0);
  checkCount("consumers", consumers, limits, `${pointer}/demands`);
}

function rddFromSpec(spec: RddSpec, { seed, pointer }: ExpandContext): Rdd {
  const context = { seed, length: spec.numPartitions, pointer, stream: `rdds/${spec.id}` };
  const columns = {} as RddColumns;
  for (const [field, unit] of Object.entries(RDD_COLUMNS) as [keyof RddColumns, Unit][]) {
    columns[field] = optionalFigure(spec[field], { ...context, unit, field });
  }
  return {
    id: spec.id,
    name: spec.name,
    callSite: spec.callSite ?? "",
    scope: spec.scope ?? null,
    numPartitions: spec.numPartitions,
    storageLevel: typeof spec.storageLevel === "string"
      ? parseStorageLevel(spec.storageLevel)
      : spec.storageLevel ?? null,
    dependencies: spec.dependencies ?? [],
    ...columns,
    consumers: consumersFromSpec(spec.memory ?? [], context),
    ...spec.persistBeforeJob === undefined || spec.persistBeforeJob === null
      ? {}
      : { persistBeforeJob: spec.persistBeforeJob },
    unpersistBeforeJob: spec.unpersistBeforeJob ?? null,
    alwaysSerialized: spec.alwaysSerialized ?? false,
    ...statedLevel(spec),
    preferredHosts: spec.preferredHosts ?? null,
  };
}

function exactDemand(spec: ExactDemandSpec, i: number, { seed, pointer }: ExpandContext): StageDemand {
  const context = { seed, length: spec.tasks, pointer, stream: `demands/${i}` };
  return demandFromSpec(spec, context, {
    name: "",
    resultBytes: 0,
    recordedStageId: spec.recordedStageId ?? null,
    broadcastIds: spec.broadcastIds ?? [],
  });
}

function indexById<T extends { readonly id: number }>(
  list: readonly T[],
  what: string,
  pointer: string,
): ReadonlyMap<number, T> {
  const index = new Map<number, T>();
  for (const [i, element] of list.entries()) {
    if (index.has(element.id)) throw duplicate(what, element.id, `${pointer}/${i}/id`);
    index.set(element.id, element);
  }
  return index;
}

/** What references point to. */
interface Targets {
  readonly rdds: ReadonlyMap<number, RddSpec>;
  readonly shuffles: ReadonlyMap<number, ShuffleSpec>;
  readonly jobs: ReadonlyMap<number, ExactJobSpec>;
  readonly broadcasts: ReadonlyMap<number, unknown>;
  readonly demands: readonly ExactDemandSpec[];
}

function checkReferences(spec: LineageSpec, pointer: string): void {
  const targets: Targets = {
    rdds: indexById(spec.rdds, "RDD", `${pointer}/rdds`),
    shuffles: indexById(spec.shuffles ?? [], "shuffle", `${pointer}/shuffles`),
    jobs: indexById(spec.jobs, "job", `${pointer}/jobs`),
    broadcasts: indexById(spec.broadcasts ?? [], "broadcast", `${pointer}/broadcasts`),
    demands: spec.demands,
  };
  for (const [i, rdd] of spec.rdds.entries()) {
    for (const [k, dependency] of (rdd.dependencies ?? []).entries()) {
      checkDependency(rdd, dependency, targets, `${pointer}/rdds/${i}/dependencies/${k}`);
    }
  }
  for (const [i, shuffle] of (spec.shuffles ?? []).entries()) {
    const place = `${pointer}/shuffles/${i}`;
    checkDemand(shuffle, targets, place);
    const shares = shuffle.reducerShares?.length ?? shuffle.numReducers;
    if (shares !== shuffle.numReducers) {
      throw outOfRange(`have ${shuffle.numReducers} shares`, shares, `${place}/reducerShares`);
    }
  }
  const earlier = new Set<number>();
  for (const [i, job] of spec.jobs.entries()) {
    checkJob(job, earlier, targets, `${pointer}/jobs/${i}`);
    earlier.add(job.id);
  }
  for (const [i, demand] of spec.demands.entries()) {
    for (const [k, id] of (demand.broadcastIds ?? []).entries()) {
      if (targets.broadcasts.has(id)) continue;
      throw unknownReference("broadcast", id, `${pointer}/demands/${i}/broadcastIds/${k}`);
    }
  }
  for (const [i, { operators }] of (spec.queries ?? []).entries()) {
    checkOperators(operators, targets, `${pointer}/queries/${i}/operators`);
  }
  for (const [i, fault] of (spec.faults ?? []).entries()) checkFault(fault, targets, `${pointer}/faults/${i}`);
}

function checkDependency(
  rdd: RddSpec,
  dependency: RddDependency,
  { rdds, shuffles }: Targets,
  pointer: string,
): void {
  if (dependency.kind === "shuffle") {
    if (shuffles.has(dependency.shuffleId)) return;
    throw unknownReference("shuffle", dependency.shuffleId, `${pointer}/shuffleId`);
  }
  if (!rdds.has(dependency.rddId)) throw unknownReference("RDD", dependency.rddId, `${pointer}/rddId`);
  if (dependency.mapping !== "range") return;
  if (dependency.outStart === undefined || dependency.outStart > rdd.numPartitions) {
    throw outOfRange(
      `be given for a range, at most ${rdd.numPartitions}`,
      dependency.outStart ?? "nothing",
      `${pointer}/outStart`,
    );
  }
}

/** A demand's columns are indexed by the partitions of the RDD that it goes with. */
function checkDemand(
  { rddId, demand }: { rddId: number; demand: number },
  { rdds, demands }: Targets,
  pointer: string,
): void {
  const rdd = rdds.get(rddId);
  if (rdd === undefined) throw unknownReference("RDD", rddId, `${pointer}/rddId`);
  if (demand >= demands.length) throw unknownReference("demand", demand, `${pointer}/demand`);
  if (demands[demand].tasks !== rdd.numPartitions) {
    throw outOfRange(
      `be a demand of ${rdd.numPartitions} tasks, the partitions of RDD ${rddId}`,
      demands[demand].tasks,
      `${pointer}/demand`,
    );
  }
}

function checkJob(job: ExactJobSpec, earlier: ReadonlySet<number>, targets: Targets, pointer: string): void {
  checkDemand(job, targets, pointer);
  const shuffle = job.shuffleId ?? null;
  if (job.kind === "mapStage" ? shuffle === null || !targets.shuffles.has(shuffle) : shuffle !== null) {
    throw unknownReference("shuffle (for a map stage only)", shuffle ?? "nothing", `${pointer}/shuffleId`);
  }
  const tasks = targets.demands[job.demand].tasks;
  for (const [k, partition] of (job.partitions ?? []).entries()) {
    if (partition >= tasks) throw outOfRange(`be below ${tasks}`, partition, `${pointer}/partitions/${k}`);
  }
  for (const [k, id] of (job.afterJobs ?? []).entries()) {
    if (!earlier.has(id)) throw unknownReference("earlier job", id, `${pointer}/afterJobs/${k}`);
  }
}

/** Operators refer to earlier ones and to demands. */
function checkOperators(operators: readonly PlanOperator[], { demands }: Targets, pointer: string): void {
  for (const [i, { inputs, demand }] of operators.entries()) {
    for (const [k, input] of inputs.entries()) {
      if (input >= i) throw unknownReference("earlier operator", input, `${pointer}/${i}/inputs/${k}`);
    }
    if (demand !== null && demand >= demands.length) {
      throw unknownReference("demand", demand, `${pointer}/${i}/demand`);
    }
  }
}

function checkFault(fault: Fault, { demands }: Targets, pointer: string): void {
  if (fault.kind === "executorLost" || fault.kind === "slowHost") return;
  if (fault.demand >= demands.length) throw unknownReference("demand", fault.demand, `${pointer}/demand`);
  const { tasks } = demands[fault.demand];
  if (fault.partition >= tasks) throw outOfRange(`be below ${tasks}`, fault.partition, `${pointer}/partition`);
}

/** Refuses an RDD that depends on itself, also by way of shuffles. */
function checkCycles(spec: LineageSpec, pointer: string): void {
  const indexOf = new Map(spec.rdds.map(({ id }, i) => [id, i]));
  const mapSide = new Map((spec.shuffles ?? []).map(({ id, rddId }) => [id, indexOf.get(rddId)!]));
  const waiting = new Array<number>(spec.rdds.length).fill(0);
  const dependents: number[][] = spec.rdds.map(() => []);
  for (const [i, { dependencies }] of spec.rdds.entries()) {
    for (const dependency of dependencies ?? []) {
      waiting[i]++;
      const parent = dependency.kind === "shuffle"
        ? mapSide.get(dependency.shuffleId)!
        : indexOf.get(dependency.rddId)!;
      dependents[parent].push(i);
    }
  }
  const ready = waiting.flatMap((count, i) => count === 0 ? [i] : []);
  for (let i = ready.pop(); i !== undefined; i = ready.pop()) {
    for (const dependent of dependents[i]) {
      if (--waiting[dependent] === 0) ready.push(dependent);
    }
  }
  const cyclic = waiting.findIndex((count) => count > 0);
  if (cyclic < 0) return;
  throw new InputError(
    "job_spec.cycle",
    `Cannot use the job spec: an RDD must not depend on itself: received RDD ${spec.rdds[cyclic].id}`,
    { parameters: { rddId: spec.rdds[cyclic].id }, pointer: `${pointer}/rdds/${cyclic}/dependencies` },
  );
}

/** The exact form of a workload. */
export function lineageToSpec(workload: Workload): LineageSpec {
  return {
    rdds: workload.rdds.map(rddToSpec),
    shuffles: workload.shuffles.map((shuffle) => ({
      ...shuffle,
      reducerShares: shuffle.reducerShares === null ? null : Array.from(shuffle.reducerShares),
    })),
    demands: workload.demands.map((demand) => ({
      tasks: demand.computeMs.length,
      recordedStageId: demand.recordedStageId,
      broadcastIds: demand.broadcastIds,
      ...demandToSpec(demand),
    })),
    jobs: workload.jobs,
    broadcasts: workload.broadcasts,
    faults: workload.faults,
    ...workload.queries === undefined ? {} : { queries: workload.queries },
  };
}

function rddToSpec(rdd: Rdd): RddSpec {
  const spec: Record<string, unknown> = { id: rdd.id, name: rdd.name, callSite: rdd.callSite };
  if (rdd.scope !== null) spec.scope = rdd.scope;
  spec.numPartitions = rdd.numPartitions;
  if (rdd.storageLevel !== null) {
    const name = storageLevelName(rdd.storageLevel);
    spec.storageLevel = name.startsWith("StorageLevel(") ? rdd.storageLevel : name;
  }
  if (rdd.dependencies.length > 0) spec.dependencies = rdd.dependencies;
  for (const field of Object.keys(RDD_COLUMNS) as (keyof RddColumns)[]) {
    const column = rdd[field];
    if (column !== null) spec[field] = quantityOf(column);
  }
  if (rdd.consumers.length > 0) spec.memory = consumersToSpec(rdd.consumers);
  if (rdd.persistBeforeJob !== undefined) spec.persistBeforeJob = rdd.persistBeforeJob;
  if (rdd.unpersistBeforeJob !== null) spec.unpersistBeforeJob = rdd.unpersistBeforeJob;
  if (rdd.alwaysSerialized) spec.alwaysSerialized = true;
  if (rdd.outputDeterministicLevel !== undefined) spec.outputDeterministicLevel = rdd.outputDeterministicLevel;
  if (rdd.preferredHosts !== null) spec.preferredHosts = rdd.preferredHosts;
  return spec as unknown as RddSpec;
}
