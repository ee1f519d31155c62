import { assertEquals } from "@std/assert";
import { parseJobSpec, workloadFromJobSpec } from "../../src/workload/job_spec.ts";
import { testService } from "../support/service.ts";

Deno.test("GET /v1/templates lists all, and each can be had as a job spec", async () => {
  const { get } = testService();
  const { templates } = await (await get("/v1/templates")).json();
  assertEquals(templates.length, 7);
  for (const { name, parameters } of templates) {
    assertEquals(Object.keys(parameters).length > 2, true);
    const { spec, warnings } = parseJobSpec(await (await get(`/v1/templates/${name}`)).json());
    assertEquals(warnings, []);
    assertEquals(workloadFromJobSpec(spec).name, name);
  }
});
