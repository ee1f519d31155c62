/**
 * Plans of SQL executions, the largest part of the logs of many applications, checked without being decoded.
 *
 * @module
 */
import { isSameAt } from "./same_bytes.ts";
import { digitsEnd, textEnd, valueEnd } from "./json_skip.ts";

const MAX_DEPTH = 500;
/** More digits would not fit exactly into a number. */
const MAX_DIGITS = 15;
const QUOTE = 0x22, COMMA = 0x2c, ZERO = 0x30, OPEN_BRACE = 0x7b, CLOSE_BRACE = 0x7d, CLOSE_BRACKET = 0x5d;

function literal(text: string): DataView {
  return new DataView(new TextEncoder().encode(text).buffer);
}

const NODE = literal('{"nodeName":');
const DESCRIPTION = literal(',"simpleString":');
const CHILDREN = literal(',"children":[');
const METADATA = literal('],"metadata":');
const METRICS = literal(',"metrics":[');
const METRIC = literal('{"name":');
const ACCUMULATOR = literal(',"accumulatorId":');
const TYPE = literal(',"metricType":');

/** One plan, from its first byte on; a position of -1 stands for another form. */
class PlanScan {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #end: number;

  constructor(bytes: Uint8Array, view: DataView, end: number) {
    this.#bytes = bytes;
    this.#view = view;
    this.#end = end;
  }

  node(start: number, depth: number): number {
    if (depth > MAX_DEPTH) return -1;
    let at = this.#text(this.#literal(start, NODE));
    at = this.#text(this.#literal(at, DESCRIPTION));
    at = this.#literal(at, CHILDREN);
    if (at >= 0 && this.#byte(at) === OPEN_BRACE) {
      for (at = this.node(at, depth + 1); at >= 0 && this.#byte(at) === COMMA;) at = this.node(at + 1, depth + 1);
    }
    at = this.#literal(at, METADATA);
    if (at < 0 || this.#byte(at) !== OPEN_BRACE) return -1;
    at = this.#metrics(this.#literal(valueEnd(this.#bytes, this.#view, at, this.#end), METRICS));
    return at >= 0 && this.#byte(at) === CLOSE_BRACE ? at + 1 : -1;
  }

  /** Moves over the metrics and their closing bracket. */
  #metrics(start: number): number {
    let at = start;
    if (at >= 0 && this.#byte(at) === OPEN_BRACE) {
      for (at = this.#metric(at); at >= 0 && this.#byte(at) === COMMA;) at = this.#metric(at + 1);
    }
    return at >= 0 && this.#byte(at) === CLOSE_BRACKET ? at + 1 : -1;
  }

  #metric(start: number): number {
    let at = this.#text(this.#literal(start, METRIC));
    at = this.#number(this.#literal(at, ACCUMULATOR));
    at = this.#text(this.#literal(at, TYPE));
    return at >= 0 && this.#byte(at) === CLOSE_BRACE ? at + 1 : -1;
  }

  #byte(at: number): number {
    return at < this.#end ? this.#bytes[at] : -1;
  }

  #literal(at: number, text: DataView): number {
    const length = text.byteLength;
    return at >= 0 && at + length <= this.#end && isSameAt(this.#view, at, text, length) ? at + length : -1;
  }

  #text(at: number): number {
    return at >= 0 && this.#byte(at) === QUOTE ? textEnd(this.#bytes, this.#view, at, this.#end) : -1;
  }

  /** A whole number, not negative. */
  #number(start: number): number {
    if (start < 0) return -1;
    const at = digitsEnd(this.#bytes, start, this.#end);
    const digits = at - start;
    return digits === 0 || digits > MAX_DIGITS || (digits > 1 && this.#bytes[start] === ZERO) ? -1 : at;
  }
}

/**
 * Where the plan that begins at `start` ends; -1 when it has another form than SparkPlanInfo has from Spark 2.3 to 4.1, or an error.
 * The decoder takes what this takes.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { planEnd } from "./plan_scan.ts";
 *
 * const plan = '{"nodeName":"Sort","simpleString":"","children":[],"metadata":{},"metrics":[]}';
 * const bytes = new TextEncoder().encode(plan);
 * assertEquals(planEnd(bytes, new DataView(bytes.buffer), 0, bytes.length), plan.length);
 * ```
 */
export function planEnd(bytes: Uint8Array, view: DataView, start: number, end: number): number {
  return new PlanScan(bytes, view, end).node(start, 0);
}
