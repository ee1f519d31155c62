/**
 * Messages of the result path: from a task's serialized result to the driver, and messages that are too large.
 *
 * @module
 */
import { BYTE_UNITS } from "../../spark/sizes.ts";
import {
  BYTES,
  inUnitOf,
  kind,
  mebibytes,
  type MessageKind,
  printed,
  re,
  type Reading,
  type ReadingContext,
  SIZE,
} from "./message_kind.ts";

const { KiB, MiB } = BYTE_UNITS;

const COLLECT_LESS = [
  "Do not collect it: write it with the executors (write, saveAsTable, foreachPartition), or take(n), or aggregate first",
  "toLocalIterator() brings one partition at a time",
];

const RAISE_RESULT_SIZE =
  "Raise spark.driver.maxResultSize (0 is unlimited) only if the driver's heap holds all the results at " +
  "once, in their larger deserialized form: raise spark.driver.memory with it";

/** The aborted stage: how much had come, and how much at least the result that crossed the limit brought. */
function totalSize([, count, total, limit]: readonly string[]): Reading {
  const tasks = Number(count);
  const size = printed(total);
  const most = printed(limit);
  const least = Math.max(size.min, most.bytes + 1);
  const middle = (least + size.max) / 2;
  const mean = Math.round(middle / tasks);
  return {
    values: {
      tasks,
      totalMin: least,
      totalMax: size.max,
      maxResultSize: most.bytes,
      meanResultBytes: mean,
      lastResultAtLeastBytes: least - most.bytes,
      aborts: true,
    },
    arithmetic: [
      `${total} is ${least} to ${size.max} bytes > ${most.bytes} bytes (${limit}): the stage is aborted`,
      `about ${Math.round(middle)} bytes / ${tasks} tasks = ${mean} bytes a task`,
      `without the last one it was at most ${most.bytes}: the result that crossed it brought at least ` +
      `${least - most.bytes} bytes`,
    ],
    meaning:
      `Results of ${tasks} tasks had come when it was crossed; tasks that had not finished are not counted, so the ` +
      "whole job needs more than this.",
    remedies: mean < 100 * KiB
      ? [
        "Many small results: it is the number of tasks (their accumulator updates, before 3.4 counted with the results) that " +
        "fills the budget: use fewer partitions",
      ]
      : [],
  };
}

function dropped([, size, limit]: readonly string[]): Reading {
  return {
    values: {
      resultMin: printed(size).min,
      resultMax: printed(size).max,
      maxResultSize: printed(limit).bytes,
      path: "dropped",
    },
    arithmetic: [`${size} > ${limit}: the result is not sent, only its size is, and the driver aborts the stage`],
  };
}

/** A result that was sent: which path, and how far it was from the limit. */
function sent([, size]: readonly string[], path: "direct" | "indirect", { conf }: ReadingContext): Reading {
  const bytes = Number(size);
  const direct = conf.getSizeAsBytesOption("spark.task.maxDirectResultSize") ?? MiB;
  const rpc = (conf.getIntOption("spark.rpc.message.maxSize") ?? 128) * MiB;
  const limit = Math.min(direct, rpc);
  const fits = bytes <= limit;
  return {
    values: { resultBytes: bytes, path, limitBytes: limit },
    arithmetic: [
      `min(spark.task.maxDirectResultSize ${direct}, spark.rpc.message.maxSize ${rpc}) = ${limit}; ${bytes} ` +
      (fits ? `<= ${limit} by ${limit - bytes} bytes` : `> ${limit} by ${bytes - limit} bytes`),
      ...(fits === (path === "direct") ? [] : ["so one of the two was set to another value in that application"]),
    ],
  };
}

/** A task that is too large for a message. */
function serializedTask([, task, index, size, , limit, reserved]: readonly string[]): Reading {
  const bytes = Number(size);
  const most = Number(limit) - Number(reserved ?? 0);
  const smallest = Math.floor((bytes + Number(reserved ?? 0)) / MiB) + 1;
  return {
    values: {
      task,
      index: Number(index),
      serializedBytes: bytes,
      limitBytes: Number(limit),
      limitMiB: Number(limit) / MiB,
      smallestMaxSizeMiB: smallest,
      refused: true,
    },
    arithmetic: [
      `${bytes} >= ${most}: ${mebibytes(bytes)} do not fit ${mebibytes(most)}`,
      `the smallest whole spark.rpc.message.maxSize that lets it pass is ${smallest} (MiB), the largest there is 2047`,
    ],
    meaning: Number(limit) === 128 * MiB
      ? `${limit} bytes are the default of 128 MiB: a value that was set elsewhere did not reach the driver in time.`
      : "",
    remedies: [
      "Find what the task carries: a large local object in a closure, or parallelize() of local data. Broadcast it, or read it " +
      "from storage",
      `Else set spark.rpc.message.maxSize=${smallest} or more when the application starts`,
    ],
  };
}

