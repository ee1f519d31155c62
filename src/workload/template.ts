/**
 * What a template is: a usual shape of job as a function of a few documented parameters.
 *
 * @module
 */
import * as v from "valibot";
import { STORAGE_LEVELS } from "../spark/storage_level.ts";
import { checkInput, type InputWarning } from "./check_input.ts";
import type { JobSpec } from "./job_spec_types.ts";
import { scalar } from "./quantity.ts";

/** One parameter of a template. */
export type TemplateParameter =
  | {
    /** `bytes` and `ms` take Spark's notation ("64m", "2s") as well; `count` is whole. */
    readonly kind: "count" | "bytes" | "ms" | "number";
    readonly default: number;
    readonly min: number;
    readonly max: number;
    readonly description: string;
  }
  | {
    readonly kind: "storageLevel";
    readonly default: string;
    readonly description: string;
  };

/** Parameters by name. */
export type TemplateParameters = Readonly<Record<string, TemplateParameter>>;

/** The values that a template's function gets: names for storage levels, else numbers in bytes, ms or as they are. */
export type ParameterValues<P extends TemplateParameters> = {
  readonly [K in keyof P]: P[K] extends { readonly kind: "storageLevel" } ? string : number;
};

/** A template. */
export interface Template {
  /** By which it is chosen: `template:NAME` on the command line. */
  readonly name: string;
  /** One sentence: the shape, and what is worth watching. */
  readonly description: string;
  /** What can be set, with defaults and ranges. */
  readonly parameters: TemplateParameters;
  /** The spec for checked values of all parameters. */
  readonly build: (values: Readonly<Record<string, number | string>>) => JobSpec;
}

/** Makes a template; its function knows the parameters by their types. */
export function defineTemplate<const P extends TemplateParameters>(
  template: Omit<Template, "parameters" | "build"> & {
    readonly parameters: P;
    readonly build: (values: ParameterValues<P>) => JobSpec;
  },
): Template {
  return template as unknown as Template;
}

/** The cluster parameters that every template has. */
export function clusterParameters(executors: number, cores: number) {
  return {
    executors: {
      kind: "count",
      default: executors,
      min: 1,
      max: 1000,
      description: "Executors, each on a host of its own",
    },
    cores: { kind: "count", default: cores, min: 1, max: 256, description: "Cores of each executor" },
  } as const satisfies TemplateParameters;
}

/** The valibot schema of a template's parameters, all of them optional. */
export function parametersSchema(
  parameters: TemplateParameters,
): v.GenericSchema<unknown, Readonly<Record<string, number | string | undefined>>> {
  const entries: Record<string, v.GenericSchema<unknown, number | string | undefined>> = {};
  for (const [name, parameter] of Object.entries(parameters)) {
    entries[name] = v.optional(v.pipe(parameterSchema(parameter), v.description(parameter.description)));
  }
  return v.object(entries);
}

function parameterSchema(parameter: TemplateParameter): v.GenericSchema<unknown, number | string> {
  if (parameter.kind === "storageLevel") {
    return v.picklist(Object.keys(STORAGE_LEVELS).filter((name) => name !== "NONE"));
  }
  const { kind, min, max } = parameter;
  const range = v.pipe(v.number(), v.minValue(min), v.maxValue(max));
  if (kind === "number") return range;
  if (kind === "count") return v.pipe(v.number(), v.safeInteger(), v.minValue(min), v.maxValue(max));
  return v.union([range, v.pipe(v.string(), v.maxLength(40))]);
}

/**
 * The spec of a template for the given parameters, the others at their defaults.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { defineTemplate, specFromTemplate } from "./template.ts";
 *
 * const one = defineTemplate({
 *   name: "one",
 *   description: "A single stage.",
 *   parameters: { tasks: { kind: "count", default: 4, min: 1, max: 9, description: "Tasks" } },
 *   build: ({ tasks }) => ({ stages: [{ id: 0, tasks }] }),
 * });
 * assertEquals(specFromTemplate(one).spec, { name: "one", stages: [{ id: 0, tasks: 4 }] });
 * ```
 *
 * @throws {InputError} `input.*`, `size.*` with a pointer to the parameter.
 */
export function specFromTemplate(
  template: Template,
  parameters: unknown = {},
  pointer = "",
): { spec: JobSpec; warnings: readonly InputWarning[] } {
  const { value, warnings } = checkInput(parametersSchema(template.parameters), parameters, {
    what: `parameters of ${template.name}`,
    pointer,
  });
  const values: Record<string, number | string> = {};
  for (const [name, parameter] of Object.entries(template.parameters)) {
    values[name] = parameterValue(parameter, value[name], `${pointer}/${name}`);
  }
  return { spec: { name: template.name, ...template.build(values) }, warnings };
}

/** A text such as "64m" is checked against the range once it is a number. */
function parameterValue(
  parameter: TemplateParameter,
  given: number | string | undefined,
  pointer: string,
): number | string {
  if (given === undefined || parameter.kind === "storageLevel") return given ?? parameter.default;
  const { kind, min, max } = parameter;
  if (kind === "number" || kind === "count") return given;
  const range = v.pipe(v.number(), v.minValue(min), v.maxValue(max));
  return checkInput(range, scalar(given, kind, pointer), { what: "parameters", pointer }).value;
}
