/**
 * What is read of the large events, for those that are scanned instead of parsed: the decoders of event_json.ts and the names that
 * known_fields.ts looks at. A field that a decoder reads has to be here; a test compares with parsed events.
 *
 * @module
 */
import { DECODERS, JOB_PROPERTIES } from "./event_json.ts";
import { type Wanted, WHOLE } from "./json_scan.ts";
import { planEnd } from "./plan_scan.ts";

function fields(...names: string[]): Record<string, Wanted> {
  return Object.fromEntries(names.map((name) => [name, WHOLE]));
}

const RDD_INFO: Wanted = {
  fields: fields(
    "RDD ID",
    "Name",
    "Callsite",
    "Scope",
    "Parent IDs",
    "Storage Level",
    "Number of Partitions",
    "Number of Cached Partitions",
    "Memory Size",
    "Disk Size",
    "Barrier",
    "DeterministicLevel",
  ),
  repeats: true,
};

const STAGE_INFO: Wanted = {
  fields: {
    ...fields(
      "Stage ID",
      "Stage Attempt ID",
      "Stage Name",
      "Number of Tasks",
      "Parent IDs",
      "Details",
      "Submission Time",
      "Completion Time",
      "Failure Reason",
      "Resource Profile Id",
      "Shuffle Push Enabled",
    ),
    "RDD Info": RDD_INFO,
    Accumulables: { fields: fields("ID", "Name", "Value") },
  },
  names: true,
};

const PLAN: Wanted = { fields: null, deferred: planEnd };

function event(wanted: Record<string, Wanted>): Wanted {
  return { fields: { Event: WHOLE, ...wanted }, names: true };
}

/** Nothing but the name: what becomes of events without a decoder. */
const NAME: Wanted = { fields: { Event: WHOLE } };

const PROPERTIES: Wanted = { fields: fields(...JOB_PROPERTIES) };

const SCANNED: Readonly<Record<string, Wanted>> = {
  SparkListenerJobStart: event({
    ...fields("Job ID", "Submission Time", "Stage IDs"),
    "Stage Infos": STAGE_INFO,
    Properties: PROPERTIES,
  }),
  SparkListenerStageSubmitted: event({ "Stage Info": STAGE_INFO, Properties: PROPERTIES }),
  SparkListenerStageCompleted: event({ "Stage Info": STAGE_INFO }),
  SparkListenerSQLExecutionStart: event({ ...fields("executionId", "description", "time"), sparkPlanInfo: PLAN }),
  SparkListenerSQLAdaptiveExecutionUpdate: event({ ...fields("executionId"), sparkPlanInfo: PLAN }),
};

/**
 * What is wanted of an event, by its name without the package; null for events that are parsed whole.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { wantedOf } from "./wanted_fields.ts";
 *
 * assertEquals(wantedOf("SparkListenerTaskEnd"), null);
 * assertEquals(Object.keys(wantedOf("SparkListenerExecutorMetricsUpdate")!.fields!), ["Event"]);
 * ```
 */
export function wantedOf(name: string): Wanted | null {
  if (Object.hasOwn(SCANNED, name)) return SCANNED[name];
  return Object.hasOwn(DECODERS, name) ? null : NAME;
}
