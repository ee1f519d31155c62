import { assertEquals } from "@std/assert";
import { readEventLog } from "../../src/event_log/read.ts";
import { EventLogWriter } from "../../src/event_log/write.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import type { Summary } from "../../src/report/summary.ts";
import type { EventSink } from "../../src/spark/events.ts";
import { runMain } from "../../src/cli/main.ts";
import { captureIo } from "../support/capture_io.ts";
import { part, RUN_NAMES, runParts, runText } from "../support/runs.ts";
import { type HistoryServer, startHistoryServer } from "./server.ts";
import { PYSPARK_VERSIONS, sparkJars } from "./spark.ts";

/** A log in the folder of a server. */
interface Written {
  readonly run: string;
  readonly appId: string;
  readonly summary: Summary;
}

/** Writes a run's events again, under the id of its own; gives what a reader of the original says. */
async function rewrite(run: string, folder: string): Promise<Written> {
  const lines: string[] = [];
  const writer = new EventLogWriter((line) => lines.push(line));
  const summarizer = new Summarizer({ source: "observed" });
  const both: EventSink = {
    event(event) {
      writer.event(event);
      summarizer.event(event);
    },
  };
  await readEventLog(runParts(run), both);
  const summary = summarizer.summary();
  const appId = summary.app.id!;
  await Deno.writeTextFile(`${folder}/${appId}`, lines.join(""));
  return { run, appId, summary };
}

/** Copies a run's log as Spark wrote it, decompressed. */
async function copy(run: string, folder: string, appId: string): Promise<void> {
  await Deno.writeTextFile(`${folder}/${appId}`, await runText(run));
}

type Json = Record<string, unknown>;

/** What the server shows of an application, as far as events carry it. */
async function shown(server: HistoryServer, appId: string) {
  const app = await server.get<{ attempts: { attemptId?: string; completed: boolean; duration: number }[] }>(
    `/applications/${appId}`,
  );
  const stages = await server.get<Json[]>(`/applications/${appId}/stages`);
  const tasks = await Promise.all(
    stages.filter(({ status }) => status !== "SKIPPED").map(async ({ stageId, attemptId }) => {
      const list = await server.get<Json[]>(
        `/applications/${appId}/stages/${stageId}/${attemptId}/taskList?length=100000`,
      );
      return list.sort((a, b) => Number(a.taskId) - Number(b.taskId));
    }),
  );
  return {
    completed: app.attempts.map(({ completed, duration }) => [completed, duration]),
    jobs: await server.get<Json[]>(`/applications/${appId}/jobs`),
    stages,
    tasks,
    executors: await server.get<Json[]>(`/applications/${appId}/allexecutors`),
    storage: await server.get<Json[]>(`/applications/${appId}/storage/rdd`),
    sql: await server.get<Json[]>(`/applications/${appId}/sql?details=false`),
  };
}

/**
 * Fields of the REST API that come from what our events do not carry: addresses of logs and block managers, executor metrics of
 * tasks (and the peaks that are made from them), accumulators that repeat task metrics, times of fetch requests, texts of plans.
 */
const NOT_CARRIED =
  /^(executorLogs|executorMetrics|accumulatorUpdates|hostPort|address|shuffleRemoteReqsDuration|remoteReqsDuration|peakMemoryMetrics|peakExecutorMetrics|planDescription)$/;

