/**
 * Properties of scheduling: cores, retries, locality, speculation.
 *
 * @module
 */
import { check, type ConfEntry, confEntry, INT_MAX, TYPES } from "../conf_entry.ts";

const { ms, int, double, boolean, string } = TYPES;

const WAIT = { fallback: "spark.locality.wait" };

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

/** Of cores, retries, locality and speculation. */
export const SCHEDULING_ENTRIES: readonly ConfEntry[] = [
  ...CORES,
  ...RETRIES,
  ...LOCALITY,
  ...SPECULATION,
];
