/**
 * Checks parsed JSON against a valibot schema: the first thing wrong as one InputError with a pointer, properties that
 * nobody reads as warnings.
 *
 * @module
 */
import * as v from "valibot";
import { InputError } from "../errors.ts";
import { nearestName } from "../spark/nearest.ts";
import { jsonPointer } from "./strict_json.ts";

/** A warning about an input, counted. */
export interface InputWarning {
  /** Stable identifier, `area.what`. */
  readonly code: string;
  /** One sentence for people. */
  readonly message: string;
  /** How many times. */
  readonly count: number;
}

/** What {@linkcode checkInput} says in its messages. */
export interface CheckOptions {
  /** What is being read: "job spec", "request". */
  readonly what: string;
  /** Place of the value in a larger document. */
  readonly pointer?: string;
}

/** Warnings about unknown properties that are kept one by one; the rest is counted in the last. */
const MAX_WARNINGS = 20;

/**
 * Checks a value and gives what the schema makes of it.
 *
 * @throws {InputError} `input.missing`, `input.type`, `input.range`, `input.choice` or `input.invalid`.
 *
 * @example
 * ```ts
 * import { assertEquals, assertThrows } from "@std/assert";
 * import * as v from "valibot";
 * import { checkInput } from "./check_input.ts";
 *
 * const schema = v.object({ tasks: v.pipe(v.number(), v.minValue(1)) });
 * const { value, warnings } = checkInput(schema, { tasks: 1, taks: 2 }, { what: "spec" });
 * assertEquals(value, { tasks: 1 });
 * assertEquals(warnings[0].message, "Unknown property /taks is ignored: did you mean tasks?");
 * assertThrows(() => checkInput(schema, { tasks: 0 }, { what: "spec" }), TypeError, "/tasks: must be >=1: received 0");
 * ```
 */
export function checkInput<T>(
  schema: v.GenericSchema<unknown, T>,
  value: unknown,
  options: CheckOptions,
): { value: T; warnings: InputWarning[] } {
  const at = options.pointer ?? "";
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (!result.success) {
    throw inputError(deepestIssue(result.issues[0]), options.what, at);
  }
  const warnings: InputWarning[] = [];
  collectUnknown(schema as AnySchema, value, at, { what: options.what, warnings });
  return { value: result.output, warnings };
}

/** An issue and the keys that lead to it. */
interface PlacedIssue {
  readonly issue: v.BaseIssue<unknown>;
  readonly path: readonly (string | number)[];
}

/** A union reports an issue of each of its options: the one that lies deepest is of the option that was meant. */
function deepestIssue(issue: v.BaseIssue<unknown>): PlacedIssue {
  const path = (issue.path ?? []).map(({ key }) => key as string | number);
  let best: PlacedIssue = { issue, path };
  for (const inner of issue.issues ?? []) {
    const found = deepestIssue(inner as v.BaseIssue<unknown>);
    if (path.length + found.path.length > best.path.length) {
      best = { issue: found.issue, path: [...path, ...found.path] };
    }
  }
  return best;
}

const RANGE_ISSUES: ReadonlySet<string> = new Set([
  "min_value",
  "max_value",
  "integer",
  "safe_integer",
  "finite",
  "min_length",
  "max_length",
  "min_entries",
  "max_entries",
]);

function inputError(
  { issue, path }: PlacedIssue,
  what: string,
  at: string,
): InputError {
  const pointer = at + jsonPointer(path);
  const place = pointer === "" ? "it" : pointer;
  const choice = issue.type === "picklist" || issue.type === "literal" ||
    issue.type === "variant";
  const [code, must] = issue.received === "undefined"
    ? ["input.missing", "be given"]
    : choice
    ? ["input.choice", `be one of ${issue.expected}`]
    : RANGE_ISSUES.has(issue.type)
    ? ["input.range", `be ${expectation(issue)}`]
    : issue.kind === "schema"
    ? ["input.type", `be ${issue.expected}`]
    : ["input.invalid", issue.message];
  return new InputError(
    code,
    `Cannot use the ${what}: ${place}: must ${must}: received ${
      issue.received === "undefined" ? "nothing" : short(issue.received)
    }`,
    {
      parameters: {
        expected: issue.expected,
        received: short(issue.received),
      },
      pointer,
    },
  );
}

