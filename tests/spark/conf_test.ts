import { assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { SparkConf } from "../../src/spark/conf.ts";

/** The defaults of VERSIONS in the source of each version (internal/config), 1.6.3 to 4.1.3. */
const DEFAULTS: Record<string, Record<string, string | null>> = {
  "spark.memory.fraction": {
    "1.6.3": "0.75",
    "2.4.0": "0.6",
    "3.5.9": "0.6",
    "4.1.3": "0.6",
  },
  "spark.memory.useLegacyMode": {
    "1.6.3": "false",
    "2.4.0": "false",
    "3.0.3": null,
  },
  "spark.memory.unmanagedMemoryPollingInterval": {
    "4.0.4": null,
    "4.1.3": "0s",
  },
  "spark.storage.unrollMemoryCheckPeriod": { "2.2.3": null, "2.4.0": "16" },
  "spark.task.maxDirectResultSize": { "1.6.3": null, "2.4.0": "1048576" },
  "spark.stage.maxAttempts": { "3.4.4": null, "3.5.9": "2147483647" },
  "spark.speculation.multiplier": { "3.5.9": "1.5", "4.0.4": "3" },
  "spark.speculation.quantile": { "3.5.9": "0.75", "4.0.4": "0.9" },
  "spark.eventLog.compress": { "3.5.9": "false", "4.0.4": "true" },
  "spark.eventLog.compression.codec": {
    "2.4.0": null,
    "3.0.3": "lz4",
    "3.5.9": "zstd",
  },
  "spark.storage.replication.proactive": { "3.1.3": "false", "3.2.4": "true" },
  "spark.sql.adaptive.enabled": { "3.1.3": "false", "3.2.0": "true" },
};

Deno.test("get() gives the default of the version", () => {
  for (const [key, byVersion] of Object.entries(DEFAULTS)) {
    for (const [version, value] of Object.entries(byVersion)) {
      assertEquals(
        SparkConf.from({}, version).get(key),
        value,
        `${key} ${version}`,
      );
    }
  }
});

Deno.test("a fallback is asked where a property is not set", () => {
  const conf = SparkConf.from({ "spark.locality.wait": "5s" });
  assertEquals(conf.getTimeAsMs("spark.locality.wait.node"), 5000);
  assertEquals(conf.source("spark.locality.wait.node"), "set");
  assertEquals(SparkConf.from().source("spark.locality.wait.node"), "default");
});

Deno.test("older names are translated", () => {
  const conf = SparkConf.from({
    "spark.yarn.executor.memoryOverhead": "512",
    "spark.kryoserializer.buffer.mb": "0.064",
    "spark.blacklist.task.maxTaskAttemptsPerNode": "7",
  }, "3.5.1");
  assertEquals(
    conf.getSizeAsBytes("spark.executor.memoryOverhead"),
    512 * 2 ** 20,
  );
  assertEquals(conf.getSizeAsBytes("spark.kryoserializer.buffer"), 64 * 1024);
  assertEquals(
    conf.getInt("spark.excludeOnFailure.task.maxTaskAttemptsPerNode"),
    7,
  );
  assertEquals(conf.warnings().map(({ code }) => code), [
    "conf.deprecated",
    "conf.deprecated",
    "conf.deprecated",
  ]);
});

Deno.test("a name is not read by versions that do not have it yet", () => {
  const set = { "spark.excludeOnFailure.enabled": "true" };
  assertEquals(
    SparkConf.from(set, "2.4.0").getBoolean("spark.excludeOnFailure.enabled"),
    false,
  );
  assertEquals(
    SparkConf.from(set, "2.4.0").warnings()[0].code,
    "conf.notRead",
  );
  assertEquals(
    SparkConf.from(set, "3.1.1").getBoolean("spark.excludeOnFailure.enabled"),
    true,
  );
});

Deno.test("with() replaces a property under any of its names, and null unsets it", () => {
  const conf = SparkConf.from({ "spark.yarn.executor.memoryOverhead": "512" });
  const changed = conf.with({ "spark.executor.memoryOverhead": "1g" });
  assertEquals(changed.toJSON(), { "spark.executor.memoryOverhead": "1g" });
  assertEquals(
    changed.with({ "spark.executor.memoryOverhead": null }).toJSON(),
    {},
  );
  assertEquals(
    conf.toJSON(),
    { "spark.yarn.executor.memoryOverhead": "512" },
    "the first one is unchanged",
  );
});

Deno.test("a property that is misspelt is named with the nearest known one", () => {
  const conf = SparkConf.from({ "spark.memory.fractoin": "0.7" });
  assertEquals(conf.warnings(), [{
    code: "conf.unknown",
    message: "spark.memory.fractoin is not a known property: did you mean spark.memory.fraction?",
    key: "spark.memory.fractoin",
  }]);
  assertEquals(SparkConf.from({ "spark.myApp.setting": "1" }).warnings(), []);
});

Deno.test("a setting that Spark refuses is bad input with the words of the version", () => {
  const message = (key: string, value: string, version: string) =>
    assertThrows(() => {
      const conf = SparkConf.from({ [key]: value }, version);
      if (key.includes("raction")) conf.getDouble(key);
      else conf.getSizeAsBytes(key);
    }, InputError).parameters.sparkMessage;
  // ../testdata/sizing.md, row "fraction=abc" (2.4.0); ConfigBuilder.toNumber, 3.5.9 and 4.1.3.
  assertEquals(
    message("spark.memory.fraction", "abc", "2.4.0"),
    'Illegal value for config key spark.memory.fraction: For input string: "abc"',
  );
  assertEquals(
    message("spark.memory.fraction", "abc", "3.5.9"),
    "spark.memory.fraction should be double, but was abc",
  );
  assertEquals(
    message("spark.memory.fraction", "abc", "4.1.3"),
    "[INVALID_CONF_VALUE.TYPE_MISMATCH] The value 'abc' in the config \"spark.memory.fraction\" is invalid. " +
      "It should be a/an 'double' value. SQLSTATE: 22022",
  );
  assertEquals(
    message("spark.memory.offHeap.size", "-1", "2.4.0"),
    "The off-heap memory size must not be negative",
  );
  assertEquals(
    message("spark.memory.offHeap.size", "-1", "3.5.9"),
    "'-1' in spark.memory.offHeap.size is invalid. The off-heap memory size must not be negative",
  );
  assertEquals(
    message("spark.memory.offHeap.size", "-1", "4.1.3"),
    "[INVALID_CONF_VALUE.REQUIREMENT] The value '-1b' in the config \"spark.memory.offHeap.size\" is invalid. " +
      "The off-heap memory size must not be negative SQLSTATE: 22022",
  );
});

Deno.test("asking for a property that no table has is a bug, not bad input", () => {
  const error = assertThrows(() => SparkConf.from().getInt("spark.nothing"));
  assertEquals(error instanceof InputError, false);
});

Deno.test("a getter of another type, or of a property without a default, is a bug of the caller", () => {
  const conf = SparkConf.from({}, "3.5.9");
  // ConfigEntry is typed in Spark: it does not compile there
  assertThrows(() => conf.getSizeAsBytesOption("spark.speculation"), Error, "spark.speculation is no size");
  assertThrows(() => conf.getTimeAsMsOption("spark.speculation"), Error, "is no time");
  assertThrows(() => conf.getIntOption("spark.speculation"), Error, "is no whole number");
  assertThrows(() => conf.getDoubleOption("spark.speculation"), Error, "is no double");
  assertThrows(() => conf.getBoolean("spark.executor.memory"), Error, "is no boolean");
  assertEquals(conf.getIntOption("spark.executor.instances"), null);
  assertThrows(() => conf.getInt("spark.executor.instances"), Error, "has no default");
});

Deno.test("an older name is deprecated from its version on, and no property is read that is not known", () => {
  const codes = (settings: Record<string, string>, version: string) =>
    SparkConf.from(settings, version).warnings().map(({ code }) => code);
  // SparkConf.configsWithAlternatives of 1.6: spark.memory.offHeap.enabled has spark.unsafe.offHeap, deprecated since 1.6.
  assertEquals(codes({ "spark.unsafe.offHeap": "true" }, "1.5.2"), []);
  assertEquals(codes({ "spark.unsafe.offHeap": "true" }, "1.6.3"), ["conf.deprecated"]);
  assertEquals(SparkConf.from({}, "3.5.9").reads("spark.no.such.property"), false);
});
