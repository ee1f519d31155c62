import { assert, assertEquals, assertRejects } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { whatif } from "../../src/cli/whatif.ts";
import { captureIo } from "../support/capture_io.ts";
import { runPath } from "../support/runs.ts";

Deno.test("whatif prints the contract's JSON", async () => {
  const { io, out } = captureIo();
  const args = [runPath("cache_evictions"), "--format", "json", "--conf", "spark.executor.memory=1g"];
  assertEquals(await whatif.run(args, io), 0);
  const answer = JSON.parse(out.stdout);
  assertEquals(Object.keys(answer), [
    "observed",
    "replayed",
    "predicted",
    "changes",
    "versionEffects",
    "ranges",
    "verdict",
    "evidence",
    "warnings",
  ]);
  assertEquals(answer.changes, [{ key: "spark.executor.memory", from: "640m", to: "1g" }]);
  assertEquals(answer.observed.app.source, "observed");
  assertEquals([answer.ranges.runs, answer.ranges.succeeded], [5, 5]);
});

Deno.test("whatif --runs tells what hangs on chance as ranges; one run has none", async () => {
  const args = [runPath("cache_evictions"), "--format", "json"];
  const [several, one] = [captureIo(), captureIo()];
  await whatif.run([...args, "--runs", "9"], several.io);
  await whatif.run([...args, "--runs", "1"], one.io);
  const answer = JSON.parse(several.out.stdout);
  assertEquals(answer.ranges.runs, 9);
  const { min, max } = answer.ranges.figures.blocksEvicted;
  const { blocksEvicted } = answer.predicted.storage;
  assert(min <= blocksEvicted && blocksEvicted <= max);
  const alone = JSON.parse(one.out.stdout);
  assertEquals([alone.ranges, alone.predicted], [undefined, answer.predicted]);
});

Deno.test("whatif reads templates, which have no observed run", async () => {
  const { io, out } = captureIo();
  await whatif.run(["template:cached-iterative", "--format", "json"], io);
  const answer = JSON.parse(out.stdout);
  assertEquals(answer.observed, null);
  assertEquals(answer.predicted, answer.replayed);
});

Deno.test("whatif --explain tells the story of one block", async () => {
  const { io, out } = captureIo();
  await whatif.run([runPath("cache_evictions"), "--explain", "rdd_1_3"], io);
  assert(out.stdout.startsWith("rdd_1_3 in the predicted run\n"), out.stdout);
});

Deno.test("whatif refuses what Spark refuses", async () => {
  const { io } = captureIo();
  const args = [runPath("cache_evictions"), "--conf", "spark.memory.fraction=7"];
  await assertRejects(() => whatif.run(args, io), InputError, "spark.memory.fraction should be between 0 and 1");
});

Deno.test("whatif --spark-version names the rules that differ, in text and JSON, and warns of an unknown version", async () => {
  const text = captureIo();
  await whatif.run([runPath("max_result_size"), "--spark-version", "2.4.0"], text.io);
  assert(text.out.stdout.includes("    results.refusedResultIsKilled, SPARK-29177: no longer: "), text.out.stdout);
  const json = captureIo();
  await whatif.run([runPath("max_result_size"), "--spark-version", "9.9", "--format", "json"], json.io);
  const { versionEffects, warnings } = JSON.parse(json.out.stdout);
  assertEquals([versionEffects.from, versionEffects.to], ["3.5.9", "9.9"]);
  assertEquals(
    versionEffects.effects.find(({ name }: { name: string }) => name === "scheduler.hashOrder").effect,
    "met",
  );
  assert(warnings.some(({ code }: { code: string }) => code === "conf.version"));
});

Deno.test("whatif --explain says that nothing happened to a block that there is not", async () => {
  const { io, out } = captureIo();
  assertEquals(await whatif.run([runPath("cache_evictions"), "--explain", "rdd_999_0"], io), 0);
  assertEquals(out.stdout, "Nothing happened to rdd_999_0 in the predicted run.\n");
});
