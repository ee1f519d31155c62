import { assert, assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import { VERSION_RULES } from "../../src/spark/versions.ts";
import { checkUpgradedStartup, STARTUP_RULES } from "../../src/what_if/version_refusal.ts";
import { whatIf } from "../../src/what_if/what_if.ts";
import { demandOf, jobOf, rddOf, workloadOf } from "../support/workloads.ts";

/** The rules that an error names; null when the settings start. */
function refusing(settings: Record<string, string>, from: string, to: string): unknown {
  try {
    checkUpgradedStartup(SparkConf.from(settings, to), from, { collector: "g1" });
    return null;
  } catch (error) {
    assert(error instanceof InputError);
    return (error.parameters.rules as { rule: string }[] | undefined)?.map(({ rule }) => rule) ?? "both";
  }
}

Deno.test("an upgrade that would not start names the rule that refuses it", () => {
  // What each version refuses: tests/spark/startup_test.ts and refusals_test.ts, from the real classes.
  // 1.6 does not look at the setting (SPARK-12759), but its executor does not start either.
  assertEquals(refusing({ "spark.executor.memory": "400m" }, "1.6.3", "2.0.2"), "both");
  const heartbeat = { "spark.executor.heartbeatInterval": "200s", "spark.network.timeout": "120s" };
  assertEquals(refusing(heartbeat, "2.2.3", "2.4.0"), ["texts.heartbeatRefusal"]);
  assertEquals(refusing(heartbeat, "2.4.0", "3.5.9"), "both");
  // Checked where the property is declared, which no rule of the list decides.
  assertEquals(refusing({ "spark.memory.storageFraction": "1.0" }, "2.4.0", "3.0.3"), []);
  assertEquals(refusing({ "spark.memory.fraction": "0" }, "2.4.0", "3.0.3"), ["memory.refusesEmptyExecutionPool"]);
  assertEquals(refusing({ "spark.memory.fraction": "0.5" }, "2.4.0", "4.1.3"), null);
});

Deno.test("whatIf() says which version starts with the settings, and why the other does not", () => {
  const workload = workloadOf({
    sparkVersion: "2.2.3",
    conf: { "spark.executor.heartbeatInterval": "200s" },
    rdds: [rddOf(0, 2)],
    demands: [demandOf(2)],
    jobs: [jobOf(0, 0, 0)],
  });
  const error = assertThrows(() => whatIf(workload, null, { sparkVersion: "2.4.0" }), InputError);
  assert(
    error.message.endsWith(
      "(Spark 2.2.3 starts with these settings, Spark 2.4.0 does not: texts.heartbeatRefusal, SPARK-22754: " +
        "how a heartbeat interval that is not below spark.network.timeout is refused)",
    ),
    error.message,
  );
  assertEquals(error.parameters.startsUnder, "2.2.3");
});

Deno.test("rules of refusals are rules", () => {
  const all = Object.entries(VERSION_RULES).flatMap(([area, rules]) =>
    Object.keys(rules).map((name) => `${area}.${name}`)
  );
  assertEquals([...STARTUP_RULES].filter((rule) => !all.includes(rule)), []);
});
