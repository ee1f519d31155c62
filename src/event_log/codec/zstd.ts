/**
 * Zstandard: frames one after another, as Spark's ZStdCompressionCodec writes them (each flush of the log ends a frame).
 *
 * @module
 */
import { Decompress } from "fzstd";
import { ByteQueue, type ChunkDecoder, CodecError, type Emit } from "./chunk_decoder.ts";

const MAGIC = 0xfd2fb528;
/** Skippable frames have 16 magics: 0x184D2A50 to 0x184D2A5F. */
const SKIPPABLE_MAGIC = 0x184d2a50;
/** A frame may ask for this much memory at most; `zstd --long=27` needs it, Spark's default levels 8 MiB. */
const MAX_WINDOW_BYTES = 1 << 27;

interface FrameHeader {
  readonly bytes: number;
  readonly checksum: boolean;
}

function u32(bytes: Uint8Array, at: number): number {
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) |
    (bytes[at + 3] << 24)) >>> 0;
}

/** Length of a frame's header, or null when more bytes are needed to know (RFC 8878, 3.1.1.1). */
function frameHeader(queue: ByteQueue): FrameHeader | null {
  const start = queue.peek(5);
  if (start === null) return null;
  const descriptor = start[4];
  const singleSegment = (descriptor & 32) !== 0;
  const dictionary = [0, 1, 2, 4][descriptor & 3];
  const contentSize = [singleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6];
  const bytes = 5 + (singleSegment ? 0 : 1) + dictionary + contentSize;
  const header = queue.peek(bytes);
  if (header === null) return null;
  let window = 0;
  if (singleSegment) {
    const at = 5 + dictionary;
    window = contentSize === 1
      ? header[at]
      : contentSize === 2
      ? (header[at] | header[at + 1] << 8) + 256
      : u32(header, at) +
        (contentSize === 8 ? u32(header, at + 4) * 2 ** 32 : 0);
  } else {
    const base = 2 ** (10 + (header[5] >> 3));
    window = base + (base / 8) * (header[5] & 7);
  }
  if (window > MAX_WINDOW_BYTES) {
    throw new CodecError(`zstd frame needs a window of ${window} bytes`);
  }
  return { bytes, checksum: (descriptor & 4) !== 0 };
}

/**
 * Decoder of Zstandard frames. It walks over the frames' headers itself, so that the window is bounded before the
 * library allocates it and the end of the input is known to be between frames or inside one.
 */
export class ZstdDecoder implements ChunkDecoder {
  #queue = new ByteQueue();
  /** What comes next. */
  #state: "frame" | "block" | "checksum" | "skip" = "frame";
  #checksum = false;
  #skip = 0;
  #frame: Decompress | null = null;
  /** Pieces of the frame that go to the library together: few large calls instead of one a block. */
  #pieces = new ByteQueue();

  push(chunk: Uint8Array, emit: Emit): void {
    this.#queue.append(chunk);
    let damage: CodecError | null = null;
    try {
      while (this.#step(emit));
    } catch (error) {
      if (!(error instanceof CodecError)) throw error;
      damage = error;
    }
    // The blocks before the damage are good.
    if (damage === null || this.#pieces.length > 0) this.#decompress(false);
    if (damage !== null) throw damage;
  }

  finish(): boolean {
    return this.#queue.length === 0 && this.#state === "frame";
  }

  /** Moves over one header, block or checksum; false when more bytes are needed. */
  #step(emit: Emit): boolean {
    switch (this.#state) {
      case "frame":
        return this.#startFrame(emit);
      case "block":
        return this.#block();
      case "checksum":
        return this.#piece(this.#queue.take(4), true);
      case "skip":
        return this.#skipBytes();
    }
  }

  #startFrame(emit: Emit): boolean {
    const start = this.#queue.peek(4);
    if (start === null) return false;
    const magic = u32(start, 0);
    if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC) {
      const header = this.#queue.take(8);
      if (header === null) return false;
      this.#skip = u32(header, 4);
      this.#state = "skip";
      return true;
    }
    if (magic !== MAGIC) throw new CodecError("zstd frame without its mark");
    const header = frameHeader(this.#queue);
    if (header === null) return false;
    this.#frame = new Decompress((bytes) => {
      if (bytes.length > 0) emit(bytes.slice());
    });
    this.#checksum = header.checksum;
    this.#state = "block";
    return this.#piece(this.#queue.take(header.bytes), false);
  }

  #block(): boolean {
    const header = this.#queue.peek(3);
    if (header === null) return false;
    const bits = header[0] | header[1] << 8 | header[2] << 16;
    const type = bits >> 1 & 3;
    if (type === 3) throw new CodecError("zstd block of a reserved type");
    const last = (bits & 1) === 1;
    const block = this.#queue.take(3 + (type === 1 ? 1 : bits >> 3));
    if (block !== null && last && this.#checksum) this.#state = "checksum";
    return this.#piece(block, last && !this.#checksum);
  }

  #piece(bytes: Uint8Array | null, ends: boolean): boolean {
    if (bytes === null) return false;
    this.#pieces.append(bytes);
    if (ends) {
      this.#state = "frame";
      this.#decompress(true);
    }
    return true;
  }

  #skipBytes(): boolean {
    const length = Math.min(this.#skip, this.#queue.length);
    this.#queue.take(length);
    this.#skip -= length;
    if (this.#skip === 0) this.#state = "frame";
    return this.#skip === 0;
  }

  #decompress(ends: boolean): void {
    if (this.#frame === null) return;
    try {
      this.#frame.push(this.#pieces.takeAll(), ends);
    } catch (cause) {
      throw new CodecError("zstd block that does not decompress", { cause });
    }
    if (ends) this.#frame = null;
  }
}
