import { assertEquals } from "@std/assert";
import { SparkConf } from "../../src/spark/conf.ts";
import { CONF_ALTERNATIVES, CONF_ENTRIES } from "../../src/spark/conf_entries.ts";
import { holdsSince, resolveVersion } from "../../src/spark/spark_version.ts";

/** A value as the typed getter of its property gives it. */
function typed(conf: SparkConf, key: string): unknown {
  switch (CONF_ENTRIES.get(key)!.type.kind) {
    case "bytes":
      return conf.getSizeAsBytesOption(key);
    case "time":
      return conf.getTimeAsMsOption(key);
    case "int":
    case "long":
      return conf.getIntOption(key);
    case "double":
      return conf.getDoubleOption(key);
    case "boolean":
      return conf.getBoolean(key);
    case "string":
      return conf.get(key);
  }
}

Deno.test("defaults equal those in Spark's sources, version by version", async () => {
  const { defaults } = JSON.parse(
    await Deno.readTextFile(
      new URL("../testdata/spark/defaults.json", import.meta.url),
    ),
  ) as { defaults: Record<string, Record<string, string | null>> };
  let compared = 0;
  for (const [name, byVersion] of Object.entries(defaults)) {
    const key = CONF_ALTERNATIVES.get(name)?.key ?? name;
    for (const [version, value] of Object.entries(byVersion)) {
      const conf = SparkConf.from({}, version);
      const what = `${key} in ${version}`;
      if (value === "fallback") {
        const { fallback, defaults } = CONF_ENTRIES.get(key)!;
        if (fallback === undefined) {
          assertEquals(defaults.length, 1, `${what} has its fallback's default`);
        } else {
          assertEquals(typed(conf, key), typed(conf, fallback), what);
        }
      } else if (value === null) {
        if (CONF_ENTRIES.get(key)!.fallback !== undefined) continue;
        assertEquals([key, conf.get(key)], [key, NO_DEFAULT.get(key) ?? null]);
      } else {
        const set = SparkConf.from({ [key]: value }, version);
        assertEquals(typed(conf, key), typed(set, key), what);
      }
      compared++;
    }
  }
  assertEquals(compared, 144);
});

/** Declared without a default; the default is where it is read. */
const NO_DEFAULT: ReadonlyMap<string, string> = new Map([
  // CoarseGrainedSchedulerBackend: getOrElse("1s").
  ["spark.scheduler.revive.interval", "1s"],
]);

Deno.test("every default passes the checks of its own version", () => {
  for (const version of ["1.6.3", "2.4.0", "3.0.3", "3.5.9", "4.0.4", "4.2.0"]) {
    const conf = SparkConf.from({}, version);
    for (const key of CONF_ENTRIES.keys()) {
      if (conf.get(key) !== null) typed(conf, key);
    }
  }
});

Deno.test("the tables are consistent", () => {
  for (const [key, entry] of CONF_ENTRIES) {
    assertEquals(key.startsWith("spark."), true, key);
    assertEquals(entry.doc.endsWith("."), true, key);
    if (entry.fallback !== undefined) {
      assertEquals(CONF_ENTRIES.has(entry.fallback), true, key);
    }
    for (const [since] of entry.defaults) {
      const first = resolveVersion(typeof since === "string" ? since : since[0]);
      assertEquals(holdsSince(first, entry.since), true, `${key} ${since}`);
    }
  }
  for (const [old, entry] of CONF_ALTERNATIVES) {
    assertEquals(old === entry.key, false, old);
  }
});

Deno.test("checks of a value hold from the version that makes them", () => {
  const refuses = (key: string, value: string, version: string) => {
    try {
      typed(SparkConf.from({ [key]: value }, version), key);
      return false;
    } catch {
      return true;
    }
  };
  const key = "spark.eventLog.rolling.maxFileSize";
  // 10 MiB up to 4.0, 2 MiB from 4.1 (internal/config/package.scala).
  assertEquals(refuses(key, "5m", "3.5.9"), true);
  assertEquals(refuses(key, "5m", "4.1.3"), false);
  assertEquals(refuses(key, "1m", "4.1.3"), true);
  assertEquals(refuses("spark.task.cpus", "0", "4.1.3"), false);
  assertEquals(refuses("spark.task.cpus", "0", "4.2.0"), true);
  assertEquals(
    refuses("spark.task.maxDirectResultSize", "2g", "3.3.4"),
    false,
  );
  assertEquals(refuses("spark.task.maxDirectResultSize", "2g", "3.4.4"), true);
});
