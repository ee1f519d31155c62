import { assertEquals } from "@std/assert";
import { SparkConf } from "../../src/spark/conf.ts";
import { containerMemory } from "../../src/spark/container.ts";

const MIB = 1048576;

function total(settings: Record<string, string>, version = "3.5.1"): number {
  return containerMemory(SparkConf.from(settings, version), "executor").total / MIB;
}

Deno.test("the overhead is a tenth of the heap, at least 384 MiB", () => {
  // YarnAllocator: max((0.10 * executorMemory).toInt, 384), in MiB.
  assertEquals(total({ "spark.executor.memory": "1g" }), 1024 + 384);
  assertEquals(total({ "spark.executor.memory": "10g" }), 10240 + 1024);
  assertEquals(total({ "spark.executor.memory": "8g" }), 8192 + 819);
});

Deno.test("a set overhead and a set factor go before the default", () => {
  assertEquals(total({ "spark.executor.memory": "8g", "spark.executor.memoryOverhead": "2g" }), 8192 + 2048);
  assertEquals(total({ "spark.executor.memory": "8g", "spark.executor.memoryOverheadFactor": "0.2" }), 8192 + 1638);
  assertEquals(
    total({
      "spark.executor.memory": "8g",
      "spark.master": "k8s://host",
      "spark.kubernetes.memoryOverheadFactor": "0.4",
    }),
    8192 + 3276,
  );
  assertEquals(total({ "spark.executor.memory": "1g", "spark.executor.minMemoryOverhead": "512m" }, "4.0.0"), 1536);
});

Deno.test("off-heap memory has room in the container from 3.0 on, and Python's limit too", () => {
  const settings = {
    "spark.executor.memory": "4g",
    "spark.memory.offHeap.enabled": "true",
    "spark.memory.offHeap.size": "2g",
  };
  assertEquals(total(settings, "2.4.0"), 4096 + 409);
  assertEquals(total(settings, "3.0.0"), 4096 + 409 + 2048);
  assertEquals(total({ ...settings, "spark.executor.pyspark.memory": "1g" }, "3.0.0"), 4096 + 409 + 2048 + 1024);
});

Deno.test("the driver has settings of its own", () => {
  const conf = SparkConf.from({ "spark.driver.memory": "6g", "spark.driver.memoryOverhead": "700" });
  assertEquals(containerMemory(conf, "driver"), {
    heap: 6144 * MIB,
    overhead: 700 * MIB,
    overheadFrom: "spark.driver.memoryOverhead",
    offHeap: 0,
    pyspark: 0,
    total: 6844 * MIB,
  });
});
