/**
 * Event logs as they are stored (zstd, lz4, snappy, lzf, gzip, zip, rolled) with damaged bytes, or with files that are missing, there
 * twice or out of order: each is an answer or a clear error, in bounded memory, and what lies before the damage is read as it was.
 *
 * @module
 */
import { takeElements } from "../support/counted_arrays.ts";
import { answersOf } from "../support/log_answers.ts";
import { assert, assertEquals } from "@std/assert";
import { decompressed } from "../../src/event_log/codec/codec.ts";
import { chunksOf, type LogPart } from "../../src/event_log/parts.ts";
import { readEventLog } from "../../src/event_log/read.ts";
import { InputError } from "../../src/errors.ts";
import { Prng } from "../../src/prng.ts";
import type { SparkEvent } from "../../src/spark/events.ts";
import { part, runParts } from "../support/runs.ts";
import { summaryOfLines } from "./untouched.ts";

const TESTDATA = new URL("../testdata/", import.meta.url);

/** Single files by codec. */
const FILES: Readonly<Record<string, string>> = {
  zstd: "runs/codec_zstd/app-20261130180217-0000.zstd",
  lz4: "runs/codec_lz4/app-20261130180240-0000.lz4",
  snappy: "runs/codec_snappy/app-20261130184222-0000.snappy",
  lzf: "runs/codec_lzf/app-20261130184234-0000.lzf",
  gzip: "runs/max_result_size/app-20261130174421-0000.gz",
  gzip24: "runs/spark_2_4_max_result_size/app-20261130181425-0000.gz",
  zstd40: "runs/spark_4_0_sort_spill/eventlog_v2_app-20261130184105-0000/events_1_app-20261130184105-0000.zstd",
  zip: "zip/history_server_compacted.zip",
  zip64: "zip/zip64_streamed.zip",
};

/** Rolled logs; the one of 4.1 has two files of events. */
const ROLLED = ["spark_4_0_sort_spill", "spark_4_1_rolling"];

/** gzip is decompressed in pieces of so many bytes. */
const GZIP_PIECE_BYTES = 1 << 14;

/** Bytes in a header that say how much there is. */
const HEADER_NUMBERS = [
  [0xff, 0xff, 0xff, 0xff],
  [0x7f, 0xff, 0xff, 0xff],
  [0xff, 0xff, 0xff, 0x7f],
  [0, 0, 0, 0],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f],
];

type ByteChange = (bytes: Uint8Array, at: number, random: Prng) => Uint8Array;

function joined(...parts: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const bytes of parts) {
    all.set(bytes, at);
    at += bytes.length;
  }
  return all;
}

const BYTE_CHANGES: Readonly<Record<string, ByteChange>> = {
  flip(bytes, at, random) {
    const changed = bytes.slice();
    changed[at] ^= 1 << random.integer(8);
    return changed;
  },
  headerNumber(bytes, at, random) {
    const changed = bytes.slice();
    changed.set(HEADER_NUMBERS[random.integer(HEADER_NUMBERS.length)].slice(0, bytes.length - at), at);
    return changed;
  },
  noise(bytes, at, random) {
    const changed = bytes.slice();
    for (let i = at; i < Math.min(bytes.length, at + 64); i++) changed[i] = random.integer(256);
    return changed;
  },
  cut: (bytes, at) => bytes.slice(0, at),
  hole: (bytes, at, random) => joined(bytes.slice(0, at), bytes.slice(at + 1 + random.integer(2000))),
  repeat: (bytes, at) => joined(bytes.slice(0, at), bytes.slice(at, at + 1000), bytes.slice(at)),
  more: (bytes, at) => joined(bytes, bytes.slice(0, at)),
};

/** A file of a log, as it is. */
interface Whole {
  readonly bytes: Uint8Array;
  readonly elements: number;
}

function stream(bytes: Uint8Array): ReadableStream<Uint8Array> {
  return new Blob([bytes.slice()]).stream();
}

