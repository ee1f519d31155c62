import { assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import {
  confChanges,
  noPositionals,
  parseOptions,
  SETTING_OPTIONS,
  settingChanges,
  wholeNumber,
} from "../../src/cli/options.ts";

const SPECS = {
  format: { type: "string", choices: ["text", "json"] },
  json: { type: "boolean" },
  vary: { type: "string", multiple: true },
} as const;

function refusal(run: () => unknown): string {
  const error = assertThrows(run, InputError);
  return `${error.code}: ${error.message}`;
}

Deno.test("options come before, between and after arguments, with = or without", () => {
  const { values, positionals } = parseOptions("x", ["a", "--format=json", "b", "--vary", "k=1", "--vary=k=2"], SPECS);
  assertEquals(values, { format: "json", json: false, vary: ["k=1", "k=2"] });
  assertEquals(positionals, ["a", "b"]);
  assertEquals(parseOptions("x", ["--", "--format"], SPECS).positionals, ["--format"]);
});

Deno.test("an unknown option is bad input and names the nearest one", () => {
  assertEquals(
    refusal(() => parseOptions("sweep", ["--varry", "k=1"], SPECS)),
    "cli.option: Cannot run sweep: --varry is not an option: did you mean --vary?",
  );
  assertEquals(
    refusal(() => parseOptions("sweep", ["-x"], SPECS)),
    "cli.option: Cannot run sweep: -x is not an option",
  );
  assertEquals(
    refusal(() => parseOptions("sweep", ["--constructor"], SPECS)),
    "cli.option: Cannot run sweep: --constructor is not an option",
  );
});

Deno.test("a missing, a superfluous and a wrong value are bad input", () => {
  assertEquals(
    refusal(() => parseOptions("x", ["--format"], SPECS)),
    "cli.option: Cannot run x: --format must have a value",
  );
  assertEquals(
    refusal(() => parseOptions("x", ["--json=yes"], SPECS)),
    "cli.option: Cannot run x: --json must have no value: received yes",
  );
  assertEquals(
    refusal(() => parseOptions("x", ["--format", "xml"], SPECS)),
    "cli.option: Cannot run x: --format must be one of text, json: received xml",
  );
});

Deno.test("of several values of one option the last one counts", () => {
  assertEquals(parseOptions("x", ["--format", "json", "--format", "text"], SPECS).values.format, "text");
});

Deno.test("settingChanges() reads what is asked for, and null for what is not", () => {
  const read = (...args: string[]) => settingChanges("whatif", parseOptions("whatif", args, SETTING_OPTIONS).values);
  assertEquals(read(), {
    conf: {},
    sparkVersion: null,
    storageLevel: null,
    storageLevelName: null,
    executors: null,
  });
  const changes = read("--storage-level", "MEMORY_AND_DISK", "--spark-version", "4.1.0", "--executors=2");
  assertEquals([changes.storageLevel?.useDisk, changes.sparkVersion, changes.executors], [true, "4.1.0", 2]);
  assertEquals(refusal(() => read("--storage-level", "MEMORY")).startsWith("storage_level.unknown:"), true);
  for (const executors of ["0", "-1", "1.5", "many", "100001"]) {
    assertEquals(refusal(() => read("--executors", executors)).startsWith("cli.option:"), true, executors);
  }
});

Deno.test("--conf takes key=value, and key= to unset", () => {
  assertEquals(confChanges("x", ["spark.a=1", "spark.a=", "spark.b=x=y"]), { "spark.a": null, "spark.b": "x=y" });
  for (const setting of ["spark.executor.memory", "executor.memory=1g", "=1g"]) {
    assertEquals(refusal(() => confChanges("x", [setting])).endsWith(`received ${setting}`), true);
  }
  const prototype = confChanges("x", ["spark.__proto__=1"]);
  assertEquals(Object.keys(prototype), ["spark.__proto__"]);
});

Deno.test("wholeNumber() keeps its limits", () => {
  assertEquals(wholeNumber("x", "n", "0", 0, 10), 0);
  assertEquals(refusal(() => wholeNumber("x", "n", "11", 0, 10)).endsWith("from 0 to 10: received 11"), true);
  assertEquals(refusal(() => wholeNumber("x", "n", "1e3", 0, 10_000)).startsWith("cli.option"), true);
});

Deno.test("noPositionals() refuses arguments", () => {
  noPositionals("sizing", []);
  assertEquals(
    refusal(() => noPositionals("sizing", ["job.log"])),
    "cli.argument: Cannot run sizing: must have options only: received job.log",
  );
});
