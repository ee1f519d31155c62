import { assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import { checkStartup } from "../../src/spark/startup.ts";

/** Spark's words, or null when the settings are accepted. */
function refusal(settings: Record<string, string>, version = "3.5.9"): string | null {
  try {
    checkStartup(SparkConf.from(settings, version));
    return null;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return String(error.parameters.sparkMessage ?? error.message);
  }
}

Deno.test("the defaults of every version start", () => {
  for (const version of ["1.6.3", "2.0.2", "2.4.0", "3.0.3", "3.5.9", "4.0.4", "4.2.0"]) {
    assertEquals([version, refusal({}, version)], [version, null]);
  }
});

Deno.test("fractions outside 0..1 are refused by the context, though the manager would take them", () => {
  // SparkConf.validateSettings, the same words in 1.6.3, 2.4.0, 3.5.9 and 4.1.3.
  for (const version of ["1.6.3", "2.4.0", "3.5.9", "4.1.3"]) {
    assertEquals(
      refusal({ "spark.memory.fraction": "1.5" }, version),
      "spark.memory.fraction should be between 0 and 1 (was '1.5').",
    );
    assertEquals(
      refusal({ "spark.memory.storageFraction": "-0.5" }, version),
      "spark.memory.storageFraction should be between 0 and 1 (was '-0.5').",
    );
  }
  assertEquals(
    refusal({ "spark.memory.fraction": "most" }, "4.1.3"),
    'Illegal value for config key spark.memory.fraction: For input string: "most"',
  );
  assertEquals(refusal({ "spark.memory.storageFraction": "1" }, "2.4.0"), null);
});

Deno.test("executors' JVM options must not size the heap", () => {
  const settings = { "spark.executor.extraJavaOptions": "-Xmx4g" };
  const words = "spark.executor.extraJavaOptions is not allowed to specify max heap memory settings (was '-Xmx4g'). " +
    "Use spark.executor.memory instead.";
  assertEquals(refusal(settings, "2.4.0"), words);
  assertEquals(
    refusal(settings, "4.0.4"),
    `[INVALID_SPARK_CONFIG.INVALID_EXECUTOR_MEMORY_OPTIONS] Invalid Spark config: ${words} SQLSTATE: 42616`,
  );
  assertEquals(
    refusal({ "spark.executor.extraJavaOptions": "-Dspark.x=1" })?.startsWith(
      "spark.executor.extraJavaOptions is not allowed to set Spark options (was '-Dspark.x=1').",
    ),
    true,
  );
});

Deno.test("heartbeats must come before the network's timeout, since 2.3", () => {
  const settings = { "spark.network.timeout": "10s", "spark.executor.heartbeatInterval": "10s" };
  assertEquals(refusal(settings, "2.2.3"), null);
  assertEquals(
    refusal(settings, "2.4.0"),
    "requirement failed: The value of spark.network.timeout=10s must be no less than the value of " +
      "spark.executor.heartbeatInterval=10s.",
  );
  assertEquals(
    refusal(settings, "3.5.9"),
    "requirement failed: The value of spark.network.timeout=10000ms must be greater than the value of " +
      "spark.executor.heartbeatInterval=10000ms.",
  );
});

Deno.test("messages and Kryo's buffer stay below 2 GiB", () => {
  assertEquals(
    refusal({ "spark.rpc.message.maxSize": "2048" }),
    "spark.rpc.message.maxSize should not be greater than 2047 MB",
  );
  assertEquals(refusal({ "spark.rpc.message.maxSize": "2047" }), null);
  const kryo = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryoserializer.buffer.max": "2g",
  };
  assertEquals(
    refusal(kryo, "2.4.0"),
    "spark.kryoserializer.buffer.max must be less than 2048 mb, got: + 2048 mb.",
  );
  assertEquals(refusal(kryo), "spark.kryoserializer.buffer.max must be less than 2048 MiB, got: 2048 MiB.");
  assertEquals(refusal({ ...kryo, "spark.serializer": "org.apache.spark.serializer.JavaSerializer" }), null);
});

