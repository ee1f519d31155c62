/**
 * What changed settings make of a workload before it runs: other executors, other numbers of partitions, another
 * storage level.
 *
 * @module
 */
import { type Cluster, type Evidence, executorStartupEvidence, type Workload } from "../simulator/workload.ts";
import { SparkConf } from "../spark/conf.ts";
import { localMaster } from "../spark/master.ts";
import { sizing } from "../spark/sizing.ts";
import { parseStorageLevel, type StorageLevel } from "../spark/storage_level.ts";
import { changedCluster } from "./changed_cluster.ts";
import { changedPartitions } from "./changed_partitions.ts";
import { changedPlans } from "./changed_plans.ts";

/** What is asked: settings by name (null removes one), and what is no setting. */
export interface Changes {
  /** Spark properties with their new texts, in Spark's syntax; null removes one. */
  readonly conf?: Readonly<Record<string, string | null>>;
  /** Name of a StorageLevel constant; for the RDDs that are cached. */
  readonly storageLevel?: string;
  /** How many executors, in place of those recorded. */
  readonly executors?: number;
  /** Version whose rules and defaults hold. */
  readonly sparkVersion?: string;
}

/** One setting that differs. */
export interface Change {
  /** Spark property, or `storageLevel`, `executors`, `sparkVersion`. */
  readonly key: string;
  /** As it was in force, the default where it was not set; null when it has none. */
  readonly from: string | null;
  /** Nobody had set it: `from` is the default of the version. */
  readonly fromDefault?: true;
  /** As it is in force now; null when it is removed and has no default. */
  readonly to: string | null;
}

/** Something that a change cannot be told to do from a log. */
export interface ChangeWarning {
  /** Stable identifier, `area.what`. */
  readonly code: string;
  /** One sentence for people. */
  readonly message: string;
  /** How many times. */
  readonly count: number;
}

/** A workload under changed settings, ready to run. */
export interface Changed {
  readonly workload: Workload;
  readonly conf: SparkConf;
  /** Level of all cached RDDs; null: their own. */
  readonly storageLevel: StorageLevel | null;
  readonly changes: readonly Change[];
  readonly warnings: readonly ChangeWarning[];
}

/** Settings that change the plan of a query, which a log does not tell: the recorded plan stays. */
const PLAN_SETTINGS = [
  "spark.sql.join.preferSortMergeJoin",
  "spark.sql.files.maxPartitionBytes",
  "spark.sql.adaptive.skewJoin.enabled",
  "spark.default.parallelism",
];

/**
 * Applies changes to a workload and its recorded settings.
 *
 * @throws {InputError} `storage_level.unknown`, `executors.count`, `sizing.static` for versions before 1.6, and what SparkConf says of a setting's text.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { WorkloadBuilder } from "../workload/from_event_log.ts";
 * import { applyChanges } from "./apply_changes.ts";
 *
 * const { changes } = applyChanges(new WorkloadBuilder().workload(), { conf: { "spark.memory.fraction": "0.8" } });
 * assertEquals(changes, [{ key: "spark.memory.fraction", from: "0.6", fromDefault: true, to: "0.8" }]);
 * ```
 */
export function applyChanges(workload: Workload, changes: Changes): Changed {
  const before = SparkConf.from(workload.conf, workload.sparkVersion || undefined);
  const renamed = changes.sparkVersion === undefined ? before : before.withVersion(changes.sparkVersion);
  const conf = renamed.with(changes.conf ?? {});
  refuseStaticManager(conf, workload.cluster);
  const storageLevel = changes.storageLevel === undefined ? null : parseStorageLevel(changes.storageLevel);
  const warnings: ChangeWarning[] = [];
  const widestStage = workload.demands.reduce((widest, { computeMs }) => Math.max(widest, computeMs.length), 1);
  const cluster = changedCluster(workload.cluster, {
    before,
    conf,
    executors: changes.executors ?? null,
    widestStage,
    warnings,
  });
  const planned = changedPlans(workload, { before, conf, warnings });
  const partitioned = changedPartitions(planned, { before, conf, cluster, warnings });
  warnAboutPlans(before, conf, warnings);
  warnAboutVersion(before, conf, warnings);
  if (storageLevel !== null && !workload.rdds.some((rdd) => rdd.storageLevel !== null)) {
    warnings.push({
      code: "storage_level.nothing_cached",
      message: "The storage level applies to cached RDDs, and none is cached",
      count: 1,
    });
  }
  return {
    workload: { ...partitioned, cluster, evidence: [...partitioned.evidence, ...provisionEvidence(workload, cluster)] },
    conf,
    storageLevel,
    changes: listChanges(before, conf, changes, workload),
    warnings,
  };
}

/** Memory before 1.6 is another one: it is refused before anything is asked that those versions do not have. */
function refuseStaticManager(conf: SparkConf, { master, collector, heapCommitted }: Cluster): void {
  if (conf.rules.memory.manager === "unified") return;
  sizing({ conf, role: localMaster(master) === null ? "executor" : "driver", collector, heapCommitted, cores: 1 });
}

/** Start-up times that the workload did not have. */
function provisionEvidence(workload: Workload, { provision }: Cluster): Evidence[] {
  return provision === null || workload.cluster.provision !== null
    ? []
    : [executorStartupEvidence(provision.startupMs)];
}

function listChanges(before: SparkConf, conf: SparkConf, changes: Changes, workload: Workload): Change[] {
  const listed: Change[] = [];
  for (const key of Object.keys(changes.conf ?? {}).sort()) {
    const from = before.get(key);
    const to = conf.get(key);
    const isDefault = from !== null && before.source(key) === "default";
    if (from !== to) listed.push({ key, from, ...(isDefault ? { fromDefault: true } : {}), to });
  }
  if (changes.sparkVersion !== undefined && changes.sparkVersion !== before.sparkVersion) {
    listed.push({ key: "sparkVersion", from: before.sparkVersion, to: changes.sparkVersion });
  }
  if (changes.storageLevel !== undefined) {
    listed.push({ key: "storageLevel", from: null, to: changes.storageLevel });
  }
  if (changes.executors !== undefined) {
    const from = String(workload.cluster.executors.length);
    listed.push({ key: "executors", from, to: String(changes.executors) });
  }
  return listed;
}

function warnAboutPlans(before: SparkConf, conf: SparkConf, warnings: ChangeWarning[]): void {
  for (const key of PLAN_SETTINGS) {
    if (before.get(key) === conf.get(key)) continue;
    warnings.push({
      code: "plan.kept",
      message: `${key} may change the plan of queries, which a log does not tell: the recorded plan is kept`,
      count: 1,
    });
  }
}

function warnAboutVersion(before: SparkConf, conf: SparkConf, warnings: ChangeWarning[]): void {
  const { schedulingWarning } = conf.rules;
  if (schedulingWarning !== null) warnings.push({ code: "version.scheduling", message: schedulingWarning, count: 1 });
  if (before.sparkVersion === conf.sparkVersion) return;
  const message = "Plans of queries, sizes of rows and results, and computing times stay as they were under Spark " +
    `${before.sparkVersion}: what the code of ${conf.sparkVersion} makes of them a log does not tell`;
  warnings.push({ code: "version.work_kept", message, count: 1 });
}
