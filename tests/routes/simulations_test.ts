import { assertEquals } from "@std/assert";
import { quietHost } from "../../routes/host.ts";
import { readEventLog } from "../../src/event_log/read.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import { Kernel } from "../../src/kernel.ts";
import type { Summary } from "../../src/report/summary.ts";
import { simulate, Simulation } from "../../src/simulator/simulate.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import { applyChanges } from "../../src/what_if/apply_changes.ts";
import { workloadFromJobSpec } from "../../src/workload/job_spec.ts";
import { jobSpecFromTemplate, TEMPLATES } from "../../src/workload/templates.ts";
import { problem, refused, testService } from "../support/service.ts";

const { post } = testService();
const PATH = "/v1/simulations";

Deno.test("POST /v1/simulations runs every template to its end", async () => {
  for (const { name } of TEMPLATES) {
    for (const memory of ["1g", "2g", "4g"]) {
      const response = await post(PATH, { template: name, conf: { "spark.executor.memory": memory } });
      assertEquals(response.status, 200, name);
      const summary = await response.json() as Summary;
      assertEquals([summary.app.source, summary.outcome.status], ["simulated", "succeeded"], `${name} ${memory}`);
      assertEquals(summary.stages.length > 0 && summary.warnings.length === 0, true, name);
    }
  }
});

Deno.test("the same seed gives the same bytes, another seed others", async () => {
  const body = async (seed: number) => await (await post(PATH, { template: "large-collect", seed })).text();
  assertEquals(await body(7), await body(7));
  assertEquals(await body(7) === await body(8), false);
});

Deno.test("settings beside the job apply to it", async () => {
  const run = async (settings: Record<string, unknown>) =>
    await (await post(PATH, { template: "cached-iterative", ...settings })).json() as Summary;
  assertEquals((await run({ executors: 3 })).executors.filter(({ executorId }) => executorId !== "driver").length, 3);
  const none = await run({ storageLevel: "DISK_ONLY" });
  assertEquals([none.storage.cachedAtEnd.memoryBlocks, none.storage.cachedAtEnd.diskBlocks], [0, 48]);
  const small = { template: "large-collect", conf: { "spark.driver.maxResultSize": "20m" } };
  const { outcome } = await (await post(PATH, small)).json() as Summary;
  assertEquals(outcome.reason?.includes("is bigger than spark.driver.maxResultSize (20.0 MiB)"), true);
  const typo = await run({ conf: { "spark.memory.fractoin": 0.5 }, excutors: 3 });
  assertEquals(typo.warnings.map(({ message }) => message), [
    "Unknown property /excutors is ignored: did you mean executors?",
    "spark.memory.fractoin is not a known property: did you mean spark.memory.fraction?",
  ]);
});

Deno.test("with Accept: application/x-ndjson the answer is an event log, whose Summary is that of the run", async () => {
  const body = { template: "sort", seed: 5 };
  const response = await post(PATH, body, { accept: "application/x-ndjson" });
  assertEquals(response.headers.get("content-type"), "application/x-ndjson");
  const log = await response.text();
  assertEquals(log.endsWith("\n") && log.startsWith('{"Event":"SparkListenerLogStart"'), true);
  const summarizer = new Summarizer({ source: "observed" });
  await readEventLog(new Blob([log]).stream(), summarizer);
  const whole = await (await post(PATH, body)).json() as Summary;
  const { jobs, stages } = summarizer.summary();
  assertEquals(jobs, whole.jobs);
  assertEquals(
    stages.map(({ tasks, durationMs }) => [tasks, durationMs]),
    whole.stages.map((s) => [s.tasks, s.durationMs]),
  );
});

