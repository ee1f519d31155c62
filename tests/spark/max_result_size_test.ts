import { assertEquals } from "@std/assert";
import { SparkConf } from "../../src/spark/conf.ts";
import { maxResultSizeOf } from "../../src/spark/max_result_size.ts";

Deno.test("the limit of results is in whole MiB before 2.4.0, and there is none before 1.2", () => {
  // Utils.getMaxResultSize of 1.6.3 to 2.3.4, read; the recorded traces 2.3.4/random-b have limits below 1 MiB, which did nothing.
  const limit = (text: string) =>
    ["1.1.0", "1.2.0", "2.3.4", "2.4.0", "4.2.0"].map((version) =>
      maxResultSizeOf(SparkConf.from({ "spark.driver.maxResultSize": text }, version))
    );
  const mib = 1024 * 1024;
  assertEquals(limit("2m"), [0, 2 * mib, 2 * mib, 2 * mib, 2 * mib]);
  assertEquals(limit("1500k"), [0, mib, mib, 1500 * 1024, 1500 * 1024]);
  assertEquals(limit("700"), [0, 0, 0, 700, 700]);
});