Deno.test("modes must be known", () => {
  assertEquals(
    refusal({ "spark.submit.deployMode": "remote" }),
    'spark.submit.deployMode can only be "cluster" or "client".',
  );
  assertEquals(refusal({ "spark.scheduler.mode": "LIFO" }), "Unrecognized spark.scheduler.mode: LIFO");
  assertEquals(refusal({ "spark.scheduler.mode": "fair" }), null);
});

Deno.test("a task must fit an executor", () => {
  const settings = { "spark.executor.cores": "2", "spark.task.cpus": "4" };
  assertEquals(
    refusal(settings),
    "The number of cores per executor (=2) has to be >= the number of cpus per task = 4.",
  );
  assertEquals(
    refusal({ ...settings, "spark.master": "yarn" }, "3.0.3"),
    "The number of cores per executor (=2) has to be >= the task config: spark.task.cpus = 4 when run on yarn.",
  );
  assertEquals(refusal(settings, "2.4.0")?.includes("no task ever starts"), true);
  assertEquals(refusal({ "spark.master": "local[2]", "spark.task.cpus": "2" }), null);
});

Deno.test("dynamic allocation needs something that keeps shuffle files, and sensible limits", () => {
  const on = { "spark.dynamicAllocation.enabled": "true" };
  assertEquals(
    refusal(on, "2.4.0"),
    "Dynamic allocation of executors requires the external shuffle service. You may enable this through " +
      "spark.shuffle.service.enabled.",
  );
  // Shuffle tracking is on by default since 3.4.
  assertEquals(refusal(on, "3.5.9"), null);
  const served = { ...on, "spark.shuffle.service.enabled": "true" };
  assertEquals(
    refusal({ ...served, "spark.dynamicAllocation.minExecutors": "5", "spark.dynamicAllocation.maxExecutors": "2" }),
    "spark.dynamicAllocation.minExecutors (5) must be less than or equal to spark.dynamicAllocation.maxExecutors (2)!",
  );
  assertEquals(
    refusal({ ...served, "spark.dynamicAllocation.maxExecutors": "0" }),
    "spark.dynamicAllocation.maxExecutors cannot be 0!",
  );
  assertEquals(
    refusal({ ...served, "spark.dynamicAllocation.minExecutors": "-1" }, "2.4.0"),
    "spark.dynamicAllocation.{min/max}Executors must be positive!",
  );
});

Deno.test("any known property of the wrong type is refused", () => {
  assertEquals(refusal({ "spark.task.maxFailures": "many" }), "spark.task.maxFailures should be int, but was many");
  assertEquals(refusal({ "spark.speculation": "yes" }), "spark.speculation should be boolean, but was yes");
  assertEquals(refusal({ "spark.driver.maxResultSize": "1.5g" })?.includes("Fractional values"), true);
  assertEquals(refusal({ "spark.myApp.size": "whatever" }), null);
});

Deno.test("too little memory is refused last", () => {
  const error = assertThrows(
    () => checkStartup(SparkConf.from({ "spark.executor.memory": "449m" }, "2.4.0")),
    InputError,
  );
  assertEquals(error.code, "conf.memory");
  assertEquals(refusal({ "spark.driver.memory": "400m" })?.startsWith("[INVALID_DRIVER_MEMORY]"), true);
  assertEquals(refusal({ "spark.driver.memory": "450m" }), null);
});

Deno.test("under dynamic allocation a backlog must take time, and no executor is asked for at first", () => {
  // ExecutorAllocationManager.validateSettings; SparkSubmitArguments.validateSubmitArguments (SPARK-25641, 3.0).
  const on = { "spark.dynamicAllocation.enabled": "true", "spark.shuffle.service.enabled": "true" };
  assertEquals(
    refusal({ ...on, "spark.dynamicAllocation.schedulerBacklogTimeout": "0s" }),
    "spark.dynamicAllocation.schedulerBacklogTimeout must be > 0!",
  );
  assertEquals(refusal({ ...on, "spark.executor.instances": "0" }), null);
  assertEquals(refusal({ "spark.executor.instances": "0" }), "Number of executors must be a positive number");
});
