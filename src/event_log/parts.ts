/**
 * The files of an event log: which of them are read, and in which order.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type { SourceWarning } from "../spark/events.ts";
import { warning } from "./audit.ts";
import { decompressed } from "./codec/codec.ts";
import { isObject, type JsonObject } from "./json_fields.ts";

/** One file of an event log. */
export interface LogPart {
  /** Path or name; only the last segment counts. */
  readonly name: string;
  /**
   * Opens it; called again when its head was looked at to find its place. A piece of the stream need only be valid until the next
   * one is asked for, provided that the stream reads nothing ahead (a high water mark of 0).
   */
  open(): ReadableStream<Uint8Array>;
}

/** The parts to read, in order. */
export interface OrderedParts {
  readonly parts: readonly LogPart[];
  readonly warnings: readonly SourceWarning[];
  /** Spark had not closed the log. */
  readonly inProgress: boolean;
  /** From the name of a 1.x marker file. */
  readonly sparkVersion: string | null;
}

const SUFFIX = /\.(inprogress|compact|zstd|zst|lz4|snappy|lzf|gz|zip)$/;

interface PartName {
  /** Index of a rolled file, or null. */
  readonly index: number | null;
  readonly compact: boolean;
  readonly inProgress: boolean;
  /** Application and attempt, as the name says them. */
  readonly key: string;
}

/** A unit of one or more parts that belong together in a known order. */
interface Unit {
  readonly parts: LogPart[];
  readonly head: Head;
}

interface Head {
  readonly appId: string | null;
  readonly attemptId: string | null;
  readonly starts: boolean;
  readonly time: number;
}

function baseName(name: string): string {
  return name.replace(/[\\/]+$/, "").replace(/^.*[\\/]/, "");
}

/** Files beside the events: status and marker files, checksums, hidden files. */
function isBeside(name: string): boolean {
  return /^[._]|\.crc$|^appstatus_|^APPLICATION_COMPLETE$|^COMPRESSION_CODEC_|^SPARK_VERSION_/
    .test(name);
}

function parseName(name: string): PartName {
  let key = baseName(name);
  let compact = false;
  let inProgress = false;
  for (let match = SUFFIX.exec(key); match !== null; match = SUFFIX.exec(key)) {
    compact ||= match[1] === "compact";
    inProgress ||= match[1] === "inprogress";
    key = key.slice(0, match.index);
  }
  const rolled = /^(?:events_(\d{1,15})_(.+)|EVENT_LOG_(\d{1,15}))$/.exec(key);
  return {
    index: rolled === null ? null : Number(rolled[1] ?? rolled[3]),
    compact,
    inProgress,
    key: rolled === null ? key : rolled[2] ?? "",
  };
}

/** So much of a part is looked at for its application and its first time. */
const HEAD_BYTES = 1 << 22;

const TIME = /"(?:Timestamp|Submission Time|Launch Time|Completion Time|time)":\s*(\d{1,16})\b/;

async function readHead(part: LogPart): Promise<Head> {
  const report = { codecs: [], truncated: false, corrupt: null };
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  for await (const chunk of decompressed(chunksOf(part.open()), report)) {
    text += decoder.decode(chunk, { stream: true });
    length += chunk.length;
    if (length >= HEAD_BYTES || headOf(text)?.starts) break;
  }
  return headOf(text) ??
    { appId: null, attemptId: null, starts: false, time: Infinity };
}

function headOf(text: string): Head | null {
  const time = Number(TIME.exec(text)?.[1] ?? Infinity);
  const at = text.indexOf('"SparkListenerApplicationStart"');
  const end = at < 0 ? -1 : text.indexOf("\n", at);
  if (end < 0) return { appId: null, attemptId: null, starts: false, time };
  const start = parseObject(text.slice(text.lastIndexOf("\n", at) + 1, end));
  const textOr = (value: unknown) => typeof value === "string" ? value : null;
  return {
    appId: textOr(start?.["App ID"]),
    attemptId: textOr(start?.["App Attempt ID"]),
    starts: start !== null,
    time: Number(start?.["Timestamp"] ?? time),
  };
}

function parseObject(line: string): JsonObject | null {
  try {
    const parsed: unknown = JSON.parse(line);
    return isObject(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** The chunks of a stream; leaving early closes it. */
export async function* chunksOf(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  let ended = false;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) {
        ended = true;
        return;
      }
      yield value;
    }
  } catch (error) {
    ended = true;
    throw error;
  } finally {
    if (!ended) await reader.cancel();
    reader.releaseLock();
  }
}

/** A stream of chunks, each made when it is read. */
export function streamOf(
  chunks: AsyncGenerator<Uint8Array>,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return(undefined);
    },
  }, { highWaterMark: 0 });
}

/**
 * Rolled files in order, from the last compacted one on (RollingEventLogFilesFileReader): a compacted file stands for all
 * before it and for the file of its own index.
 */
function orderRolled(
  parts: readonly LogPart[],
): { parts: LogPart[]; warnings: SourceWarning[] } {
  const named = parts.map((part) => ({ part, name: parseName(part.name) }));
  named.sort((a, b) =>
    a.name.index! - b.name.index! ||
    Number(a.name.compact) - Number(b.name.compact)
  );
  const lastCompact = named.findLastIndex(({ name }) => name.compact);
  const read = lastCompact < 0 ? named : named.slice(lastCompact);
  const warnings: SourceWarning[] = [];
  if (lastCompact >= 0) {
    warnings.push(warning(
      "log.compacted",
      "the History Server compacted this log: jobs that had finished before are not in it " +
        "(spark.history.fs.eventLog.rolling.maxFilesToRetain)",
    ));
  }
  const first = read[0].name.index!;
  const last = read[read.length - 1].name.index!;
  const distinct = new Set(read.map(({ name }) => name.index)).size;
  const missing = last - first + 1 - distinct +
    (lastCompact < 0 ? first - 1 : 0);
  if (missing > 0) {
    warnings.push(warning(
      "log.missing_parts",
      `files of the rolling log are missing: there are ${read.map(({ name }) => name.index).join(", ")}`,
      missing,
    ));
  }
  return { parts: read.map(({ part }) => part), warnings };
}

