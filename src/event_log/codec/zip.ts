/**
 * zip archives: what the History Server gives for "download event log".
 *
 * @module
 */
import { Inflate } from "fflate";
import { InputError } from "../../errors.ts";
import { CodecError } from "./chunk_decoder.ts";

const END_OF_DIRECTORY = 0x06054b50;
const ZIP64_END_OF_DIRECTORY = 0x06064b50;
const ZIP64_LOCATOR = 0x07064b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_ENTRY = 0x04034b50;
/** The end record is 22 bytes and a comment of at most 65,535. */
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 0xffff;
const STORED = 0;
const DEFLATED = 8;
const PIECE_BYTES = 1 << 14;
/** The locator of a zip64 archive's end record comes before the end record. */
const LOCATOR_BYTES = 20;
const ZIP64_END_BYTES = 56;
/** Extra field of an entry: the figures that have no room in the entry itself. */
const ZIP64_EXTRA = 1;
/** Stands for "see the zip64 record". */
const MAX_16 = 0xffff;
const MAX_32 = 0xffffffff;

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

/** A number of 64 bits; Infinity where it is more than any archive has. */
function uint64(view: DataView, at: number): number {
  const value = view.getBigUint64(at, true);
  return value > BigInt(Number.MAX_SAFE_INTEGER) ? Infinity : Number(value);
}

/** Where the directory begins, and how many entries it has. */
function directory(view: DataView, end: number): { count: number; start: number } {
  const count = view.getUint16(end + 10, true);
  const start = view.getUint32(end + 16, true);
  const locator = end - LOCATOR_BYTES;
  const isZip64 = count === MAX_16 || start === MAX_32 || view.getUint16(end + 8, true) === MAX_16;
  if (!isZip64 || locator < 0 || view.getUint32(locator, true) !== ZIP64_LOCATOR) {
    // Info-ZIP leaves the place out when it writes to a pipe, and the record that would tell it too: the directory ends here.
    return { count, start: start === MAX_32 ? end - view.getUint32(end + 12, true) : start };
  }
  const record = uint64(view, locator + 8);
  if (record + ZIP64_END_BYTES > locator || view.getUint32(record, true) !== ZIP64_END_OF_DIRECTORY) {
    throw corrupt("its zip64 directory is damaged");
  }
  return { count: uint64(view, record + 32), start: uint64(view, record + 48) };
}

/** What the directory says of a file. */
interface DirectoryEntry {
  readonly name: string;
  readonly flags: number;
  readonly method: number;
  /** Compressed. */
  readonly size: number;
  /** Where the file's own header is. */
  readonly local: number;
  /** Where the next entry is. */
  readonly next: number;
}

function directoryEntry(bytes: Uint8Array, view: DataView, at: number, end: number): DirectoryEntry {
  if (at < 0 || at + 46 > end || view.getUint32(at, true) !== DIRECTORY_ENTRY) {
    throw corrupt("its directory is damaged");
  }
  const nameEnd = at + 46 + view.getUint16(at + 28, true);
  const extraEnd = nameEnd + view.getUint16(at + 30, true);
  if (extraEnd > end) throw corrupt("its directory is damaged");
  // The extra field has only those figures that are not in the entry, in this order.
  const figures = [24, 20, 42].map((offset) => view.getUint32(at + offset, true));
  let extra = zip64Extra(view, nameEnd, extraEnd);
  const [, size, local] = figures.map((figure) => {
    if (figure !== MAX_32 || extra === null) return figure;
    if (extra.start + 8 > extra.end) throw corrupt("its directory is damaged");
    const value = uint64(view, extra.start);
    extra = { start: extra.start + 8, end: extra.end };
    return value;
  });
  return {
    name: new TextDecoder().decode(bytes.subarray(at + 46, nameEnd)),
    flags: view.getUint16(at + 8, true),
    method: view.getUint16(at + 10, true),
    size,
    local,
    next: extraEnd + view.getUint16(at + 32, true),
  };
}

function zip64Extra(view: DataView, start: number, end: number): { start: number; end: number } | null {
  for (let at = start; at + 4 <= end;) {
    const next = at + 4 + view.getUint16(at + 2, true);
    if (view.getUint16(at, true) === ZIP64_EXTRA && next <= end) return { start: at + 4, end: next };
    at = next;
  }
  return null;
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
        } else inflated(inflate, piece, at >= end);
      }
      if (at >= end) controller.close();
    },
  });
}

function inflated(inflate: Inflate, piece: Uint8Array, isLast: boolean): void {
  try {
    inflate.push(piece, isLast);
  } catch (cause) {
    throw new CodecError("zip data that does not decompress", { cause });
  }
}

/**
 * The files of a zip archive, without folders, in the order of its directory; zip64 too, which archives of logs beyond 4 GiB are.
 *
 * @throws {InputError} `event_log.zip` when the archive is cut off, damaged, encrypted, split or compressed in another way than
 * deflate.
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
  const { count, start: first } = directory(view, end);
  const entries: ZipEntry[] = [];
  for (let i = 0, at = first; i < count; i++) {
    const { name, flags, method, size, local, next } = directoryEntry(bytes, view, at, end);
    at = next;
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
