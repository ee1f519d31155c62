import { assertEquals } from "@std/assert";
import { ExecutorTable } from "../../src/workload/from_event_log_cluster.ts";
import { jvmOf } from "../../src/workload/from_event_log_jvm.ts";

function collector(maxOnHeapMemory: number | null, conf: Record<string, string>, javaVersion = "17.0.15") {
  const executors = new ExecutorTable();
  if (maxOnHeapMemory !== null) {
    const at = { time: 0, executorId: "0", host: "h", maximumMemory: maxOnHeapMemory };
    executors.blockManagerAdded({
      kind: "blockManagerAdded",
      ...at,
      maximumOnHeapMemory: maxOnHeapMemory,
      maximumOffHeapMemory: 0,
    });
  }
  const jvm = { "Java Version": javaVersion };
  const application = { name: "", id: null, sparkVersion: "3.5.9", startTime: null, endTime: null, conf, jvm };
  return jvmOf(application, executors, false).collector;
}

Deno.test("the recorded maximum tells the collector", () => {
  // 1g: 434.4 MiB under G1, 366.3 under the parallel collector (SEMANTICS: 954,728,448 of 1 GiB).
  assertEquals(collector(455501414, { "spark.executor.memory": "1g" }), "g1");
  assertEquals(collector(384093388, { "spark.executor.memory": "1g" }), "parallel");
});

Deno.test("without a recorded maximum the options tell it, then the version of Java", () => {
  assertEquals(collector(null, { "spark.executor.extraJavaOptions": "-XX:+UseSerialGC" }), "serial");
  assertEquals(collector(null, {}), "g1");
  assertEquals(collector(null, {}, "1.8.0_292"), "parallel");
});
