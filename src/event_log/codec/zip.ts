/**
 * zip archives: what the History Server gives for "download event log".
 *
 * @module
 */
import { Inflate } from "fflate";
import { InputError } from "../../errors.ts";

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_ENTRY = 0x04034b50;
/** The end record is 22 bytes and a comment of at most 65,535. */
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 0xffff;
const STORED = 0;
const DEFLATED = 8;
const PIECE_BYTES = 1 << 14;
const MAX_ENTRIES = 65_535;

/** A file of an archive; `open` decompresses it as it is read. */
export interface ZipEntry {
  readonly name: string;
  open(): ReadableStream<Uint8Array>;
}

function corrupt(what: string): InputError {
  return new InputError(
    "event_log.zip",
    `Cannot read the zip archive: ${what}`,
    { parameters: { what } },
  );
}

function endRecord(view: DataView): number {
  const last = view.byteLength - END_BYTES;
  const first = Math.max(0, last - MAX_COMMENT_BYTES);
  for (let at = last; at >= first; at--) {
    if (view.getUint32(at, true) === END_OF_DIRECTORY) return at;
  }
  throw corrupt("no directory at its end: it may be cut off");
}

function content(
  bytes: Uint8Array,
  method: number,
  start: number,
  size: number,
): ReadableStream<Uint8Array> {
  let at = start;
  const end = start + size;
  const inflate = method === DEFLATED ? new Inflate() : null;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      let enqueued = false;
      if (inflate !== null) {
        inflate.ondata = (data) => {
          if (data.length > 0) {
            controller.enqueue(data);
            enqueued = true;
          }
        };
      }
      while (!enqueued && at < end) {
        const piece = bytes.slice(at, Math.min(end, at + PIECE_BYTES));
        at += piece.length;
        if (inflate === null) {
          controller.enqueue(piece);
          enqueued = true;
        } else inflate.push(piece, at >= end);
      }
      if (at >= end) controller.close();
    },
  });
}

/**
 * The files of a zip archive, without folders, in the order of its directory.
 *
 * @throws {InputError} `event_log.zip` when the archive is cut off, damaged, encrypted, split, larger than 4 GiB (zip64) or
 * compressed in another way than deflate.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { zipSync } from "fflate";
 * import { zipEntries } from "./zip.ts";
 *
 * const archive = zipSync({ "app-1": new TextEncoder().encode("hello") });
 * const [entry] = zipEntries(archive);
 * assertEquals(entry.name, "app-1");
 * assertEquals(await new Response(entry.open()).text(), "hello");
 * ```
 */
export function zipEntries(bytes: Uint8Array): ZipEntry[] {
  if (bytes.length < END_BYTES) throw corrupt("it is cut off");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = endRecord(view);
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  if (count === MAX_ENTRIES || at === 0xffffffff) {
    throw corrupt("zip64 archives are not supported: unpack it first");
  }
  const entries: ZipEntry[] = [];
  const decoder = new TextDecoder();
  for (let i = 0; i < count; i++) {
    if (at + 46 > end || view.getUint32(at, true) !== DIRECTORY_ENTRY) {
      throw corrupt("its directory is damaged");
    }
    const flags = view.getUint16(at + 8, true);
    const method = view.getUint16(at + 10, true);
    const size = view.getUint32(at + 20, true);
    const nameBytes = view.getUint16(at + 28, true);
    const local = view.getUint32(at + 42, true);
    const name = decoder.decode(bytes.subarray(at + 46, at + 46 + nameBytes));
    at += 46 + nameBytes + view.getUint16(at + 30, true) +
      view.getUint16(at + 32, true);
    if (name.endsWith("/")) continue;
    if ((flags & 1) !== 0) throw corrupt(`${name} is encrypted`);
    if (method !== STORED && method !== DEFLATED) {
      throw corrupt(`${name} is compressed by method ${method}`);
    }
    if (
      local + 30 > bytes.length || view.getUint32(local, true) !== LOCAL_ENTRY
    ) throw corrupt(`${name} is damaged`);
    const start = local + 30 + view.getUint16(local + 26, true) +
      view.getUint16(local + 28, true);
    if (start + size > end) throw corrupt(`${name} is cut off`);
    entries.push({ name, open: () => content(bytes, method, start, size) });
  }
  return entries;
}
