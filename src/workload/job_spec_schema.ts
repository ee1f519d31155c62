/**
 * The schema of the job spec (valibot), from which the JSON Schema is made.
 *
 * @module
 */
import * as v from "valibot";
import { INT_MAX } from "../spark/conf_entry.ts";
import { STORAGE_LEVELS } from "../spark/storage_level.ts";
import { MAX_CORES } from "./cluster_form.ts";
import type { JobSpec } from "./job_spec_types.ts";
import { MAX_QUANTITY_BYTES, MAX_QUANTITY_COUNT, MAX_QUANTITY_MS } from "./quantity.ts";

const described = <T extends v.GenericSchema>(schema: T, text: string) => v.pipe(schema, v.description(text));

const nonNegative = (max: number) => v.pipe(v.number(), v.finite(), v.minValue(0), v.maxValue(max));
const whole = (min: number, max: number) => v.pipe(v.number(), v.safeInteger(), v.minValue(min), v.maxValue(max));
const text = v.pipe(v.string(), v.maxLength(1_000_000));
const name = v.pipe(v.string(), v.minLength(1), v.maxLength(500));
const fraction = v.pipe(v.number(), v.minValue(0), v.maxValue(1));
const index = whole(0, INT_MAX);
const seed = described(
  whole(0, Number.MAX_SAFE_INTEGER),
  "Seed of what is drawn",
);

/** One value: a number, or Spark's notation for sizes and times. */
const notation = v.pipe(v.string(), v.maxLength(40));
const exactBytes = whole(0, MAX_QUANTITY_BYTES);
const oneSize = v.union([exactBytes, notation]);
const oneTime = v.union([nonNegative(MAX_QUANTITY_MS), notation]);
const oneCount = whole(0, MAX_QUANTITY_COUNT);

function distributionOf<T extends v.GenericSchema>(value: T) {
  const drawn = { seed: v.optional(seed) };
  return v.variant("distribution", [
    v.object({ distribution: v.literal("constant"), value }),
    v.object({
      distribution: v.literal("uniform"),
      min: value,
      max: value,
      ...drawn,
    }),
    v.object({
      distribution: v.literal("normal"),
      mean: value,
      standardDeviation: value,
      min: v.optional(value),
      max: v.optional(value),
      ...drawn,
    }),
    v.object({
      distribution: v.literal("lognormal"),
      median: value,
      sigma: described(
        v.pipe(v.number(), v.minValue(0), v.maxValue(5)),
        "Standard deviation of the logarithm",
      ),
      max: v.optional(value),
      ...drawn,
    }),
    v.object({
      distribution: v.literal("zipf"),
      total: described(value, "Sum over all tasks or partitions"),
      exponent: described(
        v.pipe(v.number(), v.minValue(0), v.maxValue(10)),
        "The k-th largest share is proportional to 1 / k^exponent",
      ),
      shuffled: v.optional(v.boolean()),
      ...drawn,
    }),
    v.object({ distribution: v.literal("list"), values: v.array(value) }),
  ]);
}

function quantityOf<T extends v.GenericSchema>(value: T) {
  return v.union([value, v.array(value), distributionOf(value)]);
}

const bytes = quantityOf(oneSize);
const ms = quantityOf(oneTime);
const count = quantityOf(oneCount);
const nullable = <T extends v.GenericSchema>(schema: T) => v.optional(v.nullable(schema));

const deterministicLevel = v.picklist(["DETERMINATE", "UNORDERED", "INDETERMINATE"]);
const storageLevelName = v.picklist(Object.keys(STORAGE_LEVELS));
const storageLevel = v.union([
  storageLevelName,
  v.object({
    useDisk: v.boolean(),
    useMemory: v.boolean(),
    useOffHeap: v.boolean(),
    deserialized: v.boolean(),
    replication: whole(1, 100),
  }),
]);

const memory = v.optional(v.array(v.object({
  kind: described(
    v.picklist([
      "UnsafeExternalSorter",
      "ShuffleExternalSorter",
      "HashAggregation",
      "HashedRelation",
      "ExternalAppendOnlyMap",
      "ExternalSorter",
      "Raw",
    ]),
    "The Spark class that asks for memory",
  ),
  name: v.optional(text),
  records: v.optional(count),
  bytes: described(bytes, "What goes in, in the form that is held in memory"),
  absentIn: nullable(v.array(index)),
  keys: v.optional(v.nullable(count)),
  start: v.optional(fraction),
  fillEnd: v.optional(fraction),
  release: v.optional(fraction),
  tungsten: v.optional(v.boolean()),
  diskBytesPerByte: nullable(nonNegative(1000)),
  parameters: v.optional(v.record(name, v.pipe(v.number(), v.finite()))),
})));

