/**
 * Lines of a stream of bytes.
 *
 * @module
 */
import { LimitError } from "../errors.ts";

const NEWLINE = 10;

/** Takes a line without its end: `bytes` from `start` to `end`, valid during the call. */
export type LineSink = (bytes: Uint8Array, start: number, end: number) => void;

/** Takes a line from `start` on if it knows how it ends, and gives the position of its line end; else -1. */
export type QuickLine = (bytes: Uint8Array, start: number) => number;

/**
 * Cuts chunks into lines; keeps only the unfinished line between chunks.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { LineSplitter } from "./lines.ts";
 *
 * const lines: string[] = [];
 * const splitter = new LineSplitter((bytes, start, end) => {
 *   lines.push(new TextDecoder().decode(bytes.subarray(start, end)));
 * }, 100);
 * splitter.push(new TextEncoder().encode("a\nb"));
 * splitter.push(new TextEncoder().encode("c\nd"));
 * assertEquals(lines, ["a", "bc"]);
 * assertEquals(splitter.finish(), true); // the last line had no end
 * assertEquals(lines, ["a", "bc", "d"]);
 * ```
 */
export class LineSplitter {
  readonly #sink: LineSink;
  readonly #maxLineBytes: number;
  readonly #quick: QuickLine | null;
  #rest: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #restLength = 0;

  constructor(sink: LineSink, maxLineBytes: number, quick: QuickLine | null = null) {
    this.#sink = sink;
    this.#maxLineBytes = maxLineBytes;
    this.#quick = quick;
  }

  /**
   * Takes the next bytes and hands out the lines that they complete.
   *
   * @throws {LimitError} `limit.line_bytes` when a line is longer than allowed.
   */
  push(chunk: Uint8Array): void {
    let start = 0;
    if (this.#restLength > 0) {
      const end = chunk.indexOf(NEWLINE);
      this.#keep(end < 0 ? chunk : chunk.subarray(0, end));
      if (end < 0) return;
      this.#flush();
      start = end + 1;
    }
    while (start < chunk.length) {
      let end = this.#quick === null ? -1 : this.#quick(chunk, start);
      if (end < 0) {
        end = chunk.indexOf(NEWLINE, start);
        if (end < 0) break;
        this.#check(end - start);
        this.#sink(chunk, start, end);
      }
      start = end + 1;
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  /** Hands out the last line if it has no end; true when there was one. */
  finish(): boolean {
    const unfinished = this.#restLength > 0;
    if (unfinished) this.#flush();
    return unfinished;
  }

  #check(lineBytes: number): void {
    if (lineBytes > this.#maxLineBytes) {
      throw new LimitError(
        "limit.line_bytes",
        `Cannot read the event log: a line must have at most ${this.#maxLineBytes} bytes: received ${lineBytes} and more`,
        { parameters: { limit: this.#maxLineBytes, received: lineBytes } },
      );
    }
  }

  #keep(bytes: Uint8Array): void {
    const length = this.#restLength + bytes.length;
    this.#check(length);
    if (length > this.#rest.length) {
      const grown = new Uint8Array(Math.max(length, this.#rest.length * 2));
      grown.set(this.#rest.subarray(0, this.#restLength));
      this.#rest = grown;
    }
    this.#rest.set(bytes, this.#restLength);
    this.#restLength = length;
  }

  #flush(): void {
    const length = this.#restLength;
    this.#restLength = 0;
    this.#sink(this.#rest, 0, length);
  }
}
