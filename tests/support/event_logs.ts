/**
 * The event logs of tests/testdata/event_logs, as workloads.
 *
 * @module
 */
import { readEventLog } from "../../src/event_log/read.ts";
import { EventLogCollector } from "../../src/workload/from_event_log_collector.ts";
import { WorkloadBuilder } from "../../src/workload/from_event_log.ts";
import type { EventSink } from "../../src/spark/events.ts";
import type { Workload } from "../../src/simulator/workload.ts";

const LOGS = new URL("../testdata/event_logs/", import.meta.url);

async function read<T extends EventSink>(name: string, sink: T): Promise<T> {
  await readEventLog(new Blob([await Deno.readFile(new URL(`${name}.gz`, LOGS))]).stream(), sink);
  return sink;
}

/** What was gathered of a log. */
export function collectedLog(name: string): Promise<EventLogCollector> {
  return read(name, new EventLogCollector());
}

/** The workload of a log. */
export async function workloadOfLog(name: string): Promise<Workload> {
  return (await read(name, new WorkloadBuilder())).workload();
}

/** The text of a log. */
export async function logText(name: string): Promise<string> {
  const { body } = await fetch(new URL(`${name}.gz`, LOGS));
  return await new Response(body!.pipeThrough(new DecompressionStream("gzip"))).text();
}