const demandEntries = {
  name: v.optional(text),
  details: v.optional(text),
  computeMs: v.optional(ms),
  deserializeMs: v.optional(ms),
  resultSerializationMs: v.optional(ms),
  speculativeComputeMs: v.optional(ms),
  commitMs: v.optional(ms),
  resultBytes: v.optional(bytes),
  valueBytes: v.optional(bytes),
  serializedTaskBytes: v.optional(bytes),
  inputBytes: v.optional(bytes),
  inputRecords: v.optional(count),
  outputBytes: v.optional(bytes),
  outputRecords: v.optional(count),
  shuffleReadBytes: v.optional(bytes),
  shuffleReadRecords: v.optional(count),
  shuffleWriteBytes: v.optional(bytes),
  shuffleWriteRecords: v.optional(count),
  memory,
};

const stageId = v.union([index, name]);
const attempts = v.optional(whole(1, INT_MAX));
const cores = whole(1, MAX_CORES);
const tasks = whole(1, INT_MAX);

const cluster = v.object({
  master: v.optional(text),
  executors: v.optional(v.union([
    whole(1, INT_MAX),
    v.pipe(
      v.array(v.object({
        id: name,
        host: name,
        cores,
        maxOnHeapMemory: nullable(whole(1, MAX_QUANTITY_BYTES)),
        maxOffHeapMemory: nullable(exactBytes),
        addedMs: v.optional(nonNegative(MAX_QUANTITY_MS)),
        removedMs: nullable(nonNegative(MAX_QUANTITY_MS)),
        removedReason: nullable(text),
      })),
    ),
  ])),
  cores: v.optional(cores),
  allocation: v.optional(v.picklist(["fixed", "dynamic"])),
  executorStartupMs: v.optional(oneTime),
  hosts: v.optional(v.union([
    whole(1, INT_MAX),
    v.pipe(v.array(name), v.minLength(1)),
  ])),
  driver: v.optional(v.object({
    host: v.optional(name),
    maxOnHeapMemory: nullable(whole(1, MAX_QUANTITY_BYTES)),
    maxOffHeapMemory: nullable(exactBytes),
  })),
  collector: v.optional(v.picklist(["g1", "parallel", "serial"])),
  heapCommitted: v.optional(v.picklist(["small", "full"])),
  unmanagedMemory: v.optional(described(
    v.pipe(
      v.array(v.object({
        executor: nullable(name),
        atMs: v.optional(oneTime),
        bytes: oneSize,
        memoryMode: v.picklist(["ON_HEAP", "OFF_HEAP"]),
      })),
      v.maxLength(100_000),
    ),
    "What consumers outside the memory manager hold from a time on (Spark 4.1 and later)",
  )),
});

const cached = v.object({
  name,
  partitions: tasks,
  storageLevel: v.optional(storageLevelName),
  bytes: v.optional(
    described(bytes, "A block in memory, in the storage level's form"),
  ),
  deserializedBytes: v.optional(bytes),
  serializedBytes: v.optional(bytes),
  diskBytes: v.optional(bytes),
  elements: v.optional(count),
  computeMs: v.optional(ms),
  inputBytes: v.optional(bytes),
  memory,
  outputDeterministicLevel: v.optional(described(
    deterministicLevel,
    "What computing it again gives; INDETERMINATE: other data. Default: what its inputs give",
  )),
  unpersistBeforeJob: v.optional(index),
  alwaysSerialized: v.optional(v.boolean()),
});

const stage = v.object({
  id: stageId,
  parents: v.optional(v.array(stageId)),
  tasks: v.optional(tasks),
  reads: v.optional(v.array(name)),
  caches: v.optional(v.array(name)),
  broadcasts: v.optional(v.array(name)),
  outputDeterministicLevel: v.optional(described(
    deterministicLevel,
    "What computing it again gives; INDETERMINATE: other data. Default: what its inputs give",
  )),
  barrier: v.optional(described(v.boolean(), "Not simulated: true is refused")),
  ...demandEntries,
});