/** What the bytes hold, as far as they can be read. */
async function textOf(bytes: Uint8Array): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  const report = { codecs: [], truncated: false, corrupt: null };
  for await (const chunk of decompressed(chunksOf(stream(bytes)), report)) {
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

async function eventsOf(bytes: Uint8Array): Promise<SparkEvent[]> {
  const events: SparkEvent[] = [];
  try {
    await readEventLog(stream(bytes), { event: (event) => void events.push(structuredClone(event)) });
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
  }
  return events.filter(({ kind }) => kind !== "warning");
}

/** The events of the whole lines before the damage. */
async function eventsBefore(bytes: Uint8Array, at: number): Promise<SparkEvent[]> {
  const text = await textOf(bytes.slice(0, at));
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  return whole === "" ? [] : await eventsOf(new TextEncoder().encode(whole));
}

/** What came of the damaged files. */
export interface StoredCounts {
  answers: number;
  errors: Record<string, number>;
  byKind: Record<string, number>;
}

class StoredLogs {
  readonly #files = new Map<string, Whole>();

  static async load(): Promise<StoredLogs> {
    const logs = new StoredLogs();
    for (const [name, path] of Object.entries(FILES)) {
      const bytes = Deno.readFileSync(new URL(path, TESTDATA));
      const { elements, code } = await answersOf(stream(bytes));
      assertEquals(code, null, name);
      logs.#files.set(name, { bytes, elements });
    }
    return logs;
  }

  async damage(random: Prng, counts: StoredCounts): Promise<void> {
    const names = [...this.#files.keys()];
    const name = names[random.integer(names.length)];
    const { bytes, elements } = this.#files.get(name)!;
    const changes = Object.keys(BYTE_CHANGES);
    const change = changes[random.integer(changes.length)];
    // Half of the damage is near an end, where headers and directories are.
    const from = [0, bytes.length - 64, random.integer(bytes.length), random.integer(bytes.length)][random.integer(4)];
    const at = Math.max(0, Math.min(bytes.length - 1, from + random.integer(64)));
    const changed = BYTE_CHANGES[change](bytes, at, random);
    const said = `${change} of ${name} at ${at}`;
    try {
      const answer = await answersOf(stream(changed));
      note(counts, `${name} ${change}`, answer.code);
      // Bytes are given out in pieces of a size of their own, which are counted each time.
      assert(answer.elements <= 8 * elements + 20_000_000, `arrays of ${answer.elements} elements; whole: ${elements}`);
      if (name.startsWith("zip") || change === "more") return;
      // Of gzip the piece in which the damage lies is lost, in whole.
      const before = await eventsBefore(bytes, name.startsWith("gzip") ? at - at % GZIP_PIECE_BYTES : at);
      assertEquals((await eventsOf(changed)).slice(0, before.length), before, "events before the damage");
    } catch (cause) {
      throw new Error(`${said}: ${cause}`, { cause });
    }
  }
}

function note(counts: StoredCounts, kind: string, code: string | null): void {
  counts.byKind[kind] = (counts.byKind[kind] ?? 0) + 1;
  if (code === null) counts.answers++;
  else counts.errors[code] = (counts.errors[code] ?? 0) + 1;
}

/** Files of a rolled log in any order, one of them damaged, missing or there twice. */
async function damageRolled(random: Prng, counts: StoredCounts): Promise<void> {
  const name = ROLLED[random.integer(ROLLED.length)];
  const files = await Promise.all(
    runParts(name).map(async (file) => ({
      name: file.name,
      bytes: new Uint8Array(await new Response(file.open() as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer()),
    })),
  );
  const parts = (list: readonly { name: string; bytes: Uint8Array }[]): LogPart[] =>
    list.map(({ name, bytes }) => part(name, bytes));
  const at = random.integer(files.length);
  const kinds: Record<string, () => LogPart[]> = {
    order: () => parts([...files].reverse()),
    missing: () => parts(files.filter((_, i) => i !== at)),
    twice: () => parts([...files, files[at]]),
    empty: () => parts(files.map((file, i) => i === at ? { ...file, bytes: new Uint8Array(0) } : file)),
    swapped: () => parts(files.map(({ name }, i) => ({ name, bytes: files[(i + 1) % files.length].bytes }))),
    renamed: () => parts(files.map((file, i) => i === at ? { ...file, name: "events_99999999999_x" } : file)),
    cut: () =>
      parts(files.map((file, i) => i === at ? { ...file, bytes: file.bytes.slice(0, file.bytes.length / 2) } : file)),
  };
  const names = Object.keys(kinds);
  const kind = names[random.integer(names.length)];
  try {
    const answer = await answersOf(kinds[kind]());
    note(counts, `rolled ${kind}`, answer.code);
    if (kind !== "order") return;
    const texts = await Promise.all(
      [...files].sort((a, b) => a.name < b.name ? -1 : 1).map(({ bytes }) => textOf(bytes)),
    );
    const whole = await summaryOfLines(texts.join("").trimEnd().split("\n"));
    assertEquals(
      { ...answer.summary, warnings: [] },
      { ...whole, warnings: [] },
      "the order of the files says something",
    );
  } catch (cause) {
    throw new Error(`${kind} of ${name}, file ${at}: ${cause}`, { cause });
  }
}

let kept: Promise<StoredLogs> | null = null;

/** Damages so many stored logs, each from a seed of its own. */
export async function fuzzStoredLogs(seed: number, count: number): Promise<StoredCounts> {
  const logs = await (kept ??= StoredLogs.load());
  const counts: StoredCounts = { answers: 0, errors: {}, byKind: {} };
  for (let i = 0; i < count; i++) {
    const random = new Prng(seed + i);
    takeElements();
    try {
      if (random.integer(40) === 0) await damageRolled(random, counts);
      else await logs.damage(random, counts);
    } catch (cause) {
      throw new Error(`damaged file: seed ${seed + i} fails: ${cause}`, { cause });
    }
  }
  return counts;
}

if (import.meta.main) {
  const [seed, count] = Deno.args.map(Number);
  console.log(JSON.stringify(await fuzzStoredLogs(seed, count)));
}
