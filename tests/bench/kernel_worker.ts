/**
 * One side of a comparison of the kernel's bench, in a process of its own: runs a trace on one implementation and
 * prints the checksum and the median nanoseconds of a run.
 *
 * usage: kernel_worker.ts IMPLEMENTATION FOLDER NAME CHUNK RUNS
 *
 * @module
 */
import { median } from "./bench.ts";
import {
  newExecutor,
  newModel,
  type Run,
  runCalls,
  runKernel,
  runKernelFromHost,
  runLruCache,
  runMap,
} from "./kernel_runs.ts";
import { type KernelTrace, readTrace } from "./kernel_traces.ts";

/** The kernel's run of median chunks: a chunk that was interrupted in one run is not in the others. */
function medianKernel(trace: KernelTrace, chunk: number, runs: number): Run {
  const all = Array.from({ length: runs }, () => runKernel(trace, chunk));
  const chunks = all[0].chunkNanos.map((_, i) => median(all.map(({ chunkNanos }) => chunkNanos[i])));
  return { nanos: chunks.reduce((sum, nanos) => sum + nanos, 0), checksum: all[0].checksum };
}

function medianRun(run: () => Run, runs: number): Run {
  const all = Array.from({ length: runs }, run);
  return { nanos: median(all.map(({ nanos }) => nanos)), checksum: all[0].checksum };
}

const IMPLEMENTATIONS: Record<string, (trace: KernelTrace, chunk: number, runs: number) => Run> = {
  kernel: medianKernel,
  "kernel-host": (trace, chunk, runs) => medianRun(() => runKernelFromHost(trace, chunk), runs),
  calls: (trace, _, runs) => medianRun(() => runCalls(trace, newExecutor(trace)), runs),
  model: (trace, _, runs) => medianRun(() => runCalls(trace, newModel(trace)), runs),
  "lru-cache": (trace, _, runs) => medianRun(() => runLruCache(trace), runs),
  Map: (trace, _, runs) => medianRun(() => runMap(trace), runs),
};

if (import.meta.main) {
  const [implementation, folder, name, chunk, runs] = Deno.args;
  const { checksum, nanos } = IMPLEMENTATIONS[implementation](readTrace(folder, name), Number(chunk), Number(runs));
  console.log(`${checksum} ${nanos}`);
}