const job = v.object({
  stage: stageId,
  kind: v.optional(v.picklist(["result", "mapStage"])),
  partitions: v.optional(v.pipe(v.array(index), v.minLength(1))),
  after: v.optional(v.array(index)),
  delayMs: v.optional(oneTime),
  cancelAfterMs: v.optional(oneTime),
  failureHandled: v.optional(v.boolean()),
  name: v.optional(text),
  group: v.optional(text),
  pool: v.optional(name),
  description: v.optional(text),
});

const pool = v.object({
  name,
  schedulingMode: v.optional(v.picklist(["FIFO", "FAIR"])),
  minShare: v.optional(whole(0, INT_MAX)),
  weight: v.optional(whole(1, INT_MAX)),
});

const taskException = {
  kind: v.literal("taskException"),
  partition: index,
  className: v.optional(text),
  description: v.optional(text),
  atFraction: v.optional(fraction),
};

const fault = v.variant("kind", [
  v.object({ ...taskException, stage: stageId, attempts }),
  v.object({
    kind: v.literal("executorLost"),
    executor: name,
    atMs: v.optional(oneTime),
    afterTasks: v.optional(index),
    reason: v.optional(text),
    workerLost: v.optional(v.boolean()),
    exitCausedByApp: v.optional(v.boolean()),
    replacedAfterMs: nullable(oneTime),
  }),
  v.object({
    kind: v.picklist(["fetchFailure", "resultLost"]),
    stage: stageId,
    partition: index,
    attempts,
  }),
  v.object({
    kind: v.literal("resultUnreadable"),
    stage: stageId,
    partition: index,
    attempts,
    classNotFound: v.optional(v.boolean()),
    description: v.optional(text),
  }),
  v.object({
    kind: v.literal("resultHandlerException"),
    stage: stageId,
    partition: index,
    className: v.optional(text),
    description: v.optional(text),
  }),
  v.object({
    kind: v.literal("slowHost"),
    host: name,
    factor: v.pipe(v.number(), v.minValue(0.01), v.maxValue(1000)),
  }),
]);

const exactMs = nonNegative(MAX_QUANTITY_MS);

const rdd = v.object({
  id: index,
  name: text,
  callSite: v.optional(text),
  scope: nullable(text),
  numPartitions: index,
  storageLevel: nullable(storageLevel),
  dependencies: v.optional(v.array(v.variant("kind", [
    v.object({
      kind: v.literal("narrow"),
      rddId: index,
      mapping: v.picklist(["oneToOne", "range", "coalesce", "all"]),
      outStart: v.optional(index),
    }),
    v.object({ kind: v.literal("shuffle"), shuffleId: index }),
  ]))),
  deserializedBytes: nullable(bytes),
  serializedBytes: nullable(bytes),
  diskBytes: nullable(bytes),
  elements: nullable(count),
  computeMs: nullable(ms),
  inputBytes: nullable(bytes),
  shuffleReadBytes: nullable(bytes),
  shuffleReadRecords: nullable(count),
  memory,
  persistBeforeJob: nullable(index),
  unpersistBeforeJob: nullable(index),
  alwaysSerialized: v.optional(v.boolean()),
  outputDeterministicLevel: nullable(deterministicLevel),
  preferredHosts: nullable(v.array(v.array(text))),
});

