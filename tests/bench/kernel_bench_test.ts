import { assertEquals } from "@std/assert";
import { newExecutor, newModel, runCalls, runKernel, runKernelFromHost, runLruCache, runMap } from "./kernel_runs.ts";
import { busyTrace, readTrace, writeTrace, zipfTrace } from "./kernel_traces.ts";

Deno.test("kernel in batches, single calls and the model agree on the traces of the bench", () => {
  for (const name of ["mixed", "churn"] as const) {
    const trace = busyTrace(name, 20_000, 77);
    const { checksum } = runKernel(trace, 4096);
    assertEquals(runKernel(trace, 1000).checksum, checksum);
    assertEquals(runCalls(trace, newExecutor(trace)).checksum, checksum);
    assertEquals(runCalls(trace, newModel(trace)).checksum, checksum);
  }
});

Deno.test("kernel, lru-cache and a Map agree on the requests of the bench", () => {
  const trace = zipfTrace(20_000, 2_000, 5);
  const { checksum } = runKernel(trace, 4096);
  assertEquals(runKernelFromHost(trace, 1000).checksum, checksum);
  assertEquals(runLruCache(trace).checksum, checksum);
  assertEquals(runMap(trace).checksum, checksum);
});

Deno.test("a trace of the bench that was written is read back", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const trace = busyTrace("mixed", 5_000, 3);
    writeTrace(folder, trace);
    assertEquals(readTrace(folder, "mixed"), trace);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
