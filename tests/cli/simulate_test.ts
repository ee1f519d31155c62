import { assertEquals, assertRejects } from "@std/assert";
import { simulate } from "../../src/cli/simulate.ts";
import { InputError } from "../../src/errors.ts";
import { readEventLog } from "../../src/event_log/read.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import { TEMPLATES } from "../../src/workload/templates.ts";
import { captureIo } from "../support/capture_io.ts";
import { runPath } from "../support/runs.ts";

async function output(args: string[], stdin?: string): Promise<string> {
  const { io, out } = captureIo({ stdin });
  assertEquals(await simulate.run(args, io), 0);
  assertEquals(out.stderr, "");
  return out.stdout;
}

Deno.test("simulate runs every template, and the text begins with the verdict", async () => {
  for (const { name } of TEMPLATES) {
    const text = await output([`template:${name}`]);
    assertEquals(text.includes(name), true, text.slice(0, 300));
  }
});

Deno.test("simulate reads a spec, a log, and standard input", async () => {
  const spec = JSON.stringify({ name: "mine", stages: [{ id: 0, tasks: 3, computeMs: 50 }] });
  assertEquals(JSON.parse(await output(["-", "--format", "json"], spec)).stages[0].tasks.succeeded, 3);
  const { app } = JSON.parse(await output([runPath("cache_evictions"), "--format", "ndjson"]));
  assertEquals(app.source, "simulated");
});

Deno.test("simulate applies settings, storage level, executors and seed", async () => {
  const json = async (...args: string[]) => JSON.parse(await output([...args, "--format", "json"]));
  const few = await json("template:cached-iterative", "--executors", "2", "--storage-level", "DISK_ONLY");
  assertEquals(few.storage.cachedAtEnd.memoryBlocks, 0);
  assertEquals(few.executors.filter(({ executorId }: { executorId: string }) => executorId !== "driver").length, 2);
  const refused = await json("template:large-collect", "--conf", "spark.driver.maxResultSize=20m");
  assertEquals(refused.outcome.status, "failed");
  const seed = (n: string) => output(["template:large-collect", "--format", "ndjson", "--seed", n]);
  assertEquals(await seed("7"), await seed("7"));
  assertEquals(await seed("7") === await seed("8"), false);
});

Deno.test("simulate --format eventlog writes a log with the run's Summary", async () => {
  const log = await output(["template:sort", "--format", "eventlog", "--seed", "3"]);
  const summarizer = new Summarizer({ source: "observed" });
  await readEventLog(new Blob([log]).stream(), summarizer);
  const whole = JSON.parse(await output(["template:sort", "--format", "json", "--seed", "3"]));
  const read = summarizer.summary();
  assertEquals(read.jobs, whole.jobs);
  assertEquals(read.results.totalBytes, whole.results.totalBytes);
  assertEquals(read.outcome, whole.outcome);
});

Deno.test("simulate refuses what Spark refuses, unknown templates, and specs that are wrong", async () => {
  const fails = (args: string[], text: string, stdin?: string) =>
    assertRejects(() => simulate.run(args, captureIo({ stdin }).io), InputError, text);
  await fails(["template:sort", "--conf", "spark.executor.memory=1m"], "must be at least 471859200");
  await fails(["template:srot"], "did you mean sort?");
  await fails(["-"], "/stages/0/tasks", '{"stages":[{"id":0,"tasks":-1}]}');
  await fails(["-"], "keys of an object must differ", '{"stages":[],"stages":[]}');
});
