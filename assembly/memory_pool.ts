/**
 * A part of an executor's memory whose size can be changed (org.apache.spark.memory.MemoryPool).
 *
 * MemoryPool (16 bytes)
 *
 * | offset | field      | type | meaning                   |
 * | -----: | ---------- | ---- | ------------------------- |
 * |      0 | poolSize   | i64  | bytes                     |
 * |      8 | memoryUsed | i64  | bytes; may exceed the size when more than nothing was released by a negative release |
 */
@unmanaged
export class MemoryPool {
  poolSize!: i64;
  memoryUsed!: i64;

  @inline
  get memoryFree(): i64 {
    return this.poolSize - this.memoryUsed;
  }

  /** The requirements of MemoryPool.decrementPoolSize; they fail only after an over-release. */
  @inline
  canShrinkBy(delta: i64): bool {
    return delta >= 0 && delta <= this.poolSize && this.poolSize - delta >= this.memoryUsed;
  }

  /** Hands `delta` bytes to another pool; the caller has checked `canShrinkBy`. */
  @inline
  moveTo(other: MemoryPool, delta: i64): void {
    this.poolSize -= delta;
    other.poolSize += delta;
  }
}
