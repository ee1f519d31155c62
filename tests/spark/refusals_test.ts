import { assertEquals } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import { CONF_ENTRIES } from "../../src/spark/conf_entries.ts";
import { BYTE_UNITS, TIME_UNITS } from "../../src/spark/sizes.ts";
import { sizing } from "../../src/spark/sizing.ts";
import { checkStartup } from "../../src/spark/startup.ts";

/**
 * One question put to the real classes of Spark 3.0.3, 3.5.9 and 4.1.3 (JDK 17, parallel collector), and the answer:
 * `mem` UnifiedMemoryManager.apply with 4 cores, `val` SparkConf.validateSettings, `rpc` RpcUtils.maxMessageSizeBytes,
 * `kryo` new KryoSerializer, else SparkConf.get of that ConfigEntry. An exception is `class: message`.
 */
interface Recorded {
  readonly version: string;
  readonly asked: string;
  readonly settings: Record<string, string>;
  readonly outcome: string;
}

async function recorded(): Promise<Recorded[]> {
  const text = await Deno.readTextFile(new URL("../testdata/spark/refusals.jsonl", import.meta.url));
  return text.trim().split("\n").map((line) => JSON.parse(line));
}

function memory(conf: SparkConf): string {
  const { unifiedMemory, pageSize, offHeap } = sizing({ conf, cores: 4, collector: "parallel" });
  return `${unifiedMemory} page ${pageSize} offheap ${offHeap.size}`;
}

function started(conf: SparkConf): string {
  checkStartup(conf, { collector: "parallel" });
  return "ok";
}

/** The value of the one property that is set, in the unit in which Spark keeps it. */
function entry(conf: SparkConf, key: string): string {
  const { type } = CONF_ENTRIES.get(key)!;
  switch (type.kind) {
    case "bytes":
      return String(conf.getSizeAsBytes(key) / BYTE_UNITS[type.unit]);
    case "time":
      return String(conf.getTimeAsMs(key) / TIME_UNITS[type.unit]);
    case "int":
    case "long":
      return String(conf.getInt(key));
    case "double":
      return String(conf.getDouble(key));
    case "boolean":
      return String(conf.getBoolean(key));
    case "string":
      return conf.get(key)!;
  }
}

function answer({ version, asked, settings }: Recorded): string {
  const conf = SparkConf.from(settings, version);
  const [key] = Object.keys(settings);
  try {
    switch (asked) {
      case "mem":
        return memory(conf);
      case "val":
        return started(conf);
      case "rpc":
        started(conf);
        return String(conf.getInt(key) * BYTE_UNITS.MiB);
      case "kryo":
        started(conf.with({ "spark.serializer": "org.apache.spark.serializer.KryoSerializer" }));
        return "class org.apache.spark.serializer.KryoSerializer";
      case "SCHEDULER_MODE":
        // 4.1 checks the mode when it reads it; before, TaskSchedulerImpl does, later.
        if (conf.rules.memory.confValueError === "errorClass") started(conf);
        return entry(conf, key);
      default:
        return entry(conf, key);
    }
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return `${error.parameters.exception}: ${error.parameters.sparkMessage}`;
  }
}

Deno.test("settings are accepted and refused as by the real Spark 3.0.3, 3.5.9 and 4.1.3, word by word", async () => {
  const rows = await recorded();
  assertEquals(rows.length, 168);
  for (const row of rows) {
    assertEquals([row.version, row.asked, row.settings, answer(row)], [
      row.version,
      row.asked,
      row.settings,
      row.outcome,
    ]);
  }
});
