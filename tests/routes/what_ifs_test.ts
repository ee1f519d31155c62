import { assertEquals } from "@std/assert";
import { type LogRecord, quietHost } from "../../routes/host.ts";
import { refused, testService } from "../support/service.ts";
import { STARTUP_RULES } from "../../src/what_if/version_refusal.ts";

const { post } = testService();
const PATH = "/v1/what-ifs";
const JOB = { template: "cached-iterative", conf: { "spark.executor.memory": "2g" } };

Deno.test("POST /v1/what-ifs runs the job under its own and under changed settings", async () => {
  const response = await post(PATH, { ...JOB, changes: { conf: { "spark.executor.memory": "4g" } } });
  assertEquals(response.status, 200);
  const { observed, replayed, predicted, changes, verdict } = await response.json();
  assertEquals(observed, null);
  assertEquals(changes, [{ key: "spark.executor.memory", from: "2g", to: "4g" }]);
  // 48 partitions of 96 MiB need 4.5 GiB; four executors have 4 x 1 GiB and 4 x 2.2 GiB of unified memory.
  assertEquals(replayed.storage.cachedAtEnd.memoryBlocks < 48, true);
  assertEquals(predicted.storage.cachedAtEnd.memoryBlocks, 48);
  assertEquals(verdict.length > 0, true);
  const alone = async (conf: unknown) => await (await post("/v1/simulations", { ...JOB, conf })).json();
  assertEquals(replayed.stages, (await alone(JOB.conf)).stages);
  assertEquals(predicted.stages, (await alone({ "spark.executor.memory": "4g" })).stages);
});

Deno.test("POST /v1/what-ifs without changes predicts what it replays", async () => {
  const { replayed, predicted, changes } = await (await post(PATH, JOB)).json();
  assertEquals(predicted, replayed);
  assertEquals(changes, []);
});

Deno.test("a log's workload and Summary go from one route to the other", async () => {
  const log = await Deno.readFile(
    new URL("../testdata/runs/cache_evictions/app-20261130174132-0000.gz", import.meta.url),
  );
  const { workload, summary } = await (await post("/v1/event-logs", log)).json();
  const response = await post(PATH, { workload, observed: summary, changes: { storageLevel: "MEMORY_AND_DISK_SER" } });
  const { observed, changes, evidence } = await response.json();
  assertEquals(observed.app, summary.app);
  assertEquals(changes, [{ key: "storageLevel", from: null, to: "MEMORY_AND_DISK_SER" }]);
  assertEquals(evidence, workload.evidence);
});

Deno.test("what is wrong with a change points into the changes", async () => {
  const cases: [changes: unknown, code: string, pointer: string | undefined][] = [
    [{ conf: { "spark.executor.memory": "lots" } }, "conf.type", "/changes/conf/spark.executor.memory"],
    [{ conf: { "spark.executor.memory": "1m" } }, "conf.memory", "/changes/conf/spark.executor.memory"],
    [{ storageLevel: "x" }, "storage_level.unknown", "/changes/storageLevel"],
    [{ executors: 2001 }, "limit.executors", "/changes/executors"],
    [{ executors: 0 }, "input.range", "/changes/executors"],
    [5, "input.type", "/changes"],
  ];
  for (const [changes, code, pointer] of cases) {
    assertEquals(await refused(post(PATH, { ...JOB, changes })), [422, code, pointer], JSON.stringify(changes));
  }
});

Deno.test("both runs of a what-if count towards the budget of events", async () => {
  const records: LogRecord[] = [];
  const host = { ...quietHost(), log: (record: LogRecord) => void records.push(record) };
  await testService({ host }).post(PATH, { ...JOB, changes: { executors: 3 } });
  const events = Number(records[0].simulatedEvents);
  const run = async (limit: number) =>
    (await testService({ limits: { events: limit } }).post(PATH, { ...JOB, changes: { executors: 3 } })).status;
  assertEquals([await run(events), await run(events - 1)], [200, 422]);
});

Deno.test("another Spark version is a change, and its rules are told one by one", async () => {
  const { changes, versionEffects } = await (await post(PATH, { ...JOB, changes: { sparkVersion: "4.1.0" } })).json();
  assertEquals(changes, [{ key: "sparkVersion", from: "3.5.9", to: "4.1.0" }]);
  assertEquals([versionEffects.from, versionEffects.to], ["3.5.9", "4.1.0"]);
  const own = await (await post(PATH, { ...JOB, sparkVersion: "4.1.0" })).json();
  assertEquals([own.replayed.app.sparkVersion, own.versionEffects], ["4.1.0", null]);
});

Deno.test("another version's rules are tried within the budget, and the rest is left untried", async () => {
  const body = { ...JOB, changes: { sparkVersion: "2.4.0" } };
  const records: LogRecord[] = [];
  const host = { ...quietHost(), log: (record: LogRecord) => void records.push(record) };
  await testService({ host }).post(PATH, { ...JOB, changes: { executors: 3 } });
  const twoRuns = Number(records[0].simulatedEvents);
  const response = await testService({ limits: { events: Math.round(twoRuns * 1.5) } }).post(PATH, body);
  assertEquals(response.status, 200);
  const { versionEffects } = await response.json();
  // That refusals at start are not met is known without a run.
  const tried = versionEffects.effects.filter(({ name }: { name: string }) => !STARTUP_RULES.has(name))
    .map(({ effect }: { effect: string }) => effect);
  assertEquals([tried.includes("untried"), tried.includes("unmet")], [true, false]);
});
