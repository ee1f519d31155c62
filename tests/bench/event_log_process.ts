/**
 * Reads one event log in a process of its own and says what that took: `deno run -A tests/bench/event_log_process.ts sum|summarize PATH`.
 *
 * @module
 */
import process from "node:process";
import { type Checksum, readWithSum, summarize } from "./event_log_readers.ts";

/** What a process says about itself at its end. */
export interface ProcessFigures extends Checksum {
  /** User and system time of all threads, the start of the process included. */
  readonly cpuMs: number;
  /** The largest resident set; what it is at the end where the system does not tell the peak. */
  readonly peakRssBytes: number;
}

function peakRssBytes(): number {
  try {
    const kib = /^VmHWM:\s+(\d+) kB/m.exec(Deno.readTextFileSync("/proc/self/status"))?.[1];
    return kib === undefined ? Deno.memoryUsage().rss : Number(kib) * 1024;
  } catch {
    return Deno.memoryUsage().rss;
  }
}

if (import.meta.main) {
  const [what, path] = Deno.args;
  const checksum = await (what === "summarize" ? summarize : readWithSum)(path);
  const { user, system } = process.cpuUsage();
  const figures: ProcessFigures = { ...checksum, cpuMs: (user + system) / 1000, peakRssBytes: peakRssBytes() };
  console.log(JSON.stringify(figures));
}
