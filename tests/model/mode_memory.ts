/** The memory of one mode in the model: two pools whose sizes always add up to the maximum. */

import { MemoryError } from "../../src/kernel.ts";

/** Integer division as the JVM does it, exact for dividends up to 2^53 - 1. */
export function divide(dividend: number, divisor: number): number {
  const quotient = Math.trunc(dividend / divisor);
  // a quotient that was rounded up to the next whole number
  return Math.abs(quotient * divisor) > Math.abs(dividend) ? quotient - Math.sign(dividend) : quotient;
}

/** `assert` of Scala. */
export function assertThat(condition: boolean): void {
  if (!condition) throw new MemoryError("ASSERTION_FAILED");
}

/** `require` of Scala. */
function requireThat(condition: boolean): void {
  if (!condition) throw new MemoryError("REQUIREMENT_FAILED");
}

/** Storage pool and execution pool of one memory mode. */
export class ModeMemory {
  storagePoolSize: number;
  storageUsed = 0;
  executionPoolSize: number;
  unmanaged = 0;
  /** Execution memory of the active tasks; a task may be active with 0 bytes. */
  readonly memoryForTask = new Map<number, number>();
  /** Unroll memory by task; a part of what storage uses. */
  readonly unrollForTask = new Map<number, number>();

  constructor(readonly maxMemory: number, readonly storageRegionSize: number) {
    this.storagePoolSize = storageRegionSize;
    this.executionPoolSize = maxMemory - storageRegionSize;
  }

  get executionUsed(): number {
    return sum(this.memoryForTask);
  }

  get unrollUsed(): number {
    return sum(this.unrollForTask);
  }

  get storageFree(): number {
    return this.storagePoolSize - this.storageUsed;
  }

  get executionFree(): number {
    return this.executionPoolSize - this.executionUsed;
  }

  /** Moves bytes from the execution pool to the storage pool, as decrementPoolSize and incrementPoolSize do. */
  lendToStorage(bytes: number): void {
    requireThat(bytes >= 0 && bytes <= this.executionPoolSize);
    requireThat(this.executionPoolSize - bytes >= this.executionUsed);
    this.executionPoolSize -= bytes;
    this.storagePoolSize += bytes;
  }

  /** Moves bytes from the storage pool to the execution pool. */
  lendToExecution(bytes: number): void {
    requireThat(bytes >= 0 && bytes <= this.storagePoolSize);
    requireThat(this.storagePoolSize - bytes >= this.storageUsed);
    this.storagePoolSize -= bytes;
    this.executionPoolSize += bytes;
  }
}

function sum(bytes: ReadonlyMap<number, number>): number {
  let total = 0;
  for (const value of bytes.values()) total += value;
  return total;
}
