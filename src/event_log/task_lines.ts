/**
 * The events that a log has most of (task starts, task ends, block updates), read by templates instead of by parsing.
 *
 * @module
 */
import type { BlockUpdated, SparkEvent, TaskEnd, TaskMetrics, TaskStart } from "../spark/events.ts";
import {
  compileTemplate,
  ElementTemplates,
  LineBytes,
  type LineTemplate,
  type TemplateSpec,
  TemplateValues,
} from "./line_template.ts";
import { type JsonObject, MAX_INT } from "./json_fields.ts";
import { METRICS_PREFIX } from "./task_json.ts";
import { TextTable } from "./text_table.ts";

/** So many shapes of one kind of line are tried; later ones take the place of earlier ones. */
const MAX_TEMPLATES = 16;
/** Learning a shape costs as much as parsing many lines: so many are learned at once, then one in so many lines. */
const FIRST_LEARNED = 128;
const LINES_PER_SHAPE = 64;

// Slots of numbers, in the order in which the paths are listed below.
const STAGE = 0,
  STAGE_ATTEMPT = 1,
  TASK = 2,
  INDEX = 3,
  ATTEMPT = 4,
  PARTITION = 5,
  LAUNCH = 6,
  GETTING = 7,
  FINISH = 8;
const DESERIALIZE = 9, DESERIALIZE_CPU = 10, RUN = 11, CPU = 12, PEAK = 13, PEAK_ON = 14, PEAK_OFF = 15, RESULT = 16;
const GC = 17, SERIALIZATION = 18, MEMORY_SPILLED = 19, DISK_SPILLED = 20, REMOTE_BLOCKS = 21, LOCAL_BLOCKS = 22;
const FETCH_WAIT = 23, REMOTE_BYTES = 24, REMOTE_TO_DISK = 25, LOCAL_BYTES = 26, RECORDS_READ = 27, WRITTEN = 28;
const WRITE_TIME = 29, RECORDS_WRITTEN = 30, INPUT = 31, INPUT_RECORDS = 32, OUTPUT = 33, OUTPUT_RECORDS = 34;
const MEMORY_SIZE = 35, DISK_SIZE = 36, HEAP = 37;
const NUMBERS = 38;

// Slots of texts.
const EXECUTOR = 0, HOST = 1, BLOCK = 2;
const TEXTS = 3;

// Slots of an accumulator.
const ID = 0, UPDATE = 1;

const NONE: ReadonlySet<string> = new Set();

const INFO_PATHS = {
  "Stage ID": STAGE,
  "Stage Attempt ID": STAGE_ATTEMPT,
  "Task Info/Task ID": TASK,
  "Task Info/Index": INDEX,
  "Task Info/Attempt": ATTEMPT,
  "Task Info/Partition ID": PARTITION,
  "Task Info/Launch Time": LAUNCH,
};

const READ = "Task Metrics/Shuffle Read Metrics";
const WRITE = "Task Metrics/Shuffle Write Metrics";

