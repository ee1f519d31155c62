/**
 * Many settings for one workload: a grid of scenarios, one result each, and which of them nothing else beats.
 *
 * @module
 */
import { InputError, LimitError } from "../errors.ts";
import type { Recorded, Summary } from "../report/summary.ts";
import type { Workload } from "../simulator/workload.ts";
import { containerMemory } from "../spark/container.ts";
import { localMaster } from "../spark/master.ts";
import { applyChanges, type Changed, type Changes } from "./apply_changes.ts";
import { type RunOptions, runWorkload } from "./run_workload.ts";
import { checkUpgradedStartup } from "./version_refusal.ts";

/** What is varied: Spark properties, `storageLevel`, `executors`, `sparkVersion`, each with its values. */
export type Vary = Readonly<Record<string, readonly string[]>>;

/** One combination of settings. */
export interface Scenario {
  /** By which its result is found again. */
  readonly id: string;
  /** By the names of {@linkcode Vary}; an empty text unsets a property. */
  readonly settings: Readonly<Record<string, string>>;
}

/** What a scenario comes to; sizes in bytes, times in ms. */
export interface SweepFigures {
  /** Of the whole application. */
  readonly durationMs: Recorded;
  /** Memory asked of the cluster manager for all executors (in local mode the driver): heap, overhead, off-heap. */
  readonly clusterMemoryBytes: number;
  /** How many there are. */
  readonly executors: number;
  /** Cached blocks that left memory for others or for execution. */
  readonly blocksEvicted: Recorded;
  /** Their bytes in memory. */
  readonly bytesEvicted: Recorded;
  /** Reads of cached partitions that were in neither memory nor disk. */
  readonly cacheMisses: Recorded;
  /** In memory, before the spill. */
  readonly memoryBytesSpilled: Recorded;
  /** On disk, after it. */
  readonly diskBytesSpilled: Recorded;
  /** Tasks that spilled. */
  readonly spilledTasks: Recorded;
  /** Acquires of execution memory that waited. */
  readonly waits: Recorded;
  /** Tasks that failed for want of memory. */
  readonly oomTasks: Recorded;
  /** Results that went through the block manager (spark.task.maxDirectResultSize). */
  readonly indirectResults: Recorded;
  /** Results that spark.driver.maxResultSize dropped. */
  readonly droppedResults: Recorded;
}

/** One line of a sweep. */
export type SweepResult =
  | {
    readonly id: string;
    readonly settings: Readonly<Record<string, string>>;
    readonly status: Summary["outcome"]["status"];
    readonly reason: string | null;
    readonly figures: SweepFigures;
  }
  | {
    readonly id: string;
    readonly settings: Readonly<Record<string, string>>;
    readonly status: "refused";
    /** Why the settings cannot be run: Spark refuses them, or they are not simulated. */
    readonly reason: string;
    readonly code: string;
    readonly figures: null;
  };

/**
 * Number of combinations.
 *
 * @throws {InputError} `sweep.vary` when there is nothing to vary.
 * @throws {LimitError} `limit.scenarios` for more than `limit`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { gridSize } from "./sweep.ts";
 *
 * assertEquals(gridSize({ "spark.executor.memory": ["1g", "2g"], executors: ["2", "4", "8"] }, 100), 6);
 * ```
 */
export function gridSize(vary: Vary, limit: number): number {
  const lists = Object.entries(vary);
  const empty = lists.find(([, values]) => values.length === 0);
  if (lists.length === 0 || empty !== undefined) {
    const what = empty === undefined ? "no setting" : `no value of ${empty[0]}`;
    throw new InputError("sweep.vary", `Cannot sweep: must have a setting with values to vary: received ${what}`);
  }
  let size = 1;
  for (const [, values] of lists) size *= values.length;
  if (size > limit) {
    throw new LimitError("limit.scenarios", `Cannot sweep: must have at most ${limit} combinations: received ${size}`, {
      parameters: { limit, received: size },
    });
  }
  return size;
}

/**
 * All combinations, the last setting varying fastest. Ids count from 0.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { gridScenarios } from "./sweep.ts";
 *
 * const [first, second] = gridScenarios({ "spark.executor.memory": ["1g"], "spark.memory.fraction": ["0.4", "0.6"] });
 * assertEquals(first, { id: "0", settings: { "spark.executor.memory": "1g", "spark.memory.fraction": "0.4" } });
 * assertEquals(second.settings["spark.memory.fraction"], "0.6");
 * ```
 */
export function* gridScenarios(vary: Vary): Generator<Scenario> {
  const keys = Object.keys(vary);
  const size = gridSize(vary, Infinity);
  for (let id = 0; id < size; id++) {
    const settings: Record<string, string> = {};
    let rest = id;
    for (let i = keys.length - 1; i >= 0; i--) {
      const values = vary[keys[i]];
      settings[keys[i]] = values[rest % values.length];
      rest = Math.floor(rest / values.length);
    }
    yield { id: String(id), settings: Object.fromEntries(keys.map((key) => [key, settings[key]])) };
  }
}

/**
 * A scenario's settings as changes of a workload.
 *
 * @throws {InputError} `sweep.setting` for a name that is no Spark property, `storageLevel`, `executors` or `sparkVersion`.
 */
export function scenarioChanges(settings: Scenario["settings"]): Changes {
  const conf: Record<string, string | null> = {};
  let storageLevel: string | undefined;
  let executors: number | undefined;
  let sparkVersion: string | undefined;
  for (const [key, value] of Object.entries(settings)) {
    if (key === "storageLevel") storageLevel = value;
    else if (key === "executors") executors = Number(value);
    else if (key === "sparkVersion") sparkVersion = value;
    else if (key.startsWith("spark.")) conf[key] = value === "" ? null : value;
    else {
      throw new InputError(
        "sweep.setting",
        `Cannot vary ${key}: must be a property that begins with "spark.", storageLevel, executors or sparkVersion`,
        { parameters: { key } },
      );
    }
  }
  return {
    conf,
    ...(storageLevel === undefined ? {} : { storageLevel }),
    ...(executors === undefined ? {} : { executors }),
    ...(sparkVersion === undefined ? {} : { sparkVersion }),
  };
}

