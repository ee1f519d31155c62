/**
 * The dumps in memory traces: the store's access order, and what each task holds.
 *
 * @module
 */
import { type MemoryMode, OFF_HEAP, ON_HEAP } from "../../kernel.ts";
import { type Difference, sameJson, type TraceLine } from "../trace.ts";
import type { MemoryEngine } from "./engine.ts";

/**
 * Compares a recorded dump with the engine's state.
 *
 * The recorded order runs through both memory modes; nothing depends on how the two are interleaved, and the kernel
 * keeps an order per mode, so each mode's is compared.
 */
export function compareDump(dump: TraceLine, engine: MemoryEngine): Difference[] {
  const computed: Record<string, unknown> = {
    execOn: held(engine, ON_HEAP, "active"),
    execOff: held(engine, OFF_HEAP, "active"),
    unrollOn: held(engine, ON_HEAP, "unrolls"),
    unrollOff: held(engine, OFF_HEAP, "unrolls"),
    waiting: engine.waiting,
  };
  const recorded: Record<string, unknown> = { ...dump };
  for (const [what, mode] of [["ON", ON_HEAP], ["OFF", OFF_HEAP]] as const) {
    computed[`lru ${what}`] = accessOrder(engine, mode);
    recorded[`lru ${what}`] = dump.lru.filter((entry: TraceLine) => entry[2] === what);
  }
  return Object.keys(computed)
    .filter((what) => !sameJson(recorded[what], computed[what]))
    .map((what) => ({ what, recorded: recorded[what], computed: computed[what] }));
}

function accessOrder(engine: MemoryEngine, mode: MemoryMode): unknown[] {
  const entries: unknown[] = [];
  engine.executor.blocks(mode, (block, size, readers) => {
    const entry = [engine.blocks.name(block), size, mode === ON_HEAP ? "ON" : "OFF"];
    entries.push(readers > 0 ? [...entry, readers] : entry);
  });
  return entries;
}

/** The tasks in a pool, or in the unroll memory map, with their bytes. */
function held(engine: MemoryEngine, mode: MemoryMode, where: "active" | "unrolls"): Record<string, number> {
  const map: Record<string, number> = {};
  for (const task of engine.tasks) {
    if (!engine.executor.taskFlags(task)[where][mode]) continue;
    map[task] = where === "active"
      ? engine.executor.executionMemoryUsageForTask(task, mode)
      : engine.executor.unrollMemoryForTask(task, mode);
  }
  return map;
}
