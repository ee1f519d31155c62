/**
 * The blocks of a trace: names to the executor's block ids.
 *
 * @module
 */
import { type ExecutorMemory, NO_RDD } from "../../kernel.ts";

const RDD_BLOCK = /^rdd_(\d+)_\d+$/;

/**
 * Declares a block when its name is first met.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Kernel } from "../../kernel.ts";
 * import { TraceBlocks } from "./blocks.ts";
 *
 * const executor = Kernel.create().createExecutor({ maxHeapMemory: 1000, onHeapStorageRegionSize: 500 });
 * const blocks = new TraceBlocks(executor);
 * assertEquals(blocks.name(blocks.id("rdd_3_10")), "rdd_3_10");
 * ```
 */
export class TraceBlocks {
  readonly #executor: ExecutorMemory;
  readonly #ids = new Map<string, number>();
  readonly #names: string[] = [];

  constructor(executor: ExecutorMemory) {
    this.#executor = executor;
  }

  /** The block id of a name. */
  id(name: string): number {
    let id = this.#ids.get(name);
    if (id === undefined) {
      id = this.#executor.declareBlock(rddOf(name));
      this.#ids.set(name, id);
      this.#names[id] = name;
    }
    return id;
  }

  /** The name of a block id. */
  name(id: number): string {
    return this.#names[id];
  }
}

/** The RDD of a block by its name (BlockId.asRDDId), or NO_RDD. */
function rddOf(name: string): number {
  const match = RDD_BLOCK.exec(name);
  return match === null ? NO_RDD : Number(match[1]);
}
