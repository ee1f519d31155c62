/**
 * Lines of an event log to events.
 *
 * @module
 */
import { InputError, LimitError } from "../errors.ts";
import type { ApplicationStart, EventSink, SourceWarning, SparkEvent } from "../spark/events.ts";
import { rulesFor } from "../spark/versions.ts";
import { LogAudit, warning } from "./audit.ts";
import { DECODERS, eventName, isUnused } from "./event_json.ts";
import { EventScanner } from "./event_scanner.ts";
import { type TaskLineEvent, TaskLines } from "./task_lines.ts";
import { unknownFields } from "./known_fields.ts";
import { isObject, type JsonObject, MalformedEvent } from "./json_fields.ts";
import { severalApplications } from "./parts.ts";

/** What a reader accepts at most; what is not given is not limited, but for `lineBytes`. */
export interface ReadLimits {
  /** Bytes as they come in. */
  readonly bytes?: number;
  /** Bytes after decompression. */
  readonly decompressedBytes?: number;
  /** Bytes of a line; 256 MiB when not given. */
  readonly lineBytes?: number;
  /** Tasks that ended. */
  readonly tasks?: number;
}

/** The longest line when no limit is given. */
export const DEFAULT_LINE_BYTES = 1 << 28;
/** So many line numbers and names are kept for messages. */
const KEPT = 10;

/** Fields of unknown names are counted apart up to so many. */
const MAX_FIELDS = 1000;
const NAMES = {
  taskStart: "SparkListenerTaskStart",
  taskEnd: "SparkListenerTaskEnd",
  blockUpdated: "SparkListenerBlockUpdated",
} as const;

/** The error for input beyond a limit. */
export function overLimit(
  what: string,
  code: string,
  limit: number,
): LimitError {
  return new LimitError(
    code,
    `Cannot read the event log: must have at most ${limit} ${what}`,
    { parameters: { limit } },
  );
}

/** Whether a version of Spark fills TaskMetrics' updated blocks without being asked (before 2.3, SPARK-20084). */
function tracksByDefault(sparkVersion: string): boolean {
  return rulesFor(sparkVersion).eventLog.recordsUpdatedBlocks === "always";
}

function listed(
  malformed: { count: number; lines: readonly number[] },
): string {
  const { count, lines } = malformed;
  return `line ${lines.join(", ")}${count > lines.length ? ", ..." : ""}`;
}

/**
 * Decodes lines and hands the events to a sink; malformed and unknown ones are counted and left out.
 */
export class EventReader {
  /** Lines so far. */
  lines = 0;
  /** Malformed lines so far, and the numbers of the first. */
  readonly malformed = { count: 0, lines: [] as number[] };
  readonly #sink: EventSink;
  readonly #limits: ReadLimits;
  readonly #maxLineBytes: number;
  readonly #decoder = new TextDecoder();
  readonly #audit = new LogAudit();
  readonly #counts = new Map<string, number>();
  readonly #unknown = new Map<string, number>();
  readonly #unknownFields = new Map<string, number>();
  readonly #taskLines = new TaskLines();
  readonly #scanner = new EventScanner();
  readonly #context = { tracksUpdatedBlocks: false };
  #tasks = 0;
  #cutLines = 0;
  #duplicateStarts = 0;
  #start: ApplicationStart | null = null;
  /** spark.app.id of the settings. */
  #settingsOf: string | null = null;

  constructor(sink: EventSink, limits: ReadLimits) {
    this.#sink = sink;
    this.#limits = limits;
    this.#maxLineBytes = limits.lineBytes ?? DEFAULT_LINE_BYTES;
  }