/** Units of the last attempt, in order of time. */
function chooseAttempt(
  units: Unit[],
): { units: Unit[]; warnings: SourceWarning[] } {
  const starting = units.filter(({ head }) => head.starts);
  const apps = new Set(starting.map(({ head }) => head.appId));
  if (apps.size > 1) throw severalApplications([...apps]);
  units.sort((a, b) => a.head.time < b.head.time ? -1 : a.head.time > b.head.time ? 1 : 0);
  if (starting.length <= 1) return { units, warnings: [] };
  const last = starting.reduce((a, b) => isLater(b.head, a.head) ? b : a);
  const sameAttempt = starting.filter(({ head }) =>
    head.attemptId === last.head.attemptId && head.time === last.head.time
  );
  const warnings: SourceWarning[] = [];
  if (sameAttempt.length > 1) {
    warnings.push(warning(
      "log.duplicate_part",
      "the same log was given more than once: one of them is read",
      sameAttempt.length - 1,
    ));
  }
  if (sameAttempt.length < starting.length) {
    warnings.push(warning(
      "log.several_attempts",
      `the application had several attempts: attempt ${
        last.head.attemptId ?? "of the last start"
      } is read, the earlier ones are left out`,
      starting.length - sameAttempt.length,
    ));
  }
  const others = units.filter(({ head }) => !head.starts && head.time >= last.head.time);
  return { units: [last, ...others], warnings };
}

function isLater(a: Head, b: Head): boolean {
  const numbers = [a, b].map(({ attemptId }) => Number(attemptId ?? 0));
  return numbers.every(Number.isFinite) && numbers[0] !== numbers[1] ? numbers[0] > numbers[1] : a.time > b.time;
}

/** The error for logs of more than one application. */
export function severalApplications(
  appIds: readonly (string | null)[],
): InputError {
  const names = appIds.map((id) => id ?? "without an id").join(", ");
  return new InputError(
    "event_log.several_applications",
    `Cannot read event logs of several applications as one: must be one application's: received ${names}`,
    { parameters: { applications: appIds } },
  );
}

/**
 * Orders the files of one application's log: rolled files by their index, others by the time of their first event.
 *
 * @throws {InputError} `event_log.several_applications` when they belong to more than one; `event_log.empty` when
 * there is nothing to read.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { orderParts } from "./parts.ts";
 *
 * const part = (name: string) => ({ name, open: () => new Blob([]).stream() });
 * const { parts, inProgress } = await orderParts([
 *   part("eventlog_v2_app-1/events_10_app-1.zstd"),
 *   part("eventlog_v2_app-1/events_9_app-1.zstd"),
 *   part("eventlog_v2_app-1/appstatus_app-1.inprogress"),
 * ]);
 * assertEquals(parts.map(({ name }) => name.slice(-17)), ["ents_9_app-1.zstd", "nts_10_app-1.zstd"]);
 * assertEquals(inProgress, true);
 * ```
 */
export async function orderParts(
  given: readonly LogPart[],
): Promise<OrderedParts> {
  const parts = given.filter(({ name }) => !isBeside(baseName(name)));
  const beside = given.map(({ name }) => baseName(name)).filter(isBeside);
  if (parts.length === 0) {
    throw new InputError(
      "event_log.empty",
      "Cannot read the event log: must have at least one file with events",
      { parameters: { names: given.map(({ name }) => baseName(name)) } },
    );
  }
  const sparkVersion = beside.map((name) => /^SPARK_VERSION_(.+)/.exec(name)?.[1])
    .find((version) => version !== undefined) ?? null;
  const inProgress = parts.some(({ name }) => parseName(name).inProgress) ||
    beside.some((name) => /^appstatus_.*\.inprogress$/.test(name));
  if (parts.length === 1 && parseName(parts[0].name).index === null) {
    return { parts, warnings: [], inProgress, sparkVersion };
  }
  const groups = new Map<string, LogPart[]>();
  const warnings: SourceWarning[] = [];
  const units: LogPart[][] = [];
  for (const part of parts) {
    const { index, key } = parseName(part.name);
    if (index === null) units.push([part]);
    else groups.set(key, [...groups.get(key) ?? [], part]);
  }
  const rolledWarnings = new Map<LogPart, SourceWarning[]>();
  for (const group of groups.values()) {
    const rolled = orderRolled(group);
    rolledWarnings.set(rolled.parts[0], rolled.warnings);
    units.push(rolled.parts);
  }
  const chosen = units.length === 1 ? { units: [{ parts: units[0] }], warnings: [] } : chooseAttempt(
    await Promise.all(units.map(async (unit) => ({
      parts: unit,
      head: await readHead(unit[0]),
    }))),
  );
  warnings.push(...chosen.warnings);
  for (const unit of chosen.units) {
    warnings.push(...rolledWarnings.get(unit.parts[0]) ?? []);
  }
  return {
    parts: chosen.units.flatMap((unit) => unit.parts),
    warnings,
    inProgress,
    sparkVersion,
  };
}
