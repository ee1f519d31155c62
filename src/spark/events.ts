/**
 * The listener events of Spark that the project reads, simulates and writes, as flat records.
 *
 * One vocabulary serves real logs and simulated runs: the event-log reader and the simulator both feed an
 * {@linkcode EventSink}; the summary, the reconstruction of a workload, the charts and the event-log writer are sinks.
 * Names are those of org.apache.spark.scheduler.SparkListener*, with the first letter lowered. Times are
 * milliseconds since the epoch (simulated runs start at a fixed epoch), sizes are bytes. `null` means "not recorded".
 *
 * @module
 */
import type {
  ApplicationEnd,
  ApplicationStart,
  BlockManagerAdded,
  BlockManagerRemoved,
  EnvironmentUpdate,
  ExecutorAdded,
  ExecutorRemoved,
  LogStart,
  ResourceProfileAdded,
  StageExecutorMetrics,
} from "./events/application.ts";
import type { SimulationEvent, SourceWarning } from "./events/simulation.ts";
import type {
  DriverAccumUpdates,
  SqlAdaptiveExecutionUpdate,
  SqlExecutionEnd,
  SqlExecutionStart,
} from "./events/sql.ts";
import type {
  JobEnd,
  JobStart,
  SpeculativeTaskSubmitted,
  StageCompleted,
  StageSubmitted,
  UnpersistRdd,
} from "./events/stages.ts";
import type { BlockUpdated, TaskEnd, TaskGettingResult, TaskStart } from "./events/tasks.ts";

export type * from "./events/application.ts";
export type * from "./events/event_of.ts";
export type * from "./events/simulation.ts";
export type * from "./events/sql.ts";
export type * from "./events/stages.ts";
export type * from "./events/tasks.ts";

/** Where the events come from. */
export type EventSource = "observed" | "simulated";

/** Any event. */
export type SparkEvent =
  | LogStart
  | ApplicationStart
  | ApplicationEnd
  | EnvironmentUpdate
  | ResourceProfileAdded
  | ExecutorAdded
  | ExecutorRemoved
  | BlockManagerAdded
  | BlockManagerRemoved
  | JobStart
  | JobEnd
  | StageSubmitted
  | StageCompleted
  | TaskStart
  | TaskGettingResult
  | TaskEnd
  | BlockUpdated
  | UnpersistRdd
  | StageExecutorMetrics
  | SpeculativeTaskSubmitted
  | SqlExecutionStart
  | SqlAdaptiveExecutionUpdate
  | SqlExecutionEnd
  | DriverAccumUpdates
  | SimulationEvent
  | SourceWarning;

/** Takes events in order. The object is only valid during the call: copy what is kept. */
export interface EventSink {
  /** Takes the next event. */
  event(event: SparkEvent): void;
}