function carried(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(carried);
  // A block manager in a text: its port is not carried.
  if (typeof value === "string") return value.replace(/(BlockManagerId\(\S+, \S+), \d+/g, "$1, port");
  if (typeof value !== "object" || value === null) return value;
  // A task that never ends in the log runs until now, which is another now for each answer.
  if ("status" in value && value.status === "RUNNING" && "duration" in value) {
    const { duration: _, ...rest } = value;
    return carried(rest);
  }
  return Object.fromEntries(
    Object.entries(value).filter(([name]) => !NOT_CARRIED.test(name)).map(([name, inner]) => [name, carried(inner)]),
  );
}

function compareWithSummary({ summary, run }: Written, answer: Awaited<ReturnType<typeof shown>>): void {
  assertEquals(answer.completed.map(([completed]) => completed), [true], run);
  assertEquals(
    answer.jobs.map(({ jobId, status }) => [jobId, status]).sort(),
    summary.jobs.map(({ jobId, status }) => [jobId, status === "succeeded" ? "SUCCEEDED" : "FAILED"]).sort(),
    run,
  );
  const ran = answer.stages.filter(({ status }) => status !== "SKIPPED");
  assertEquals(
    ran.map((
      stage,
    ) => [stage.stageId, stage.attemptId, stage.numCompleteTasks, stage.memoryBytesSpilled, stage.resultSize])
      .sort((a, b) => Number(a[0]) - Number(b[0]) || Number(a[1]) - Number(b[1])),
    summary.stages.map((stage) => [
      stage.stageId,
      stage.attempt,
      stage.tasks.succeeded,
      stage.memoryBytesSpilled,
      stage.resultBytes,
    ]).sort((a, b) => Number(a[0]) - Number(b[0]) || Number(a[1]) - Number(b[1])),
    run,
  );
  assertEquals(
    // Tasks that never end in a log run for ever in the History Server.
    answer.tasks.flat().filter(({ status }) => status !== "RUNNING").length,
    summary.stages.reduce((n, { tasks }) => n + tasks.succeeded + tasks.failed + tasks.killed, 0),
    run,
  );
  const executors = answer.executors.filter(({ id }) => summary.executors.some(({ executorId }) => executorId === id));
  assertEquals(
    executors.map(({ id, maxMemory }) => [id, maxMemory]).sort(),
    summary.executors.map(({ executorId, maxMemory }) => [executorId, maxMemory]).sort(),
    run,
  );
}

/** What a server logged beside its ordinary messages. */
function complaintsOf(server: HistoryServer): string[] {
  return server.log().split("\n")
    .filter((line) => /\b(ERROR|WARN)\b|Exception|Malformed|unrecognized/.test(line))
    .filter((line) => !/NativeCodeLoader|resolves to a loopback|SPARK_LOCAL_IP/.test(line));
}

// The codecs hold the same kind of job as cache_evictions.
const RUNS = RUN_NAMES.filter((name) => !name.startsWith("codec_"));

for (const version of PYSPARK_VERSIONS) {
  Deno.test({
    name: `the History Server of Spark ${version} shows a written log as it shows the original`,
    sanitizeResources: false,
    async fn() {
      const jars = await sparkJars(version);
      const originals = await Deno.makeTempDir();
      const rewritten = await Deno.makeTempDir();
      try {
        const logs: Written[] = [];
        for (const run of RUNS) {
          const log = await rewrite(run, rewritten);
          await copy(run, originals, log.appId);
          logs.push(log);
        }
        await using real = await startHistoryServer(jars, originals, logs.length);
        await using mine = await startHistoryServer(jars, rewritten, logs.length);
        for (const log of logs) {
          const answer = await shown(mine, log.appId);
          compareWithSummary(log, answer);
          assertEquals(carried(answer), carried(await shown(real, log.appId)), log.run);
        }
        assertEquals(complaintsOf(mine), []);
      } finally {
        await Deno.remove(originals, { recursive: true });
        await Deno.remove(rewritten, { recursive: true });
      }
    },
  });
}

/** Simulated applications, small enough to be compared task by task. */
const TEMPLATES = ["cached-iterative", "sort", "skewed-join", "large-collect", "broadcast", "wide-aggregation"];

for (const version of PYSPARK_VERSIONS) {
  Deno.test({
    name: `the History Server of Spark ${version} shows simulated runs of that version as their Summaries tell them`,
    sanitizeResources: false,
    async fn() {
      const folder = await Deno.makeTempDir();
      try {
        const logs: Written[] = [];
        for (const template of TEMPLATES) {
          const { io, out } = captureIo();
          assertEquals(
            await runMain(["simulate", `template:${template}`, "--spark-version", version, "--format", "eventlog"], io),
            0,
            out.stderr,
          );
          const summarizer = new Summarizer({ source: "observed" });
          await readEventLog([part(template, out.stdout)], summarizer);
          const summary = summarizer.summary();
          await Deno.writeTextFile(`${folder}/${summary.app.id}`, out.stdout);
          logs.push({ run: template, appId: summary.app.id!, summary });
        }
        await using server = await startHistoryServer(await sparkJars(version), folder, logs.length);
        for (const log of logs) {
          const answer = await shown(server, log.appId);
          compareWithSummary(log, answer);
          // Cached partitions that the server still shows at the end are those that the Summary counts.
          const { cachedAtEnd, blocksStored } = log.summary.storage;
          if (blocksStored !== null) {
            assertEquals(
              answer.storage.reduce((n, { memoryUsed }) => n + Number(memoryUsed), 0),
              cachedAtEnd.memoryBytes,
              log.run,
            );
          }
        }
        assertEquals(complaintsOf(server), []);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  });
}