const lineage = v.object({
  rdds: v.array(rdd),
  shuffles: v.optional(v.array(v.object({
    id: index,
    rddId: index,
    numReducers: index,
    demand: index,
    reducerShares: nullable(v.array(nonNegative(1e300))),
  }))),
  demands: v.array(v.object({
    tasks: index,
    recordedStageId: nullable(index),
    broadcastIds: v.optional(v.array(index)),
    ...demandEntries,
  })),
  jobs: v.array(v.object({
    id: index,
    kind: v.optional(v.picklist(["result", "mapStage"])),
    rddId: index,
    shuffleId: nullable(index),
    partitions: nullable(v.array(index)),
    demand: index,
    afterJobs: v.optional(v.array(index)),
    delayMs: v.optional(exactMs),
    cancelAfterMs: nullable(exactMs),
    failureHandled: v.optional(v.boolean()),
    name: v.optional(text),
    group: nullable(text),
    pool: nullable(name),
    description: nullable(text),
    sqlExecutionId: nullable(index),
  })),
  broadcasts: v.optional(v.array(v.object({
    id: index,
    pieceBytes: exactBytes,
    valueBytes: exactBytes,
    removeBeforeJob: v.optional(index),
  }))),
  faults: v.optional(v.array(v.variant("kind", [
    v.object({
      kind: v.literal("taskException"),
      demand: index,
      partition: index,
      attempts: whole(1, INT_MAX),
      className: text,
      description: text,
      atFraction: fraction,
    }),
    v.object({
      kind: v.literal("executorLost"),
      executorId: name,
      atMs: v.nullable(exactMs),
      afterTasks: v.nullable(index),
      reason: text,
      workerLost: v.boolean(),
      exitCausedByApp: v.boolean(),
      replacedAfterMs: v.nullable(exactMs),
    }),
    v.object({
      kind: v.picklist(["fetchFailure", "resultLost"]),
      demand: index,
      partition: index,
      attempts: whole(1, INT_MAX),
    }),
    v.object({
      kind: v.literal("resultUnreadable"),
      demand: index,
      partition: index,
      attempts: whole(1, INT_MAX),
      classNotFound: v.boolean(),
      description: text,
    }),
    v.object({
      kind: v.literal("resultHandlerException"),
      demand: index,
      partition: index,
      className: text,
      description: text,
    }),
    v.object({
      kind: v.literal("slowHost"),
      host: name,
      factor: v.pipe(v.number(), v.minValue(0.01), v.maxValue(1000)),
    }),
  ]))),
  queries: v.optional(v.array(v.object({
    executionId: index,
    operators: v.array(v.object({
      name: text,
      description: text,
      inputs: v.array(index),
      rows: v.nullable(nonNegative(1e300)),
      bytes: v.nullable(nonNegative(1e300)),
      demand: v.nullable(index),
    })),
  }))),
});

/** Schemas that the JSON Schema defines once and refers to. */
export const SHARED_SCHEMAS: Readonly<Record<string, v.GenericSchema>> = Object.freeze({
  Size: oneSize,
  Time: oneTime,
  Count: oneCount,
  SizeQuantity: bytes,
  TimeQuantity: ms,
  CountQuantity: count,
  Cluster: cluster,
  CachedRdd: cached,
  Stage: stage,
  Job: job,
  Fault: fault,
  Lineage: lineage,
});

/**
 * The whole document.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import * as v from "valibot";
 * import { JobSpecSchema } from "./job_spec_schema.ts";
 *
 * assertEquals(v.is(JobSpecSchema, { stages: [{ id: 0, tasks: 1 }] }), true);
 * assertEquals(v.is(JobSpecSchema, { stages: [{ id: 0, tasks: "1" }] }), false);
 * ```
 */
export const JobSpecSchema: v.GenericSchema<unknown, JobSpec> = v.pipe(
  v.object({
    name: v.optional(text),
    appId: nullable(text),
    sparkVersion: v.optional(name),
    seed: v.optional(seed),
    conf: v.optional(
      described(
        v.record(
          name,
          v.union([text, v.pipe(v.number(), v.finite()), v.boolean()]),
        ),
        "Spark properties in Spark's own value syntax",
      ),
    ),
    cluster: v.optional(cluster),
    pools: nullable(v.array(pool)),
    cached: v.optional(v.array(cached)),
    stages: v.optional(v.pipe(v.array(stage), v.minLength(1))),
    jobs: v.optional(v.pipe(v.array(job), v.minLength(1))),
    broadcasts: v.optional(v.array(v.object({
      name,
      bytes: oneSize,
      valueBytes: v.optional(oneSize),
    }))),
    faults: v.optional(v.array(fault)),
    lineage: v.optional(lineage),
    evidence: v.optional(v.array(v.object({
      subject: text,
      field: text,
      grade: v.picklist(["observed", "inferred", "assumed"]),
      how: text,
      wouldRecord: v.optional(text),
    }))),
    warnings: v.optional(v.array(v.object({
      code: text,
      message: text,
      count: whole(0, Number.MAX_SAFE_INTEGER),
    }))),
  }),
  v.description(
    "A workload for sparkmem: either stages (by hand) or lineage (exact, as event logs give it)",
  ),
);
