/**
 * Messages of the JVM, of YARN, Kubernetes and Standalone, and of Python workers: memory that Spark does not account for.
 *
 * @module
 */
import { BYTE_UNITS } from "../../spark/sizes.ts";
import { BYTES, inUnitOf, kind, mebibytes, type MessageKind, printed, re, type Reading } from "./message_kind.ts";

const OVERHEAD_SETTINGS = [
  "spark.executor.memoryOverhead",
  "spark.executor.memoryOverheadFactor",
  "spark.executor.memory",
  "spark.executor.pyspark.memory",
  "spark.executor.cores",
];

const MORE_OVERHEAD = [
  "Raise spark.executor.memoryOverhead: direct buffers, threads, native libraries and Python workers live there",
  "Set spark.executor.pyspark.memory, so that Python workers have a limit of their own",
  "Fewer cores to an executor: fewer tasks, fewer Python workers",
  "A smaller heap leaves more of the same container outside of it; the JVM grows to its -Xmx",
];

const LARGER_HEAP = [
  "More executor memory, or fewer cores (each running task holds objects in the heap)",
  "Lower spark.memory.fraction: more of the heap is left for the application's own objects",
  "Cache serialized, or with the disk: cached objects fill the heap until they are evicted",
  "Smaller partitions",
];

/** What a process's exit code means. */
export interface ExitCode {
  readonly title: string;
  readonly meaning: string;
  readonly settings: readonly string[];
  readonly remedies: readonly string[];
  readonly signal: string | null;
}

/** Exit codes of executors: Spark's own (SparkExitCode, ExecutorExitCode), and 128 + signal. */
const EXIT_CODES: ReadonlyMap<number, ExitCode> = new Map([
  [1, exit("an error that Spark did not classify", "Look at the end of the process's own log.")],
  [
    11,
    exit(
      "too many executors failed",
      "spark.executor.maxNumFailures (spark.yarn.max.executor.failures before 3.5) were lost.",
    ),
  ],
  [50, exit("an exception that nobody caught", "The executor's log has it.")],
  [51, exit("an exception that nobody caught, and logging it failed", "Often out of memory, too.")],
  [
    52,
    exit(
      "the JVM ran out of memory",
      "OutOfMemoryError in the executor: the heap was full. The executor's log says which memory.",
      ["spark.executor.memory", "spark.memory.fraction", "spark.executor.cores"],
      LARGER_HEAP,
    ),
  ],
  [53, exit("no local folder could be made", "The disks of spark.local.dir are full or not writable.")],
  [54, exit("the external block store failed to start", "Only in old versions with off-heap storage elsewhere.")],
  [55, exit("the external block store could not make its folder", "Only in old versions.")],
  [
    56,
    exit("the driver did not answer heartbeats", "The driver is gone or in garbage collection.", [
      "spark.driver.memory",
    ]),
  ],
  [
    57,
    exit("the task reaper killed the executor", "A killed task did not stop in spark.task.reaper.killTimeout.", [
      "spark.task.reaper.enabled",
    ]),
  ],
  [58, exit("the block manager could not register again", "The driver had declared the executor lost.")],
  [126, exit("the command is not executable", "Look at the container's start command.")],
  [127, exit("the command was not found", "Java is not where it is looked for.")],
  [
    134,
    exit(
      "the process aborted (SIGABRT)",
      "The JVM crashed, often native code or no native memory.",
      OVERHEAD_SETTINGS,
      MORE_OVERHEAD,
      "SIGABRT",
    ),
  ],
  [
    137,
    exit(
      "the process was killed (SIGKILL)",
      "Somebody killed it from outside: mostly the kernel or the container manager because the container used more memory than it asked " +
        "for. The heap may have been fine: it is heap and everything beside it together.",
      OVERHEAD_SETTINGS,
      MORE_OVERHEAD,
      "SIGKILL",
    ),
  ],
  [139, exit("the process crashed (SIGSEGV)", "Native code, a broken JVM or hardware.", [], [], "SIGSEGV")],
  [
    143,
    exit(
      "the process was asked to end (SIGTERM)",
      "The cluster manager ended it: beyond its memory limit (YARN sends SIGTERM first), preempted, scaled in, or the application was over.",
      OVERHEAD_SETTINGS,
      [
        "If a message says 'beyond physical memory limits' it was memory; else preemption or scaling in",
        ...MORE_OVERHEAD,
      ],
      "SIGTERM",
    ),
  ],
]);

function exit(
  title: string,
  meaning: string,
  settings: readonly string[] = [],
  remedies: readonly string[] = [],
  signal: string | null = null,
): ExitCode {
  return { title, meaning, settings, remedies, signal };
}

