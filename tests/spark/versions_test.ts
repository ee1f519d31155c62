import { assertEquals } from "@std/assert";
import { changedRules, mixedRules, rulesFor, VERSION_RULES } from "../../src/spark/versions.ts";

Deno.test("2.4.0 is told apart from its own later patches", () => {
  // Read in the sources of 2.4.0, 2.4.1, 2.4.4, 2.4.5, 2.4.7 and 2.4.8.
  const rules = changedRules("2.4.0", "2.4.8").map(({ rule }) => rule);
  assertEquals(rules, [
    "results.refusedResultIsKilled",
    "scheduler.separateFileLostEpoch",
    "scheduler.newTaskSetMakesOldZombie",
    "scheduler.indeterminateRollback",
    "scheduler.resubmitsOnlyEndedAttempts",
    "spilling.sorterTakesArrayInSpill",
    "spilling.exhaustedSorterSpills",
  ]);
  assertEquals(rulesFor("2.4.4").results.refusedResultIsKilled, false);
  assertEquals(rulesFor("2.4.5").results.refusedResultIsKilled, true);
});

Deno.test("an execution pool of 0 bytes is refused from 3.0 on", () => {
  assertEquals(
    ["1.6.3", "2.4.8", "3.0.0", "4.2.0"].map((version) => rulesFor(version).memory.refusesEmptyExecutionPool),
    [false, false, true, true],
  );
});

Deno.test("a fetch failure after an executor's loss: 3.0.0 lacks what 2.4.7 and 3.0.1 have", () => {
  assertEquals(
    ["2.4.0", "2.4.7", "3.0.0", "3.0.3"].map((version) => rulesFor(version).scheduler.separateFileLostEpoch),
    [false, true, false, true],
  );
});

Deno.test("a version before 1.6 has the static memory manager", () => {
  assertEquals(rulesFor("1.5.2").memory.manager, "static");
  assertEquals(rulesFor("1.6.0").memory.manager, "unified");
});

Deno.test("every rule has a value in every version, and its values are in order", () => {
  for (const version of ["1.0.0", "1.6.3", "2.4.0", "3.5.1", "4.2.0"]) {
    for (const [area, byName] of Object.entries(VERSION_RULES)) {
      for (const name of Object.keys(byName)) {
        const rules = rulesFor(version) as unknown as Record<
          string,
          Record<string, unknown>
        >;
        assertEquals(
          rules[area][name] === undefined,
          false,
          `${version} ${area}.${name}`,
        );
      }
    }
  }
});

Deno.test("changedRules() names what an upgrade changes, with its issue", () => {
  const changes = changedRules("3.3.4", "3.4.0");
  assertEquals(changes.map(({ rule, issue }) => [rule, issue]), [
    ["results.countsValueBytesOnly", "SPARK-40261"],
    ["scheduler.lossBeforeRunningIsNotCounted", "SPARK-39955"],
    ["scheduler.reportsNotSerializable", "SPARK-40094"],
    ["scheduler.typicalDuration", null],
    ["scheduler.checksEfficiency", "SPARK-32170"],
    ["scheduler.copiesCountByIndex", "SPARK-41192"],
    ["spilling.outOfMemoryText", null],
  ]);
  assertEquals(changedRules("4.1.3", "4.2.0").map(({ rule, issue }) => [rule, issue]), [
    ["scheduler.sharesIndeterminateRollback", "SPARK-54956"],
    ["scheduler.fetchFailedAbortText", null],
    ["scheduler.failuresCountAllAttempts", "SPARK-56496"],
  ]);
});

Deno.test("mixedRules() takes single rules from another version", () => {
  const mixed = mixedRules(rulesFor("4.1.0"), rulesFor("2.4.0"), ["results.mapStagesAbort", "texts.unitStyle"]);
  assertEquals([mixed.results.mapStagesAbort, mixed.texts.unitStyle, mixed.sparkVersion], [true, "MB", "4.1.0"]);
  assertEquals({ ...mixed.results, mapStagesAbort: false }, { ...rulesFor("4.1.0").results });
  assertEquals(rulesFor("4.1.0").results.mapStagesAbort, false);
});

Deno.test("an unknown version has the newest rules and says so; scheduling before 2.3 is warned of", () => {
  const { warning, schedulingWarning, memory } = rulesFor("9.9.0");
  assertEquals([warning, schedulingWarning], ["Spark 9.9.0 is not known: the rules of 4.2 are used", null]);
  assertEquals(memory, rulesFor("4.2.0").memory);
  const warned = ["1.6.3", "2.3.4", "2.4.0"].map((version) => rulesFor(version).schedulingWarning !== null);
  assertEquals(warned, [true, false, false]);
});

Deno.test("versions without number are kept in bounds: the rules of one are the same after many others", () => {
  const first = rulesFor("3.5.1");
  for (let patch = 100; patch < 1200; patch++) rulesFor(`3.5.${patch}`);
  assertEquals(rulesFor("3.5.1"), first);
});
