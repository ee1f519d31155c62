import { assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { explain } from "../../src/report/explain.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import { type HeapCommitted, invertMaximum, runtimeMaxMemory } from "../../src/spark/heap.ts";
import { bytesToString, uiBytesToString } from "../../src/spark/sizes.ts";
import { sizing, staticMemory } from "../../src/spark/sizing.ts";
import type { Collector } from "../../src/spark/versions.ts";
import { caseOf, casesLeft, casesOf, mib, versionOf } from "../support/cases.ts";

/** The collectors as the cases name them: PS3 and PS8 are the parallel collector with a small and a full heap. */
const COLLECTORS: Record<string, readonly [Collector, HeapCommitted]> = {
  PS3: ["parallel", "small"],
  PS8: ["parallel", "full"],
  Serial: ["serial", "small"],
  G1: ["g1", "small"],
};

Deno.test("capacity and ui-units: the heap and its collector give the capacity that was logged", () => {
  for (const one of casesOf("capacity", "ui-units")) {
    const { heap_Xmx_MiB, collector: name, "spark.memory.fraction": fraction } = one.config;
    const [collector, heapCommitted] = COLLECTORS[name];
    const conf = SparkConf.from({
      "spark.driver.memory": `${heap_Xmx_MiB}m`,
      "spark.memory.fraction": String(fraction),
    }, versionOf(one));
    const result = sizing({ conf, role: "driver", collector, heapCommitted });
    assertEquals([one.id, result.systemMemory, result.unifiedMemory], [
      one.id,
      one.answer.runtime_maxMemory_bytes,
      one.answer.unified_bytes,
    ]);
    const style = one.answer.unified_display.includes("iB") ? "MiB" : "MB";
    assertEquals(bytesToString(result.unifiedMemory, style), one.observed.capacity_logged);
    assertEquals(uiBytesToString(result.unifiedMemory), one.answer.ui_1000_based);
  }
});

Deno.test("capacity: the log line alone leads back to the heap", () => {
  for (const one of casesOf("capacity")) {
    const conf = SparkConf.from(
      { "spark.memory.fraction": String(one.config["spark.memory.fraction"]) },
      versionOf(one),
    );
    const line = `INFO MemoryStore: MemoryStore started with capacity ${one.observed.capacity_logged}`;
    const [{ values }] = explain(line, { conf }).explanations;
    assertEquals([one.id, (values.heapMiB as number[]).includes(one.config.heap_Xmx_MiB)], [one.id, true]);
  }
});

Deno.test("capacity-eventlog: the recorded maximum leads back to the heap, byte for byte", () => {
  for (const one of casesOf("capacity-eventlog")) {
    if (one.id === "el-fraction-0.1") continue;
    for (const seen of one.observed) {
      const recorded = seen["Maximum Onheap Memory"];
      const [collector, committed] = COLLECTORS[seen.collector];
      const inverted = invertMaximum(recorded, { fraction: 0.6, configuredHeap: mib(seen.heap_MiB) })!;
      assertEquals([one.id, inverted.systemMemory], [one.id, mib(seen.maxMemory_MiB)]);
      assertEquals(inverted.heaps[0], { heap: mib(seen.heap_MiB), collector, committed });
      assertEquals(bytesToString(recorded, seen.display.includes("iB") ? "MiB" : "MB"), seen.display);
    }
  }
});

Deno.test("el-fraction-0.1: memory.fraction 0.1 of 512 MiB under G1 in local mode", () => {
  const { config, observed, answer } = caseOf("el-fraction-0.1");
  const conf = SparkConf.from({
    "spark.master": config.master,
    "spark.driver.memory": config["spark.driver.memory"],
    "spark.memory.fraction": String(config["spark.memory.fraction"]),
  }, "4.1.0");
  const result = sizing({ conf, collector: "g1" });
  assertEquals([result.unifiedMemory, result.storageRegion], [answer.unified_bytes, answer.storage_region_bytes]);
  assertEquals(result.unifiedMemory, observed["Maximum Memory"]);
  assertEquals(bytesToString(result.unifiedMemory, "MiB"), answer.display);
});

Deno.test("capacity-legacy: the static manager is refused, with the limits that were seen", () => {
  const hibench = caseOf("legacy-hibench98");
  for (const [fraction, display] of Object.entries(hibench.answer)) {
    const conf = SparkConf.from({ "spark.storage.memoryFraction": fraction }, "1.3.0");
    // 3925.5 MiB: a 4 GiB heap less one survivor space on that JVM.
    assertEquals(bytesToString(staticMemory(conf, mib(3925.5)).storage, "MB"), display);
  }
  const eventLog = caseOf("legacy-el-0");
  const error = assertThrows(
    () => sizing({ conf: SparkConf.from({}, "1.5.2"), heapMax: mib(eventLog.answer.maxMemory_MiB) }),
    InputError,
  );
  assertEquals([error.code, error.parameters.storage], ["sizing.static", eventLog.observed["Maximum Memory"]]);
});

Deno.test("min-memory: too small a heap is refused, with what is missing", () => {
  for (const one of casesOf("min-memory")) {
    if (one.id === "min-format-16") continue;
    const [collector] = COLLECTORS[one.config.collector];
    const heap = mib(one.config.heap_MiB);
    assertEquals([one.id, runtimeMaxMemory(heap, collector)], [one.id, one.observed.system_memory]);
    const conf = SparkConf.from({ "spark.driver.memory": `${one.config.heap_MiB}m` }, "2.4.0");
    const error = assertThrows(() => sizing({ conf, role: "driver", collector }), InputError);
    const { memory, minimum, shortfall } = error.parameters;
    assertEquals([memory, minimum, shortfall], [
      one.observed.system_memory,
      one.observed.required,
      one.answer.shortfall_bytes,
    ]);
    const [{ values }] = explain(String(error.parameters.sparkMessage)).explanations;
    assertEquals([values.starts, values.shortfall], [one.answer.starts, one.answer.shortfall_bytes]);
    assertEquals((values.heapMiB as number[]).includes(one.config.heap_MiB), true);
  }
});

Deno.test("min-format-16: 1.6 prints the same limit as a Double", () => {
  const { observed, answer } = caseOf("min-format-16");
  const conf = SparkConf.from({ "spark.driver.memory": "500m" }, "1.6.0");
  const error = assertThrows(() => sizing({ conf, role: "driver", collector: "parallel" }), InputError);
  assertEquals(String(error.parameters.sparkMessage).includes(observed.text_shows_required_as), true);
  const [{ values }] = explain(String(error.parameters.sparkMessage)).explanations;
  assertEquals(values.minimum, answer.same_threshold);
});

Deno.test("offheap: the reported maximum holds off-heap memory in full", () => {
  const { observed, answer } = caseOf("offheap-el");
  const conf = SparkConf.from({ "spark.memory.offHeap.size": "500m", "spark.executor.memory": "1g" }, "2.1.0");
  const { unifiedMemory, offHeap } = sizing({ conf, collector: "parallel" });
  assertEquals([unifiedMemory, offHeap.size], [observed.onheap, observed.offheap]);
  assertEquals([unifiedMemory + offHeap.size, offHeap.storageRegion], [answer.sum, answer.offheap_storage_region]);
  assertEquals(unifiedMemory + offHeap.size, observed["Maximum Memory"]);
});

Deno.test("config-confusion: in local mode the executor's memory is ignored", () => {
  const { config } = caseOf("local-mode-heap");
  const conf = SparkConf.from({
    "spark.master": config.master,
    "spark.executor.memory": config["spark.executor.memory"],
    "spark.driver.memory": config["spark.driver.memory"],
  }, "2.4.0");
  const result = sizing({ conf, collector: "g1" });
  assertEquals(result.systemMemory, 12 * 2 ** 30);
  assertEquals(result.warnings.map(({ code }) => code), ["sizing.localExecutorMemory"]);
  // 1.5.1 itself: the whole heap for storage, nothing beside it.
  const legacy = SparkConf.from({ "spark.storage.memoryFraction": "1" }, "1.5.1");
  const { storage, execution } = staticMemory(legacy, 12 * 2 ** 30);
  assertEquals(storage + execution > 12 * 2 ** 30, true);
});

Deno.test("every case of these kinds has a test above", () => {
  const kinds = ["capacity", "ui-units", "capacity-eventlog", "capacity-legacy", "min-memory", "offheap"];
  assertEquals(casesLeft(...kinds, "config-confusion"), []);
});
