import { assertEquals } from "@std/assert";
import { jobSpecSchemaText } from "../support/build_job_spec_schema.ts";

Deno.test("the published JSON Schema is made from the schema that checks job specs", async () => {
  const published = await Deno.readTextFile(new URL("../../src/workload/job_spec.schema.json", import.meta.url));
  assertEquals(published, jobSpecSchemaText(), "run: deno run -A tests/support/build_job_spec_schema.ts");
});
