import { FAILED } from "../../../../src/simulator/memory/execution_memory.ts";
import type { MemoryConsumer } from "../../../../src/simulator/memory/memory_consumer.ts";

// deno-lint-ignore no-explicit-any
export type TraceLine = any;

/** A line at each acquire and release of the recording: record, kind, consumer, bytes, and what the task then held. */
export type AcquisitionLine = [rec: number, kind: string, who: string, numBytes: number, held?: number];

/** Writes the lines that the recording harness wrote. */
export class AcquisitionLog {
  readonly lines: AcquisitionLine[] = [];
  /** Record that is being inserted; -1 before the first. */
  rec = -1;

  /** Logs all requests of a consumer from now on. */
  watch<T extends MemoryConsumer>(consumer: T, who: string): T {
    const { allocatePage, allocateArray, acquireMemory, freePage, freeMemory } = consumer;
    consumer.allocatePage = (required) =>
      this.#asked(consumer, who, Math.max(required, consumer.pageSize), () => allocatePage.call(consumer, required));
    consumer.allocateArray = (longs) =>
      this.#asked(consumer, who, longs * 8, () => allocateArray.call(consumer, longs));
    consumer.acquireMemory = (numBytes) =>
      this.#asked(consumer, who, numBytes, () => acquireMemory.call(consumer, numBytes));
    consumer.freePage = (page) => {
      const done = freePage.call(consumer, page);
      this.#write(consumer, "rel", who, page.size);
      return done;
    };
    consumer.freeMemory = (numBytes) => {
      freeMemory.call(consumer, numBytes);
      this.#write(consumer, "rel", who, numBytes);
    };
    return consumer;
  }

  #asked(consumer: MemoryConsumer, who: string, numBytes: number, request: () => number): number {
    this.lines.push([this.rec, "ask", who, numBytes]);
    const granted = request();
    const short = granted === FAILED ? consumer.taskMemoryManager.failure!.outOfMemory!.got : 0;
    // What is too small was still held when the recording wrote the line.
    this.#write(consumer, "got", who, granted === FAILED ? short : granted, short);
    if (short > 0) this.#write(consumer, "rel", who, short);
    return granted;
  }

  #write(consumer: MemoryConsumer, kind: string, who: string, numBytes: number, alsoHeld = 0): void {
    this.lines.push([this.rec, kind, who, numBytes, consumer.taskMemoryManager.memoryConsumption + alsoHeld]);
  }
}

/** The recorded lines in the same form; the harness also wrote lines of its own. */
export function recordedLines(lines: readonly TraceLine[]): AcquisitionLine[] {
  return lines.filter(({ k }) => k === "ask" || k === "got" || k === "rel").map((line) =>
    line.k === "ask"
      ? [line.rec, "ask", line.who, line.n]
      : [line.rec, line.k, line.who, line.k === "rel" ? line.n : line.got, line.task]
  );
}