Deno.test("each bad request is refused with one problem", async () => {
  const sort = { template: "sort" };
  const cases: [body: unknown, status: number, code: string, pointer: string | undefined][] = [
    ["", 400, "json.empty", undefined],
    ['{"a":', 400, "json.syntax", undefined],
    ['{"template":"sort","seed":NaN}', 400, "json.syntax", undefined],
    ["[".repeat(100_000), 400, "json.depth", undefined],
    ['{"template":"sort","template":"sort"}', 400, "json.duplicate_key", "/template"],
    ['{"template":"sort","conf":{"__proto__":{"x":1}}}', 400, "json.proto", "/conf/__proto__"],
    [Uint8Array.of(0x22, 0xff, 0x22), 400, "json.encoding", undefined],
    ["[]", 422, "input.type", ""],
    ["null", 422, "input.type", ""],
    [{}, 422, "request.job", ""],
    [{ ...sort, workload: { stages: [{ id: 0, tasks: 1 }] } }, 422, "request.job", ""],
    [{ template: "nope" }, 422, "template.unknown", "/template"],
    [{ template: 5 }, 422, "input.type", "/template"],
    [{ ...sort, parameters: { maps: 0 } }, 422, "input.range", "/parameters/maps"],
    [{ ...sort, seed: -1 }, 422, "input.range", "/seed"],
    [{ ...sort, seed: 2 ** 53 }, 422, "input.range", "/seed"],
    [{ ...sort, executors: 1e12 }, 422, "input.range", "/executors"],
    [{ ...sort, executors: 2001 }, 422, "limit.executors", "/executors"],
    [{ ...sort, storageLevel: "MEMORY" }, 422, "storage_level.unknown", "/storageLevel"],
    [{ ...sort, conf: { "spark.executor.memory": "lots" } }, 422, "conf.type", "/conf/spark.executor.memory"],
    [{ ...sort, conf: { "spark.executor.memory": "-1g" } }, 422, "conf.memory", "/conf/spark.executor.memory"],
    [{ ...sort, conf: { "spark.executor.memory": "1e400" } }, 422, "conf.type", "/conf/spark.executor.memory"],
    [{ ...sort, conf: { "spark.executor.memory": "100m" } }, 422, "conf.memory", "/conf/spark.executor.memory"],
    [
      { ...sort, conf: { "spark.memory.storageFraction": "2" } },
      422,
      "conf.refused",
      "/conf/spark.memory.storageFraction",
    ],
    [{ ...sort, conf: [] }, 422, "input.type", "/conf"],
    [
      { workload: { stages: [{ id: 0, parents: [1] }, { id: 1, parents: [0] }] } },
      422,
      "job_spec.missing",
      "/workload/stages/0/tasks",
    ],
    [
      { workload: { stages: [{ id: 0, tasks: 1, parents: [1] }, { id: 1, tasks: 1, parents: [0] }] } },
      422,
      "job_spec.cycle",
      "/workload/stages/0/parents",
    ],
    [{ workload: { stages: [{ id: 0, tasks: 200_001 }] } }, 422, "limit.tasks", "/workload/stages"],
  ];
  for (const [body, status, code, pointer] of cases) {
    const shown = typeof body === "string" ? body.slice(0, 60) : JSON.stringify(body);
    assertEquals(await refused(post(PATH, body)), [status, code, pointer], shown);
  }
  const compressed = await post(PATH, "x", { "content-encoding": "gzip" });
  assertEquals(await refused(compressed), [415, "request.encoding", undefined]);
});

Deno.test("the limits of a request hold at their value and not one beyond", async () => {
  const body = JSON.stringify({ template: "sort", executors: 3 });
  const run = async (limits: Record<string, number>, sent: BodyInit = body) =>
    await testService({ limits }).app.request(new Request("http://localhost" + PATH, { method: "POST", body: sent }));
  const edge = async (name: string, value: number, code: string) => {
    assertEquals((await run({ [name]: value })).status, 200, `${name} ${value}`);
    const found = await problem(await run({ [name]: value - 1 }));
    assertEquals([found.code, found.parameters.limit], [code, value - 1]);
    assertEquals(found.detail.includes(String(value - 1)), true, found.detail);
    return found.status;
  };
  assertEquals(await edge("bodyBytes", body.length, "limit.body"), 413);
  const chunked = new Blob([body]).stream() as unknown as BodyInit;
  assertEquals((await problem(await run({ bodyBytes: body.length - 1 }, chunked))).status, 413);
  // sort has 3 stages of 64 tasks, each stage in one job and one of them also a map stage of another.
  assertEquals(await edge("tasks", 192, "limit.tasks"), 422);
  assertEquals(await edge("stages", 3, "limit.stages"), 422);
  assertEquals(await edge("executors", 4, "limit.executors"), 422);
  const { events, virtualMs } = costOf("sort", 3);
  assertEquals(await edge("events", events, "limit.events"), 422);
  assertEquals(await edge("virtualMs", virtualMs, "limit.virtualTime"), 422);
});