const EXPECTATIONS: Readonly<Record<string, string>> = {
  integer: "a whole number",
  safe_integer: "a whole number below 2^53",
  finite: "a finite number",
};

function expectation(issue: v.BaseIssue<unknown>): string {
  const unit = /length/.test(issue.type) ? " long" : /entries/.test(issue.type) ? " entries" : "";
  return EXPECTATIONS[issue.type] ?? `${issue.expected}${unit}`;
}

function short(text: string): string {
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`;
}

/** What this module reads of a valibot schema. */
interface AnySchema extends v.GenericSchema {
  readonly entries?: Readonly<Record<string, AnySchema>>;
  readonly item?: AnySchema;
  readonly wrapped?: AnySchema;
  readonly value?: AnySchema;
  readonly key?: string;
  readonly options?: readonly AnySchema[];
}

interface Collector {
  readonly what: string;
  readonly warnings: InputWarning[];
}

/** valibot takes an array for an object. */
function arrayForObject(what: string, at: string): InputError {
  return new InputError(
    "input.type",
    `Cannot use the ${what}: ${at === "" ? "it" : at}: must be Object: received Array`,
    { parameters: { expected: "Object", received: "Array" }, pointer: at },
  );
}

/** Walks a value that the schema has accepted and notes the properties that it does not name. */
function collectUnknown(
  schema: AnySchema,
  value: unknown,
  at: string,
  out: Collector,
): void {
  if (typeof value !== "object" || value === null) return;
  switch (schema.type) {
    case "optional":
    case "nullable":
    case "nullish":
    case "exact_optional":
      return collectUnknown(schema.wrapped!, value, at, out);
    case "union":
    case "variant": {
      const meant = chosenOption(schema, value);
      if (meant !== undefined) collectUnknown(meant, value, at, out);
      return;
    }
    case "array": {
      if (schema.item!.type === "number") return;
      for (const [i, element] of (value as unknown[]).entries()) {
        collectUnknown(schema.item!, element, `${at}/${i}`, out);
      }
      return;
    }
    case "record":
      if (Array.isArray(value)) throw arrayForObject(out.what, at);
      return;
    case "object": {
      if (Array.isArray(value)) throw arrayForObject(out.what, at);
      for (const key of Object.keys(value)) {
        const inner = (value as Record<string, unknown>)[key];
        const place = at + jsonPointer([key]);
        if (Object.hasOwn(schema.entries!, key)) {
          collectUnknown(schema.entries![key], inner, place, out);
        } else warnUnknown(place, key, Object.keys(schema.entries!), out.warnings);
      }
    }
  }
}

function chosenOption(
  schema: AnySchema,
  value: object,
): AnySchema | undefined {
  return schema.options!.find((option) =>
    schema.type === "variant" && option.type === "object"
      ? v.is(
        option.entries![schema.key!],
        (value as Record<string, unknown>)[schema.key!],
      )
      : v.is(option, value)
  );
}

function warnUnknown(
  place: string,
  key: string,
  known: readonly string[],
  out: InputWarning[],
): void {
  if (out.length === MAX_WARNINGS) {
    const last = out[MAX_WARNINGS - 1];
    out[MAX_WARNINGS - 1] = { ...last, count: last.count + 1 };
    return;
  }
  const near = nearestName(key, known);
  out.push({
    code: "input.unknown_property",
    message: `Unknown property ${short(place)} is ignored` +
      (near === null ? "" : `: did you mean ${near}?`),
    count: 1,
  });
}
