/**
 * Descriptions of stages and RDDs (StageInfo, RDDInfo) from parsed JSON.
 *
 * @module
 */
import type { AccumulableInfo, DeterministicLevel, RddInfo, StageInfo } from "../spark/events.ts";
import {
  booleanOr,
  countOf,
  countOr,
  idsOf,
  isObject,
  type JsonObject,
  numberOf,
  numberOr,
  objectOf,
  objectsOf,
  stringOr,
} from "./json_fields.ts";
import { accumulatorNumber, storageLevelOf } from "./task_json.ts";

function rddInfoOf(json: JsonObject): RddInfo {
  return {
    rddId: countOf(json, "RDD ID"),
    name: stringOr(json, "Name", ""),
    callSite: stringOr(json, "Callsite", ""),
    scope: scopeName(stringOr(json, "Scope", null)),
    parentIds: idsOf(json, "Parent IDs"),
    storageLevel: storageLevelOf(objectOf(json, "Storage Level")),
    numPartitions: countOf(json, "Number of Partitions"),
    numCachedPartitions: countOr(json, "Number of Cached Partitions", 0),
    memorySize: numberOr(json, "Memory Size", 0),
    diskSize: numberOr(json, "Disk Size", 0),
    ...(json["Barrier"] === true ? { isBarrier: true } : {}),
    ...levelOf(stringOr(json, "DeterministicLevel", null)),
  };
}

const LEVELS: readonly string[] = ["DETERMINATE", "UNORDERED", "INDETERMINATE"] satisfies DeterministicLevel[];

/** The RDD's level, where it was recorded and is one that Spark has. */
function levelOf(level: string | null): Pick<RddInfo, "outputDeterministicLevel"> {
  return level !== null && LEVELS.includes(level) ? { outputDeterministicLevel: level as DeterministicLevel } : {};
}

/** RDDs by the list they were read from: the scanner gives the same list for a stage that another line described before. */
const RDD_INFOS = new WeakMap<object, readonly RddInfo[]>();

function rddInfosOf(json: JsonObject): readonly RddInfo[] {
  const list = objectsOf(json, "RDD Info");
  const source = json["RDD Info"];
  if (typeof source !== "object" || source === null) return list.map(rddInfoOf);
  let infos = RDD_INFOS.get(source);
  if (infos === undefined) RDD_INFOS.set(source, infos = list.map(rddInfoOf));
  return infos;
}

/** A scope as it nearly always is. */
const SCOPE_NAME = /^\{"id":"\d+","name":"([\w ]*)"\}$/;

/** The scope's name: Spark writes the scope as JSON in a text, `{"id":"1","name":"map"}`. */
function scopeName(scope: string | null): string | null {
  if (scope === null) return null;
  const plain = SCOPE_NAME.exec(scope);
  if (plain !== null) return plain[1];
  try {
    const parsed: unknown = JSON.parse(scope);
    return isObject(parsed) ? stringOr(parsed, "name", null) : null;
  } catch {
    return null;
  }
}

function accumulableOf(json: JsonObject): AccumulableInfo {
  const value = json["Value"];
  return {
    id: numberOf(json, "ID"),
    name: stringOr(json, "Name", null),
    value: accumulatorNumber(value) ??
      (typeof value === "string" ? value : null),
  };
}

/**
 * A stage's description.
 *
 * @throws {MalformedEvent} when it has no id, no number of tasks, or fields of other types.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { stageInfoOf } from "./stage_json.ts";
 *
 * assertEquals(stageInfoOf({ "Stage ID": 3, "Number of Tasks": 8 }).numTasks, 8);
 * ```
 */
export function stageInfoOf(json: JsonObject): StageInfo {
  return {
    stageId: countOf(json, "Stage ID"),
    attemptId: countOr(json, "Stage Attempt ID", 0),
    name: stringOr(json, "Stage Name", ""),
    numTasks: countOf(json, "Number of Tasks"),
    rddInfos: rddInfosOf(json),
    parentIds: idsOf(json, "Parent IDs"),
    details: stringOr(json, "Details", ""),
    submissionTime: numberOr(json, "Submission Time", null),
    completionTime: numberOr(json, "Completion Time", null),
    failureReason: stringOr(json, "Failure Reason", null),
    resourceProfileId: numberOr(json, "Resource Profile Id", 0),
    isShufflePushEnabled: booleanOr(json, "Shuffle Push Enabled", null),
    accumulables: objectsOf(json, "Accumulables").map(accumulableOf),
  };
}
