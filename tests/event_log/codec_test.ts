import { assertEquals, assertThrows } from "@std/assert";
import { constants, zstdCompressSync } from "node:zlib";
import { gzipSync } from "fflate";
import { type ChunkDecoder, CodecError } from "../../src/event_log/codec/chunk_decoder.ts";
import { decompressed, type DecompressionReport, detectCodec } from "../../src/event_log/codec/codec.ts";
import { GzipDecoder } from "../../src/event_log/codec/gzip.ts";
import { decompressLz4Block, Lz4BlockDecoder } from "../../src/event_log/codec/lz4.ts";
import { decompressLzfChunk, LzfDecoder } from "../../src/event_log/codec/lzf.ts";
import { SnappyDecoder } from "../../src/event_log/codec/snappy.ts";
import { xxhash32 } from "../../src/event_log/codec/xxhash32.ts";
import { ZstdDecoder } from "../../src/event_log/codec/zstd.ts";
import { runParts } from "../support/runs.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

async function bytesOf(run: string): Promise<Uint8Array> {
  const { open } = runParts(run).find(({ name }) => !/appstatus|events_2/.test(name))!;
  return new Uint8Array(await new Response(open()).arrayBuffer());
}

function decode(
  codec: ChunkDecoder,
  bytes: Uint8Array,
  size = 1000,
): { text: string; complete: boolean } {
  let text = "";
  const utf8 = new TextDecoder();
  const emit = (piece: Uint8Array) => void (text += utf8.decode(piece, { stream: true }));
  for (let at = 0; at < bytes.length; at += size) {
    codec.push(bytes.subarray(at, at + size), emit);
  }
  const complete = codec.finish(emit);
  return { text, complete };
}

const DECODERS: Record<string, [run: string, make: () => ChunkDecoder]> = {
  lz4: ["codec_lz4", () => new Lz4BlockDecoder()],
  lzf: ["codec_lzf", () => new LzfDecoder()],
  snappy: ["codec_snappy", () => new SnappyDecoder()],
  zstd: ["spark_4_1_rolling", () => new ZstdDecoder()],
  gzip: ["cache_evictions", () => new GzipDecoder()],
};

for (const [codec, [run, make]] of Object.entries(DECODERS)) {
  Deno.test(`${codec}: a log that Spark wrote is decompressed to lines of JSON`, async () => {
    const bytes = await bytesOf(run);
    assertEquals(detectCodec(bytes), codec);
    const { text, complete } = decode(make(), bytes);
    assertEquals(complete, true);
    assertEquals(text.endsWith("}\n"), true);
    for (const line of text.trimEnd().split("\n")) {
      assertEquals(typeof JSON.parse(line).Event, "string");
    }
  });

  Deno.test(`${codec}: two streams one after another are read as one`, async () => {
    const bytes = await bytesOf(run);
    const twice = new Uint8Array(bytes.length * 2);
    twice.set(bytes);
    twice.set(bytes, bytes.length);
    const { text } = decode(make(), bytes);
    const both = decode(make(), twice, 777);
    assertEquals(both.complete, true);
    assertEquals(both.text === text + text, true);
  });

  Deno.test(`${codec}: an end in the middle is noticed, what came before is given`, async () => {
    const bytes = await bytesOf(run);
    const { text } = decode(make(), bytes);
    for (const part of [0.1, 0.5, 0.9]) {
      const cut = decode(
        make(),
        bytes.subarray(0, Math.floor(bytes.length * part)),
      );
      assertEquals(cut.complete, false, `${part}`);
      assertEquals(text.startsWith(cut.text.slice(0, -4)), true);
    }
  });

  Deno.test(`${codec}: damage gives a CodecError or other bytes, never anything else`, async () => {
    const bytes = await bytesOf(run);
    let seed = 1;
    const random = (n: number) => (seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) % n;
    for (let i = 0; i < 60; i++) {
      const damaged = bytes.slice(0, 20_000);
      for (let k = 0; k <= i % 5; k++) {
        damaged[random(i % 2 ? 200 : damaged.length)] = random(256);
      }
      try {
        decode(make(), damaged);
      } catch (error) {
        assertEquals(error instanceof CodecError, true, String(error));
      }
    }
  });
}

Deno.test("xxhash32() gives the values of the reference implementation", () => {
  // xxhsum -H0 of these texts.
  assertEquals(xxhash32(encoder.encode("a"), 0), 0x550d7456);
  assertEquals(xxhash32(encoder.encode("abc"), 0), 0x32d153ff);
  assertEquals(
    xxhash32(encoder.encode("Nobody inspects the spammish repetition"), 0),
    0xe2293b2f,
  );
});

