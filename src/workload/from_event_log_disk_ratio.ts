/**
 * What a byte of rows became on disk in the tasks of a stage that spilled.
 *
 * @module
 */
import { OFF_HEAP, ON_HEAP } from "../kernel/types.ts";
import { diskBytesPerByte, type FedConsumer } from "../simulator/memory/consumers/disk_ratio.ts";
import { consumerSettings } from "../simulator/memory/consumers/mod.ts";
import type { TaskSettings } from "../simulator/memory/consumers/solo_run.ts";
import { SparkConf } from "../spark/conf.ts";
import { localMaster } from "../spark/master.ts";
import { sizing } from "../spark/sizing.ts";
import type { EventLogCollector } from "./from_event_log_collector.ts";
import { jvmOf } from "./from_event_log_jvm.ts";
import type { UnplacedConsumer } from "./from_event_log_sql_consumers.ts";
import { OUTCOME, type TaskTable } from "./from_event_log_tasks.ts";

/**
 * Disk bytes for each byte of the rows that were spilled, as the models of the stage's consumers make them out; null when
 * no task spilled.
 *
 * @param settings with which the tasks ran
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { ON_HEAP } from "../kernel/types.ts";
 * import { recordedDiskRatio } from "./from_event_log_disk_ratio.ts";
 * import { TaskTable } from "./from_event_log_tasks.ts";
 *
 * assertEquals(recordedDiskRatio([], new TaskTable(), [], { pageSizeBytes: 2 ** 20, tungstenMemoryMode: ON_HEAP }), null);
 * ```
 */
export function recordedDiskRatio(
  consumers: readonly UnplacedConsumer[],
  tasks: TaskTable,
  rows: readonly number[],
  settings: TaskSettings,
): number | null {
  const spilled = rows.filter((row) => tasks.outcome[row] === OUTCOME.success && tasks.memorySpilled[row] > 0);
  return diskBytesPerByte(
    spilled.map((row) => ({
      consumers: fedConsumers(consumers, tasks.partition[row]),
      memoryBytesSpilled: tasks.memorySpilled[row],
      diskBytesSpilled: tasks.diskSpilled[row],
      peakMemory: tasks.peakMemory[row] > 0 ? tasks.peakMemory[row] : null,
    })),
    settings,
  );
}

/**
 * What a byte would become on disk in a stage whose tasks did not spill: what it is in the shuffle that they read or
 * wrote, serialized and compressed alike; null for stages without a shuffle. Of recorded stages that spilled, the share
 * on disk was 0.7 to 1.4 times this one: rows that are spilled after sorting compress worse.
 *
 * @param consumers bytes that go into each, by partition
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { shuffledDiskRatio } from "./from_event_log_disk_ratio.ts";
 * import { TaskTable } from "./from_event_log_tasks.ts";
 *
 * const tasks = new TaskTable();
 * tasks.length = 1;
 * tasks.shuffleReadBytes[0] = 300;
 * assertEquals(shuffledDiskRatio([{ kind: "UnsafeExternalSorter", bytes: Float64Array.of(500) }], tasks, [0]), 0.6);
 * ```
 */
export function shuffledDiskRatio(
  consumers: readonly Pick<UnplacedConsumer, "kind" | "bytes">[],
  tasks: TaskTable,
  rows: readonly number[],
): number | null {
  let shuffled = 0;
  let fed = 0;
  const spills = consumers.filter(({ kind }) => kind !== "HashedRelation" && kind !== "Raw");
  for (const row of rows) {
    if (tasks.outcome[row] !== OUTCOME.success) continue;
    shuffled += Math.max(0, tasks.shuffleReadBytes[row], tasks.shuffleWriteBytes[row]);
    for (const { bytes } of spills) fed += bytes[tasks.partition[row]];
  }
  return shuffled > 0 && fed > 0 ? Math.min(1, shuffled / fed) : null;
}

function fedConsumers(consumers: readonly UnplacedConsumer[], partition: number): FedConsumer[] {
  return consumers.filter(({ records }) => records[partition] > 0).map(
    ({ kind, name, records, bytes, keys, parameters }) => ({
      kind,
      input: { name, records: records[partition], bytes: bytes[partition], keys: keys?.[partition], parameters },
    }),
  );
}

/**
 * The settings with which an application's tasks ran.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { EventLogCollector } from "./from_event_log_collector.ts";
 * import { recordedTaskSettings } from "./from_event_log_disk_ratio.ts";
 *
 * // Nothing is recorded: Spark's defaults, with 1 GiB of heap and a core.
 * assertEquals(recordedTaskSettings(new EventLogCollector()).pageSizeBytes, 16 * 2 ** 20);
 * ```
 */
export function recordedTaskSettings({ application, executors }: EventLogCollector): TaskSettings {
  const conf = SparkConf.from(application.conf, application.sparkVersion || undefined);
  const isLocal = localMaster(application.conf["spark.master"] ?? "") !== null;
  const { cores } = executors.records.find((record) => record.cores !== null) ?? { cores: null };
  const { pageSize, tungstenMemoryMode } = sizing({
    conf,
    role: isLocal ? "driver" : "executor",
    cores: cores ?? undefined,
    ...jvmOf(application, executors, isLocal),
  });
  return {
    pageSizeBytes: pageSize,
    tungstenMemoryMode: tungstenMemoryMode === "OFF_HEAP" ? OFF_HEAP : ON_HEAP,
    rules: conf.rules.spilling,
    consumers: consumerSettings(conf),
  };
}
