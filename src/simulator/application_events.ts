/**
 * The events around the jobs: start and end of the application, its settings, executors that come and go, and how much
 * memory they used.
 *
 * @module
 */
import type { SparkConf } from "../spark/conf.ts";
import type { EventSink } from "../spark/events.ts";
import { localMaster } from "../spark/master.ts";
import { OFF_HEAP, ON_HEAP } from "../kernel/types.ts";
import type { Executor } from "./executor.ts";
import type { Workload } from "./workload.ts";

/** What the events are made of. */
export interface ApplicationEventsHost {
  readonly workload: Workload;
  readonly conf: SparkConf;
  readonly sink: EventSink;
  now(): number;
}

/** An application's id: the History Server lists no application without one. */
function simulatedAppId(name: string): string {
  const slug = name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60);
  return slug === "" ? "simulated" : `simulated-${slug}`;
}

/** Writes them. */
export class ApplicationEvents {
  readonly #host: ApplicationEventsHost;

  constructor(host: ApplicationEventsHost) {
    this.#host = host;
  }

  /** The head of an event log. */
  started(): void {
    const { sink, workload, conf } = this.#host;
    sink.event({ kind: "logStart", sparkVersion: conf.sparkVersion });
    const { maxOnHeapMemory, maxOffHeapMemory, host } = workload.cluster.driver;
    if (localMaster(workload.cluster.master) === null && maxOnHeapMemory !== null) {
      sink.event({
        kind: "blockManagerAdded",
        time: this.#time(),
        executorId: "driver",
        host,
        maximumMemory: maxOnHeapMemory + (maxOffHeapMemory ?? 0),
        maximumOnHeapMemory: maxOnHeapMemory,
        maximumOffHeapMemory: maxOffHeapMemory,
      });
    }
    // Whoever writes a log of the run has the updates of all blocks, and the log says so.
    const properties = {
      "spark.master": workload.cluster.master,
      ...conf.toJSON(),
      "spark.eventLog.logBlockUpdates.enabled": "true",
    };
    sink.event({ kind: "environmentUpdate", sparkProperties: properties, jvmInformation: {}, systemProperties: {} });
    sink.event({
      kind: "applicationStart",
      appName: workload.name,
      appId: workload.appId ?? simulatedAppId(workload.name),
      time: this.#time(),
      user: "sparkmem",
      appAttemptId: null,
    });
  }

  ended(): void {
    this.#host.sink.event({ kind: "applicationEnd", time: this.#time(), exitCode: null });
  }

  executorAdded(executor: Executor): void {
    const { sink } = this.#host;
    const { id: executorId, host, cores: totalCores, maxOnHeapMemory, maxOffHeapMemory } = executor;
    sink.event({ kind: "executorAdded", time: this.#time(), executorId, host, totalCores });
    sink.event({
      kind: "blockManagerAdded",
      time: this.#time(),
      executorId,
      host,
      maximumMemory: maxOnHeapMemory + maxOffHeapMemory,
      maximumOnHeapMemory: maxOnHeapMemory,
      maximumOffHeapMemory: maxOffHeapMemory,
    });
  }

  executorRemoved(executor: Executor, reason: string): void {
    const { sink } = this.#host;
    sink.event({ kind: "blockManagerRemoved", time: this.#time(), executorId: executor.id });
    sink.event({ kind: "executorRemoved", time: this.#time(), executorId: executor.id, reason });
  }

  /** Peaks of an executor while a stage ran (StageExecutorMetrics). */
  stageMetrics(executor: Executor, stageId: number, stageAttemptId: number): void {
    const metrics = executor.takePeaks();
    this.#host.sink.event({
      kind: "stageExecutorMetrics",
      executorId: executor.id,
      stageId,
      stageAttemptId,
      metrics: {
        OnHeapExecutionMemory: metrics.execution[ON_HEAP],
        OffHeapExecutionMemory: metrics.execution[OFF_HEAP],
        OnHeapStorageMemory: metrics.storage[ON_HEAP],
        OffHeapStorageMemory: metrics.storage[OFF_HEAP],
        OnHeapUnifiedMemory: metrics.unified[ON_HEAP],
        OffHeapUnifiedMemory: metrics.unified[OFF_HEAP],
      },
    });
  }

  #time(): number {
    return Math.round(this.#host.now());
  }
}
