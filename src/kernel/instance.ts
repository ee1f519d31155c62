/**
 * One instance of the kernel: its functions, its constants, and views of its memory that survive growth.
 *
 * @module
 */
import type { KernelConstant, KernelFunctions } from "./kernel_exports.ts";
import { MEMORY_STATUSES, MemoryError, type MemoryStatus } from "./memory_error.ts";

/** The version of the kernel's ABI that this code speaks. */
export const ABI_VERSION = 1;

/** Something with a buffer that is replaced when it grows (the kernel's linear memory). */
export interface GrowingMemory {
  readonly buffer: ArrayBufferLike;
}

/** What an instantiated kernel exports, by name. */
export type KernelExportTable = Readonly<Record<string, unknown>>;

/** A kernel that runs. */
export class KernelInstance {
  readonly call: KernelFunctions;
  /** Answers from here down mean that an acquire waits; the ticket is this less the answer. */
  readonly firstTicket: number;
  readonly #memory: GrowingMemory;
  readonly #exports: KernelExportTable;
  readonly #statusNames = new Map<number, MemoryStatus>();
  #u8: Uint8Array;
  #i32: Int32Array;
  #f64: Float64Array;

  constructor(exports: KernelExportTable) {
    this.#exports = exports;
    this.call = exports as unknown as KernelFunctions;
    this.#memory = exports.memory as GrowingMemory;
    if (this.constant("ABI_VERSION") !== ABI_VERSION) {
      throw new Error(
        `Cannot use the kernel: its ABI must be version ${ABI_VERSION}: received ${this.constant("ABI_VERSION")}`,
      );
    }
    this.firstTicket = this.constant("FIRST_TICKET");
    for (const name of MEMORY_STATUSES) this.#statusNames.set(this.constant(name), name);
    this.#u8 = new Uint8Array(this.#memory.buffer);
    this.#i32 = new Int32Array(this.#memory.buffer);
    this.#f64 = new Float64Array(this.#memory.buffer);
  }

  /** The value of an exported constant. */
  constant(name: string): number {
    return (this.#exports[name] as KernelConstant).value;
  }

  /** Views of the linear memory; valid until the next call that may make it grow. */
  get u8(): Uint8Array {
    if (this.#u8.length === 0) this.#refresh();
    return this.#u8;
  }

  get i32(): Int32Array {
    if (this.#i32.length === 0) this.#refresh();
    return this.#i32;
  }

  get f64(): Float64Array {
    if (this.#f64.length === 0) this.#refresh();
    return this.#f64;
  }

  /** Bytes of the linear memory. */
  get memoryBytes(): number {
    return this.#memory.buffer.byteLength;
  }

  /** The name of a status. */
  statusName(status: number): MemoryStatus {
    const name = this.#statusNames.get(status);
    if (name === undefined) throw new Error(`unknown status ${status}`);
    return name;
  }

  /** An answer that is not a status. */
  checked(answer: number): number {
    if (answer < 0) throw new MemoryError(this.statusName(answer));
    return answer;
  }

  #refresh(): void {
    this.#u8 = new Uint8Array(this.#memory.buffer);
    this.#i32 = new Int32Array(this.#memory.buffer);
    this.#f64 = new Float64Array(this.#memory.buffer);
  }
}