/**
 * A workload under one scenario, checked as Spark checks its settings at start.
 *
 * @throws {InputError} what Spark refuses, and what is not simulated.
 */
export function scenarioRun(workload: Workload, scenario: Scenario): Changed {
  const changed = applyChanges(workload, scenarioChanges(scenario.settings));
  checkUpgradedStartup(changed.conf, workload.sparkVersion || changed.conf.sparkVersion, {
    collector: workload.cluster.collector,
  });
  return changed;
}

/** The line of a scenario that has run. */
export function sweepResult(scenario: Scenario, changed: Changed, summary: Summary): SweepResult {
  const { id, settings } = scenario;
  const { status, reason } = summary.outcome;
  return { id, settings, status, reason, figures: figuresOf(changed, summary) };
}

/** The line of a scenario that cannot run; anything but bad input is thrown on. */
export function refusedResult(scenario: Scenario, error: unknown): SweepResult {
  if (!(error instanceof InputError)) throw error;
  const { id, settings } = scenario;
  return { id, settings, status: "refused", reason: error.message, code: error.code, figures: null };
}

/**
 * Runs one scenario.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "../simulator/workload.ts";
 * import { runScenario } from "./sweep.ts";
 *
 * const workload = emptyWorkload("nothing");
 * assertEquals(runScenario(workload, { id: "a", settings: {} }).status, "succeeded");
 * assertEquals(runScenario(workload, { id: "b", settings: { "spark.executor.memory": "100m" } }).status, "refused");
 * ```
 */
export function runScenario(workload: Workload, scenario: Scenario, options: RunOptions = {}): SweepResult {
  try {
    const changed = scenarioRun(workload, scenario);
    return sweepResult(scenario, changed, runWorkload(changed, options));
  } catch (error) {
    return refusedResult(scenario, error);
  }
}

/** Combinations of a sweep unless said. */
const MAX_SCENARIOS = 100_000;

/**
 * Runs every combination of the values, one after the other; each result comes as soon as it is known.
 *
 * @throws {InputError} `sweep.vary` when there is nothing to vary; settings that Spark refuses are results.
 * @throws {LimitError} `limit.scenarios` for more than `maxScenarios` combinations (100,000 unless said).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "../simulator/workload.ts";
 * import { sweep } from "./sweep.ts";
 *
 * const results = [...sweep(emptyWorkload("nothing"), { "spark.executor.memory": ["100m", "1g"] })];
 * assertEquals(results.map(({ status }) => status), ["refused", "succeeded"]);
 * ```
 */
export function* sweep(
  workload: Workload,
  vary: Vary,
  options: RunOptions & { readonly maxScenarios?: number } = {},
): Generator<SweepResult> {
  const { maxScenarios = MAX_SCENARIOS, ...running } = options;
  gridSize(vary, maxScenarios);
  for (const scenario of gridScenarios(vary)) yield runScenario(workload, scenario, running);
}

/** Memory that the executors of a run are asked for, bytes. */
export function clusterMemoryBytes({ workload, conf }: Changed): number {
  const { executors, master } = workload.cluster;
  if (localMaster(master) !== null) return containerMemory(conf, "driver").total;
  return executors.length * containerMemory(conf, "executor").total;
}

function figuresOf(changed: Changed, summary: Summary): SweepFigures {
  const { storage, execution, results } = summary;
  return {
    durationMs: summary.durationMs,
    clusterMemoryBytes: clusterMemoryBytes(changed),
    executors: changed.workload.cluster.executors.length,
    blocksEvicted: storage.blocksEvicted,
    bytesEvicted: storage.bytesEvicted,
    cacheMisses: storage.cacheMisses,
    memoryBytesSpilled: execution.memoryBytesSpilled,
    diskBytesSpilled: execution.diskBytesSpilled,
    spilledTasks: execution.spilledTasks,
    waits: execution.waits,
    oomTasks: execution.oomTasks,
    indirectResults: results.indirect,
    droppedResults: results.dropped,
  };
}

/**
 * Ids of the successful results that no other beats in both memory and time, by memory.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { paretoIds } from "./sweep.ts";
 *
 * const point = (id: string, clusterMemoryBytes: number, durationMs: number) => ({ id, clusterMemoryBytes, durationMs });
 * assertEquals(paretoIds([point("a", 4, 10), point("b", 2, 20), point("c", 4, 30), point("d", 8, 10)]), ["b", "a"]);
 * ```
 */
export function paretoIds(
  points: readonly { readonly id: string; readonly clusterMemoryBytes: number; readonly durationMs: number }[],
): string[] {
  const sorted = [...points].sort((a, b) => a.clusterMemoryBytes - b.clusterMemoryBytes || a.durationMs - b.durationMs);
  let best = Infinity;
  const ids: string[] = [];
  for (const { id, durationMs } of sorted) {
    if (durationMs >= best) continue;
    best = durationMs;
    ids.push(id);
  }
  return ids;
}

/** The Pareto line of a sweep's results. */
export function paretoOf(results: readonly SweepResult[]): string[] {
  return paretoIds(
    results.flatMap(({ id, status, figures }) =>
      status === "succeeded" && figures !== null && figures.durationMs !== null
        ? [{ id, clusterMemoryBytes: figures.clusterMemoryBytes, durationMs: figures.durationMs }]
        : []
    ),
  );
}