const END_PATHS = {
  ...INFO_PATHS,
  "Task Info/Getting Result Time": GETTING,
  "Task Info/Finish Time": FINISH,
  "Task Executor Metrics/JVMHeapMemory": HEAP,
  "Task Metrics/Executor Deserialize Time": DESERIALIZE,
  "Task Metrics/Executor Deserialize CPU Time": DESERIALIZE_CPU,
  "Task Metrics/Executor Run Time": RUN,
  "Task Metrics/Executor CPU Time": CPU,
  "Task Metrics/Peak Execution Memory": PEAK,
  "Task Metrics/Peak On Heap Execution Memory": PEAK_ON,
  "Task Metrics/Peak Off Heap Execution Memory": PEAK_OFF,
  "Task Metrics/Result Size": RESULT,
  "Task Metrics/JVM GC Time": GC,
  "Task Metrics/Result Serialization Time": SERIALIZATION,
  "Task Metrics/Memory Bytes Spilled": MEMORY_SPILLED,
  "Task Metrics/Disk Bytes Spilled": DISK_SPILLED,
  [`${READ}/Remote Blocks Fetched`]: REMOTE_BLOCKS,
  [`${READ}/Local Blocks Fetched`]: LOCAL_BLOCKS,
  [`${READ}/Fetch Wait Time`]: FETCH_WAIT,
  [`${READ}/Remote Bytes Read`]: REMOTE_BYTES,
  [`${READ}/Remote Bytes Read To Disk`]: REMOTE_TO_DISK,
  [`${READ}/Local Bytes Read`]: LOCAL_BYTES,
  [`${READ}/Total Records Read`]: RECORDS_READ,
  [`${WRITE}/Shuffle Bytes Written`]: WRITTEN,
  [`${WRITE}/Shuffle Write Time`]: WRITE_TIME,
  [`${WRITE}/Shuffle Records Written`]: RECORDS_WRITTEN,
  "Task Metrics/Input Metrics/Bytes Read": INPUT,
  "Task Metrics/Input Metrics/Records Read": INPUT_RECORDS,
  "Task Metrics/Output Metrics/Bytes Written": OUTPUT,
  "Task Metrics/Output Metrics/Records Written": OUTPUT_RECORDS,
};

/** An accumulator: only its id, name and update are used, and the name belongs to the shape. */
const ACCUMULABLE: TemplateSpec = {
  numbers: { ID, Update: UPDATE },
  texts: {},
  fixed: NONE,
  quotedNumbers: new Set(["Update", "Value"]),
  strict: true,
  required: ["ID"],
  list: null,
};

const INFO_TEXTS = { "Task Info/Executor ID": EXECUTOR, "Task Info/Host": HOST };
const ACCUMULABLES = { path: "Task Info/Accumulables", element: ACCUMULABLE };

const TASK_START: TemplateSpec = {
  numbers: INFO_PATHS,
  texts: INFO_TEXTS,
  fixed: NONE,
  quotedNumbers: NONE,
  strict: true,
  required: [],
  list: ACCUMULABLES,
};

const TASK_END: TemplateSpec = { ...TASK_START, numbers: END_PATHS };

const BLOCK_UPDATED: TemplateSpec = {
  numbers: { "Block Updated Info/Memory Size": MEMORY_SIZE, "Block Updated Info/Disk Size": DISK_SIZE },
  texts: {
    "Block Updated Info/Block Manager ID/Executor ID": EXECUTOR,
    "Block Updated Info/Block Manager ID/Host": -1,
    "Block Updated Info/Block ID": BLOCK,
  },
  fixed: new Set(["Block Updated Info/Storage Level/Replication"]),
  quotedNumbers: NONE,
  strict: true,
  required: [],
  list: null,
};

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** The events that are read by templates. */
export type TaskLineEvent = TaskStart | TaskEnd | BlockUpdated;

/** A shape with an event of it, which is filled in and handed out again and again. */
interface Shape {
  readonly template: LineTemplate;
  readonly values: TemplateValues;
  readonly event: TaskLineEvent;
  /** The partition has a field of its own. */
  readonly hasPartition: boolean;
  readonly hasPeak: boolean;
  readonly hasPeakOnHeap: boolean;
  readonly hasPeakOffHeap: boolean;
  /** Peak execution memory is an accumulator (before 3.0). */
  readonly peakIsAccumulated: boolean;
  /** Fields that Spark does not write. */
  readonly unknownFields: readonly string[];
}

/** What is kept of an accumulator's shape. */
interface Accumulator {
  readonly name: string;
  /** It carries a task metric; {@linkcode TaskMetrics} has it, so it is left out. */
  readonly isMetric: boolean;
  /** It carries the peak of execution memory: under this name in 2.x and later, or without the prefix in 1.6. */
  readonly isPeak: boolean;
  readonly hasUpdate: boolean;
}

function accumulatorOf(element: JsonObject, { numberSlots }: LineTemplate): Accumulator | null {
  const name = element["Name"];
  if (typeof name !== "string") return null;
  return {
    name,
    isMetric: name.startsWith(METRICS_PREFIX),
    isPeak: name === `${METRICS_PREFIX}peakExecutionMemory` || name === "peakExecutionMemory",
    hasUpdate: (numberSlots & 1 << UPDATE) !== 0,
  };
}

