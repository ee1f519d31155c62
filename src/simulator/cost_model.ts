/**
 * How long things take that no log records. All are assumptions, the same for every run, so that two settings differ
 * by what Spark does and not by the machine.
 *
 * @module
 */

/** Speeds in bytes a millisecond, delays in milliseconds. */
export interface CostModel {
  /** Local disk, reading and writing: spills, blocks dropped to disk, shuffle files. 200 MiB/s. */
  readonly diskBytesPerMs: number;
  /** Sorting, serializing and compressing what is spilled, and the same again when it is merged. 30 MiB/s of memory. */
  readonly spillBytesPerMs: number;
  /** Network between two executors or to the driver. 1 Gbit/s. */
  readonly networkBytesPerMs: number;
  /** Turning objects into bytes and back. 400 MiB/s. */
  readonly serializationBytesPerMs: number;
  /** One message between driver and executor. */
  readonly messageMs: number;
  /** From the end of the last job to the end of the application: what was told to stop reports in that time. */
  readonly applicationEndMs: number;
  /** Handling of one result by a result-getter thread of the driver. */
  readonly resultHandlingMs: number;
}

const MIB = 1024 * 1024;

/** The speeds that are used unless others are given. */
export const DEFAULT_COST_MODEL: CostModel = Object.freeze({
  diskBytesPerMs: (200 * MIB) / 1000,
  spillBytesPerMs: (30 * MIB) / 1000,
  networkBytesPerMs: 125_000,
  serializationBytesPerMs: (400 * MIB) / 1000,
  messageMs: 1,
  applicationEndMs: 20,
  resultHandlingMs: 0,
});
