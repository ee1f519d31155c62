import { assertEquals } from "@std/assert";
import { nearestName } from "../../src/spark/nearest.ts";

Deno.test("nearestName() forgives a swap, a slip, a missing and a superfluous character, and case", () => {
  const names = ["heap-max", "format", "collector"];
  for (const typed of ["hepmax", "heap-mxa", "heap-maxx", "HEAP-MAX"]) {
    assertEquals(nearestName(typed, names), "heap-max");
  }
  assertEquals(nearestName("fromat", names), "format");
});

Deno.test("nearestName() takes the nearest of several, and none that is far", () => {
  assertEquals(nearestName("spark.driver.memor", ["spark.driver.cores", "spark.driver.memory"]), "spark.driver.memory");
  assertEquals(nearestName("x", ["role", "conf"]), null);
  assertEquals(nearestName("spark.ui.port", ["spark.memory.fraction"]), null);
  assertEquals(nearestName("a".repeat(10_000), ["a".repeat(10_000)]), null);
});

Deno.test("nearestName() passes over candidates that are too long to be names", () => {
  assertEquals(nearestName("rle", ["r".repeat(10_000), "role"]), "role");
});
