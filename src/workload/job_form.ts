/**
 * The jobs of a hand-written job spec.
 *
 * @module
 */
import type { Job } from "../simulator/workload.ts";
import type { JobInput, JobSpec } from "./job_spec_types.ts";
import { checkCount, type JobSpecLimits } from "./limits.ts";
import { scalar } from "./quantity.ts";
import { duplicate, outOfRange, unknownReference } from "./spec_errors.ts";
import type { StageGraph } from "./stage_graph.ts";

/** What jobs refer to. */
export interface JobContext {
  readonly graph: StageGraph;
  readonly shuffleOfStage: readonly number[];
  readonly rddOfStage: readonly number[];
  readonly pointer: string;
  readonly limits: JobSpecLimits;
}

/**
 * The jobs that a spec lists, or one for each stage that no other reads, in order. Each begins when the one before has
 * ended, as actions of one thread do, unless `after` says otherwise.
 *
 * @throws {InputError} `job_spec.unknown_reference`, `job_spec.range`, `job_spec.duplicate`.
 * @throws {LimitError} `limit.jobs`, `limit.tasks`.
 */
export function jobsFromSpec(spec: JobSpec, context: JobContext): Job[] {
  const { graph, limits, pointer } = context;
  const inputs: readonly JobInput[] = spec.jobs ??
    spec.stages!.filter((_, i) => graph.children[i].length === 0)
      .map(({ id }) => ({ stage: id }));
  checkCount("jobs", inputs.length, limits, `${pointer}/jobs`);
  const jobs = inputs.map((input, i) => jobFromInput(input, i, spec, context));
  const runs = jobs.reduce((sum, job) => sum + graph.tasks[job.demand], 0);
  checkCount("tasks", runs, limits, `${pointer}/jobs`);
  return jobs;
}

function jobFromInput(
  input: JobInput,
  id: number,
  spec: JobSpec,
  { graph, shuffleOfStage, rddOfStage, pointer }: JobContext,
): Job {
  const place = `${pointer}/jobs/${id}`;
  const stage = graph.indexOf.get(input.stage);
  if (stage === undefined) {
    throw unknownReference("stage", input.stage, `${place}/stage`);
  }
  const kind = input.kind ?? "result";
  return {
    id,
    kind,
    rddId: rddOfStage[stage],
    shuffleId: kind === "mapStage" ? shuffleOfStage[stage] : null,
    partitions: checkedPartitions(input, graph.tasks[stage], place),
    demand: stage,
    afterJobs: checkedAfter(input, id, place),
    delayMs: scalar(input.delayMs ?? 0, "ms", `${place}/delayMs`),
    failureHandled: input.failureHandled ?? false,
    cancelAfterMs: input.cancelAfterMs === undefined
      ? null
      : scalar(input.cancelAfterMs, "ms", `${place}/cancelAfterMs`),
    name: input.name ?? spec.stages![stage].name ?? `stage ${input.stage}`,
    group: input.group ?? null,
    pool: input.pool ?? null,
    description: input.description ?? null,
    sqlExecutionId: null,
  };
}

function checkedPartitions(
  { partitions, kind }: JobInput,
  tasks: number,
  place: string,
): readonly number[] | null {
  if (partitions === undefined) return null;
  if (kind === "mapStage") {
    throw outOfRange(
      "be left out for a map stage",
      partitions.length,
      `${place}/partitions`,
    );
  }
  const seen = new Set<number>();
  for (const [k, partition] of partitions.entries()) {
    const pointer = `${place}/partitions/${k}`;
    if (partition >= tasks) {
      throw outOfRange(
        `be below ${tasks}, the stage's tasks`,
        partition,
        pointer,
      );
    }
    if (seen.has(partition)) throw duplicate("partition", partition, pointer);
    seen.add(partition);
  }
  return partitions;
}

function checkedAfter(
  { after }: JobInput,
  id: number,
  place: string,
): readonly number[] {
  if (after === undefined) return id === 0 ? [] : [id - 1];
  for (const [k, job] of after.entries()) {
    if (job >= id) {
      throw outOfRange(
        `be the index of an earlier job, below ${id}`,
        job,
        `${place}/after/${k}`,
      );
    }
  }
  return [...new Set(after)];
}
