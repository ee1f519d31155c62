/**
 * The templates: usual shapes of Spark jobs with realistic figures.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import { nearestName } from "../spark/nearest.ts";
import type { InputWarning } from "./check_input.ts";
import type { JobSpec } from "./job_spec_types.ts";
import { specFromTemplate, type Template } from "./template.ts";
import { broadcast } from "./templates/broadcast.ts";
import { cachedIterative } from "./templates/cached_iterative.ts";
import { largeCollect } from "./templates/large_collect.ts";
import { manyTinyTasks } from "./templates/many_tiny_tasks.ts";
import { skewedJoin } from "./templates/skewed_join.ts";
import { sort } from "./templates/sort.ts";
import { wideAggregation } from "./templates/wide_aggregation.ts";

/**
 * All templates, in the order in which they are listed.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { TEMPLATES } from "./templates.ts";
 *
 * const { name, parameters } = TEMPLATES[0];
 * assertEquals([name, parameters.executors.kind], ["cached-iterative", "count"]);
 * ```
 */
export const TEMPLATES: readonly Template[] = Object.freeze([
  cachedIterative,
  wideAggregation,
  sort,
  skewedJoin,
  largeCollect,
  manyTinyTasks,
  broadcast,
]);

/**
 * The job spec of a template.
 *
 * @param parameters By name; those left out have their defaults.
 * @param pointer Place of `parameters` in a larger document, for errors.
 * @throws {InputError} `template.unknown`, naming the nearest; `input.*` and `size.*` for parameters.
 *
 * @example
 * ```ts
 * import { assertEquals, assertThrows } from "@std/assert";
 * import { jobSpecFromTemplate } from "./templates.ts";
 *
 * const { spec } = jobSpecFromTemplate("large-collect", { tasks: 8, resultBytes: "2m" });
 * assertEquals(spec.stages?.[0].tasks, 8);
 * assertThrows(() => jobSpecFromTemplate("sorts"), TypeError, "did you mean sort?");
 * ```
 */
export function jobSpecFromTemplate(
  name: string,
  parameters: unknown = {},
  pointer = "",
): { spec: JobSpec; warnings: readonly InputWarning[] } {
  const template = TEMPLATES.find((candidate) => candidate.name === name);
  if (template !== undefined) return specFromTemplate(template, parameters, pointer);
  const names = TEMPLATES.map((candidate) => candidate.name);
  const near = nearestName(name, names);
  const shown = name.length > 80 ? `${name.slice(0, 77)}...` : name;
  throw new InputError(
    "template.unknown",
    `Cannot use template ${shown}: must be one of ${names.join(", ")}` +
      (near === null ? "" : `: did you mean ${near}?`),
    { parameters: { name: shown, known: names } },
  );
}