/**
 * What an exit code of an executor means: 52, 137, 143 and the others.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { exitCode } from "./container_messages.ts";
 *
 * assertEquals(exitCode(137)?.signal, "SIGKILL");
 * assertEquals(exitCode(200), null);
 * ```
 */
export function exitCode(code: number): ExitCode | null {
  return EXIT_CODES.get(code) ?? null;
}

function exitReading([, text]: readonly string[]): Reading {
  const code = Number(text);
  const known = exitCode(code);
  if (known === null) return { values: { exitCode: code }, meaning: `Exit code ${code} is not one of Spark's.` };
  return {
    values: { exitCode: code, what: known.title, signal: known.signal },
    arithmetic: known.signal === null ? [] : [`${code} = 128 + ${code - 128}: ${known.signal}`],
    meaning: `${code}: ${known.title}. ${known.meaning}`,
    remedies: known.remedies,
  };
}

/** YARN's kill for memory: what was used, of what. */
function yarnKill([, usedText, limitText]: readonly string[]): Reading {
  const used = printed(usedText);
  const limit = printed(limitText);
  return {
    values: { usedBytes: used.bytes, limitBytes: limit.bytes },
    arithmetic: [
      `${usedText} >= ${limitText}; the limit is heap + overhead (and off-heap memory and Python's limit), rounded up to YARN's steps`,
      `with the default overhead of a tenth the heap was about ${
        inUnitOf(Math.min(limit.bytes / 1.1, limit.bytes - 384 * BYTE_UNITS.MiB), limitText)
      }`,
    ],
    meaning: "The heap cannot be larger than its -Xmx: what grew beyond is outside of it.",
  };
}