/** The kinds of messages about results. */
export const RESULT_MESSAGES: readonly MessageKind[] = [
  kind({
    code: "result.maxResultSize",
    title: "the results of a stage are larger than the driver takes",
    severity: "failure",
    printedBy: "TaskSetManager",
    since: "1.2",
    anchor: "Total size of serialized results of",
    pattern:
      re`Total size of serialized results of (\d+) tasks? \(${SIZE}\) is bigger than (?:local result size limit )?spark\.driver\.maxResultSize \(?${SIZE}\)?`,
    meaning:
      "The sizes of all results of one stage are added as they come, dropped ones included; the one that takes the sum above " +
      "spark.driver.maxResultSize aborts the stage. It is the serialized size, before the driver deserializes it. From 3.1 on shuffle map " +
      "stages do not abort; from 3.4 on a direct result counts its value only.",
    settings: ["spark.driver.maxResultSize", "spark.driver.memory"],
    remedies: [...COLLECT_LESS, RAISE_RESULT_SIZE],
    read: totalSize,
  }),
  kind({
    code: "result.dropped",
    title: "one result alone is larger than the driver takes",
    severity: "failure",
    printedBy: "Executor",
    since: "1.2",
    anchor: "Result is larger than maxResultSize",
    pattern: re`Result is larger than maxResultSize \(${SIZE} > ${SIZE}\)`,
    meaning: "The executor does not even send it; the driver adds its size and aborts the stage.",
    settings: ["spark.driver.maxResultSize", "spark.driver.memory"],
    remedies: [
      ...COLLECT_LESS,
      "More partitions, so that one result is smaller (the sum still counts)",
      RAISE_RESULT_SIZE,
    ],
    read: dropped,
  }),
  kind({
    code: "result.indirect",
    title: "a result travels by way of the block manager",
    severity: "information",
    printedBy: "Executor",
    anchor: "bytes result sent via BlockManager",
    pattern: re`${BYTES} bytes result sent via BlockManager`,
    meaning:
      "It is larger than a direct result may be, so it is stored as a taskresult_ block (MEMORY_AND_DISK_SER) in the storage " +
      "memory, where it can evict cached blocks, and the driver fetches it. Getting Result Time of the task is above 0.",
    settings: ["spark.task.maxDirectResultSize", "spark.rpc.message.maxSize"],
    read: (groups, context) => sent(groups, "indirect", context),
  }),
  kind({
    code: "result.direct",
    title: "a result travels in the task's status update",
    severity: "information",
    printedBy: "Executor",
    anchor: "bytes result sent to driver",
    pattern: re`${BYTES} bytes result sent (?:directly )?to driver`,
    meaning: "It is small enough to be sent at once; Getting Result Time is 0.",
    settings: ["spark.task.maxDirectResultSize", "spark.rpc.message.maxSize"],
    read: (groups, context) => sent(groups, "direct", context),
  }),
  kind({
    code: "result.killedByMaxResultSize",
    title: "a task is killed because the results were too large",
    severity: "failure",
    printedBy: "TaskResultGetter",
    since: "2.4.5",
    anchor: "Tasks result size has exceeded maxResultSize",
    pattern: /Tasks result size has exceeded maxResultSize/,
    meaning:
      "The stage was aborted for spark.driver.maxResultSize, and this task's result was refused. Its size is not in the event log. " +
      "Before 2.4.5 the task's end was never reported.",
    settings: ["spark.driver.maxResultSize"],
    remedies: [...COLLECT_LESS, RAISE_RESULT_SIZE],
  }),
  kind({
    code: "result.serializedTask",
    title: "a task is too large to be sent",
    severity: "failure",
    printedBy: "CoarseGrainedSchedulerBackend",
    anchor: "which exceeds max allowed",
    pattern:
      re`Serialized task (\S+?):(\d+) was ${BYTES} bytes, which exceeds max allowed: (spark\.rpc\.message\.maxSize|spark\.akka\.frameSize) \(${BYTES} bytes\)(?: - reserved \(${BYTES} bytes\))?`,
    meaning:
      "The message with the task does not fit spark.rpc.message.maxSize, and the job is aborted without the task ever starting. In " +
      "'task 35:4' 35 is the task's id and 4 its index.",
    settings: ["spark.rpc.message.maxSize"],
    read: serializedTask,
  }),
  kind({
    code: "result.mapStatuses",
    title: "the locations of a shuffle's outputs are too large for a message",
    severity: "failure",
    printedBy: "MapOutputTracker",
    until: "1.6",
    anchor: "Map output statuses were",
    pattern:
      re`Map output statuses were ${BYTES} bytes which exceeds (?:spark\.akka\.frameSize|spark\.rpc\.message\.maxSize) \(${BYTES} bytes\)`,
    meaning: "It grows with map tasks x reduce tasks. Spark 2.0 and later broadcast it instead.",
    settings: ["spark.akka.frameSize", "spark.shuffle.mapOutput.minSizeForBroadcast"],
    remedies: ["Fewer map or reduce partitions, a larger frame size, or Spark 2.0 or later"],
    read: ([, bytes, limit]) => ({
      values: { bytes: Number(bytes), limitBytes: Number(limit) },
      arithmetic: [`${bytes} > ${limit}: at least ${Math.floor(Number(bytes) / MiB) + 1} MiB are needed`],
    }),
  }),
  kind({
    code: "result.largeTask",
    title: "tasks carry a lot",
    severity: "slow",
    printedBy: "TaskSetManager",
    anchor: "contains a task of very large size",
    pattern:
      /Stage (\d+) contains a task of very large size \((\d+) Ki?B\)\. The maximum recommended task size is (\d+) Ki?B/,
    meaning:
      "Each task is serialized and sent: local data in parallelize() or in a closure travels with every one of them.",
    settings: ["spark.rpc.message.maxSize"],
    remedies: ["Broadcast the large object, or read the data from storage"],
    read: ([, stage, size, recommended]) => ({
      values: { stageId: Number(stage), taskBytes: Number(size) * KiB, recommendedBytes: Number(recommended) * KiB },
      arithmetic: [
        `${size} KiB are ${(Number(size) / Number(recommended)).toFixed(1)} times the recommended ${recommended} KiB`,
      ],
    }),
  }),
  kind({
    code: "result.largeBinary",
    title: "a stage's code and closure are large",
    severity: "slow",
    printedBy: "DAGScheduler",
    since: "2.4",
    anchor: "Broadcasting large task binary with size",
    pattern: re`Broadcasting large task binary with size ${SIZE}`,
    meaning:
      "The RDD's lineage and its closures are broadcast once per stage; beyond 1 MiB a large local object or a very long " +
      "lineage is in it (iterative jobs, large models, huge IN lists).",
    remedies: ["Broadcast large objects explicitly", "Checkpoint in iterations, to cut the lineage"],
    read: ([, size]) => ({ values: { binaryBytes: printed(size).bytes } }),
  }),
  kind({
    code: "result.lost",
    title: "a result that was stored as a block is gone",
    severity: "slow",
    printedBy: "TaskResultGetter",
    anchor: "TaskResultLost",
    pattern: /TaskResultLost(?: \(result lost from block manager\))?/,
    meaning:
      "The task finished, but the executor went, or its block could not be fetched, before the driver had the result. It counts as a " +
      "failure of the task: with spark.task.maxFailures (4; 1 in local mode) of them the stage is aborted. Its size stays in the stage's " +
      "total.",
    settings: ["spark.task.maxFailures", "spark.task.maxDirectResultSize"],
    remedies: [
      "Look for the executor's loss just before",
      "Smaller results travel directly and cannot get lost like this",
    ],
    read: () => ({ values: { countsAsFailure: true } }),
  }),
  kind({
    code: "result.getting",
    title: "the driver could not read a task's result",
    severity: "failure",
    printedBy: "TaskResultGetter",
    anchor: "Exception while getting task result",
    pattern: /Exception while getting task result:? ?(.{0,300})/,
    meaning:
      "Fetching or deserializing failed on the driver: a class that it does not have, Kryo settings that differ, or no heap left.",
    settings: ["spark.driver.memory", "spark.serializer", "spark.kryoserializer.buffer.max"],
    remedies: ["The exception that is named is the cause: look at it first"],
    read: ([, exception]) => ({ values: { exception } }),
  }),
  kind({
    code: "result.notSerializable",
    title: "a task's result cannot be serialized",
    severity: "failure",
    printedBy: "TaskSetManager",
    anchor: "had a not serializable result",
    pattern: /had a not serializable result: (.{0,300})/,
    meaning: "The job is aborted at once, it is not tried again.",
    settings: ["spark.serializer"],
    remedies: ["Map to something serializable before collecting"],
    read: ([, what]) => ({ values: { what } }),
  }),
  kind({
    code: "result.kryoOverflow",
    title: "one object is larger than Kryo's buffer",
    severity: "failure",
    printedBy: "KryoSerializer",
    anchor: "Buffer overflow",
    pattern: re`Buffer overflow\. Available: (\d+), required: (\d+)`,
    meaning:
      "An object, or a batch with it, does not fit spark.kryoserializer.buffer.max (64m, at most 2047m). 'required' is only what the " +
      "next write needed, not the object's size.",
    settings: ["spark.kryoserializer.buffer.max"],
    remedies: [
      "Raise spark.kryoserializer.buffer.max (below 2048m)",
      "Make the objects smaller: no whole partitions as one object (mapPartitions, collect_list, glom)",
    ],
    read: ([, available, required], { conf }) => ({
      values: { availableBytes: Number(available), requiredBytes: Number(required) },
      arithmetic: [
        `the buffer was at its largest, ${
          inUnitOf(conf.getSizeAsBytes("spark.kryoserializer.buffer.max"), "64.0 MiB")
        } unless it was set; ${available} bytes were left and ${required} more were needed`,
      ],
    }),
  }),
  kind({
    code: "result.broadcastTooLarge",
    title: "a table is too large to be broadcast",
    severity: "failure",
    printedBy: "BroadcastExchangeExec",
    anchor: "Cannot broadcast the table",
    pattern:
      /Cannot broadcast the table (?:that is larger than ([^:]{1,40}): ([\d.]+ ?\w*)|(?:over|with more than) ([\w ]{1,40}) rows: (\d+))/,
    meaning:
      "A broadcast is limited to 8 GiB and 512 million rows, whatever the threshold says; that of a hash join to 2^29 / 1.5 = 357913941 rows, " +
      "the keys that its map takes (SPARK-31068). The threshold compares an estimate, which a hint ignores.",
    settings: ["spark.sql.autoBroadcastJoinThreshold"],
    remedies: [
      "Remove the broadcast hint, or set spark.sql.autoBroadcastJoinThreshold=-1, so that it is a sort-merge join",
    ],
    read: ([, most, size, mostRows, rows]) => ({
      values: { most: most ?? mostRows ?? null, received: size ?? rows ?? null },
    }),
  }),
  kind({
    code: "result.broadcastMemory",
    title: "the driver has no memory to build a broadcast",
    severity: "failure",
    printedBy: "BroadcastExchangeExec",
    anchor: "Not enough memory to build and broadcast the table",
    pattern: /Not enough memory to build and broadcast the table to all worker nodes/,
    meaning:
      "The driver collects the table, builds the hash table and its serialized form: several times the table's size, in the driver's " +
      "heap.",
    settings: ["spark.driver.memory", "spark.sql.autoBroadcastJoinThreshold", "spark.driver.maxResultSize"],
    remedies: ["Raise spark.driver.memory", "Lower or disable spark.sql.autoBroadcastJoinThreshold"],
  }),
  kind({
    code: "result.broadcastTimeout",
    title: "a broadcast took too long",
    severity: "failure",
    printedBy: "BroadcastExchangeExec",
    anchor: "Could not execute broadcast in",
    pattern: /Could not execute broadcast in (\d+) secs/,
    meaning:
      "Collecting the table, building it and sending it took longer than spark.sql.broadcastTimeout (300 s). Often the driver is in garbage " +
      "collection, or the table's own query is slow.",
    settings: ["spark.sql.autoBroadcastJoinThreshold", "spark.driver.memory"],
    remedies: [
      "Look at the query that makes the table first",
      "Lower spark.sql.autoBroadcastJoinThreshold, or raise spark.sql.broadcastTimeout",
    ],
    read: ([, seconds]) => ({ values: { timeoutMs: Number(seconds) * 1000 } }),
  }),
  kind({
    code: "result.bufferHolder",
    title: "one row is larger than 2 GiB",
    severity: "failure",
    printedBy: "BufferHolder",
    anchor: "Cannot grow BufferHolder by size",
    pattern: re`Cannot grow BufferHolder by size ${BYTES}`,
    meaning:
      "A single row (often an array from collect_list, or one huge string) outgrew what Tungsten can hold, 2147483632 bytes.",
    remedies: ["Do not aggregate everything into one row; explode, or aggregate in steps"],
    read: ([, bytes]) => ({ values: { bytes: Number(bytes), limitBytes: 2147483632 } }),
  }),
];
