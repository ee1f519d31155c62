import { assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { parseJobSpec, workloadFromJobSpec } from "../../src/workload/job_spec.ts";
import { jobSpecFromTemplate, TEMPLATES } from "../../src/workload/templates.ts";

Deno.test("templates have the names of the contract", () => {
  assertEquals(TEMPLATES.map(({ name }) => name), [
    "cached-iterative",
    "wide-aggregation",
    "sort",
    "skewed-join",
    "large-collect",
    "many-tiny-tasks",
    "broadcast",
  ]);
});

Deno.test("every template is a valid spec at its defaults and with each parameter at either end of its range", () => {
  for (const template of TEMPLATES) {
    const build = (parameters: Record<string, unknown>) => {
      const { spec, warnings } = jobSpecFromTemplate(template.name, parameters);
      assertEquals(warnings, []);
      const parsed = parseJobSpec(JSON.parse(JSON.stringify(spec)));
      assertEquals(parsed.warnings, []);
      return workloadFromJobSpec(parsed.spec);
    };
    assertEquals(build({}).warnings, []);
    for (const [name, parameter] of Object.entries(template.parameters)) {
      if (parameter.kind === "storageLevel") {
        for (const level of ["MEMORY_ONLY", "MEMORY_AND_DISK_SER", "DISK_ONLY", "OFF_HEAP"]) build({ [name]: level });
        continue;
      }
      build({ [name]: parameter.min });
      const { max } = parameter;
      // A hundred thousand partitions are tried where they are cheap: in the stages' own limits tests.
      build({ [name]: parameter.kind === "count" ? Math.min(max, 3000) : max });
      const error = assertThrows(() => build({ [name]: max * 2 }), InputError);
      assertEquals([error.code, error.pointer], ["input.range", `/${name}`], `${template.name} ${name}`);
    }
  }
});

Deno.test("a parameter that no template has is a warning; a wrong one an error with a pointer", () => {
  const { warnings } = jobSpecFromTemplate("sort", { reducer: 4 });
  assertEquals(warnings[0].message, "Unknown property /reducer is ignored: did you mean reducers?");
  const error = assertThrows(() => jobSpecFromTemplate("sort", { inputBytes: "much" }, "/parameters"), InputError);
  assertEquals([error.code, error.pointer], ["size.bytes", "/parameters/inputBytes"]);
  assertThrows(() => jobSpecFromTemplate("constructor"), InputError, "must be one of");
});
