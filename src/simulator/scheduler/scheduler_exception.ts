/**
 * What Spark's driver throws at itself where its own rules are broken.
 *
 * @module
 */

/**
 * An exception of the simulated driver. It never leaves the scheduler: the DAG scheduler's event loop turns it into
 * data (real Spark then cancels all jobs and stops the SparkContext), and the task scheduler's caller sees it where
 * Spark's would.
 */
export class SchedulerException extends Error {
  override readonly name = "SchedulerException";

  constructor(
    /** The Java class, for example `java.util.NoSuchElementException`. */
    readonly className: string,
    message: string,
  ) {
    super(message);
  }
}