/** Shapes of one kind of line. */
class Kind {
  readonly shapes: Shape[] = [];
  /** The shape that matched last. */
  last = 0;
  learned = 0;
  /** Lines of the kind so far. */
  lines = 0;
  readonly elements = new ElementTemplates(ACCUMULABLE, accumulatorOf);

  constructor(readonly spec: TemplateSpec) {}
}

/** `{"Event":"SparkListener`: what follows tells the kind. */
const PREFIX_BYTES = 23;
const NEWLINE = 10;
const T = 0x54, S = 0x53, E = 0x45, B = 0x42, U = 0x55;

/**
 * Reads lines by the shapes that it has learned.
 *
 * An event that it hands out is used again for the next line: it is only valid until then.
 */
export class TaskLines {
  /** Where the line that was read last ends. */
  end = 0;
  /** Fields that Spark does not write, of the line that was read last. */
  unknownFields: readonly string[] = [];
  readonly #table = new TextTable();
  readonly #line = new LineBytes();
  #taskStart = new Kind(TASK_START);
  #taskEnd = new Kind(TASK_END);
  #blockUpdated = new Kind(BLOCK_UPDATED);
  // What the elements of the list of the current line gave.
  readonly #pool: Mutable<TaskEnd["accumulables"][number]>[] = [];
  #kept = 0;
  #elementValues = this.#taskEnd.elements.values;
  #peak: number | null = null;
  #peakFound = false;
  #metricFound = false;
  readonly #sink = (accumulator: Accumulator | null) => this.#accumulator(accumulator);

  /** The event of a line from `start` to `end`, or null when no shape fits. */
  read(bytes: Uint8Array, start: number, end: number): TaskLineEvent | null {
    return this.#read(bytes, start, end, true);
  }

  /** The event of a line that begins at `start` and ends, if a shape fits, with a line end within the bytes: see {@linkcode end}. */
  readNext(bytes: Uint8Array, start: number): TaskLineEvent | null {
    return this.#read(bytes, start, bytes.length, false);
  }

  #read(bytes: Uint8Array, start: number, end: number, exact: boolean): TaskLineEvent | null {
    const kind = this.#kindOf(bytes, start, end);
    if (kind === null) return null;
    this.#line.set(bytes);
    this.#elementValues = kind.elements.values;
    kind.lines++;
    const { shapes } = kind;
    for (let i = 0, at = kind.last; i < shapes.length; i++, at = at + 1 === shapes.length ? 0 : at + 1) {
      const shape = shapes[at];
      this.#kept = 0;
      this.#peak = null;
      this.#peakFound = false;
      this.#metricFound = false;
      const next = shape.template.match(this.#line, start, end, shape.values, this.#table, this.#sink);
      if (exact ? next !== end : next < 0 || next >= end || bytes[next] !== NEWLINE) continue;
      // Left to the parser, which says what is wrong.
      if (shape.event.kind !== "blockUpdated" && !areCounts(shape.values.numbers)) return null;
      this.end = next;
      kind.last = at;
      this.unknownFields = shape.unknownFields;
      return this.#filled(shape);
    }
    return null;
  }

