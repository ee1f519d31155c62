/**
 * The user's program as far as the driver sees it: which job is submitted when.
 *
 * @module
 */
import type { EventSink } from "../spark/events.ts";
import type { FaultInjector } from "./fault_injector.ts";
import type { Lineage } from "./lineage.ts";
import type { RddGraph } from "./rdd_graph.ts";
import type { Driver } from "./scheduler/driver.ts";
import type { JobListener } from "./scheduler/stage.ts";
import type { Job, Workload } from "./workload.ts";

/** What the runner needs of the simulation. */
export interface JobRunnerHost {
  readonly workload: Workload;
  readonly lineage: Lineage;
  readonly graph: RddGraph;
  readonly driver: Driver;
  /** Calls back after so many ms. */
  after(delayMs: number, work: () => void): void;
  readonly faults: FaultInjector;
  readonly sink: EventSink;
  /** What the program does to RDDs and broadcasts before it submits a job. */
  beforeJob(jobId: number): void;
  /** All jobs have ended, or no more will be submitted. */
  applicationEnded(): void;
}

/** Submits the jobs of a workload in their order. */
export class JobRunner {
  readonly #host: JobRunnerHost;
  /** Job of the workload by the driver's job id. */
  readonly #submitted = new Map<number, Job>();
  /** The driver's ids of the jobs that have ended. */
  readonly #ended = new Set<number>();
  readonly #open = new Map<number, number>();
  readonly #followers = new Map<number, Job[]>();
  /** The job whose submission is under way. */
  #submitting: Job | null = null;
  #running = 0;
  #planned = 0;
  #stopped = false;

  constructor(host: JobRunnerHost) {
    this.#host = host;
  }

  /** Plans all jobs. */
  start(): void {
    const { jobs } = this.#host.workload;
    this.#planned = jobs.length;
    for (const job of jobs) {
      this.#open.set(job.id, job.afterJobs.length);
      for (const before of job.afterJobs) {
        const followers = this.#followers.get(before);
        if (followers === undefined) this.#followers.set(before, [job]);
        else followers.push(job);
      }
    }
    for (const job of jobs) if (job.afterJobs.length === 0) this.#plan(job);
    if (jobs.length === 0) this.#host.applicationEnded();
  }

  /** The workload's job with the driver's job id. */
  jobOf(jobId: number): Job {
    return this.#submitted.get(jobId) ?? this.#submitting!;
  }

  /** The driver says that a job has ended; twice of a map-stage job whose output is there already, as Spark does. */
  ended(jobId: number, failure: string | null): void {
    if (this.#ended.has(jobId)) return;
    this.#ended.add(jobId);
    const job = this.jobOf(jobId);
    this.#running--;
    this.#planned--;
    if (failure !== null && !job.failureHandled) this.#stopped = true;
    if (this.#stopped) {
      if (this.#running === 0) this.#host.applicationEnded();
      return;
    }
    for (const follower of this.#followers.get(job.id) ?? []) {
      const left = this.#open.get(follower.id)! - 1;
      this.#open.set(follower.id, left);
      if (left === 0) this.#plan(follower);
    }
    if (this.#planned === 0) this.#host.applicationEnded();
  }

  /** The driver's event loop failed, and with it the SparkContext: no job is submitted any more. */
  contextStopped(): void {
    this.#stopped = true;
    this.#host.applicationEnded();
  }

  /**
   * The program's handler takes a result (JobWaiter.taskSucceeded). When it throws, runJob does: the program ends, or goes
   * on when the job's tasks have ended, which Spark lets run.
   */
  #handleResult(job: Job, partition: number): string | void {
    if (job.kind === "mapStage") return;
    const exception = this.#host.faults.handlerException(job.demand, partition);
    if (exception === null) return;
    const thrown = `${exception.className}: ${exception.description}`;
    const message =
      `Job ${job.id} fails for the program with SparkDriverExecutionException: Execution error, caused by ` +
      `${thrown}, which its handler threw on the result of partition ${partition}; Spark lets its tasks go on and ` +
      "reports the job's own end";
    this.#host.sink.event({ kind: "warning", code: "simulation.resultHandler", message, count: 1 });
    if (!job.failureHandled) this.#stopped = true;
    return thrown;
  }

  #plan(job: Job): void {
    this.#host.after(job.delayMs, () => {
      if (!this.#stopped) this.#submit(job);
    });
  }

  #submit(job: Job): void {
    const { driver, graph, lineage } = this.#host;
    this.#host.beforeJob(job.id);
    this.#running++;
    const properties = { callSite: job.name, group: job.group, pool: job.pool, interruptOnCancel: false };
    const rdd = graph.rdds[lineage.rddIndex(job.rddId)];
    const partitions = job.partitions ?? Array.from({ length: rdd.numPartitions }, (_, i) => i);
    const listener: JobListener = {
      taskSucceeded: (outputId) => this.#handleResult(job, partitions[outputId]),
      jobFailed() {},
    };
    this.#submitting = job;
    const jobId = job.kind === "mapStage"
      ? driver.submitMapStage(graph.shuffles[lineage.shuffleIndex(job.shuffleId!)], listener, properties)
      : driver.submitJob({ rdd, partitions }, listener, properties);
    this.#submitted.set(jobId, job);
    driver.drain();
    if (job.cancelAfterMs === null) return;
    this.#host.after(job.cancelAfterMs, () => {
      driver.cancelJob(jobId, null);
      driver.drain();
    });
  }
}
