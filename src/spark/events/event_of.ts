/**
 * What all events have.
 *
 * @module
 */

/** Common to all events. */
export interface EventOf<Kind extends string> {
  /** Which event it is: the class SparkListener... without that prefix, its first letter lowered. */
  readonly kind: Kind;
}
