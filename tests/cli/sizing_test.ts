import { assertEquals } from "@std/assert";
import { runMain } from "../../src/cli/main.ts";
import { captureIo } from "../support/capture_io.ts";

async function sizing(...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const { io, out } = captureIo();
  return { status: await runMain(["sizing", ...args], io), ...out };
}

Deno.test("--format json has the contract's fields", async () => {
  const { status, stdout } = await sizing(
    "--format=json",
    "--heap-max=1073741824",
    "--conf",
    "spark.executor.cores=4",
  );
  const { systemMemory, reservedMemory, unifiedMemory, storageRegion, executionRegion, userMemory, perTask, pageSize } =
    JSON.parse(stdout);
  assertEquals(status, 0);
  // conformance row "mem=1073741824 fraction=0.6", recorded from Spark 2.4.0.
  assertEquals({ systemMemory, reservedMemory, unifiedMemory, storageRegion, executionRegion, pageSize }, {
    systemMemory: 1073741824,
    reservedMemory: 314572800,
    unifiedMemory: 455501414,
    storageRegion: 227750707,
    executionRegion: 227750707,
    pageSize: 4194304,
  });
  assertEquals(userMemory, 1073741824 - 314572800 - 455501414);
  assertEquals(perTask, { min: Math.floor(455501414 / 8), max: Math.floor(455501414 / 4) });
});

Deno.test("text shows the numbers with units of the version", async () => {
  const { stdout } = await sizing("--conf", "spark.executor.memory=1g", "--collector", "parallel");
  assertEquals(stdout.includes("384093388     366.3 MB"), true);
  assertEquals(stdout.includes("366.3 MB in its log and as 384.1 MB on its pages"), true);
  const later = await sizing("--spark-version", "3.5.1", "--collector", "g1");
  assertEquals(later.stdout.includes("455501414    434.4 MiB"), true);
});

Deno.test("a refusal of Spark is bad input with Spark's words", async () => {
  const { status, stdout, stderr } = await sizing("--heap-max", "471859199");
  assertEquals([status, stdout], [2, ""]);
  assertEquals(
    stderr,
    "error[conf.memory]: Cannot start Spark: java.lang.IllegalArgumentException: System memory 471859199 must be at " +
      "least 471859200. Please increase heap size using the --driver-memory option or spark.driver.memory in Spark " +
      "configuration.\n",
  );
});

Deno.test("--conf key= unsets, an unknown collector is refused, arguments are refused", async () => {
  const unset = await sizing("--format=json", "--conf=spark.executor.memory=4g", "--conf=spark.executor.memory=");
  assertEquals(JSON.parse(unset.stdout).heap.size, 1073741824);
  const unknown = await sizing("--collector", "cms");
  assertEquals([unknown.status, unknown.stderr.startsWith("error[cli.option]:")], [2, true]);
  assertEquals((await sizing("job.log")).status, 2);
});

Deno.test("the role and the committed heap matter", async () => {
  const at = async (...args: string[]) => JSON.parse((await sizing("--format=json", ...args)).stdout);
  const driver = await at("--role", "driver", "--conf", "spark.driver.memory=2g", "--collector", "parallel");
  // A public report: a 2 GB pyspark driver on Java 8.
  assertEquals([driver.systemMemory, driver.unifiedMemory], [1908932608, 956615884]);
  const full = await at("--heap-committed", "full", "--collector", "parallel");
  assertEquals(full.unifiedMemory, 428762726);
});

Deno.test("text shows off-heap memory, for what it is used, and what a SparkContext would refuse", async () => {
  // 64 MiB off the heap: half of it is the storage region (spark.memory.storageFraction 0.5).
  const size = ["--conf", "spark.memory.offHeap.size=64m"];
  const used = await sizing(...size, "--conf", "spark.memory.offHeap.enabled=true");
  assertEquals(/^ {2}off-heap +67108864 .*used by Tungsten$/m.test(used.stdout), true, used.stdout);
  assertEquals(/^ {2}off-heap storage +33554432 /m.test(used.stdout), true);
  assertEquals(used.stdout.includes(", off-heap included."), true);
  const unused = await sizing(...size);
  assertEquals(unused.stdout.includes("for blocks only: offHeap.enabled is false"), true);
  const above = await sizing("--conf", "spark.memory.fraction=1.5");
  assertEquals(
    above.stdout.endsWith(
      "\nwarning[sizing.fraction]: A SparkContext refuses spark.memory.fraction above 1 (received 1.5)\n",
    ),
    true,
    above.stdout,
  );
  // --heap-max is Runtime.maxMemory itself: what part of -Xmx it is, is not said
  assertEquals((await sizing("--heap-max", "1073741824")).stdout.includes("the heap"), false);
});
