/**
 * What the text of a failure says about memory and results: which memory was short, and which setting governs it.
 *
 * @module
 */
import type { RunFacts } from "../run_facts.ts";
import { type Advice, advise, memoryKey } from "./finding.ts";

/** A known cause. */
export interface FailureCause {
  /** Stable identifier: `oom.java_heap`, `executor.killed`, ... */
  readonly code: string;
  /** Completes "The cause: ...". */
  readonly cause: string;
  readonly why: string;
  readonly settings: readonly Advice[];
}

interface Pattern {
  readonly code: string;
  readonly pattern: RegExp;
  readonly cause: (match: RegExpExecArray) => string;
  readonly why: string;
  readonly settings: (facts: RunFacts) => Advice[];
}

function overhead({ conf, local }: RunFacts): Advice[] {
  if (local) {
    return [
      advise(conf, "spark.driver.memory", "lower it, or give the process more memory: the heap is not all it needs"),
    ];
  }
  return [
    advise(
      conf,
      "spark.executor.memoryOverhead",
      "raise it: Python workers, off-heap buffers and the JVM itself live there",
    ),
    advise(
      conf,
      "spark.executor.memory",
      "raising it alone does not help: it leaves the overhead as it is, or moves it little",
    ),
    advise(conf, "spark.executor.cores", "fewer tasks at once need less beside the heap"),
  ];
}

function heap(facts: RunFacts): Advice[] {
  const { conf } = facts;
  return [
    advise(
      conf,
      memoryKey(facts),
      "raise it: objects of user code, of the sort and hash maps and of Spark share this heap",
    ),
    advise(conf, "spark.executor.cores", "fewer tasks at once leave more heap to each"),
    advise(
      conf,
      "spark.memory.fraction",
      "lower it when user code holds the objects: what the fraction leaves over is user memory",
    ),
    { key: "partitions", value: null, advice: "more and smaller partitions need less memory each" },
  ];
}

