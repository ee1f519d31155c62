/**
 * Properties of scheduling: cores, retries, locality, speculation, exclusion, dynamic allocation.
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

const { ms, seconds, int, double, boolean, string } = TYPES;

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

const WAIT = { fallback: "spark.locality.wait" };
const AT_LEAST_ZERO = check("Timeout must be >= 0.", (v) => v >= 0, "3.0.0");

const CORES: readonly ConfEntry[] = [
  confEntry(
    "spark.master",
    string,
    "0.9",
    null,
    "The cluster manager: local[N], yarn, spark://, k8s://.",
  ),
  confEntry(
    "spark.submit.deployMode",
    string,
    "1.5",
    "client",
    "Where the driver runs.",
  ),
  confEntry(
    "spark.executor.cores",
    int,
    "1.0",
    "1",
    "Tasks of one cpu that an executor runs at once (standalone: all cores of the worker unless set).",
  ),
  confEntry("spark.driver.cores", int, "1.3", "1", "Cores of the driver."),
  confEntry(
    "spark.executor.instances",
    int,
    "1.0",
    [["1.0", null]],
    "Number of executors (2 on YARN and Kubernetes unless set).",
    { declaredSince: "2.3.0" },
  ),
  confEntry(
    "spark.cores.max",
    int,
    "0.6",
    null,
    "Most cores that an application takes (standalone).",
  ),
  confEntry(
    "spark.task.cpus",
    int,
    "0.5",
    "1",
    "Cores of one task.",
    {
      declaredSince: "2.4.0",
      checks: [
        check(
          "Number of cores to allocate for each task should be positive.",
          (v) => v > 0,
          "4.2.0",
        ),
      ],
    },
  ),
  confEntry(
    "spark.default.parallelism",
    int,
    "0.5",
    null,
    "Partitions of shuffles of RDDs unless said.",
  ),
  confEntry(
    "spark.scheduler.mode",
    string,
    "0.8",
    "FIFO",
    "Jobs first come first served, or sharing fairly.",
  ),
  confEntry(
    "spark.scheduler.allocation.file",
    string,
    "0.8",
    null,
    "Pools of the fair scheduler.",
  ),
  confEntry(
    "spark.scheduler.revive.interval",
    ms,
    "0.8",
    "1s",
    "How often the scheduler looks for free cores again.",
  ),
  confEntry(
    "spark.scheduler.minRegisteredResourcesRatio",
    double,
    "1.1",
    null,
    "Part of the executors that is waited for before the first task.",
  ),
  confEntry(
    "spark.scheduler.maxRegisteredResourcesWaitingTime",
    ms,
    "1.1",
    "30s",
    "How long executors are waited for.",
  ),
];

const RETRIES: readonly ConfEntry[] = [
  confEntry(
    "spark.task.maxFailures",
    int,
    "0.8",
    "4",
    "Failures of one partition that abort the stage (local mode: 1, from local[N,F]).",
    { declaredSince: "2.2.0" },
  ),
  confEntry(
    "spark.stage.maxConsecutiveAttempts",
    int,
    "2.2",
    "4",
    "Attempts in a row that a stage may fail of fetch failures.",
  ),
  confEntry(
    "spark.stage.maxAttempts",
    int,
    "3.5",
    String(INT_MAX),
    "Attempts of a stage, for whatever reason.",
  ),
  confEntry(
    "spark.stage.ignoreDecommissionFetchFailure",
    boolean,
    "3.4",
    [["3.4.0", "false"], ["4.0.0", "true"]],
    "Fetch failures of decommissioned executors do not count.",
  ),
  confEntry(
    "spark.files.fetchFailure.unRegisterOutputOnHost",
    boolean,
    "2.3",
    "false",
    "A fetch failure takes all shuffle outputs of the host with it.",
    { declaredSince: "2.3.0" },
  ),
  confEntry(
    "spark.task.reaper.enabled",
    boolean,
    "2.0",
    "false",
    "Killed tasks are watched until they end.",
  ),
  confEntry(
    "spark.decommission.enabled",
    boolean,
    "3.1",
    "false",
    "Executors move their blocks away before they go.",
  ),
];

const LOCALITY: readonly ConfEntry[] = [
  confEntry(
    "spark.locality.wait",
    ms,
    "0.5",
    "3s",
    "How long a task waits for a better place.",
    { declaredSince: "2.4.0" },
  ),
  confEntry(
    "spark.locality.wait.process",
    ms,
    "0.8",
    null,
    "How long for the executor that has its block.",
    WAIT,
  ),
  confEntry(
    "spark.locality.wait.node",
    ms,
    "0.8",
    null,
    "How long for the host.",
    WAIT,
  ),
  confEntry(
    "spark.locality.wait.rack",
    ms,
    "0.8",
    null,
    "How long for the rack.",
    WAIT,
  ),
  confEntry(
    "spark.locality.wait.legacyResetOnTaskLaunch",
    boolean,
    "3.1",
    "false",
    "The wait starts anew with each task launched, as before 3.1.",
  ),
];

const SPECULATION: readonly ConfEntry[] = [
  confEntry(
    "spark.speculation",
    boolean,
    "0.6",
    "false",
    "Slow tasks get a second copy.",
  ),
  confEntry(
    "spark.speculation.interval",
    ms,
    "0.6",
    "100ms",
    "How often slow tasks are looked for.",
  ),
  confEntry(
    "spark.speculation.multiplier",
    double,
    "0.6",
    [["0.6", "1.5"], ["4.0.0", "3"]],
    "How many times the median a task must take.",
  ),
  confEntry(
    "spark.speculation.quantile",
    double,
    "0.6",
    [["0.6", "0.75"], ["4.0.0", "0.9"]],
    "Part of the tasks that must have finished.",
  ),
  confEntry(
    "spark.speculation.minTaskRuntime",
    ms,
    "3.2",
    "100ms",
    "Shorter tasks get no copy.",
  ),
  confEntry(
    "spark.speculation.task.duration.threshold",
    ms,
    "3.0",
    null,
    "Time after which a task of a stage with few tasks gets a copy.",
  ),
  confEntry(
    "spark.speculation.efficiency.enabled",
    boolean,
    "3.4",
    "true",
    "Only tasks that process slowly get a copy.",
  ),
  confEntry(
    "spark.speculation.efficiency.processRateMultiplier",
    double,
    "3.4",
    "0.75",
    "Below which part of the mean rate a task is slow.",
    {
      checks: [
        check("multiplier must be in (0.0, 1.0]", (v) => v > 0 && v <= 1),
      ],
    },
  ),
  confEntry(
    "spark.speculation.efficiency.longRunTaskFactor",
    double,
    "3.4",
    "2",
    "How long a task may take whatever its rate.",
    { checks: [check("Duration factor must be >= 1.0", (v) => v >= 1)] },
  ),
];

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

/** Of cores, retries, locality, speculation, exclusion and dynamic allocation. */
export const SCHEDULING_ENTRIES: readonly ConfEntry[] = [
  ...CORES,
  ...RETRIES,
  ...LOCALITY,
  ...SPECULATION,
  ...ALLOCATION,
  ...EXCLUSION,
];
