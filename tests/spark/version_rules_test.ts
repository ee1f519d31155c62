import { assertEquals } from "@std/assert";
import { holdsSince, resolveVersion } from "../../src/spark/spark_version.ts";
import { VERSION_RULES, type VersionRule } from "../../src/spark/versions.ts";

/** Every rule, with its name. */
function* rules(): Generator<[name: string, rule: VersionRule<unknown>]> {
  for (const [area, byName] of Object.entries(VERSION_RULES)) {
    for (const [name, rule] of Object.entries(byName)) yield [`${area}.${name}`, rule as VersionRule<unknown>];
  }
}

Deno.test("the values of a rule are in order of their versions, and differ from one to the next", () => {
  for (const [name, { values }] of rules()) {
    for (let i = 1; i < values.length; i++) {
      const [since, value] = values[i];
      const first = resolveVersion(typeof since === "string" ? since : since[0]);
      assertEquals(holdsSince(first, values[i - 1][0]), true, name);
      assertEquals(value === values[i - 1][1], false, name);
    }
  }
});

Deno.test("a rule says what it decides, and issues are SPARK issues", () => {
  for (const [name, { summary, issue }] of rules()) {
    assertEquals(summary.length > 20 && !summary.endsWith("."), true, name);
    assertEquals(issue === null || /^SPARK-\d{4,5}$/.test(issue), true, name);
  }
});