  /** Learns the shape of a line that was parsed to an event. */
  learn(bytes: Uint8Array, start: number, end: number, event: SparkEvent, unknownFields: readonly string[]): void {
    const kind = this.#kindOf(bytes, start, end);
    if (kind === null || !isLearned(event)) return;
    if (kind.learned >= FIRST_LEARNED + kind.lines / LINES_PER_SHAPE) return;
    kind.learned++;
    const list = kind.spec.list === null ? null : { elements: kind.elements, table: this.#table };
    const template = compileTemplate(bytes, start, end, kind.spec, list);
    // 1.x kept the metrics of failed tasks there.
    if (template === null || template.paths.has("Task End Reason/Metrics")) return;
    // Only an element of the list was of a new shape.
    if (this.read(bytes, start, end) !== null) return;
    const shape = shapeOf(template, event, unknownFields);
    if (kind.shapes.length < MAX_TEMPLATES) kind.shapes.push(shape);
    else kind.shapes[kind.learned % MAX_TEMPLATES] = shape;
  }

  /** Forgets all shapes: lines mean something else from now on. */
  forget(): void {
    this.#taskStart = new Kind(TASK_START);
    this.#taskEnd = new Kind(TASK_END);
    this.#blockUpdated = new Kind(BLOCK_UPDATED);
  }

  #kindOf(bytes: Uint8Array, start: number, end: number): Kind | null {
    if (end - start < PREFIX_BYTES + 16) return null;
    const at = start + PREFIX_BYTES;
    if (bytes[at] === T) {
      if (bytes[at + 4] === E) return this.#taskEnd;
      return bytes[at + 4] === S ? this.#taskStart : null;
    }
    return bytes[at] === B && bytes[at + 5] === U ? this.#blockUpdated : null;
  }

  /** Takes an accumulator of a task: the same as accumulablesOf() and accumulatedPeak() of task_json.ts. */
  #accumulator(accumulator: Accumulator | null): void {
    if (accumulator === null) return;
    const { numbers } = this.#elementValues;
    const { name, isMetric, isPeak, hasUpdate } = accumulator;
    const update = hasUpdate ? numbers[UPDATE] : null;
    if (isPeak && !this.#peakFound) {
      this.#peakFound = true;
      this.#peak = update;
    }
    if (isMetric) {
      this.#metricFound = true;
      return;
    }
    const kept = this.#pool[this.#kept];
    if (kept === undefined) this.#pool.push({ id: numbers[ID], name, update });
    else {
      kept.id = numbers[ID];
      kept.name = name;
      kept.update = update;
    }
    this.#kept++;
  }

  #filled(shape: Shape): TaskLineEvent {
    const { event, values } = shape;
    switch (event.kind) {
      case "taskStart":
        fillInfo(event, shape);
        return event;
      case "taskEnd":
        fillInfo(event, shape);
        return this.#filledEnd(event, shape);
      case "blockUpdated": {
        const block: Mutable<BlockUpdated> = event;
        block.executorId = values.texts[EXECUTOR]!.text;
        block.blockId = values.texts[BLOCK]!.text;
        block.memorySize = values.numbers[MEMORY_SIZE];
        block.diskSize = values.numbers[DISK_SIZE];
        return event;
      }
    }
  }

  #filledEnd(event: TaskEnd, shape: Shape): TaskEnd {
    const { numbers } = shape.values;
    event.gettingResultTime = numbers[GETTING];
    event.finishTime = numbers[FINISH];
    event.peakHeapMemory = numbers[HEAP] || null;
    const accumulables = event.accumulables as Mutable<TaskEnd["accumulables"][number]>[];
    accumulables.length = this.#kept;
    for (let i = 0; i < this.#kept; i++) accumulables[i] = this.#pool[i];
    if (event.metrics !== null) {
      fillMetrics(event.metrics, shape);
      if (shape.peakIsAccumulated) {
        event.metrics.peakExecutionMemory = this.#peakFound ? this.#peak : this.#metricFound ? 0 : null;
      }
    }
    return event;
  }
}

/** Whether the ids of a task are what Spark's Int holds. */
function areCounts(numbers: Float64Array): boolean {
  return numbers[STAGE] <= MAX_INT && numbers[STAGE_ATTEMPT] <= MAX_INT && numbers[INDEX] <= MAX_INT &&
    numbers[ATTEMPT] <= MAX_INT && numbers[PARTITION] <= MAX_INT;
}

function isLearned(event: SparkEvent): event is TaskLineEvent {
  return event.kind === "taskStart" || event.kind === "blockUpdated" ||
    event.kind === "taskEnd" && (event.reason.reason === "Success" || event.reason.reason === "TaskKilled");
}

