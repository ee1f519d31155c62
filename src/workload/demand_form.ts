/**
 * What the tasks of a stage demand, from a job spec and back. Both forms of the spec share it.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type { Column, ConsumerDemand, ConsumerKind, StageDemand } from "../simulator/workload.ts";
import type { DemandSpec, MemorySpec, Quantity } from "./job_spec_types.ts";
import { columnOf, constantColumn, type Unit } from "./quantity.ts";

/** Where columns are made. */
export interface FormContext {
  readonly seed: number;
  readonly length: number;
  /** Place in the document, for errors. */
  readonly pointer: string;
  /** Name of the place that does not change when others are added; the draws depend on it. */
  readonly stream: string;
}

/** The columns of a StageDemand that are always there, and what they count. */
const COLUMNS = {
  computeMs: "ms",
  deserializeMs: "ms",
  resultSerializationMs: "ms",
  resultBytes: "bytes",
  inputBytes: "bytes",
  inputRecords: "count",
  outputBytes: "bytes",
  outputRecords: "count",
  shuffleReadBytes: "bytes",
  shuffleReadRecords: "count",
  shuffleWriteBytes: "bytes",
  shuffleWriteRecords: "count",
} as const satisfies Partial<Record<keyof StageDemand, Unit>>;

/** Those that may be unknown. */
const OPTIONAL_COLUMNS = {
  speculativeComputeMs: "ms",
  commitMs: "ms",
  valueBytes: "bytes",
  serializedTaskBytes: "bytes",
} as const satisfies Partial<Record<keyof StageDemand, Unit>>;

/** Kinds whose memory follows spark.memory.offHeap.enabled (MemoryConsumer with tungstenMemoryMode). */
const TUNGSTEN_KINDS: ReadonlySet<ConsumerKind> = new Set<ConsumerKind>([
  "UnsafeExternalSorter",
  "ShuffleExternalSorter",
  "HashAggregation",
  "HashedRelation",
]);

/** Bytes of a record where the spec gives no number of records. */
const ASSUMED_RECORD_BYTES = 100;

/** One column of a spec's figure; `otherwise` where it is left out. */
export function figure(
  quantity: Quantity<number | string> | null | undefined,
  otherwise: number,
  context: FormContext & { unit: Unit; field: string },
): Column {
  return quantity === undefined || quantity === null
    ? constantColumn(context.length, otherwise)
    : optionalFigure(quantity, context)!;
}

/** Like {@linkcode figure}, null where it is left out. */
export function optionalFigure(
  quantity: Quantity<number | string> | null | undefined,
  { field, ...context }: FormContext & { unit: Unit; field: string },
): Column | null {
  if (quantity === undefined || quantity === null) return null;
  return columnOf(quantity, {
    ...context,
    pointer: `${context.pointer}/${field}`,
    stream: `${context.stream}/${field}`,
  });
}

/** Figures that depend on what the stage is. */
export interface DemandDefaults {
  readonly name: string;
  readonly resultBytes: number;
  readonly recordedStageId: number | null;
  readonly broadcastIds: readonly number[];
}

/**
 * The demand that a spec describes; figures that are left out are 0, or null where the simulator knows "unknown".
 *
 * @throws {InputError} those of `columnOf` and `job_spec.range` for a consumer that ends before it begins.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { demandFromSpec } from "./demand_form.ts";
 *
 * const demand = demandFromSpec({ computeMs: "1s" }, {
 *   seed: 0,
 *   length: 2,
 *   pointer: "/stages/0",
 *   stream: "stages/0",
 * }, { name: "map", resultBytes: 1200, recordedStageId: null, broadcastIds: [] });
 * assertEquals(demand.computeMs, Float64Array.of(1000, 1000));
 * assertEquals(demand.resultBytes, Float64Array.of(1200, 1200));
 * ```
 */
