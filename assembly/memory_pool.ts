/** Largest use of a pool, in bytes; sums of it with any other size stay within 64 bits. */
const LARGEST_USE: i64 = 1 << 60;

/**
 * A part of an executor's memory whose size can be changed (org.apache.spark.memory.MemoryPool).
 *
 * MemoryPool (16 bytes)
 *
 * | offset | field      | type | meaning                                                                |
 * | -----: | ---------- | ---- | ---------------------------------------------------------------------- |
 * |      0 | poolSize   | i64  | bytes                                                                  |
 * |      8 | memoryUsed | i64  | bytes; more than the size after less than nothing was released         |
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

  /** Whether `bytes` can be released. Spark does not refuse less than nothing, which adds; here it adds up to a limit. */
  @inline
  canRelease(bytes: i64): bool {
    return bytes >= 0 || (bytes >= -LARGEST_USE && this.memoryUsed <= LARGEST_USE + bytes);
  }

  /** Hands `delta` bytes to another pool; the caller has checked `canShrinkBy`. */
  @inline
  moveTo(other: MemoryPool, delta: i64): void {
    this.poolSize -= delta;
    other.poolSize += delta;
  }
}
