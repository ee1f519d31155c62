import { assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import { collectorOf, defaultPageSize, sizing, type SizingOptions, staticMemory } from "../../src/spark/sizing.ts";

/** One row of sizing.md: settings as the recorded table names them, and what UnifiedMemoryManager.apply gave. */
interface Row {
  readonly name: string;
  readonly settings: Record<string, string>;
  readonly cores: number;
  readonly outcome: string[];
}

/** What a row's words mean. The memory is Runtime.maxMemory unless it is spark.testing.memory. */
function readRows(text: string): Row[] {
  const rows: Row[] = [];
  let previous: Record<string, string> = {};
  for (const line of text.split("\n").slice(2)) {
    if (line === "") continue;
    const [name, ...outcome] = line.slice(1, -1).split(" | ").map((cell) => cell.trim().replace(/ \|$/, ""));
    const settings: Record<string, string> = name.startsWith("same") ? { ...previous } : { mem: "1073741824" };
    const word = (pattern: RegExp, key: string) => {
      const match = pattern.exec(name);
      if (match !== null) settings[key] = match[1];
    };
    word(/mem=(\d+g?)/, "mem");
    if (name.startsWith("spark.testing=true")) settings["spark.testing"] = "true";
    word(/reservedMemory=(\d+)/, "spark.testing.reservedMemory");
    word(/(?:^|[^ge])(?:fraction=| frac )(-?[\d.]+|abc)/, "spark.memory.fraction");
    word(/storageFraction=(-?[\d.]+)/, "spark.memory.storageFraction");
    word(/executor\.memory=(\w+)/, "spark.executor.memory");
    word(/offHeap\.size=(-?\w+)/, "spark.memory.offHeap.size");
    word(/pageSize=(\w+)/, "spark.buffer.pageSize");
    word(/cores=(\d+)/, "cores");
    if (/offHeap.* enabled(?!=false)/.test(name)) settings["spark.memory.offHeap.enabled"] = "true";
    if (/offHeap enabled, size 0/.test(name)) settings["spark.memory.offHeap.size"] = "0";
    previous = settings;
    const { mem, cores, ...conf } = settings;
    conf["spark.testing.memory"] = mem === "1g" ? "1073741824" : mem;
    rows.push({ name, settings: conf, cores: Number(cores ?? 4), outcome });
  }
  return rows;
}

function outcomeOf(options: SizingOptions): string[] {
  try {
    const { unifiedMemory, storageRegion, executionRegion, offHeap, pageSize, tungstenMemoryMode } = sizing(options);
    return [
      unifiedMemory,
      storageRegion,
      executionRegion,
      `${offHeap.storageRegion}/${offHeap.executionRegion}`,
      pageSize,
      tungstenMemoryMode,
    ].map(String);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return [error.message.replace("Cannot start Spark: ", "")];
  }
}

Deno.test("every row of the table recorded from Spark 2.4.0 comes out, refusals word by word", async () => {
  // testdata/spark/sizing.md: UnifiedMemoryManager.apply of the untouched 2.4.0 classes.
  const text = await Deno.readTextFile(new URL("../testdata/spark/sizing.md", import.meta.url));
  const rows = readRows(text);
  assertEquals(rows.length, 60);
  for (const { name, settings, cores, outcome } of rows) {
    assertEquals([name, ...outcomeOf({ conf: SparkConf.from(settings, "2.4.0"), cores })], [name, ...outcome]);
  }
});

Deno.test("later versions keep the pools and refuse an execution pool of 0 bytes", () => {
  const at = (settings: Record<string, string>, version: string) =>
    outcomeOf({ conf: SparkConf.from(settings, version), heapMax: 1073741824, cores: 4, collector: "parallel" })[0];
  assertEquals(at({}, "4.2.0"), "455501414");
  assertEquals(
    at({ "spark.memory.storageFraction": "1.0" }, "3.5.9"),
    "java.lang.IllegalArgumentException: '1.0' in spark.memory.storageFraction is invalid. " +
      "Storage fraction must be in [0,1)",
  );
  assertEquals(
    at({ "spark.memory.fraction": "0" }, "3.0.3"),
    "java.lang.IllegalArgumentException: requirement failed: onHeapExecutionMemory must be > 0",
  );
});

Deno.test("too little memory is refused in the words of each version", () => {
  const refusal = (version: string) =>
    assertThrows(() => sizing({ conf: SparkConf.from({}, version), heapMax: 466092032 }), InputError);
  const message = (version: string) => refusal(version).parameters.sparkMessage;
  // UnifiedMemoryManager.getMaxMemory in the sources of each version.
  assertEquals(
    message("1.6.0"),
    "System memory 466092032 must be at least 4.718592E8. Please use a larger heap size.",
  );
  assertEquals(
    message("3.4.4"),
    "System memory 466092032 must be at least 471859200. Please increase heap size using the --driver-memory " +
      "option or spark.driver.memory in Spark configuration.",
  );
  assertEquals(
    message("3.5.9"),
    "[INVALID_DRIVER_MEMORY] System memory 466092032 must be at least 471859200. Please increase heap size using " +
      'the --driver-memory option or "spark.driver.memory" in Spark configuration.',
  );
  assertEquals(
    message("4.0.4"),
    "[INVALID_DRIVER_MEMORY] System memory 466092032 must be at least 471859200.\nPlease increase heap size using " +
      'the --driver-memory option or "spark.driver.memory" in Spark configuration. SQLSTATE: F0000',
  );
  assertEquals(refusal("3.5.9").parameters.shortfall, 5767168);
});

Deno.test("spark.executor.memory is MiB when bare to start the JVM, and bytes to check it", () => {
  const conf = SparkConf.from({ "spark.executor.memory": "512" }, "2.4.0");
  assertEquals(conf.getSizeAsBytes("spark.executor.memory"), 536870912);
  const error = assertThrows(() => sizing({ conf, collector: "g1" }), InputError);
  assertEquals(String(error.parameters.sparkMessage).startsWith("Executor memory 512 must be"), true);
  // 1.6 has no such check.
  assertEquals(sizing({ conf: conf.withVersion("1.6.3"), collector: "g1" }).systemMemory, 536870912);
});

Deno.test("in local mode the driver's heap counts, and spark.executor.memory sizes nothing", () => {
  const conf = SparkConf.from({
    "spark.master": "local[4]",
    "spark.driver.memory": "12g",
    "spark.executor.memory": "8g",
  });
  const result = sizing({ conf, collector: "g1" });
  assertEquals([result.systemMemory, result.cores], [12 * 2 ** 30, 4]);
  assertEquals(result.warnings.map(({ code }) => code), ["sizing.localExecutorMemory"]);
});

Deno.test("pages leave room for a header under G1 from 3.3, under ZGC from 4.1, and never off-heap or when set", () => {
  const page = (version: string, collector: "g1" | "zgc" | "parallel", settings: Record<string, string> = {}) =>
    sizing({ conf: SparkConf.from(settings, version), heapMax: 471859200, collector }).pageSize;
  // VERSIONS: seen on the real classes, 1048576 -> 1048560 with G1.
  assertEquals(page("3.2.4", "g1"), 4194304);
  assertEquals(page("3.5.9", "g1"), 4194304 - 16);
  assertEquals(page("3.5.9", "zgc"), 4194304);
  assertEquals(page("4.1.3", "zgc"), 4194304 - 16);
  assertEquals(page("4.1.3", "parallel"), 4194304);
  assertEquals(page("3.5.9", "g1", { "spark.buffer.pageSize": "2m" }), 2097152);
  assertEquals(
    page("3.5.9", "g1", { "spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "64m" }),
    2097152,
  );
});

Deno.test("the collector is the one that the JVM's options name, else the usual one of the version", () => {
  const conf = SparkConf.from({ "spark.executor.extraJavaOptions": "-Dx=1 -XX:+UseSerialGC" }, "3.5.1");
  assertEquals(collectorOf(conf, "executor"), "serial");
  assertEquals(collectorOf(conf, "driver"), null);
  assertEquals(sizing({ conf }).systemMemory, 1037959168);
  assertEquals(sizing({ conf: SparkConf.from({}, "2.4.0") }).heap.collector, "parallel");
  const assumed = sizing({ conf: SparkConf.from({}, "3.5.1") });
  assertEquals([assumed.heap.collector, assumed.warnings[0].code], ["g1", "sizing.collector"]);
  // Where Runtime.maxMemory is known the collector still decides the page size, from 3.3 on.
  const codes = (version: string) =>
    sizing({ conf: SparkConf.from({}, version), heapMax: 1073741824 }).warnings.map(({ code }) => code);
  assertEquals([codes("3.2.4"), codes("3.5.1")], [[], ["sizing.collector"]]);
});

Deno.test("a task's share is between 1/2N and 1/N of the pool, N being the tasks that run at once", () => {
  const conf = SparkConf.from({ "spark.executor.cores": "8", "spark.task.cpus": "2" }, "2.4.0");
  const { tasks, perTask } = sizing({ conf, heapMax: 1073741824 });
  assertEquals(tasks, 4);
  assertEquals(perTask, { min: Math.floor(455501414 / 8), max: Math.floor(455501414 / 4) });
});

Deno.test("the memory manager before 1.6 is refused, and its limits are told", () => {
  const error = assertThrows(
    () => sizing({ conf: SparkConf.from({}, "1.5.2"), heapMax: 514850816 }),
    InputError,
  );
  assertEquals(error.code, "sizing.static");
  // 491 MiB x 0.6 x 0.9, Maximum Memory of a public 1.x event log.
  assertEquals(error.parameters.storage, 278019440);
  const legacy = SparkConf.from({ "spark.memory.useLegacyMode": "true" }, "2.4.0");
  assertThrows(() => sizing({ conf: legacy }), InputError, "useLegacyMode");
  assertEquals(sizing({ conf: legacy.withVersion("3.0.3"), heapMax: 1073741824 }).unifiedMemory, 455501414);
  assertEquals(staticMemory(legacy, 1000), { storage: 540, execution: 160 });
});

Deno.test("defaultPageSize() goes up to the next power of two, within 1 and 64 MiB", () => {
  assertEquals(defaultPageSize(16 * 4 * 2 ** 20, 4), 2 ** 20);
  assertEquals(defaultPageSize(16 * 4 * 2 ** 20 + 64, 4), 2 ** 21);
  assertEquals(defaultPageSize(2 ** 45, 1), 2 ** 26);
});

Deno.test("a fraction above 1 is computed as the memory manager does, with a warning that a SparkContext refuses it", () => {
  const conf = SparkConf.from({ "spark.memory.fraction": "1.5", "spark.executor.memory": "1g" }, "3.5.9");
  const { warnings, unifiedMemory } = sizing({ conf, collector: "g1" });
  // (1,073,741,824 - 314,572,800) x 1.5
  assertEquals(unifiedMemory, 1_138_753_536);
  assertEquals(warnings.map(({ code, message }) => [code, message]), [
    ["sizing.fraction", "A SparkContext refuses spark.memory.fraction above 1 (received 1.5)"],
  ]);
});

Deno.test("a fraction that is no number is 0 bytes, as Java casts it", () => {
  // (long) NaN is 0 (JLS 5.1.3); Double.parseDouble reads "NaN"
  const conf = SparkConf.from({ "spark.memory.storageFraction": "NaN", "spark.executor.memory": "1g" }, "2.4.0");
  assertEquals(sizing({ conf, collector: "g1" }).storageRegion, 0);
});
