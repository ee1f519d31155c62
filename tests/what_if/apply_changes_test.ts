import { assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { applyChanges } from "../../src/what_if/apply_changes.ts";
import { workloadOfLog } from "../support/event_logs.ts";

Deno.test("changes are listed with what was in force before", async () => {
  const workload = await workloadOfLog("sql_join");
  const { changes } = applyChanges(workload, {
    conf: { "spark.executor.memory": "1g", "spark.executor.cores": null, "spark.driver.memory": "1g" },
    executors: 3,
  });
  assertEquals(changes, [
    { key: "spark.executor.cores", from: "2", to: "1" },
    { key: "spark.executor.memory", from: "512m", to: "1g" },
    { key: "executors", from: "2", to: "3" },
  ]);
});

Deno.test("a setting that may change the plan keeps the recorded one and says so; joins are planned anew", async () => {
  const workload = await workloadOfLog("sql_join");
  const codes = (conf: Record<string, string>) => applyChanges(workload, { conf }).warnings.map(({ code }) => code);
  assertEquals(codes({ "spark.sql.files.maxPartitionBytes": "1m" }), ["plan.kept"]);
  assertEquals(codes({ "spark.sql.autoBroadcastJoinThreshold": "100m" }), ["plan.rewritten"]);
});

Deno.test("a storage level without cached RDDs is a warning, an unknown one an error", async () => {
  const workload = await workloadOfLog("sql_join");
  const { warnings } = applyChanges(workload, { storageLevel: "MEMORY_AND_DISK" });
  assertEquals(warnings.map(({ code }) => code), ["storage_level.nothing_cached"]);
  assertThrows(() => applyChanges(workload, { storageLevel: "HEAP" }), InputError, "Cannot use storage level");
});

Deno.test("another version keeps plans and sizes and says so; scheduling before 2.3 is told", async () => {
  const workload = await workloadOfLog("unpersist");
  const codes = (sparkVersion: string) => applyChanges(workload, { sparkVersion }).warnings.map(({ code }) => code);
  assertEquals(codes("4.1.0").includes("version.work_kept"), true);
  assertEquals(codes(workload.sparkVersion).includes("version.work_kept"), false);
  assertEquals([codes("2.2.3"), codes("2.4.0")].map((list) => list.includes("version.scheduling")), [true, false]);
});
