/**
 * The garbage collector of an application's executors, which decides how much of the heap Spark counts.
 *
 * @module
 */
import type { Cluster } from "../simulator/workload.ts";
import { SparkConf } from "../spark/conf.ts";
import { invertMaximum } from "../spark/heap.ts";
import { collectorOf } from "../spark/sizing.ts";
import type { ExecutorTable } from "./from_event_log_cluster.ts";
import type { ApplicationRecord } from "./from_event_log_collector.ts";
import { DRIVER } from "./from_event_log_cluster.ts";

/**
 * Collector and committed heap: that with which the configured heap gives the recorded maximum, else what the JVM's
 * options name, else the JVM's default (parallel on Java 8, G1 from 9 on).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { ExecutorTable } from "./from_event_log_cluster.ts";
 * import { jvmOf } from "./from_event_log_jvm.ts";
 *
 * const application = {
 *   name: "", id: null, sparkVersion: "3.5.9", startTime: null, endTime: null,
 *   conf: { "spark.executor.memory": "1g" }, jvm: { "Java Version": "1.8.0_292 (Private Build)" },
 * };
 * assertEquals(jvmOf(application, new ExecutorTable(), false), { collector: "parallel", heapCommitted: "small" });
 * ```
 */
export function jvmOf(
  application: ApplicationRecord,
  executors: ExecutorTable,
  isLocal: boolean,
): Pick<Cluster, "collector" | "heapCommitted"> {
  const conf = SparkConf.from(application.conf, application.sparkVersion || undefined);
  const role = isLocal ? "driver" : "executor";
  const named = collectorOf(conf, role);
  const recorded = executors.records.find(({ id, maxOnHeapMemory }) =>
    (id === DRIVER) === isLocal && maxOnHeapMemory !== null
  );
  // The static manager (before 1.6) announces another part of the heap.
  if (recorded !== undefined && conf.rules.memory.manager === "unified") {
    const configuredHeap = conf.getSizeAsBytes(`spark.${role}.memory`);
    const inverted = invertMaximum(recorded.maxOnHeapMemory!, {
      fraction: conf.getDouble("spark.memory.fraction"),
      configuredHeap,
    });
    const fitting = inverted?.heaps.filter(({ heap }) => heap === configuredHeap) ?? [];
    const found = fitting.find(({ collector }) => collector === named) ?? fitting[0];
    if (found !== undefined) return { collector: known(found.collector), heapCommitted: found.committed };
  }
  const java8 = /^1\.[78]\b/.test(application.jvm["Java Version"] ?? "");
  return { collector: named === null ? (java8 ? "parallel" : "g1") : known(named), heapCommitted: "small" };
}

/** ZGC and Shenandoah have no generations of fixed size, as G1. */
function known(collector: string): Cluster["collector"] {
  return collector === "parallel" || collector === "serial" ? collector : "g1";
}