const PATTERNS: readonly Pattern[] = [
  {
    code: "memory.container_limit",
    pattern:
      /[Cc]ontainer killed by YARN for exceeding (?:physical |virtual )?memory limits\.?\s*(?:([\d.]+ [KMGT]?B) of ([\d.]+ [KMGT]?B))?/,
    cause: ([, used, limit]) =>
      `YARN killed the container because it used more memory than was asked for${
        used === undefined ? "" : ` (${used} of ${limit})`
      }`,
    why:
      "a container is as large as spark.executor.memory plus the overhead (10 % of it, at least 384 MiB); what lies " +
      "outside the heap counts, and Spark's memory manager knows nothing of it",
    settings: overhead,
  },
  {
    code: "memory.container_limit",
    pattern: /OOMKilled|possible container OOM|[Ee]xit(?:ed with)?(?: exit)? code(?: was|:)? 137\(SIGKILL/,
    cause: () => "the container manager killed the process because the container was out of memory (exit code 137)",
    why:
      "a pod's limit is spark.executor.memory plus the overhead (10 % of it, at least 384 MiB; 40 % for other than JVM jobs on Kubernetes)",
    settings: overhead,
  },
  {
    code: "memory.gc_overhead",
    pattern: /GC overhead limit exceeded/,
    cause: () => "the Java heap was nearly full and the collector freed almost nothing (GC overhead limit exceeded)",
    why: "the JVM gives up when it spends 98 % of its time on collections that free less than 2 % of the heap",
    settings: heap,
  },
  {
    code: "memory.metaspace",
    pattern: /OutOfMemoryError: Metaspace/,
    cause: () => "the JVM ran out of metaspace, which holds classes, not data",
    why: "spark.executor.memory does not govern metaspace; -XX:MaxMetaspaceSize does",
    settings: ({ conf }) => [advise(conf, "spark.executor.extraJavaOptions", "raise -XX:MaxMetaspaceSize")],
  },
  {
    code: "memory.direct_buffer",
    pattern:
      /OutOfMemoryError: (?:Cannot reserve \d+ bytes of direct buffer memory|Direct buffer memory)|OutOfDirectMemoryError/,
    cause: () => "memory outside the heap for network buffers was short (direct buffer memory)",
    why: "Netty's buffers count against -XX:MaxDirectMemorySize, which is as large as the heap when not set",
    settings: ({ conf }) => [
      advise(conf, "spark.executor.memoryOverhead", "raise it together with -XX:MaxDirectMemorySize"),
      advise(conf, "spark.maxRemoteBlockSizeFetchToMem", "lower it so that large blocks are fetched to disk"),
    ],
  },
  {
    code: "memory.unable_to_acquire",
    pattern: /Unable to acquire (\d+) bytes of memory, got (\d+)|UNABLE_TO_ACQUIRE_MEMORY/,
    cause: ([, asked, got]) =>
      asked === undefined
        ? "a task could not get the execution memory that it cannot do without"
        : `a task asked Spark for ${
          Number(asked).toLocaleString("en-US")
        } bytes of execution memory that it cannot do without, and got ${Number(got).toLocaleString("en-US")}`,
    why:
      "each of N running tasks gets at most 1/N of execution memory, and at least 1/2N before it must wait; what cannot be " +
      "spilled (a page that is being filled, the map of a hash join) fails when that is too little",
    settings: (facts) => [
      advise(facts.conf, memoryKey(facts), "raise it: each task's share grows with it"),
      advise(facts.conf, "spark.executor.cores", "fewer tasks at once have larger shares"),
      advise(facts.conf, "spark.memory.fraction", "raise it when user code needs little"),
      advise(facts.conf, "spark.memory.storageFraction", "lower it when cached blocks hold the memory"),
      advise(facts.conf, "spark.sql.shuffle.partitions", "more partitions make each task's share of the data smaller"),
    ],
  },
  {
    code: "memory.java_heap",
    pattern: /OutOfMemoryError: Java heap space|java\.lang\.OutOfMemoryError/,
    cause: () => "the Java heap of the process was full (OutOfMemoryError)",
    why:
      "Spark's memory manager counts what its own sorters, maps and cache take; objects of user code, deserialized records and " +
      "large single values are not counted and share the same heap",
    settings: heap,
  },
  {
    code: "memory.exit_52",
    pattern: /(?:exit code|code|status|Exit status:?) 52\b/,
    cause: () => "an OutOfMemoryError ended the executor (exit code 52)",
    why: "SparkExitCode.OOM: an executor halts when an OutOfMemoryError reaches its uncaught exception handler",
    settings: heap,
  },
  {
    code: "executor.killed_137",
    pattern: /(?:exit code|code|status|Exit status:?)(?: is)? 137\b/,
    cause: () => "something killed the process with SIGKILL (exit code 137)",
    why:
      "137 is 128 + 9: the kernel's out-of-memory killer or the container manager does that when the machine or the container " +
      "is out of memory; a person or a script can do it too",
    settings: overhead,
  },
  {
    code: "executor.killed_143",
    pattern: /(?:exit code|code|status|Exit status:?)(?: is)? 143\b/,
    cause: () => "something asked the process to end with SIGTERM (exit code 143)",
    why:
      "143 is 128 + 15: the cluster manager does that on preemption, on decommissioning or when a container exceeds its limit",
    settings: overhead,
  },
  {
    code: "executor.heartbeat",
    pattern: /[Hh]eartbeat timed out after (\d+) ms|no recent heartbeats/,
    cause: ([, ms]) =>
      `the executor sent no heartbeat${ms === undefined ? "" : ` for ${Math.round(Number(ms) / 1000)} s`}`,
    why: "long collections of a full heap are the usual reason, a lost network the other",
    settings: (facts) => [
      ...heap(facts).slice(0, 2),
      advise(facts.conf, "spark.network.timeout", "raise it only when the pauses cannot be avoided"),
    ],
  },
  {
    code: "memory.kryo_buffer",
    pattern: /Buffer overflow\. Available: (\d+), required: (\d+)|KRYO_BUFFER_OVERFLOW/,
    cause: ([, , required]) =>
      `a single record was larger than Kryo's buffer${
        required === undefined ? "" : ` (${required} bytes more were needed)`
      }`,
    why: "Kryo serializes into one buffer that does not grow beyond its maximum",
    settings: (
      { conf },
    ) => [advise(conf, "spark.kryoserializer.buffer.max", "raise it above the largest record (at most 2047m)")],
  },
  {
    code: "memory.broadcast",
    pattern: /Not enough memory to build and broadcast the table|Cannot broadcast the table|BROADCAST_TABLE/,
    cause: () => "a table was too large to be broadcast",
    why:
      "the driver collects a broadcast table and builds its hash map on its own heap; the table is limited to 8 GiB and 512 M rows",
    settings: ({ conf }) => [
      advise(
        conf,
        "spark.sql.autoBroadcastJoinThreshold",
        "lower it, or set it to -1, so that the table is shuffled instead",
      ),
      advise(conf, "spark.driver.memory", "raise it when the broadcast is meant"),
    ],
  },
  {
    code: "memory.broadcast_timeout",
    pattern: /Could not execute broadcast in (\d+) secs/,
    cause: ([, seconds]) => `a broadcast was not ready within ${seconds} s`,
    why: "collecting and sending the table took longer than spark.sql.broadcastTimeout",
    settings: ({ conf }) => [
      advise(conf, "spark.sql.broadcastTimeout", "raise it when the table is meant to be broadcast"),
      advise(
        conf,
        "spark.sql.autoBroadcastJoinThreshold",
        "lower it, or set it to -1, so that the table is shuffled instead",
      ),
    ],
  },
];

/**
 * The known cause that a failure's text names, or null. The first that matches counts: the more specific come first.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "../../spark/conf.ts";
 * import { failureCause } from "./failure_cause.ts";
 *
 * const facts = { conf: SparkConf.from({}, "3.5.9"), local: false };
 * assertEquals(failureCause("java.lang.OutOfMemoryError: GC overhead limit exceeded", facts)?.code, "memory.gc_overhead");
 * assertEquals(failureCause("java.io.IOException: disk full", facts), null);
 * ```
 */
export function failureCause(text: string, facts: Pick<RunFacts, "conf" | "local">): FailureCause | null {
  for (const { code, pattern, cause, why, settings } of PATTERNS) {
    const match = pattern.exec(text);
    if (match !== null) {
      return { code, cause: cause(match), why, settings: settings(facts as RunFacts) };
    }
  }
  return null;
}