function shapeOf(template: LineTemplate, event: TaskLineEvent, unknownFields: readonly string[]): Shape {
  const { holes, paths } = template;
  const values = new TemplateValues(NUMBERS, TEXTS);
  const copy: TaskLineEvent = event.kind === "taskEnd"
    ? { ...event, metrics: event.metrics === null ? null : { ...event.metrics }, accumulables: [] }
    : { ...event };
  if (copy.kind === "taskStart" || copy.kind === "taskEnd") {
    values.numbers[STAGE_ATTEMPT] = copy.stageAttemptId;
    values.numbers[ATTEMPT] = copy.attempt;
    values.texts[HOST] = { bytes: new Uint8Array(0), text: copy.host };
  }
  return {
    template,
    values,
    event: copy,
    hasPartition: holes.has("Task Info/Partition ID"),
    hasPeak: holes.has("Task Metrics/Peak Execution Memory"),
    hasPeakOnHeap: holes.has("Task Metrics/Peak On Heap Execution Memory"),
    hasPeakOffHeap: holes.has("Task Metrics/Peak Off Heap Execution Memory"),
    peakIsAccumulated: paths.has("Task Metrics") && !paths.has("Task Metrics/Peak Execution Memory"),
    unknownFields,
  };
}

function fillInfo(event: TaskStart | TaskEnd, { values, hasPartition }: Shape): void {
  const { numbers, texts } = values;
  event.stageId = numbers[STAGE];
  event.stageAttemptId = numbers[STAGE_ATTEMPT];
  event.taskId = numbers[TASK];
  event.index = numbers[INDEX];
  event.attempt = numbers[ATTEMPT];
  event.partitionId = hasPartition ? numbers[PARTITION] : numbers[INDEX];
  event.launchTime = numbers[LAUNCH];
  event.executorId = texts[EXECUTOR]!.text;
  event.host = texts[HOST]!.text;
}

function fillMetrics(metrics: TaskMetrics, { values, hasPeak, hasPeakOnHeap, hasPeakOffHeap }: Shape): void {
  const { numbers } = values;
  metrics.executorDeserializeTime = numbers[DESERIALIZE];
  metrics.executorDeserializeCpuTimeNs = numbers[DESERIALIZE_CPU];
  metrics.executorRunTime = numbers[RUN];
  metrics.executorCpuTimeNs = numbers[CPU];
  if (hasPeak) metrics.peakExecutionMemory = numbers[PEAK];
  if (hasPeakOnHeap) metrics.peakOnHeapExecutionMemory = numbers[PEAK_ON];
  if (hasPeakOffHeap) metrics.peakOffHeapExecutionMemory = numbers[PEAK_OFF];
  metrics.resultSize = numbers[RESULT];
  metrics.jvmGcTime = numbers[GC];
  metrics.resultSerializationTime = numbers[SERIALIZATION];
  metrics.memoryBytesSpilled = numbers[MEMORY_SPILLED];
  metrics.diskBytesSpilled = numbers[DISK_SPILLED];
  metrics.shuffleRemoteBlocksFetched = numbers[REMOTE_BLOCKS];
  metrics.shuffleLocalBlocksFetched = numbers[LOCAL_BLOCKS];
  metrics.shuffleFetchWaitTime = numbers[FETCH_WAIT];
  metrics.shuffleRemoteBytesRead = numbers[REMOTE_BYTES];
  metrics.shuffleRemoteBytesReadToDisk = numbers[REMOTE_TO_DISK];
  metrics.shuffleLocalBytesRead = numbers[LOCAL_BYTES];
  metrics.shuffleRecordsRead = numbers[RECORDS_READ];
  metrics.shuffleBytesWritten = numbers[WRITTEN];
  metrics.shuffleWriteTimeNs = numbers[WRITE_TIME];
  metrics.shuffleRecordsWritten = numbers[RECORDS_WRITTEN];
  metrics.inputBytes = numbers[INPUT];
  metrics.inputRecords = numbers[INPUT_RECORDS];
  metrics.outputBytes = numbers[OUTPUT];
  metrics.outputRecords = numbers[OUTPUT_RECORDS];
}