export function demandFromSpec(
  spec: DemandSpec,
  context: FormContext,
  defaults: DemandDefaults,
): StageDemand {
  const columns = {} as Record<keyof typeof COLUMNS, Column>;
  for (const [field, unit] of entriesOf(COLUMNS)) {
    const otherwise = field === "resultBytes" ? defaults.resultBytes : 0;
    columns[field] = figure(spec[field], otherwise, {
      ...context,
      unit,
      field,
    });
  }
  const optional = {} as Record<keyof typeof OPTIONAL_COLUMNS, Column | null>;
  for (const [field, unit] of entriesOf(OPTIONAL_COLUMNS)) {
    optional[field] = optionalFigure(spec[field], { ...context, unit, field });
  }
  return {
    name: spec.name ?? defaults.name,
    details: spec.details ?? "",
    recordedStageId: defaults.recordedStageId,
    ...columns,
    ...optional,
    consumers: consumersFromSpec(spec.memory ?? [], context),
    broadcastIds: defaults.broadcastIds,
  };
}

/** The memory consumers that a spec describes. */
export function consumersFromSpec(
  specs: readonly MemorySpec[],
  context: FormContext,
): ConsumerDemand[] {
  return specs.map((spec, i) => {
    const place = {
      ...context,
      pointer: `${context.pointer}/memory/${i}`,
      stream: `${context.stream}/memory/${i}`,
    };
    const start = spec.start ?? 0;
    const fillEnd = spec.fillEnd ?? Math.max(start, 0.7);
    const release = spec.release ?? 1;
    if (!(start <= fillEnd && fillEnd <= release)) {
      throw new InputError(
        "job_spec.range",
        `Cannot use the job spec: ${place.pointer}: must have start <= fillEnd <= release: ` +
          `received ${start}, ${fillEnd}, ${release}`,
        { parameters: { start, fillEnd, release }, pointer: place.pointer },
      );
    }
    const bytes = figure(spec.bytes, 0, {
      ...place,
      unit: "bytes",
      field: "bytes",
    });
    return {
      kind: spec.kind,
      name: spec.name ?? spec.kind,
      start,
      fillEnd,
      release,
      tungsten: spec.tungsten ?? TUNGSTEN_KINDS.has(spec.kind),
      records: optionalFigure(spec.records, {
        ...place,
        unit: "count",
        field: "records",
      }) ?? bytes.map((size) => Math.ceil(size / ASSUMED_RECORD_BYTES)),
      bytes,
      absentIn: spec.absentIn ?? null,
      keys: optionalFigure(spec.keys, {
        ...place,
        unit: "count",
        field: "keys",
      }),
      diskBytesPerByte: spec.diskBytesPerByte ?? null,
      parameters: { ...spec.parameters },
    };
  });
}

/** The spec of a demand: every figure that is not 0 or unknown. */
export function demandToSpec(demand: StageDemand): DemandSpec {
  const spec: Record<string, unknown> = { name: demand.name };
  if (demand.details !== "") spec.details = demand.details;
  for (const [field] of entriesOf(COLUMNS)) {
    const quantity = quantityOf(demand[field]);
    if (quantity !== 0 || field === "resultBytes") spec[field] = quantity;
  }
  for (const [field] of entriesOf(OPTIONAL_COLUMNS)) {
    const column = demand[field];
    if (column !== null) spec[field] = quantityOf(column);
  }
  if (demand.consumers.length > 0) {
    spec.memory = consumersToSpec(demand.consumers);
  }
  return spec as DemandSpec;
}

/** The specs of memory consumers. */
export function consumersToSpec(
  consumers: readonly ConsumerDemand[],
): MemorySpec[] {
  return consumers.map((consumer) => ({
    ...consumer,
    records: quantityOf(consumer.records),
    bytes: quantityOf(consumer.bytes),
    keys: consumer.keys === null ? null : quantityOf(consumer.keys),
  }));
}

/** A column as a quantity: one number when all are equal, else the list. */
export function quantityOf(column: Column): number | number[] {
  const first = column[0] ?? 0;
  return column.every((value) => value === first) ? first : Array.from(column);
}

function entriesOf<K extends string, V>(
  record: Readonly<Record<K, V>>,
): [K, V][] {
  return Object.entries(record) as [K, V][];
}
