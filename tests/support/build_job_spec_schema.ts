/**
 * Writes src/workload/job_spec.schema.json. The test of json_schema.ts fails when the file is not current.
 *
 * @module
 */
import { jobSpecJsonSchema } from "../../src/workload/json_schema.ts";

/** The file's text. */
export function jobSpecSchemaText(): string {
  return JSON.stringify(jobSpecJsonSchema(), null, 2) + "\n";
}

if (import.meta.main) {
  await Deno.writeTextFile(
    new URL("../../src/workload/job_spec.schema.json", import.meta.url),
    jobSpecSchemaText(),
  );
}