  /**
   * Takes a line of a shape that came before, from `start` on, and gives the position of its line end; -1, and takes
   * nothing, when it is of another shape or does not end within the bytes.
   */
  quickLine(bytes: Uint8Array, start: number): number {
    const event = this.#taskLines.readNext(bytes, start);
    if (event === null || this.#taskLines.end - start > this.#maxLineBytes) return -1;
    this.lines++;
    this.#known(event);
    return this.#taskLines.end;
  }

  /** Takes a line. `cut` says that the input ended within it: then it is not malformed when it cannot be read. */
  line(bytes: Uint8Array, start: number, end: number, cut = false): void {
    this.lines++;
    if (bytes[end - 1] === 13) end--;
    if (start >= end) return;
    const known = this.#taskLines.read(bytes, start, end);
    if (known !== null) return this.#known(known);
    try {
      const json: unknown = this.#scanner.scan(bytes, start, end) ??
        JSON.parse(this.#decoder.decode(bytes.subarray(start, end)));
      if (!isObject(json)) throw new MalformedEvent("not an object");
      this.#event(json, bytes, start, end);
      this.#scanner.expire();
    } catch (error) {
      const malformed = error instanceof MalformedEvent;
      if (!malformed && !(error instanceof SyntaxError)) throw error;
      if (cut && !malformed) this.#cutLines++;
      else this.#countMalformed();
    }
  }

  /** Events so far by Spark's name. */
  get counts(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }

  /** Fields that Spark does not write, with how often they came, as `EventName/Field`. */
  get unknownFields(): Record<string, number> {
    return Object.fromEntries(this.#unknownFields);
  }

  /** What is to be said about the log, after the last line. */
  warnings(): SourceWarning[] {
    const found: SourceWarning[] = [];
    if (this.malformed.count > 0) {
      found.push(warning(
        "log.malformed_line",
        `lines that are not events, left out: ${listed(this.malformed)}`,
        this.malformed.count,
      ));
    }
    if (this.#cutLines > 0) {
      found.push(warning(
        "log.cut_line",
        "the log ends in the middle of an event",
        this.#cutLines,
      ));
    }
    if (this.#unknown.size > 0) {
      const names = [...this.#unknown.keys()];
      found.push(warning(
        "log.unknown_event",
        `events that are not Spark's own, left out: ${names.slice(0, KEPT).join(", ")}${
          names.length > KEPT ? ", ..." : ""
        }`,
        [...this.#unknown.values()].reduce((a, b) => a + b, 0),
      ));
    }
    if (this.#unknownFields.size > 0) {
      const names = [...this.#unknownFields.keys()].sort();
      found.push(warning(
        "log.unknown_field",
        `fields that Spark does not write, left out: ${names.slice(0, KEPT).join(", ")}${
          names.length > KEPT ? ", ..." : ""
        }`,
        [...this.#unknownFields.values()].reduce((a, b) => a + b, 0),
      ));
    }
    if (this.#duplicateStarts > 0) {
      found.push(warning(
        "log.duplicate_application_start",
        "the application's start is in the log more than once",
        this.#duplicateStarts,
      ));
    }
    return [...found, ...this.#audit.warnings()];
  }

  #known(event: TaskLineEvent): void {
    this.#count(NAMES[event.kind]);
    if (this.#taskLines.unknownFields.length > 0) this.#countFields(this.#taskLines.unknownFields);
    if (this.#accepts(event)) this.emit(event);
  }

  /** Emits an event that stands in no line. */
  emit(event: SparkEvent): void {
    this.#audit.event(event);
    this.#sink.event(event);
  }

  #event(json: JsonObject, bytes: Uint8Array, start: number, end: number): void {
    const name = eventName(json);
    if (!Object.hasOwn(DECODERS, name)) {
      this.#count(name);
      if (!isUnused(name)) {
        this.#unknown.set(name, (this.#unknown.get(name) ?? 0) + 1);
      }
      return;
    }
    const event = DECODERS[name](json, this.#context);
    this.#count(name);
    const fields = unknownFields(name, json);
    if (fields.length > 0) this.#countFields(fields);
    this.#taskLines.learn(bytes, start, end, event, fields);
    if (this.#accepts(event)) this.emit(event);
  }

  #countMalformed(): void {
    this.malformed.count++;
    if (this.malformed.lines.length < KEPT) {
      this.malformed.lines.push(this.lines);
    }
  }

  #count(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  /** Follows what the decoding of later events depends on; false for an event to leave out. */
  #accepts(event: SparkEvent): boolean {
    switch (event.kind) {
      case "taskEnd":
        if (++this.#tasks > (this.#limits.tasks ?? Infinity)) {
          throw overLimit("tasks", "limit.tasks", this.#limits.tasks!);
        }
        return true;
      case "logStart":
        this.#tracksUpdatedBlocks(tracksByDefault(event.sparkVersion));
        return true;
      case "environmentUpdate": {
        const set = event.sparkProperties["spark.taskMetrics.trackUpdatedBlockStatuses"];
        if (set !== undefined) {
          this.#tracksUpdatedBlocks(set.toLowerCase() === "true");
        }
        this.#belongs(event.sparkProperties["spark.app.id"]);
        return true;
      }
      case "applicationStart":
        return this.#acceptsStart(event);
      default:
        return true;
    }
  }

  /** The settings name their application too: another one's may be in the log without its start. */
  #belongs(appId: string | undefined): void {
    if (appId === undefined) return;
    if (this.#settingsOf !== null && this.#settingsOf !== appId) throw severalApplications([this.#settingsOf, appId]);
    this.#settingsOf = appId;
  }

  #tracksUpdatedBlocks(tracked: boolean): void {
    if (tracked === this.#context.tracksUpdatedBlocks) return;
    this.#context.tracksUpdatedBlocks = tracked;
    this.#taskLines.forget();
  }

  #countFields(fields: readonly string[]): void {
    for (const field of fields) {
      const count = this.#unknownFields.get(field);
      if (count !== undefined || this.#unknownFields.size < MAX_FIELDS) {
        this.#unknownFields.set(field, (count ?? 0) + 1);
      }
    }
  }

  #acceptsStart(event: ApplicationStart): boolean {
    const first = this.#start;
    this.#start = event;
    if (first === null) return true;
    // Before 1.1 and in mixed logs without ids the name and the time tell applications apart.
    const unnamed = first.appId === null && (first.appName !== event.appName || first.time !== event.time);
    if (first.appId !== event.appId || unnamed) {
      throw severalApplications([first.appId ?? first.appName, event.appId ?? event.appName]);
    }
    if (first.appAttemptId !== event.appAttemptId) {
      throw new InputError(
        "event_log.several_attempts",
        `Cannot read several attempts of ${event.appId} from one stream: must be one attempt's log: received ${first.appAttemptId} and ${event.appAttemptId}`,
        { parameters: { appId: event.appId } },
      );
    }
    this.#duplicateStarts++;
    return false;
  }
}
