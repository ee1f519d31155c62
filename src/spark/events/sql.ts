/**
 * Events of Spark SQL (org.apache.spark.sql.execution.ui), which Jackson writes.
 *
 * @module
 */
import type { EventOf } from "./event_of.ts";

/** A query or command begins (SQLExecution.withNewExecutionId). */
export interface SqlExecutionStart extends EventOf<"sqlExecutionStart"> {
  /** Jobs refer to it with the local property spark.sql.execution.id. */
  readonly executionId: number;
  /** Call site, or what the program said with setJobDescription. */
  readonly description: string;
  /** ms since the epoch; -1 when not recorded. */
  readonly time: number;
  /** The physical plan it begins with; null when not recorded. */
  readonly plan: SparkPlanInfo | null;
}

/** Adaptive execution changed a plan (spark.sql.adaptive.enabled). */
export interface SqlAdaptiveExecutionUpdate extends EventOf<"sqlAdaptiveExecutionUpdate"> {
  /** As in {@linkcode SqlExecutionStart}. */
  readonly executionId: number;
  /** The physical plan from now on; null when not recorded. */
  readonly plan: SparkPlanInfo | null;
}

/** A query or command ends. */
export interface SqlExecutionEnd extends EventOf<"sqlExecutionEnd"> {
  /** As in {@linkcode SqlExecutionStart}. */
  readonly executionId: number;
  /** ms since the epoch; -1 when not recorded. */
  readonly time: number;
  /** The exception's message, from 3.4; null for success, and when not recorded. */
  readonly errorMessage: string | null;
}

/** SQL metrics that the driver itself measured, for example the size of a broadcast relation. */
export interface DriverAccumUpdates extends EventOf<"driverAccumUpdates"> {
  /** As in {@linkcode SqlExecutionStart}. */
  readonly executionId: number;
  /** Accumulator ids with their values. */
  readonly updates: readonly (readonly [id: number, value: number])[];
}

/** A node of a physical plan (org.apache.spark.sql.execution.SparkPlanInfo). */
export interface SparkPlanInfo {
  /** SparkPlan.nodeName: `HashAggregate`, `Exchange`, `WholeStageCodegen (2)`, ... */
  readonly nodeName: string;
  /** The node with its arguments in one line, long lists of fields cut (spark.sql.debug.maxToStringFields). */
  readonly simpleString: string;
  /** Nodes that it takes its rows from. */
  readonly children: readonly SparkPlanInfo[];
  /** What it measures: names with the ids of the accumulators that hold them; metricType is `sum`, `size`, `timing`, ... */
  readonly metrics: readonly {
    readonly name: string;
    readonly accumulatorId: number;
    readonly metricType: string;
  }[];
}
