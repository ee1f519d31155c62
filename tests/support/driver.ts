import { SparkConf } from "../../src/spark/conf.ts";
import type { CompletionEvent } from "../../src/simulator/scheduler/dag_scheduler_types.ts";
import { Driver, SILENT_LISTENER } from "../../src/simulator/scheduler/driver.ts";
import type { Rdd } from "../../src/simulator/scheduler/rdd.ts";
import { schedulerSettings } from "../../src/simulator/scheduler/settings.ts";

/** What a driver under test has told its listeners. */
export interface DriverLog {
  /** `stage.attempt (partitions)` of each attempt submitted. */
  readonly submitted: string[];
  readonly ended: { readonly tid: number; readonly reason: string }[];
  /** Messages of failed jobs; null for jobs that succeeded. */
  readonly jobs: (string | null)[];
  /** Exceptions that stopped the scheduler. */
  readonly crashes: string[];
}

/** A driver on virtual time without a cluster: the test offers cores and reports statuses itself. */
export class DriverUnderTest {
  readonly log: DriverLog = { submitted: [], ended: [], jobs: [], crashes: [] };
  readonly driver: Driver;
  /** Whether blocks of indirect results can be fetched. */
  resultsAreThere = true;
  /** Delays of resubmit timers that were asked for, ms. */
  readonly resubmits: number[] = [];
  nowMs = 1000;

  constructor(settings: Record<string, string>, version: string) {
    this.driver = new Driver({
      settings: schedulerSettings(SparkConf.from(settings, version), 1),
      backend: { reviveOffers() {}, killTask() {} },
      blockManagerMaster: { removeExecutor() {}, getLocations: () => [] },
      resultBlocks: { fetch: (_tid, _size, done) => done(this.resultsAreThere), remove() {} },
      listener: {
        ...SILENT_LISTENER,
        stageSubmitted: ({ id, latestInfo }) =>
          this.log.submitted.push(`${id}.${latestInfo.attemptNumber} (${latestInfo.numTasks})`),
        taskEnd: ({ tid, reason }: CompletionEvent) => this.log.ended.push({ tid, reason: reason.reason }),
        jobEnd: (_jobId, failure) => this.log.jobs.push(failure),
        schedulerFailed: (className, message) => this.log.crashes.push(`${className}: ${message}`),
      },
      nowMs: () => this.nowMs,
      scheduleResubmit: (delayMs) => this.resubmits.push(delayMs),
    });
  }

  /** Runs an action on all partitions of an RDD. */
  submit(rdd: Rdd): void {
    const partitions = Array.from({ length: rdd.numPartitions }, (_, i) => i);
    this.driver.submitJob({ rdd, partitions }, { taskSucceeded() {}, jobFailed() {} }, {});
    this.driver.drain();
  }

  /** Offers cores of one executor, which has a host of its own; the task ids that were launched. */
  offer(executor: string, cores: number): number[] {
    const { executors, hosts, taskScheduler } = this.driver;
    const offers = {
      executors: [executors.idOf(executor)],
      hosts: [hosts.idOf(`host of ${executor}`)],
      cores: [cores],
    };
    const launched = [...taskScheduler.resourceOffers(offers)];
    this.driver.drain();
    for (const tid of launched) taskScheduler.taskRunning(tid);
    return launched;
  }

  /** A result task has finished with a result of so many bytes. */
  finished(tid: number, size: number, kind: "direct" | "indirect"): void {
    this.driver.taskScheduler.taskFinished(tid, { kind, size, valueSize: size, output: null });
    this.driver.drain();
  }
}
