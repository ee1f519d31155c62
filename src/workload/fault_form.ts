/**
 * The faults of a hand-written job spec.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type { Cluster, Fault } from "../simulator/workload.ts";
import type { FaultSpec } from "./job_spec_types.ts";
import { scalar } from "./quantity.ts";
import { outOfRange, unknownReference } from "./spec_errors.ts";
import type { StageGraph } from "./stage_graph.ts";

/** What faults refer to. */
export interface FaultContext {
  readonly graph: StageGraph;
  readonly cluster: Cluster;
  readonly pointer: string;
}

/**
 * The faults that a spec lists. A task exception is by default a RuntimeException of the first attempt, half way
 * through; an executor is lost by default as one whose process exited with 137, which Spark counts as a task failure.
 *
 * @throws {InputError} `job_spec.unknown_reference`, `job_spec.range`, `job_spec.missing`.
 */
export function faultsFromSpec(
  specs: readonly FaultSpec[],
  context: FaultContext,
): Fault[] {
  return specs.map((spec, i) => faultFromSpec(spec, `${context.pointer}/${i}`, context));
}

function faultFromSpec(
  spec: FaultSpec,
  pointer: string,
  context: FaultContext,
): Fault {
  switch (spec.kind) {
    case "taskException":
      return {
        kind: spec.kind,
        ...target(spec, pointer, context),
        className: spec.className ?? "java.lang.RuntimeException",
        description: spec.description ?? "injected fault",
        atFraction: spec.atFraction ?? 0.5,
      };
    case "resultUnreadable": {
      const classNotFound = spec.classNotFound ?? false;
      return {
        kind: spec.kind,
        ...target(spec, pointer, context),
        classNotFound,
        description: spec.description ?? (classNotFound ? CLASS_LOADER : UNREADABLE),
      };
    }
    case "resultHandlerException":
      return resultHandlerException(spec, pointer, context);
    case "executorLost":
      return executorLost(spec, pointer, context.cluster);
    case "slowHost": {
      const { executors } = context.cluster;
      if (!executors.some(({ host }) => host === spec.host)) {
        throw unknownReference("host", spec.host, `${pointer}/host`);
      }
      return { kind: spec.kind, host: spec.host, factor: spec.factor };
    }
    default:
      return { kind: spec.kind, ...target(spec, pointer, context) };
  }
}

/** The driver's class loader as TaskResultGetter prints it; its identity is not simulated. */
const CLASS_LOADER = "org.apache.spark.util.MutableURLClassLoader";
const UNREADABLE = "java.io.EOFException";

function resultHandlerException(
  spec: Extract<FaultSpec, { kind: "resultHandlerException" }>,
  pointer: string,
  context: FaultContext,
): Fault {
  const { demand, partition } = target(spec, pointer, context);
  return {
    kind: spec.kind,
    demand,
    partition,
    className: spec.className ?? "java.lang.RuntimeException",
    description: spec.description ?? "injected fault",
  };
}

function target(
  { stage, partition, attempts }: {
    stage: number | string;
    partition: number;
    attempts?: number;
  },
  pointer: string,
  { graph }: FaultContext,
): { demand: number; partition: number; attempts: number } {
  const demand = graph.indexOf.get(stage);
  if (demand === undefined) {
    throw unknownReference("stage", stage, `${pointer}/stage`);
  }
  if (partition >= graph.tasks[demand]) {
    throw outOfRange(
      `be below ${graph.tasks[demand]}, the stage's tasks`,
      partition,
      `${pointer}/partition`,
    );
  }
  return { demand, partition, attempts: attempts ?? 1 };
}

function executorLost(
  spec: Extract<FaultSpec, { kind: "executorLost" }>,
  pointer: string,
  cluster: Cluster,
): Fault {
  // Executors that dynamic allocation brings have the next numbers.
  const mayCome = cluster.provision !== null && /^\d+$/.test(spec.executor);
  if (!mayCome && !cluster.executors.some(({ id }) => id === spec.executor)) {
    throw unknownReference("executor", spec.executor, `${pointer}/executor`);
  }
  if ((spec.atMs === undefined) === (spec.afterTasks === undefined)) {
    throw new InputError(
      "job_spec.missing",
      `Cannot use the job spec: ${pointer}: must have either atMs or afterTasks: received ${
        spec.atMs === undefined ? "neither" : "both"
      }`,
      { pointer },
    );
  }
  const time = (value: number | string, field: string) => scalar(value, "ms", `${pointer}/${field}`);
  return {
    kind: spec.kind,
    executorId: spec.executor,
    atMs: spec.atMs === undefined ? null : time(spec.atMs, "atMs"),
    afterTasks: spec.afterTasks ?? null,
    reason: spec.reason ?? "Command exited with code 137",
    workerLost: spec.workerLost ?? false,
    exitCausedByApp: spec.exitCausedByApp ?? true,
    replacedAfterMs: spec.replacedAfterMs === undefined ||
        spec.replacedAfterMs === null
      ? null
      : time(spec.replacedAfterMs, "replacedAfterMs"),
  };
}
