import { assertEquals } from "@std/assert";
import { explain } from "../../src/report/explain.ts";
import { printed } from "../../src/report/explain/message_kind.ts";
import type { Rdd } from "../../src/simulator/scheduler/rdd.ts";
import { effectiveDirectLimit, resultPath } from "../../src/simulator/scheduler/result_path.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import { rulesFor } from "../../src/spark/versions.ts";
import { taskTooLargeToSend } from "../../src/spark/rpc_message.ts";
import { caseOf, casesLeft, casesOf, type PublicCase, versionOf } from "../support/cases.ts";
import { DriverUnderTest } from "../support/driver.ts";

const MIB = 1048576;

/** The version of a case in which results count as the case says: what was before 1.6 has no simulator. */
function simulatedVersion(one: PublicCase): string {
  const version = versionOf(one);
  return /^1\.[0-5]/.test(version) ? "1.6.3" : version;
}

function limitsOf(conf: SparkConf) {
  return {
    maxResultSize: conf.getSizeAsBytes("spark.driver.maxResultSize"),
    maxDirectResultSize: conf.getSizeAsBytesOption("spark.task.maxDirectResultSize") ?? 0,
    rpcMessageMaxSize:
      conf.getInt(conf.reads("spark.rpc.message.maxSize") ? "spark.rpc.message.maxSize" : "spark.akka.frameSize") * MIB,
  };
}

/** Results of one stage of `tasks` tasks that sum up to `total`, the last one crossing `limit`. */
function resultsOf(tasks: number, total: number, limit: number): number[] {
  const before = Math.min(limit, total - 1);
  const mean = Math.floor(before / (tasks - 1));
  const sizes = new Array(tasks - 1).fill(mean);
  sizes[0] += before - mean * (tasks - 1);
  return [...sizes, total - before];
}

/** Runs a stage whose tasks have these results; the message of the job, or null. */
function runCollect(sizes: readonly number[], maxResultSize: number, version: string): string | null | undefined {
  const conf = { "spark.driver.maxResultSize": `${maxResultSize}b` };
  const test = new DriverUnderTest(conf, version);
  const limits = limitsOf(SparkConf.from({}, version));
  const rules = SparkConf.from({}, version).rules;
  // One partition more than is needed: it never ends, as in the reports, where tasks were still running.
  const rdd: Rdd = {
    id: 0,
    numPartitions: sizes.length + 1,
    dependencies: [],
    creationSite: "collect",
    isPersisted: false,
  };
  test.submit(rdd);
  const tids = test.offer("1", sizes.length + 1);
  for (const [i, size] of sizes.entries()) {
    const path = resultPath(size, { ...limits, maxResultSize: 0 }, rules);
    test.finished(tids[i], size, path === "direct" ? "direct" : "indirect");
  }
  return test.log.jobs[0];
}

Deno.test("maxResultSize: results of so many tasks abort the stage with the message that was seen", () => {
  for (const one of casesOf("maxResultSize")) {
    const { tasks_counted: tasks, total: text } = one.observed;
    const version = simulatedVersion(one);
    const limitText: string = one.config["spark.driver.maxResultSize"];
    const limitBytes = printed(limitText).bytes;
    const [low, high] = one.answer.total_bytes_between;
    const total = Math.floor((low + high) / 2);
    const message = `Total size of serialized results of ${tasks} tasks (${text}) is bigger than ` +
      `spark.driver.maxResultSize (${limitText})`;
    const failure = runCollect(resultsOf(tasks, total, limitBytes), limitBytes, version);
    assertEquals([one.id, failure], [one.id, `Job aborted due to stage failure: ${message}`]);
    // Strictly greater: a limit of exactly the total does not abort, and one byte less does (before 2.4 limits are whole MiB).
    if (tasks > 3000 || rulesFor(version).results.maxResultSizeInMib) continue;
    assertEquals(runCollect(resultsOf(tasks, total, limitBytes), total, version), undefined);
    assertEquals(typeof runCollect(resultsOf(tasks, total, limitBytes), total - 1, version), "string");
  }
});

Deno.test("maxResultSize: the message's numbers are read as the case has them", () => {
  for (const one of casesOf("maxResultSize")) {
    const message = `Total size of serialized results of ${one.observed.tasks_counted} tasks (${one.observed.total}) ` +
      `is bigger than spark.driver.maxResultSize (${one.config["spark.driver.maxResultSize"]})`;
    const [{ values }] = explain(message).explanations;
    const [low, high] = one.answer.total_bytes_between;
    assertEquals([one.id, values.aborts, values.meanResultBytes, values.lastResultAtLeastBytes, values.totalMin], [
      one.id,
      one.answer.aborts,
      one.answer.avg_result_bytes,
      one.answer.last_result_at_least_bytes,
      low,
    ]);
    // The case rounds the upper end, which may be the first size that prints otherwise.
    assertEquals(high - (values.totalMax as number) <= 1, true);
  }
});

Deno.test("rpc-limit: a task that is too large is refused, and the smallest limit that helps is named", () => {
  for (const one of casesOf("rpc-limit")) {
    const size = one.observed.serialized_task_bytes;
    const at = (maxSize: number) =>
      taskTooLargeToSend(
        { taskId: 35, index: 4, size },
        SparkConf.from({ "spark.rpc.message.maxSize": String(maxSize) }, versionOf(one)),
      );
    const message = at(one.config["spark.rpc.message.maxSize_MiB"])!;
    assertEquals([one.id, message !== null], [one.id, one.answer.refused]);
    const smallest = one.answer.smallest_working_maxSize;
    assertEquals([at(smallest - 1) === null, at(smallest) === null], [false, true]);
    const [{ values }] = explain(message).explanations;
    assertEquals([values.limitBytes, values.smallestMaxSizeMiB], [one.observed.limit_bytes, smallest]);
  }
});

Deno.test("result-path: direct up to the limit, by way of the block manager above it", () => {
  const path = (one: PublicCase, size: number) => {
    const conf = SparkConf.from({}, versionOf(one));
    return resultPath(size, limitsOf(conf), conf.rules);
  };
  const direct = caseOf("path-dsv2-direct");
  assertEquals(path(direct, direct.observed.result_size), direct.answer.path);
  const conf = SparkConf.from({}, versionOf(direct));
  assertEquals(effectiveDirectLimit(limitsOf(conf), conf.rules) - direct.observed.result_size, 46312);
  const indirect = caseOf("path-sparklyr");
  const block = Math.round(indirect.observed.taskresult_block_KB * 1024);
  assertEquals(indirect.answer.path.startsWith(path(indirect, block)), true);
  const line = `Added taskresult_5 in memory on h:1 (size: ${
    indirect.observed.taskresult_block_KB.toFixed(1)
  } KB, free: 1.0 MB)`;
  assertEquals(explain(line).explanations[0].values.path, "indirect");
  const small = caseOf("path-small");
  const sizes: number[] = small.observed.result_bytes;
  assertEquals(sizes.map((size) => path(small, size)), sizes.map(() => small.answer.path));
  assertEquals(sizes.reduce((a, b) => a + b), small.answer.sum_first_six);
});

Deno.test("every case of these kinds has a test above", () => {
  assertEquals(casesLeft("maxResultSize", "rpc-limit", "result-path"), []);
});
