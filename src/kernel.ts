/**
 * The WebAssembly kernel: Spark's unified memory manager and memory store, many executors in one instance.
 *
 * The only file that names WebAssembly; what it offers is in kernel/types.ts, the ABI in assembly/README.md.
 *
 * @module
 */
import { KERNEL_WASM } from "../assembly/build/kernel_wasm.ts";
import { EventReader } from "./kernel/event_reader.ts";
import { ExecutorInKernel } from "./kernel/executor_memory.ts";
import { KernelInstance } from "./kernel/instance.ts";
import { OperationBatch } from "./kernel/operation_batch.ts";
import type { ExecutorMemoryOptions, KernelExecutorMemory, MemoryRules } from "./kernel/types.ts";

export * from "./kernel/types.ts";
export { MemoryError, type MemoryStatus } from "./kernel/memory_error.ts";
export { WaitSet } from "./kernel/wait_set.ts";
export type { BatchEventVisitor, OperationBatch, OperationName } from "./kernel/operation_batch.ts";

/** The compiled kernel, for hosts that load it in their own way (workerd imports the .wasm file). */
export type KernelModule = WebAssembly.Module;

let compiled: WebAssembly.Module | undefined;

/**
 * Makes a compiled kernel the one that is used where none is given; without it, the one that comes with the project is
 * compiled at its first use. For hosts in which code may not be compiled then (workerd).
 *
 * @example
 * ```ts
 * import { Kernel, useKernelModule } from "./kernel.ts";
 *
 * const file = new URL("../assembly/build/kernel.wasm", import.meta.url);
 * useKernelModule(new WebAssembly.Module(await Deno.readFile(file)));
 * Kernel.create();
 * ```
 */
export function useKernelModule(module: KernelModule): void {
  compiled = module;
}

/** The kernel compiled from the base64 module, once per process. */
function defaultModule(): WebAssembly.Module {
  return compiled ??= new WebAssembly.Module(Uint8Array.from(atob(KERNEL_WASM), (char) => char.charCodeAt(0)));
}

/**
 * An instance of the kernel with its own memory; executors of one instance share nothing but that.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Kernel, ON_HEAP, WAITING } from "./kernel.ts";
 *
 * const executor = Kernel.create().createExecutor({ maxHeapMemory: 1000, onHeapStorageRegionSize: 500 });
 * const block = executor.declareBlock(7); // a partition of RDD 7
 * assertEquals(executor.putBytes(block, 750, ON_HEAP), true); // borrows 250 from execution
 * assertEquals(executor.acquireExecutionMemory(400, 1, ON_HEAP), 400); // evicts the block
 * const evicted: number[] = [];
 * executor.drain({ evicted: (blockId) => evicted.push(blockId) });
 * assertEquals(evicted, [block]);
 * executor.acquireExecutionMemory(600, 1, ON_HEAP);
 * assertEquals(executor.acquireExecutionMemory(100, 2, ON_HEAP), WAITING); // for 1/4 of 1000 bytes
 * ```
 */
export class Kernel {
  readonly #instance: KernelInstance;
  readonly #events: EventReader;
  #hasBatch = false;

  private constructor(instance: KernelInstance) {
    this.#instance = instance;
    this.#events = new EventReader(instance);
  }

  /**
   * A new instance.
   *
   * @param module the compiled kernel; without it, the one that comes with the project is compiled
   * @param options.maxMemoryBytes the linear memory is not grown beyond this (4 GiB by default); then calls throw
   * OUT_OF_MEMORY and leave everything as it was
   */
  static create(module?: KernelModule, options: { readonly maxMemoryBytes?: number } = {}): Kernel {
    const instance = new WebAssembly.Instance(module ?? defaultModule(), {});
    const kernel = new Kernel(new KernelInstance(instance.exports));
    if (options.maxMemoryBytes !== undefined) {
      kernel.#instance.checked(kernel.#instance.call.setMemoryLimit(options.maxMemoryBytes));
    }
    return kernel;
  }

  /** Bytes of the instance's linear memory. */
  get memoryBytes(): number {
    return this.#instance.memoryBytes;
  }

  /**
   * The memory manager and block store of one executor.
   *
   * @throws {MemoryError} EXECUTION_MEMORY_REQUIRED when the rules refuse an execution pool of size 0
   */
  createExecutor(options: ExecutorMemoryOptions): KernelExecutorMemory {
    const handle = this.#instance.checked(this.#instance.call.createExecutor(
      options.maxHeapMemory,
      options.onHeapStorageRegionSize,
      options.maxOffHeapMemory ?? 0,
      options.offHeapStorageRegionSize ?? 0,
      this.#ruleBits(options.rules ?? {}, options.wakeOrder === "host"),
    ));
    return new ExecutorInKernel(this.#instance, this.#events, handle);
  }

  /**
   * The kernel's batch of operations, for at most `capacity` of them (65,536 at most).
   *
   * @throws {Error} when the kernel has one already
   */
  createBatch(capacity: number): OperationBatch {
    if (this.#hasBatch) throw new Error("Cannot create a batch: the kernel must have none: it has one");
    this.#hasBatch = true;
    return new OperationBatch(this.#instance, this.#events, capacity);
  }

  #ruleBits(rules: Partial<MemoryRules>, hostWakes: boolean): number {
    const bit = (name: string, set: boolean) => set ? this.#instance.constant(name) : 0;
    return bit("RULE_REQUIRES_EXECUTION_MEMORY", rules.refusesEmptyExecutionPool ?? false) |
      bit("RULE_BORROWS_WHOLE_REQUEST", !(rules.borrowsOnlyWhatIsMissing ?? true)) |
      bit("RULE_EVICTED_BYTES_STAY_IN_STORAGE", !(rules.evictionReachesExecutionAtOnce ?? true)) |
      bit("RULE_NO_OFF_HEAP_STORAGE", !(rules.offHeapStorage ?? true)) |
      bit("RULE_UNMANAGED_MEMORY", rules.unmanagedConsumers ?? false) |
      bit("RULE_HOST_WAKES", hostWakes);
  }
}
