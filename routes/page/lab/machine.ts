/**
 * One executor's memory for the lab: the engine that replays recorded traces, with a picture of what there is between
 * two operations.
 *
 * @module
 */
import { type MemoryMode, OFF_HEAP, ON_HEAP } from "../../../src/kernel.ts";
import { MemoryEngine, type OperationOutcome } from "../../../src/replay/memory/engine.ts";
import { readTraceHeader } from "../../../src/replay/memory/trace_header.ts";
import { rddOf } from "./narrate.ts";
import type { LabBlock, LabEvent, LabHeader, LabOperation, LabPools, LabState, LabStep, LabTask } from "./state.ts";

/** Runs operations. */
export class LabMachine {
  readonly #engine: MemoryEngine;
  readonly #header: LabHeader;
  readonly #regions: readonly [number, number];
  /** Indexes of the acquires to what they asked for. */
  readonly #acquires = new Map<number, LabOperation>();
  #steps = 0;

  /** @throws {InputError} `replay.header`, `replay.version` for a layout that there cannot be */
  constructor(header: LabHeader) {
    const settings = readTraceHeader(header, {});
    this.#header = header;
    this.#engine = new MemoryEngine(settings);
    this.#regions = [settings.executor.onHeapStorageRegionSize, settings.executor.offHeapStorageRegionSize ?? 0];
  }

  /** Carries out the next operation; gives how it ended and what else it caused. */
  run(operation: LabOperation): Pick<LabStep, "outcome" | "events"> {
    const index = this.#steps++;
    const outcome = this.#engine.apply({ ...operation, i: index });
    if (outcome.r === "blocked") this.#acquires.set(index, operation);
    for (const [at, code] of outcome.wk) if (code !== -1) this.#acquires.delete(at);
    return {
      outcome: outcome.x === undefined ? { answer: outcome.r, error: null } : { answer: null, error: outcome.x },
      events: this.#events(outcome),
    };
  }

  /** Carries out the next operation and shows what there was before and after. */
  apply(operation: LabOperation): LabStep {
    const index = this.#steps;
    const before = this.snapshot();
    const { outcome, events } = this.run(operation);
    return { index, operation, outcome, events, before, after: this.snapshot() };
  }

  /** What is there now. */
  snapshot(): LabState {
    return { on: this.#pools(ON_HEAP), off: this.#pools(OFF_HEAP) };
  }

  /** Gives the kernel's memory back. */
  destroy(): void {
    this.#engine.executor.destroy();
  }

  /** What the operation evicted, then each waiting acquire that was looked at again, with what it evicted. */
  #events(outcome: OperationOutcome): LabEvent[] {
    const evicted = (block: string): LabEvent => ({ kind: "evicted", block });
    const events = outcome.ev.map(evicted);
    for (const [at, code] of outcome.wk) {
      events.push(...outcome.wev.filter(([by]) => by === at).map(([, block]) => evicted(block)));
      const task = this.#taskAt(outcome, at);
      if (code === -1) events.push({ kind: "waitsOn", task });
      else if (code === -2) events.push({ kind: "failed", task });
      else events.push({ kind: "granted", task, bytes: code });
    }
    return events;
  }

  #taskAt(outcome: OperationOutcome, at: number): number {
    const done = outcome.done.find((d) => (d as { at: number }).at === at) as { t: number } | undefined;
    return done?.t ?? this.#acquires.get(at)?.t ?? -1;
  }

  #pools(mode: MemoryMode): LabPools {
    const { executor } = this.#engine;
    const state = executor.state();
    const blocks: LabBlock[] = [];
    executor.blocks(mode, (id, size, readers) => {
      const name = this.#engine.blocks.name(id);
      blocks.push({ name, size, readers, rddId: rddOf(name) });
    });
    return {
      max: mode === ON_HEAP ? this.#header.heap : this.#header.off,
      region: this.#regions[mode],
      storagePoolSize: executor.storagePoolSize(mode),
      storageMemoryUsed: executor.storageMemoryUsed(mode),
      unrollMemoryUsed: mode === ON_HEAP ? state.onHeapUnrollMemory : state.offHeapUnrollMemory,
      executionPoolSize: executor.executionPoolSize(mode),
      executionMemoryUsed: executor.executionMemoryUsed(mode),
      blocks,
      tasks: this.#tasks(mode),
    };
  }

  #tasks(mode: MemoryMode): LabTask[] {
    const { executor, tasks, waiting } = this.#engine;
    const waits = new Map<number, { at: number; bytes: number }>();
    for (const at of waiting) {
      const acquire = this.#acquires.get(at);
      if (acquire?.t === undefined || (acquire.m === "OFF") !== (mode === OFF_HEAP)) continue;
      waits.set(acquire.t, { at, bytes: acquire.n ?? 0 });
    }
    return [...tasks].sort((a, b) => a - b).map((id) => ({
      id,
      executionBytes: executor.executionMemoryUsageForTask(id, mode),
      unrollBytes: executor.unrollMemoryForTask(id, mode),
      isActive: executor.taskFlags(id).active[mode],
      waitsFor: waits.get(id)?.bytes ?? null,
      waitsAt: waits.get(id)?.at ?? null,
    })).filter((task) => task.isActive || task.unrollBytes > 0 || task.waitsFor !== null);
  }
}
