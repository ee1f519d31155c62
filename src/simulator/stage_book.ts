/**
 * Which part of the workload a stage of the scheduler stands for.
 *
 * @module
 */
import type { Lineage } from "./lineage.ts";
import type { JobRunner } from "./job_runner.ts";
import { ShuffleMapStage, type Stage } from "./scheduler/stage.ts";
import type { Rdd, Workload } from "./workload.ts";

/** What a stage's tasks do. */
export interface StagePart {
  /** Index into Workload.demands. */
  readonly demand: number;
  /** Dense index of the final RDD. */
  readonly rdd: number;
  /** Dense index of the shuffle that it writes; null for result stages. */
  readonly shuffle: number | null;
}

/** Stages by id. */
export class StageBook {
  readonly #workload: Workload;
  readonly #lineage: Lineage;
  readonly #jobs: () => JobRunner;
  readonly #parts = new Map<number, StagePart>();
  readonly #pipelines: (readonly Rdd[] | undefined)[] = [];

  /** @param jobs gives the job runner, which is made later. */
  constructor(workload: Workload, lineage: Lineage, jobs: () => JobRunner) {
    this.#workload = workload;
    this.#lineage = lineage;
    this.#jobs = jobs;
  }

  /** The part of a stage that has been told of. */
  part(stageId: number): StagePart {
    return this.#parts.get(stageId)!;
  }

  /** Notes a stage and gives its part. */
  note(stage: Stage): StagePart {
    const known = this.#parts.get(stage.id);
    if (known !== undefined) return known;
    const part = this.#partOf(stage);
    this.#parts.set(stage.id, part);
    return part;
  }

  /** Name and call site of a stage, as the log or the spec has them. */
  describe(stage: Stage): { readonly name: string; readonly details: string } {
    const { name, details } = this.#workload.demands[this.note(stage).demand];
    return { name, details };
  }

  /** The final RDD of a stage and what it reads without a shuffle (RDD.getNarrowAncestors). */
  pipeline(stage: Stage): readonly Rdd[] {
    const { rdd } = this.note(stage);
    return this.#pipelines[rdd] ??= this.#lineage.narrowAncestors(rdd).map((index) => this.#workload.rdds[index]);
  }

  #partOf(stage: Stage): StagePart {
    if (stage instanceof ShuffleMapStage) {
      const shuffle = this.#lineage.shuffleIndex(stage.shuffleDep.shuffleId);
      const { demand, rddId } = this.#workload.shuffles[shuffle];
      return { demand, rdd: this.#lineage.rddIndex(rddId), shuffle };
    }
    const { demand, rddId } = this.#jobs().jobOf(stage.firstJobId);
    return { demand, rdd: this.#lineage.rddIndex(rddId), shuffle: null };
  }
}