Deno.test("blocks hold at their limit and not one beyond, the kernel's memory and not a page beyond", async () => {
  const workload = {
    cached: [{ name: "numbers", partitions: 20_000, bytes: 1000 }],
    stages: [{ id: 0, tasks: 20_000, caches: ["numbers"] }],
    cluster: { executors: 2, cores: 2 },
  };
  const kernel = Kernel.create();
  const sink = { event: () => {} };
  simulate(workloadFromJobSpec(workload), { conf: SparkConf.from({}, "3.5.9"), kernel, sink });
  const answer = async (limits: Record<string, number>) => await testService({ limits }).post(PATH, { workload });
  const { memoryBytes } = kernel;
  assertEquals((await answer({ kernelBytes: memoryBytes, blocks: 20_000 })).status, 200);
  assertEquals(await refused(answer({ kernelBytes: memoryBytes - 65_536 })), [422, "limit.kernel", undefined]);
  assertEquals(await refused(answer({ blocks: 19_999 })), [422, "limit.blocks", "/workload/cached"]);
});

/** Events and virtual time of a template's run. */
function costOf(template: string, executors: number): { events: number; virtualMs: number } {
  const { workload, conf } = applyChanges(workloadFromJobSpec(jobSpecFromTemplate(template).spec), { executors });
  const simulation = new Simulation(workload, { conf, sink: { event: () => {} } });
  while (!simulation.run(1000));
  return { events: simulation.stepsTaken, virtualMs: Math.ceil(simulation.elapsedMs) };
}

Deno.test("a request that computes too long is ended by the clock, one without a running clock by its events", async () => {
  let ms = 0;
  const host = { ...quietHost(), now: () => ms++ };
  const late = testService({ host, limits: { deadlineMs: 3 } });
  assertEquals(await refused(late.post(PATH, { template: "many-tiny-tasks" })), [422, "limit.deadline", undefined]);
  // The clock above goes on by 1 ms each time it is read; sort's answer takes three readings.
  for (const [deadlineMs, status] of [[2, 422], [3, 200]]) {
    ms = 0;
    assertEquals((await testService({ host, limits: { deadlineMs } }).post(PATH, { template: "sort" })).status, status);
  }
  const endless = testService({ limits: { events: 2000 } });
  assertEquals(await refused(endless.post(PATH, { template: "many-tiny-tasks" })), [422, "limit.events", undefined]);
});

Deno.test("more requests than may compute at once are sent away for a while", async () => {
  const { post } = testService({ limits: { concurrency: 2 } });
  const answers = await Promise.all([1, 2, 3].map((seed) => post(PATH, { template: "sort", seed })));
  assertEquals(answers.map(({ status }) => status), [200, 200, 429]);
  assertEquals(answers[2].headers.get("retry-after"), "1");
  assertEquals((await problem(answers[2])).code, "limit.concurrency");
  assertEquals((await post(PATH, { template: "sort" })).status, 200);
});

Deno.test("a client that goes away ends the work, and its place is free again", async () => {
  const { app, post } = testService({ limits: { concurrency: 1 } });
  const controller = new AbortController();
  const answer = app.request("http://localhost" + PATH, {
    method: "POST",
    body: JSON.stringify({ template: "many-tiny-tasks" }),
    signal: controller.signal,
  });
  controller.abort();
  assertEquals(await refused(answer), [499, "request.cancelled", undefined]);
  const stream = await post(PATH, { template: "many-tiny-tasks" }, { accept: "application/x-ndjson" });
  assertEquals((await post(PATH, { template: "sort" })).status, 429);
  const reader = stream.body!.getReader();
  await reader.read();
  await reader.cancel();
  assertEquals((await post(PATH, { template: "sort" })).status, 200);
});

Deno.test("what fails in the middle of a stream is its last line", async () => {
  const { post } = testService({ limits: { events: 5000 } });
  const response = await post(PATH, { template: "many-tiny-tasks" }, { accept: "application/x-ndjson" });
  assertEquals(response.status, 200);
  const lines = (await response.text()).trim().split("\n");
  assertEquals(JSON.parse(lines.at(-1)!).error.code, "limit.events");
  assertEquals(JSON.parse(lines[0]).Event, "SparkListenerLogStart");
});

Deno.test("a lineage of diamonds takes time in proportion to its RDDs, not to the ways through it", async () => {
  const down = (rddId: number) => ({ kind: "narrow", rddId, mapping: "oneToOne" });
  const rdds: unknown[] = [{
    id: 0,
    name: "cached",
    numPartitions: 1,
    storageLevel: "MEMORY_ONLY",
    deserializedBytes: 9,
  }];
  for (let id = 1; id <= 60; id++) {
    rdds.push({ id, name: `r${id}`, numPartitions: 1, dependencies: [down(id - 1), down(id - 1)] });
  }
  const lineage = { rdds, demands: [{ tasks: 1 }], jobs: [{ id: 0, rddId: 60, demand: 0 }] };
  const response = await post(PATH, { workload: { lineage } });
  assertEquals((await response.json() as Summary).storage.cacheMisses, 1);
});
