/**
 * The JSON Schema (draft 2020-12) of the job spec, made from the schema that checks it.
 *
 * @module
 */
import { toJsonSchema } from "@valibot/to-json-schema";
import { JobSpecSchema, SHARED_SCHEMAS } from "./job_spec_schema.ts";

/**
 * The document that src/workload/job_spec.schema.json holds.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { jobSpecJsonSchema } from "./json_schema.ts";
 *
 * assertEquals(jobSpecJsonSchema().title, "sparkmem job spec");
 * ```
 */
export function jobSpecJsonSchema(): Record<string, unknown> {
  const schema = toJsonSchema(JobSpecSchema, {
    target: "draft-2020-12",
    errorMode: "ignore",
    definitions: SHARED_SCHEMAS,
  });
  return { title: "sparkmem job spec", ...schema };
}
