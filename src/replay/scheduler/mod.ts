/**
 * Traces of the real driver's scheduler: DAG scheduler (a), task scheduler (b), both together (d).
 *
 * @module
 */
import { SchedulerException } from "../../simulator/scheduler/scheduler_exception.ts";
import { DagReplay } from "./dag_replay.ts";
import { DriverReplay } from "./driver_replay.ts";
import { TaskReplay } from "./task_replay.ts";
import {
  type Difference,
  type ReplayOptions,
  type ReplayRecord,
  sameJson,
  type TraceFormat,
  type TraceLine,
} from "../trace.ts";

/** What the three replays have in common. */
interface Replay {
  run(event: TraceLine): Record<string, unknown>;
  failed(className: string, message: string): Record<string, unknown>;
}

type ReplayClass = new (header: TraceLine, options: ReplayOptions) => Replay;

const FORMATS: Readonly<Record<string, ReplayClass>> = {
  "spark-dag-trace/1": DagReplay,
  "spark-tsm-trace/1": TaskReplay,
  "spark-driver-trace/1": DriverReplay,
};

function differences(
  recorded: Record<string, unknown>,
  computed: Record<string, unknown>,
): Difference[] {
  const keys = new Set([...Object.keys(recorded), ...Object.keys(computed)]);
  return [...keys]
    .filter((key) => !sameJson(recorded[key], computed[key]))
    .map((key) => ({
      what: `observed.${key}`,
      recorded: recorded[key],
      computed: computed[key],
    }));
}

function* replay(
  header: TraceLine,
  lines: Iterable<TraceLine>,
  options: ReplayOptions,
): Generator<ReplayRecord> {
  const trace = new FORMATS[header.format](header, options);
  let line = 1;
  let isDead = false;
  for (const { event, observed: recorded } of lines) {
    line++;
    let observed: Record<string, unknown>;
    if (isDead) observed = { actions: [] };
    else {
      try {
        observed = trace.run(event);
      } catch (error) {
        if (!(error instanceof SchedulerException)) throw error;
        // Real Spark cancels all jobs and stops the SparkContext: nothing more is recorded.
        observed = trace.failed(error.className, error.message);
        isDead = true;
      }
    }
    yield {
      line,
      output: { event, observed },
      compared: recorded !== undefined,
      differences: recorded === undefined ? [] : differences(recorded, observed),
    };
  }
}

/** The scheduler's formats. */
export const SCHEDULER_TRACES: TraceFormat = {
  name: "scheduler",
  detects: (header) => Object.hasOwn(FORMATS, header?.format ?? ""),
  replay,
};
