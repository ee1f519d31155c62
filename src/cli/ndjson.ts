/**
 * Lines of JSON on standard input, for commands that work as a filter.
 *
 * @module
 */
import { LineSplitter } from "../event_log/lines.ts";
import { chunksOf } from "../event_log/parts.ts";

/** A request is a line; this is far above what one needs. */
const MAX_LINE_BYTES = 1 << 24;

/**
 * The lines of a stream that are not empty, with their numbers (1-based). One piece of input is in memory at a time.
 *
 * @throws {LimitError} `limit.line_bytes` for a line above 16 MiB.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { linesOf } from "./ndjson.ts";
 *
 * const lines = [];
 * for await (const line of linesOf(new Blob(['{"id":1}\n\n{"id":2}']).stream())) lines.push(line);
 * assertEquals(lines, [{ number: 1, text: '{"id":1}' }, { number: 3, text: '{"id":2}' }]);
 * ```
 */
export async function* linesOf(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<{ number: number; text: string }> {
  const decoder = new TextDecoder();
  let ready: { number: number; text: string }[] = [];
  let number = 0;
  const splitter = new LineSplitter((bytes, start, end) => {
    number++;
    const text = decoder.decode(bytes.subarray(start, end)).trim();
    if (text !== "") ready.push({ number, text });
  }, MAX_LINE_BYTES);
  for await (const chunk of chunksOf(stream)) {
    splitter.push(chunk);
    yield* ready;
    ready = [];
  }
  splitter.finish();
  yield* ready;
}
