/**
 * A scenario: the settings that a user changed, and how they stand in a link and on a command line.
 *
 * @module
 */
import type { Changes } from "../../../src/what_if/apply_changes.ts";

/** What was changed; empty for nothing. */
export interface Scenario {
  readonly conf: Readonly<Record<string, string>>;
  readonly executors: number | null;
  readonly storageLevel: string | null;
  /** Another Spark version; absent: the log's. */
  readonly sparkVersion?: string;
}

/** Nothing changed. */
export const NO_CHANGES: Scenario = Object.freeze({ conf: Object.freeze({}), executors: null, storageLevel: null });

/** Whether anything is changed. */
export function isChanged({ conf, executors, storageLevel, sparkVersion }: Scenario): boolean {
  return Object.keys(conf).length > 0 || executors !== null || storageLevel !== null || sparkVersion !== undefined;
}

/** As the library takes it. */
export function changesOf({ conf, executors, storageLevel, sparkVersion }: Scenario): Changes {
  return {
    conf,
    ...(executors === null ? {} : { executors }),
    ...(storageLevel === null ? {} : { storageLevel }),
    ...(sparkVersion === undefined ? {} : { sparkVersion }),
  };
}

/** By the names that a sweep uses. */
export function settingsOf({ conf, executors, storageLevel, sparkVersion }: Scenario): Record<string, string> {
  return {
    ...conf,
    ...(executors === null ? {} : { executors: String(executors) }),
    ...(storageLevel === null ? {} : { storageLevel }),
    ...(sparkVersion === undefined ? {} : { sparkVersion }),
  };
}

/** The scenario with these settings, named as a sweep names them. */
export function scenarioOf(settings: Readonly<Record<string, string>>): Scenario {
  const { executors, storageLevel = null, sparkVersion, ...conf } = settings;
  return {
    conf,
    executors: executors === undefined ? null : Number(executors),
    storageLevel,
    ...(sparkVersion === undefined ? {} : { sparkVersion }),
  };
}

/**
 * Options of spark-submit. What is no property stands in a comment: where it is set depends on the cluster.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { submitOptions } from "./scenario.ts";
 *
 * const scenario = { conf: { "spark.executor.memory": "4g", "my.key": "a b" }, executors: 3, storageLevel: null };
 * assertEquals(
 *   submitOptions(scenario),
 *   "--conf spark.executor.memory=4g \\\n--conf 'my.key=a b' \\\n--conf spark.executor.instances=3",
 * );
 * ```
 */
export function submitOptions({ conf, executors, storageLevel }: Scenario): string {
  const settings = Object.entries(conf).map(([key, value]) => `${key}=${value}`);
  if (executors !== null && !("spark.executor.instances" in conf)) {
    settings.push(`spark.executor.instances=${executors}`);
  }
  const options = settings.map((setting) => `--conf ${quoted(setting)}`).join(" \\\n");
  return storageLevel === null ? options : `${options}\n# persist(StorageLevel.${storageLevel})`.trimStart();
}

/** Quoted for a POSIX shell where it has to be. */
function quoted(text: string): string {
  return /^[\w.,:/=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** What a link says: which run, and the scenario. The log itself is never in it. */
export interface Link {
  /** Id of a recorded run that the page offers. */
  readonly run: string | null;
  /** Application id of a user's own log. */
  readonly app: string | null;
  readonly scenario: Scenario;
}

/**
 * The part of an address after `#`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { linkText, readLink } from "./scenario.ts";
 *
 * const scenario = { conf: { "spark.executor.memory": "4g" }, executors: 3, storageLevel: "NONE", sparkVersion: "4.1" };
 * const link = { run: "cache", app: null, scenario };
 * assertEquals(linkText(link), "run=cache&spark.executor.memory=4g&executors=3&level=NONE&spark=4.1");
 * assertEquals(readLink(linkText(link)), link);
 * ```
 */
export function linkText({ run, app, scenario }: Link): string {
  const parameters = new URLSearchParams();
  if (run !== null) parameters.set("run", run);
  else if (app !== null) parameters.set("app", app);
  for (const [key, value] of Object.entries(scenario.conf)) parameters.set(key, value);
  if (scenario.executors !== null) parameters.set("executors", String(scenario.executors));
  if (scenario.storageLevel !== null) parameters.set("level", scenario.storageLevel);
  if (scenario.sparkVersion !== undefined) parameters.set("spark", scenario.sparkVersion);
  return parameters.toString();
}

/** Names in a link that are no properties. */
const OWN_NAMES: ReadonlySet<string> = new Set(["run", "app", "executors", "level", "spark"]);

/** Reads what {@linkcode linkText} wrote; what it does not know is a property. */
export function readLink(text: string): Link {
  const parameters = new URLSearchParams(text);
  const executors = Number(parameters.get("executors") ?? NaN);
  const sparkVersion = parameters.get("spark");
  const conf: Record<string, string> = {};
  for (const [key, value] of parameters) {
    if (!OWN_NAMES.has(key) && key.includes(".")) conf[key] = value;
  }
  return {
    run: parameters.get("run"),
    app: parameters.get("app"),
    scenario: {
      conf,
      executors: Number.isSafeInteger(executors) && executors > 0 ? executors : null,
      storageLevel: parameters.get("level"),
      ...(sparkVersion === null ? {} : { sparkVersion }),
    },
  };
}
