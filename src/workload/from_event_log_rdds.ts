/**
 * The RDDs of an event log, with what is known of the cached ones.
 *
 * @module
 */
import type { Column, ConsumerDemand, Rdd } from "../simulator/workload.ts";
import {
  type CachedRddFigures,
  cachedRddFigures,
  isPythonRdd,
  type LikelyFigures,
  persistedLevel,
} from "./from_event_log_cached_rdds.ts";
import { placeConsumers } from "./from_event_log_consumer_times.ts";
import { filledColumn, type LogFindings } from "./from_event_log_findings.ts";
import { rddConsumers, shufflesRead } from "./from_event_log_rdd_consumers.ts";
import type { RddRecord } from "./from_event_log_stages.ts";

/**
 * All RDDs that the log describes, by id.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { EventLogCollector } from "./from_event_log_collector.ts";
 * import { LogFindings } from "./from_event_log_findings.ts";
 * import { rddsOf } from "./from_event_log_rdds.ts";
 *
 * assertEquals(rddsOf(new LogFindings(new EventLogCollector())), []);
 * ```
 */
export function rddsOf(findings: LogFindings): Rdd[] {
  const { log, use } = findings;
  const blockBytes: number[] = [];
  for (const { deserialized, serialized } of log.blocks.rdds.values()) {
    blockBytes.push(...deserialized.values(), ...serialized.values());
  }
  for (const local of use.found.local.values()) blockBytes.push(...local.values());
  const elementBytes = elementBytesByCallSite(findings);
  return [...log.stages.rdds.values()].sort((a, b) => a.id - b.id).map((rdd) =>
    rddOf(findings, rdd, { blockBytes, elementBytes: elementBytes.get(rdd.callSite) ?? [] })
  );
}

/** Bytes of an element of found blocks, by the call site of their RDDs. */
function elementBytesByCallSite({ log, use }: LogFindings): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const [rddId, byPartition] of use.found.elements) {
    const callSite = log.stages.rdds.get(rddId)!.callSite;
    const list = found.get(callSite) ?? [];
    for (const [partition, elements] of byPartition) {
      const bytes = use.found.local.get(rddId)?.get(partition);
      if (bytes !== undefined && elements > 0) list.push(bytes / elements);
    }
    found.set(callSite, list);
  }
  return found;
}

function rddOf(findings: LogFindings, rdd: RddRecord, likely: LikelyFigures): Rdd {
  const level = persistedLevel(rdd);
  if (level !== null) findings.counts.add("blocks", rdd.numPartitions);
  const figures: CachedRddFigures | null = level === null
    ? null
    : cachedRddFigures(rdd, findings.use, findings.log.blocks.rdds.get(rdd.id), likely);
  if (figures !== null) findings.evidence.push(...figures.evidence);
  const costs = findings.costs.byRdd.get(rdd.id);
  const fetched = level === null ? null : fetchedByCached(findings, rdd);
  return {
    id: rdd.id,
    name: rdd.name,
    callSite: rdd.callSite,
    scope: rdd.scope,
    numPartitions: rdd.numPartitions,
    storageLevel: level,
    dependencies: findings.lineage.dependencies.get(rdd.id) ?? [],
    deserializedBytes: figures?.deserializedBytes ?? null,
    serializedBytes: figures?.serializedBytes ?? null,
    diskBytes: figures?.diskBytes ?? null,
    elements: figures?.elements ?? null,
    computeMs: level === null || costs === undefined ? null : filledColumn(rdd.numPartitions, costs),
    inputBytes: null,
    shuffleReadBytes: fetched?.bytes ?? null,
    shuffleReadRecords: fetched?.records ?? null,
    consumers: fetched?.consumers ?? [],
    ...persistBeforeJob(rdd),
    unpersistBeforeJob: rdd.unpersistBeforeJob,
    alwaysSerialized: isPythonRdd(rdd),
    ...(rdd.outputDeterministicLevel === undefined ? {} : { outputDeterministicLevel: rdd.outputDeterministicLevel }),
    preferredHosts: null,
  };
}

/** The first job that saw it persisted, when a job before saw it without a level. */
function persistBeforeJob({ levels }: RddRecord): Pick<Rdd, "persistBeforeJob"> {
  const at = levels.findIndex(({ level }) => level.useMemory || level.useDisk);
  return at > 0 ? { persistBeforeJob: levels[at].jobId } : {};
}

/** What computing a cached RDD from shuffles fetches and holds; null when it reads none or was never computed. */
function fetchedByCached(
  findings: LogFindings,
  rdd: RddRecord,
): { bytes: Column; records: Column; consumers: ConsumerDemand[] } | null {
  const { tasks, stages } = findings.log;
  const { computed } = findings.use;
  const rows = computed.row.filter((_, i) => computed.rddId[i] === rdd.id);
  if (rows.length === 0) return null;
  const jobId = stages.attempts[tasks.stage[rows[0]]].stage.jobId ?? 0;
  const stage = findings.rddStage(rdd.id, jobId, rows);
  if (shufflesRead(stage).size === 0) return null;
  const column = (values: Float64Array): Column => {
    const byPartition = new Map<number, number>();
    for (const row of rows) byPartition.set(tasks.partition[row], Math.max(0, values[row]));
    return filledColumn(rdd.numPartitions, byPartition);
  };
  return {
    bytes: column(tasks.shuffleReadBytes),
    records: column(tasks.shuffleReadRecords),
    consumers: placeConsumers(rddConsumers(stage)),
  };
}
