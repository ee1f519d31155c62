import { assertEquals } from "@std/assert";
import { thresholdsOf } from "../../src/report/thresholds.ts";
import { SparkConf } from "../../src/spark/conf.ts";

Deno.test("the smaller of maxDirectResultSize and the message size decides (Executor, Spark 2.0 and later)", () => {
  const { effectiveDirectLimit } = thresholdsOf(
    SparkConf.from({ "spark.task.maxDirectResultSize": "4m", "spark.rpc.message.maxSize": "1" }, "3.5.9"),
  );
  assertEquals(effectiveDirectLimit, 1048576);
});

Deno.test("before 2.0 a result is direct below the message size less 200 KiB (AkkaUtils)", () => {
  const thresholds = thresholdsOf(SparkConf.from({ "spark.akka.frameSize": "10" }, "1.6.3"));
  assertEquals(thresholds.effectiveDirectLimit, 10 * 1024 * 1024 - 200 * 1024 - 1);
});

Deno.test("before 1.2 there is no limit on the sum of results (SPARK-3466)", () => {
  assertEquals(thresholdsOf(SparkConf.from({}, "1.1.0")).maxResultSize, 0);
});

Deno.test("a text that Spark would refuse stands for the default", () => {
  assertEquals(
    thresholdsOf(SparkConf.from({ "spark.driver.maxResultSize": "lots" }, "3.5.9")).maxResultSize,
    1073741824,
  );
});

Deno.test("thresholds that nobody set are marked as the version's defaults", () => {
  const set = { "spark.driver.maxResultSize": "2g" };
  assertEquals(thresholdsOf(SparkConf.from(set, "3.5.9")).defaults, [
    "spark.task.maxDirectResultSize",
    "spark.rpc.message.maxSize",
  ]);
  // Before 2.0 the message size is spark.akka.frameSize.
  assertEquals(thresholdsOf(SparkConf.from(set, "1.6.3")).defaults, ["spark.akka.frameSize"]);
});
