/**
 * Properties of the set of executors: dynamic allocation, exclusion of those that fail.
 *
 * @module
 */
import {
  check,
  type ConfAlternative,
  type ConfEntry,
  confEntry,
  type ConfType,
  INT_MAX,
  TYPES,
} from "../conf_entry.ts";

const { ms, seconds, int, double, boolean } = TYPES;

/** The names of exclusion: spark.excludeOnFailure.* since 3.1, spark.blacklist.* before. */
function exclusion(
  name: string,
  oldName: string,
  type: ConfType,
  value: string | null,
  doc: string,
): ConfEntry[] {
  const key = `spark.excludeOnFailure.${name}`;
  const oldKey = `spark.blacklist.${oldName}`;
  const alternatives: ConfAlternative[] = [{
    key: oldKey,
    deprecatedIn: "3.1.0",
  }];
  return [
    confEntry(key, type, "2.1", value, doc, {
      alternatives,
      namedSince: "3.1.0",
    }),
    confEntry(oldKey, type, "2.1", value, doc, {
      until: "3.1.0",
      declaredSince: "2.1.0",
    }),
  ];
}

const AT_LEAST_ZERO = check("Timeout must be >= 0.", (v) => v >= 0, "3.0.0");

const ALLOCATION: readonly ConfEntry[] = [
  confEntry(
    "spark.dynamicAllocation.enabled",
    boolean,
    "1.2",
    "false",
    "The number of executors follows the tasks that wait.",
  ),
  confEntry(
    "spark.dynamicAllocation.minExecutors",
    int,
    "1.2",
    "0",
    "Fewest executors.",
    { declaredSince: "1.5" },
  ),
  confEntry(
    "spark.dynamicAllocation.maxExecutors",
    int,
    "1.2",
    String(INT_MAX),
    "Most executors.",
    { declaredSince: "1.5" },
  ),
  confEntry(
    "spark.dynamicAllocation.initialExecutors",
    int,
    "1.3",
    null,
    "Executors at the start.",
    {
      fallback: "spark.dynamicAllocation.minExecutors",
      declaredSince: "1.5",
    },
  ),
  confEntry(
    "spark.dynamicAllocation.executorAllocationRatio",
    double,
    "2.4",
    "1",
    "Part of the executors that the waiting tasks could use.",
    { declaredSince: "2.4.0" },
  ),
  confEntry(
    "spark.dynamicAllocation.executorIdleTimeout",
    seconds,
    "1.2",
    "60s",
    "After which idle time an executor goes.",
    { checks: [AT_LEAST_ZERO] },
  ),
  confEntry(
    "spark.dynamicAllocation.cachedExecutorIdleTimeout",
    seconds,
    "1.4",
    String(INT_MAX),
    "The same for executors with cached blocks.",
    { checks: [AT_LEAST_ZERO] },
  ),
  confEntry(
    "spark.dynamicAllocation.schedulerBacklogTimeout",
    seconds,
    "1.2",
    "1s",
    "How long tasks wait before the first executor is asked for.",
  ),
  confEntry(
    "spark.dynamicAllocation.sustainedSchedulerBacklogTimeout",
    seconds,
    "1.2",
    null,
    "How long before the next ones.",
    { fallback: "spark.dynamicAllocation.schedulerBacklogTimeout" },
  ),
  confEntry(
    "spark.dynamicAllocation.shuffleTracking.enabled",
    boolean,
    "3.0",
    [["3.0.0", "false"], ["3.4.0", "true"]],
    "Executors with shuffle files that are needed stay.",
  ),
  confEntry(
    "spark.dynamicAllocation.shuffleTracking.timeout",
    ms,
    "3.0",
    "9223372036854775807",
    "How long executors with shuffle files stay.",
    { checks: [AT_LEAST_ZERO] },
  ),
];

const EXCLUSION: readonly ConfEntry[] = [
  ...exclusion(
    "enabled",
    "enabled",
    boolean,
    null,
    "Executors and hosts on which tasks fail get no more.",
  ),
  ...exclusion(
    "task.maxTaskAttemptsPerExecutor",
    "task.maxTaskAttemptsPerExecutor",
    int,
    "1",
    "Failures of a task on an executor.",
  ),
  ...exclusion(
    "task.maxTaskAttemptsPerNode",
    "task.maxTaskAttemptsPerNode",
    int,
    "2",
    "Failures of a task on a host.",
  ),
  ...exclusion(
    "stage.maxFailedTasksPerExecutor",
    "stage.maxFailedTasksPerExecutor",
    int,
    "2",
    "Failed tasks of a stage on an executor.",
  ),
  ...exclusion(
    "stage.maxFailedExecutorsPerNode",
    "stage.maxFailedExecutorsPerNode",
    int,
    "2",
    "Excluded executors of a stage on a host.",
  ),
  ...exclusion(
    "application.maxFailedTasksPerExecutor",
    "application.maxFailedTasksPerExecutor",
    int,
    "2",
    "Failed tasks of the application on an executor.",
  ),
  ...exclusion(
    "application.maxFailedExecutorsPerNode",
    "application.maxFailedExecutorsPerNode",
    int,
    "2",
    "Excluded executors of the application on a host.",
  ),
  ...exclusion(
    "timeout",
    "timeout",
    ms,
    null,
    "How long the application's exclusion lasts (1 h unless set).",
  ),
  ...exclusion(
    "killExcludedExecutors",
    "killBlacklistedExecutors",
    boolean,
    "false",
    "Excluded executors are killed.",
  ),
];

/** Of dynamic allocation and exclusion. */
export const EXECUTOR_ENTRIES: readonly ConfEntry[] = [
  ...ALLOCATION,
  ...EXCLUSION,
];