Deno.test("lz4: a block with a wrong checksum is damage", async () => {
  const bytes = await bytesOf("codec_lz4");
  bytes[17] ^= 1;
  assertThrows(
    () => decode(new Lz4BlockDecoder(), bytes),
    CodecError,
    "checksum",
  );
});

Deno.test("lz4: a block without compression is copied", () => {
  const content = encoder.encode("hello");
  const block = new Uint8Array(21 + content.length);
  block.set(encoder.encode("LZ4Block"));
  const view = new DataView(block.buffer);
  block[8] = 0x10;
  view.setUint32(9, content.length, true);
  view.setUint32(13, content.length, true);
  view.setUint32(17, xxhash32(content, 0x9747b28c) & 0x0fffffff, true);
  block.set(content, 21);
  assertEquals(decode(new Lz4BlockDecoder(), block, 3), {
    text: "hello",
    complete: true,
  });
});

Deno.test("lzf: a chunk without compression is copied", () => {
  const chunk = new Uint8Array([0x5a, 0x56, 0, 0, 2, 0x68, 0x69]);
  assertEquals(decode(new LzfDecoder(), chunk, 2), {
    text: "hi",
    complete: true,
  });
});

Deno.test("snappy: long literals and each kind of copy", () => {
  const literal = "0123456789".repeat(7); // 70 bytes: the length is in one byte more
  const block = [
    ...encodeVarint(70 + 4 + 8 + 8),
    60 << 2,
    69,
    ...encoder.encode(literal),
  ];
  block.push(0 << 2 | 0 << 5 | 1, 10); // copy of 4 at distance 10, offset of 11 bits
  block.push(7 << 2 | 2, 70, 0); // copy of 8 at distance 70, offset of 16 bits
  block.push(7 << 2 | 3, 10, 0, 0, 0); // copy of 8 at distance 10, offset of 32 bits
  const bytes = [
    0x82,
    ...encoder.encode("SNAPPY"),
    0,
    0,
    0,
    0,
    1,
    0,
    0,
    0,
    1,
    0,
    0,
    0,
    block.length,
    ...block,
  ];
  let expected = literal + "0123";
  expected += expected.slice(4, 12);
  expected += expected.slice(72, 80);
  assertEquals(decode(new SnappyDecoder(), new Uint8Array(bytes), 5), {
    text: expected,
    complete: true,
  });
});

function encodeVarint(value: number): number[] {
  return value < 128 ? [value] : [value % 128 | 128, ...encodeVarint(Math.floor(value / 128))];
}

Deno.test("zstd: skippable frames are skipped", async () => {
  const bytes = await bytesOf("spark_4_1_rolling");
  const skippable = new Uint8Array([
    0x53,
    0x2a,
    0x4d,
    0x18,
    3,
    0,
    0,
    0,
    1,
    2,
    3,
  ]);
  const both = new Uint8Array(bytes.length + skippable.length);
  both.set(skippable);
  both.set(bytes, skippable.length);
  assertEquals(detectCodec(both), "zstd");
  assertEquals(
    decode(new ZstdDecoder(), both).text,
    decode(new ZstdDecoder(), bytes).text,
  );
});

Deno.test("zstd: the blocks before a damaged one are given, though they came with it", async () => {
  const bytes = await bytesOf("codec_zstd");
  // The last block's header becomes one of the reserved type, in the same piece of input as all blocks before it.
  let at = 0;
  // Frames of unknown size, as zstd-jni streams write them: 4 bytes of magic, a descriptor, a window.
  for (let next = 6; next < bytes.length;) {
    at = next;
    const bits = bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16;
    if ((bits & 1) === 1) break;
    next = at + 3 + ((bits >> 1 & 3) === 1 ? 1 : bits >> 3);
  }
  const damaged = bytes.slice();
  damaged[at] |= 6;
  const decoder = new ZstdDecoder();
  let given = 0;
  assertThrows(() => decoder.push(damaged, (piece) => void (given += piece.length)), CodecError, "reserved type");
  let before = 0;
  new ZstdDecoder().push(bytes.slice(0, at), (piece) => void (before += piece.length));
  assertEquals([given, before > 100_000], [before, true]);
});

Deno.test("zstd: a frame that wants a huge window is refused before memory is taken", () => {
  // Window descriptor 0xF8: 2^41 bytes.
  const frame = new Uint8Array([
    0x28,
    0xb5,
    0x2f,
    0xfd,
    0x00,
    0xf8,
    0x01,
    0x00,
    0x00,
  ]);
  assertThrows(() => decode(new ZstdDecoder(), frame), CodecError, "window");
});

