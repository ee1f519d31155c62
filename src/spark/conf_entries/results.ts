/**
 * Properties of the result path, of serialization and of messages between driver and executors.
 *
 * @module
 */
import { check, type ConfEntry, confEntry, MAX_ROUNDED_ARRAY_LENGTH, NEVER, TYPES } from "../conf_entry.ts";

const { bytes, kib, mib, seconds, ms, int, boolean, string } = TYPES;

/** Of results, messages and serialization. */
export const RESULT_ENTRIES: readonly ConfEntry[] = [
  confEntry(
    "spark.driver.maxResultSize",
    bytes,
    "1.2",
    "1g",
    "Largest sum of the serialized results of one stage's tasks; 0 is unlimited.",
    { declaredSince: "2.4.0" },
  ),
  confEntry(
    "spark.task.maxDirectResultSize",
    bytes,
    "2.0",
    "1048576",
    "Largest result that a task sends in its status update; larger ones go by way of the block manager.",
    {
      checks: [
        check(
          "The max direct result size is 2GB",
          (v) => v < MAX_ROUNDED_ARRAY_LENGTH,
          "3.4.0",
        ),
      ],
    },
  ),
  confEntry(
    "spark.rpc.message.maxSize",
    int,
    "2.0",
    "128",
    "Largest message between driver and executors, in MiB: tasks, direct results, map output sizes.",
  ),
  confEntry(
    "spark.akka.frameSize",
    int,
    "0.7",
    [["0.7", "10"], ["1.6", "128"]],
    "What spark.rpc.message.maxSize was before 2.0, in MiB.",
    { until: "2.0", declaredSince: NEVER },
  ),
  confEntry(
    "spark.rpc.askTimeout",
    seconds,
    "1.4",
    null,
    "How long an answer to a message is waited for.",
    { fallback: "spark.network.timeout" },
  ),
  confEntry(
    "spark.network.timeout",
    seconds,
    "1.3",
    "120s",
    "How long the other side may be silent.",
  ),
  confEntry(
    "spark.executor.heartbeatInterval",
    ms,
    "1.1",
    "10s",
    "How often an executor reports its metrics and that it lives.",
  ),
  confEntry(
    "spark.network.maxRemoteBlockSizeFetchToMem",
    bytes,
    "2.2",
    [["2.2", "2147483135"], ["3.0.0", "200m"]],
    "Remote blocks above this are fetched to disk.",
    {
      namedSince: "3.0.0",
      declaredSince: "2.3.0",
      alternatives: [
        {
          key: "spark.maxRemoteBlockSizeFetchToMem",
          deprecatedIn: "3.0",
        },
        {
          key: "spark.reducer.maxReqSizeShuffleToMem",
          deprecatedIn: "2.3",
        },
      ],
    },
  ),
  confEntry(
    "spark.serializer",
    string,
    "0.5",
    "org.apache.spark.serializer.JavaSerializer",
    "How objects are serialized.",
  ),
  confEntry(
    "spark.kryoserializer.buffer",
    kib,
    "1.4",
    "64k",
    "First size of Kryo's buffer.",
    {
      alternatives: [{
        key: "spark.kryoserializer.buffer.mb",
        deprecatedIn: "1.4",
        translate: (value) => `${Math.trunc(Number(value) * 1000)}k`,
      }],
    },
  ),
  confEntry(
    "spark.kryoserializer.buffer.max",
    mib,
    "1.4",
    "64m",
    "Largest size of Kryo's buffer: one object must fit.",
    {
      alternatives: [{
        key: "spark.kryoserializer.buffer.max.mb",
        deprecatedIn: "1.4",
      }],
    },
  ),
  confEntry(
    "spark.kryo.registrationRequired",
    boolean,
    "1.1",
    "false",
    "Kryo refuses classes that were not registered.",
  ),
  confEntry(
    "spark.kryo.unsafe",
    boolean,
    "2.1",
    [["2.1", "false"], ["3.4.0", "true"]],
    "Kryo reads and writes memory directly.",
  ),
  confEntry(
    "spark.io.compression.codec",
    string,
    "0.8",
    [["0.8", "lzf"], ["1.1", "snappy"], ["2.0", "lz4"]],
    "Codec of spills, shuffle files, broadcasts and serialized blocks.",
  ),
  confEntry(
    "spark.broadcast.blockSize",
    kib,
    "0.5",
    "4m",
    "Size of the pieces of a broadcast.",
  ),
  confEntry(
    "spark.broadcast.compress",
    boolean,
    "0.6",
    "true",
    "Broadcasts are compressed.",
  ),
  confEntry(
    "spark.rdd.compress",
    boolean,
    "0.6",
    "false",
    "Serialized cached blocks are compressed (PySpark turns it on).",
  ),
  confEntry(
    "spark.checkpoint.compress",
    boolean,
    "2.2",
    [["2.2", "false"], ["4.1.0", "true"]],
    "Checkpoints are compressed.",
    { declaredSince: "2.2.0" },
  ),
  confEntry(
    "spark.checkpoint.dir",
    string,
    "4.0",
    null,
    "Where RDD checkpoints go.",
  ),
];
