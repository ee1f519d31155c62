import { assertEquals } from "@std/assert";
import { holdsSince, parseSparkVersion, resolveVersion, valueIn } from "../../src/spark/spark_version.ts";

Deno.test("parseSparkVersion() leaves out what distributors append", () => {
  assertEquals(parseSparkVersion("2.4.0.cloudera2"), [2, 4, 0]);
  assertEquals(parseSparkVersion("3.1.1.3.1.7270.0-253"), [3, 1, 1]);
  assertEquals(parseSparkVersion("2.3.0-SNAPSHOT"), [2, 3, 0]);
  assertEquals(parseSparkVersion("4.0.0-preview2"), [4, 0, 0]);
  assertEquals(parseSparkVersion("3"), null);
  assertEquals(parseSparkVersion(""), null);
});

Deno.test("an unknown version uses the newest known line that is not newer, and says so", () => {
  assertEquals(resolveVersion("5.1.0").number.slice(0, 2), [4, 2]);
  assertEquals(
    resolveVersion("2.9.0").warning,
    "Spark 2.9.0 is not known: the rules of 2.4 are used",
  );
  assertEquals(resolveVersion("0.9.1").number.slice(0, 2), [1, 0]);
  assertEquals(
    resolveVersion("unknown").warning,
    'Spark version "unknown" is not a version: the rules of the newest known line, 4.2, are used',
  );
  assertEquals(resolveVersion("3.5.99").warning, null);
});

Deno.test("holdsSince() lets each line decide for itself", () => {
  const since = ["2.3.4", "2.4.1", "3.0.0"];
  const has = (version: string) => holdsSince(resolveVersion(version), since);
  assertEquals(
    ["2.2.3", "2.3.2", "2.3.4", "2.4.0", "2.4.1", "3.0.0", "3.5.1"].map(has),
    [false, false, true, false, true, true, true],
  );
});

Deno.test("valueIn() gives the last value that holds", () => {
  const values = [["1.0", "a"], ["3.3.0", "b"], ["4.1.0", "c"]] as const;
  assertEquals(
    ["3.2.9", "3.3.0", "4.0.9", "4.1.0", "9.9.9"].map((version) => valueIn(resolveVersion(version), values)),
    ["a", "b", "b", "c", "c"],
  );
});