/** The kinds of messages of the JVM and of cluster managers. */
export const CONTAINER_MESSAGES: readonly MessageKind[] = [
  kind({
    code: "container.yarnPhysical",
    title: "YARN killed a container that used more memory than it asked for",
    severity: "failure",
    printedBy: "YarnAllocator",
    anchor: "physical memory used",
    pattern: /([\d.]+ [KMGT]?B) of ([\d.]+ [KMGT]?B) physical memory used/,
    meaning:
      "Container killed for exceeding physical memory limits: the executor's process tree (JVM and Python workers) is measured from outside. " +
      "Spark's own accounting does not see the overhead.",
    settings: OVERHEAD_SETTINGS,
    remedies: MORE_OVERHEAD,
    read: yarnKill,
  }),
  kind({
    code: "container.yarnVirtual",
    title: "YARN killed a container for its virtual memory",
    severity: "failure",
    printedBy: "YARN",
    anchor: "virtual memory",
    pattern: /beyond virtual memory limits|([\d.]+ [KMGT]?B) of ([\d.]+ [KMGT]?B) virtual memory used/,
    meaning:
      "Virtual memory is address space, not memory in use; the check hits healthy JVMs. The limit is the container times " +
      "yarn.nodemanager.vmem-pmem-ratio (2.1 unless set); more overhead makes it larger by so much only.",
    remedies: ["Turn off yarn.nodemanager.vmem-check-enabled, or raise yarn.nodemanager.vmem-pmem-ratio"],
    read: ([, used, limit]) =>
      used === undefined ? {} : {
        values: { usedBytes: printed(used).bytes, limitBytes: printed(limit).bytes },
        arithmetic: [
          `${limit} are 2.1 times a container of ${
            inUnitOf(printed(limit).bytes / 2.1, limit)
          }, where the ratio is YARN's own`,
        ],
      },
  }),
  kind({
    code: "container.yarnKilled",
    title: "YARN killed a container",
    severity: "failure",
    printedBy: "YarnAllocator",
    anchor: "Container killed",
    pattern: /Container killed (?:by YARN for exceeding (?:physical )?memory limits|on request\. Exit code is (\d+))/,
    meaning: "By the node manager: beyond its memory, preempted, or because the application ended it ('on request').",
    settings: OVERHEAD_SETTINGS,
    remedies: MORE_OVERHEAD,
    read: ([, code]) => ({ values: { exitCode: code === undefined ? null : Number(code) } }),
  }),
  kind({
    code: "container.oomKilled",
    title: "Kubernetes killed a container that used more memory than it may",
    severity: "failure",
    printedBy: "Kubernetes",
    anchor: "OOM",
    pattern: /OOMKilled|exit code 137 ?\(SIGKILL, possible container OOM\)|possible container OOM/,
    meaning:
      "The kernel killed it at the container's limit (exit code 137): heap and overhead together. It is not a Java OutOfMemoryError.",
    settings: ["spark.kubernetes.memoryOverheadFactor", ...OVERHEAD_SETTINGS],
    remedies: MORE_OVERHEAD,
    read: () => ({ values: { exitCode: 137 } }),
  }),
  kind({
    code: "container.evictedPod",
    title: "Kubernetes evicted a pod",
    severity: "failure",
    printedBy: "Kubernetes",
    anchor: "The node was low on resource",
    pattern: /The node was low on resource: ([\w-]+)/,
    meaning:
      "The node ran short; pods that use more than they requested go first. With 'ephemeral-storage' it is spill and shuffle files.",
    settings: ["spark.executor.memoryOverhead"],
    remedies: [
      "For memory, request what is used (limit = request)",
      "For ephemeral-storage, put spark.local.dir on a volume",
    ],
    read: ([, resource]) => ({ values: { resource } }),
  }),
  kind({
    code: "container.exitCode",
    distinct: 1,
    title: "a process ended with an exit code",
    severity: "failure",
    printedBy: "the cluster manager",
    anchor: "xit",
    pattern:
      /\b[Ee]xit(?:ed with|ed)?(?: a)?(?: non-zero)?(?: exit)?[ -]?(?:[Cc]ode|[Ss]tatus)(?: is|[:=])? ?([1-9]\d{0,2})\b/,
    meaning: "",
    settings: ["spark.executor.memory", "spark.executor.memoryOverhead"],
    read: exitReading,
  }),
  kind({
    code: "container.signal",
    title: "a process was asked to end",
    severity: "information",
    printedBy: "CoarseGrainedExecutorBackend",
    anchor: "RECEIVED SIGNAL",
    pattern: /RECEIVED SIGNAL (\w+)/,
    meaning:
      "Normal at the end of an application. In the middle of it, the cluster manager ends the process: memory, preemption, scaling in.",
    settings: OVERHEAD_SETTINGS,
    read: ([, signal]) => ({ values: { signal } }),
  }),
  kind({
    code: "container.disassociated",
    title: "the connection to an executor is lost",
    severity: "slow",
    printedBy: "TaskSchedulerImpl",
    anchor: "Remote RPC client disassociated",
    pattern: /Remote RPC client disassociated/,
    meaning:
      "The executor is gone and the cluster manager has not said why: mostly it was killed for its memory, or its JVM ran out of heap. The " +
      "executor's own log, or the node's kernel log (oom-killer), knows.",
    settings: OVERHEAD_SETTINGS,
    remedies: [
      "Look at the executor's log and exit code: 137 and 143 are the container, 52 is the heap",
      ...MORE_OVERHEAD,
    ],
  }),
  kind({
    code: "jvm.heapSpace",
    title: "the Java heap is full",
    severity: "failure",
    printedBy: "the JVM",
    anchor: "Java heap space",
    pattern: /OutOfMemoryError: Java heap space/,
    meaning:
      "Objects need more than -Xmx. Spark manages only spark.memory.fraction of the heap, by estimates; what the application's own objects, " +
      "deserialized records, large rows and shuffle fetch buffers need is not accounted for. An executor exits with 52. On the driver it is " +
      "collect, broadcasts, or very many tasks.",
    settings: [
      "spark.executor.memory",
      "spark.driver.memory",
      "spark.memory.fraction",
      "spark.executor.cores",
      "spark.reducer.maxSizeInFlight",
    ],
    remedies: LARGER_HEAP,
  }),
  kind({
    code: "jvm.gcOverhead",
    title: "the JVM does nothing but collect garbage",
    severity: "failure",
    printedBy: "the JVM",
    anchor: "GC overhead limit exceeded",
    pattern: /OutOfMemoryError: GC overhead limit exceeded/,
    meaning:
      "98 % of the time went into collections that freed less than 2 % of the heap (parallel collector): the heap is as good as full. " +
      "Before it came to this, tasks had been slow for long.",
    settings: ["spark.executor.memory", "spark.driver.memory", "spark.memory.fraction", "spark.executor.cores"],
    remedies: LARGER_HEAP,
  }),
  kind({
    code: "jvm.metaspace",
    title: "no room for more classes",
    severity: "failure",
    printedBy: "the JVM",
    anchor: "OutOfMemoryError",
    pattern: /OutOfMemoryError: (Metaspace|PermGen space|Compressed class space)/,
    meaning: "Generated code and user classes fill the class space, which is outside the heap.",
    settings: ["spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"],
    remedies: [
      "Raise -XX:MaxMetaspaceSize (or leave it out), and the container's overhead with it",
      "Restart long-lived applications that generate much code",
    ],
    read: ([, space]) => ({ values: { space } }),
  }),
  kind({
    code: "jvm.directMemory",
    title: "no direct (off-heap) buffers left",
    severity: "failure",
    printedBy: "the JVM, Netty",
    anchor: "irect",
    pattern:
      re`(?:OutOfMemoryError: Direct buffer memory|Cannot reserve ${BYTES} bytes of direct buffer memory \(allocated: ${BYTES}, limit: ${BYTES}\)|failed to allocate ${BYTES} byte\(s\) of direct memory \(used: ${BYTES}, max: ${BYTES}\))`,
    meaning:
      "Netty's transfers and mapped files use direct memory, up to as much as the heap unless -XX:MaxDirectMemorySize says otherwise. It is not " +
      "part of spark.memory.offHeap.size, and it is part of the container's overhead.",
    settings: [
      "spark.executor.memoryOverhead",
      "spark.network.maxRemoteBlockSizeFetchToMem",
      "spark.reducer.maxSizeInFlight",
      "spark.reducer.maxReqsInFlight",
    ],
    remedies: [
      "Fetch large blocks to disk: spark.network.maxRemoteBlockSizeFetchToMem",
      "Raise -XX:MaxDirectMemorySize together with spark.executor.memoryOverhead",
      "Smaller blocks: more partitions",
    ],
    read: ([, wantedA, usedA, limitA, wantedB, usedB, limitB]) => {
      const wanted = wantedA ?? wantedB;
      const used = usedA ?? usedB;
      const limit = limitA ?? limitB;
      if (wanted === undefined) return {};
      return {
        values: { wantedBytes: Number(wanted), usedBytes: Number(used), limitBytes: Number(limit) },
        arithmetic: [
          `${used} + ${wanted} = ${Number(used) + Number(wanted)} > ${limit} (${mebibytes(Number(limit))})`,
        ],
      };
    },
  }),
  kind({
    code: "jvm.threads",
    title: "no more threads can be started",
    severity: "failure",
    printedBy: "the JVM",
    anchor: "nable to create",
    pattern: /OutOfMemoryError: unable to create (?:new )?native thread/,
    meaning:
      "The limit of processes (ulimit -u, a container's pids limit) or the memory for stacks is reached; the heap has nothing to do with it.",
    settings: ["spark.executor.memoryOverhead"],
    remedies: ["Raise the limit of processes", "Leave more memory beside the heap"],
  }),
  kind({
    code: "jvm.arraySize",
    title: "an array of more than 2^31 elements",
    severity: "failure",
    printedBy: "the JVM",
    anchor: "Requested array size exceeds VM limit",
    pattern: /OutOfMemoryError: Requested array size exceeds VM limit/,
    meaning:
      "No memory setting helps: a single array cannot be that long. One record, one partition as an object, or one serialized result is too large.",
    remedies: [
      "More partitions; no glom, collect_list or whole files as one record",
      "Smaller results: see spark.driver.maxResultSize",
    ],
  }),
  kind({
    code: "jvm.otherOutOfMemory",
    title: "the JVM ran out of some memory",
    severity: "failure",
    printedBy: "the JVM",
    anchor: "java.lang.OutOfMemoryError",
    pattern:
      /java\.lang\.OutOfMemoryError(?=$|\s|:(?! (?:Java heap|GC overhead|Metaspace|PermGen|Compressed|Direct|Cannot reserve|unable to|Requested|Unable to|No enough|Not enough)))/,
    meaning:
      "The text behind it says which memory; without one, and in Tungsten's classes, a byte array of more than 2 GiB or the heap.",
    settings: ["spark.executor.memory", "spark.driver.memory"],
    remedies: LARGER_HEAP,
  }),
  kind({
    code: "python.crashed",
    title: "a Python worker ended unexpectedly",
    severity: "failure",
    printedBy: "PythonRunner",
    anchor: "Python worker",
    pattern: /Python worker (?:exited unexpectedly(?: \(crashed\))?|failed to connect back)/,
    meaning:
      "The worker crashed in native code or was killed (for memory, with the container's limit). Its memory is outside the JVM and outside Spark's " +
      "accounting, unless spark.executor.pyspark.memory is set.",
    settings: ["spark.executor.pyspark.memory", "spark.executor.memoryOverhead", "spark.executor.cores"],
    remedies: MORE_OVERHEAD,
  }),
  kind({
    code: "python.memoryError",
    title: "Python ran out of memory",
    severity: "failure",
    printedBy: "Python",
    anchor: "MemoryError",
    pattern: /(?:^|\s)MemoryError\b/,
    meaning: "With spark.executor.pyspark.memory each worker has that, divided by the executor's cores, as its limit.",
    settings: ["spark.executor.pyspark.memory", "spark.executor.cores"],
    remedies: ["Raise spark.executor.pyspark.memory", "Smaller batches or partitions"],
  }),
];