Deno.test("decompressed() unpacks a codec inside a codec, up to three", async () => {
  async function* source(bytes: Uint8Array) {
    yield await Promise.resolve(bytes);
  }
  let bytes: Uint8Array = encoder.encode("hello");
  for (let depth = 1; depth <= 4; depth++) {
    bytes = gzipSync(bytes);
    const report: DecompressionReport = {
      codecs: [],
      truncated: false,
      corrupt: null,
    };
    let text = "";
    for await (const chunk of decompressed(source(bytes), report)) {
      text += decoder.decode(chunk);
    }
    assertEquals(report.codecs.length, Math.min(depth, 3));
    assertEquals(text === "hello", depth <= 3);
  }
});

Deno.test("lz4 and lzf: literals and sizes that do not fit are damage", () => {
  // A token of 15 literals and more, of which only one byte is there (lz4_Block_format.md).
  assertThrows(() => decompressLz4Block(new Uint8Array([0xf0, 1, 65]), 100), CodecError, "literals run past the end");
  // A control byte of 5 + 1 literals, of which one is there; and one literal for a chunk of two bytes.
  assertThrows(() => decompressLzfChunk(new Uint8Array([5, 65]), 10), CodecError, "literals run past the end");
  assertThrows(() => decompressLzfChunk(new Uint8Array([0, 65]), 2), CodecError, "another size");
});

/** A frame of one stored block that is its own window (RFC 8878, 3.1.1): its size in so many bytes. */
function singleSegment(text: string, sizeBytes: 1 | 2 | 4 | 8): Uint8Array {
  const bytes = new Uint8Array(5 + sizeBytes + 3 + text.length);
  const view = new DataView(bytes.buffer);
  // magic; descriptor: the form of the size in bits 6 and 7, bit 5 for a single segment
  bytes.set([0x28, 0xb5, 0x2f, 0xfd, [1, 2, 4, 8].indexOf(sizeBytes) << 6 | 32]);
  if (sizeBytes === 1) bytes[5] = text.length;
  else if (sizeBytes === 2) view.setUint16(5, text.length - 256, true);
  else if (sizeBytes === 4) view.setUint32(5, text.length, true);
  else view.setBigUint64(5, BigInt(text.length), true);
  // block header: bit 0 for the last, type 0, size from bit 3 on
  const header = text.length << 3 | 1;
  bytes.set([header & 255, header >> 8 & 255, header >> 16], 5 + sizeBytes);
  bytes.set(encoder.encode(text), 8 + sizeBytes);
  return bytes;
}

Deno.test("zstd: frames with a checksum, with their size in 1, 2, 4 and 8 bytes, and skippable ones, a byte at a time", () => {
  const text = "line\n".repeat(60);
  // 0x184D2A50 and three bytes to skip
  const skippable = new Uint8Array([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 7, 7, 7]);
  const checked = new Uint8Array(zstdCompressSync(text, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }));
  assertEquals(checked[4] & 4, 4);
  const frames = [
    skippable,
    singleSegment("hi\n", 1),
    checked,
    singleSegment(text, 2),
    skippable,
    singleSegment(text, 4),
    singleSegment(text, 8),
  ];
  const bytes = new Uint8Array(frames.flatMap((frame) => [...frame]));
  for (const size of [1, 3, bytes.length]) {
    const expected = { text: "hi\n" + text.repeat(4), complete: true };
    assertEquals(decode(new ZstdDecoder(), bytes, size), expected, `${size} bytes at a time`);
  }
  for (const cut of [4, 9, 20, bytes.length - 2]) {
    assertEquals(decode(new ZstdDecoder(), bytes.subarray(0, cut)).complete, false, `${cut} bytes`);
  }
});

Deno.test("zstd: a window that no log needs and a reserved block type are damage", () => {
  // a single segment of 2^28 bytes, whose content size is the window
  const windowed = singleSegment("hi", 8);
  new DataView(windowed.buffer).setBigUint64(5, 1n << 28n, true);
  assertThrows(() => decode(new ZstdDecoder(), windowed), CodecError, "a window of 268435456 bytes");
  // the block header follows magic, descriptor and a byte of size; type 3 is reserved (RFC 8878, 3.1.1.2.2)
  const frame = singleSegment("hi", 1);
  frame[6] |= 6;
  assertThrows(() => decode(new ZstdDecoder(), frame), CodecError, "reserved type");
});
