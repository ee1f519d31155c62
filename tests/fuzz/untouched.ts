/**
 * What was not touched is still right: a log with one change, of which it is known what the change may reach, gives the same figures
 * as before everywhere else, and where it is known how much it must add, exactly that.
 *
 * @module
 */
import { streamOfLines } from "../support/log_answers.ts";
import { assert, assertEquals } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { readEventLog } from "../../src/event_log/read.ts";
import type { Prng } from "../../src/prng.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import type { Summary } from "../../src/report/summary.ts";
import { LINE_CHANGES } from "../support/log_mutations.ts";

type Json = Record<string, unknown>;
type StageSummary = Summary["stages"][number];

/** The Summary of a log's lines. */
export async function summaryOfLines(lines: readonly string[]): Promise<Summary> {
  const summarizer = new Summarizer({ source: "observed" });
  await readEventLog(streamOfLines(lines), summarizer);
  return summarizer.summary();
}

/** What a line may reach. */
interface Reach {
  readonly stages: Set<string>;
  readonly jobs: Set<number>;
  readonly executors: Set<string>;
  /** Names of the Summary's other parts. */
  readonly parts: Set<string>;
}

const ANY_PART = ["app", "outcome", "thresholds", "durationMs", "results", "storage", "execution", "driver"];

/** Parts of the Summary that an event has a share in, besides the stage, job or executor that it names. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  TaskStart: ["durationMs"],
  TaskEnd: ["durationMs", "results", "storage", "execution", "driver"],
  TaskGettingResult: ["durationMs"],
  BlockUpdated: ["storage"],
  StageSubmitted: ["durationMs", "results"],
  StageCompleted: ["durationMs", "results"],
  StageExecutorMetrics: ["storage", "execution", "driver"],
  JobStart: ["durationMs", "outcome", "results"],
  JobEnd: ["durationMs", "outcome", "results"],
  ExecutorAdded: ["durationMs", "storage", "execution"],
  ExecutorRemoved: ["durationMs", "storage", "execution"],
  BlockManagerAdded: ["durationMs", "storage", "execution", "driver"],
  BlockManagerRemoved: ["durationMs", "storage", "execution"],
  UnpersistRDD: ["storage"],
  ApplicationStart: ["app", "durationMs"],
  ApplicationEnd: ["outcome", "durationMs"],
  SpeculativeTaskSubmitted: [],
  DriverAccumUpdates: [],
  ResourceProfileAdded: [],
  SQLExecutionEnd: [],
};

function at(json: unknown, ...path: string[]): unknown {
  for (const key of path) json = typeof json === "object" && json !== null ? (json as Json)[key] : undefined;
  return json;
}

/** Adds what a line reaches; a line that is no event reaches nothing. */
function reachOf(line: string, reach: Reach): void {
  let json: unknown;
  try {
    json = JSON.parse(line);
  } catch {
    return;
  }
  const event = String(at(json, "Event")).replace(/^.*\.|^SparkListener/, "").replace(/^SparkListener/, "");
  for (const part of PARTS[event] ?? ANY_PART) reach.parts.add(part);
  for (const holder of [json, at(json, "Stage Info")]) {
    const stage = at(holder, "Stage ID");
    if (stage !== undefined) reach.stages.add(`${stage}.${at(holder, "Stage Attempt ID") ?? 0}`);
  }
  const job = at(json, "Job ID");
  if (typeof job === "number") reach.jobs.add(job);
  for (
    const path of [["Executor ID"], ["Task Info", "Executor ID"], ["Block Manager ID", "Executor ID"], [
      "Block Updated Info",
      "Block Manager ID",
      "Executor ID",
    ]]
  ) {
    const executor = at(json, ...path);
    if (typeof executor === "string") reach.executors.add(executor);
  }
  // These reach all executors or jobs: blocks of all of them go, and queries give jobs their descriptions.
  if (event === "UnpersistRDD" || event === "LogStart" || event === "EnvironmentUpdate") reach.executors.add("*");
  if (event.startsWith("SQL")) reach.jobs.add(-1);
}

/** Everything of the Summary that a change does not reach is as it was. */
function assertUntouched(
  before: Summary,
  after: Summary,
  { stages, jobs, executors, parts }: Reach,
  said: string,
): void {
  const untouched = (summary: Summary) => ({
    ...Object.fromEntries(Object.entries(summary).filter(([name]) => ANY_PART.includes(name) && !parts.has(name))),
    stages: summary.stages.filter(({ stageId, attempt }) => !stages.has(`${stageId}.${attempt}`)),
    jobs: jobs.has(-1) ? [] : summary.jobs.filter(({ jobId }) => !jobs.has(jobId)),
    executors: executors.has("*") ? [] : summary.executors.filter(({ executorId }) => !executors.has(executorId)),
  });
  assertEquals(untouched(after), untouched(before), said);
}

const TASK_END = /^\{"Event":"SparkListenerTaskEnd"/;

function pick(lines: readonly string[], random: Prng, wanted: RegExp): number | null {
  const found = [...lines.keys()].filter((i) => wanted.test(lines[i]));
  return found.length === 0 ? null : found[random.integer(found.length)];
}

/** A metric of a task with the figure of its stage that it is a summand of. */
const SUMMANDS: readonly (readonly [path: readonly string[], figure: keyof StageSummary])[] = [
  [["Memory Bytes Spilled"], "memoryBytesSpilled"],
  [["Disk Bytes Spilled"], "diskBytesSpilled"],
  [["Executor Run Time"], "executorRunMs"],
  [["Result Size"], "resultBytes"],
  [["Shuffle Write Metrics", "Shuffle Bytes Written"], "shuffleWriteBytes"],
  [["Shuffle Read Metrics", "Local Bytes Read"], "shuffleReadBytes"],
  [["Shuffle Read Metrics", "Remote Bytes Read"], "shuffleReadBytes"],
  [["Input Metrics", "Bytes Read"], "inputBytes"],
];

function stageOf(summary: Summary, line: string): StageSummary | undefined {
  const json = JSON.parse(line);
  return summary.stages.find(({ stageId, attempt }) =>
    stageId === json["Stage ID"] && attempt === (json["Stage Attempt ID"] ?? 0)
  );
}

/** How the figures of a stage differ that sum up its tasks. */
function sumsChange(before: StageSummary, after: StageSummary): Record<string, number> {
  const figures = [...new Set(SUMMANDS.map(([, figure]) => figure))];
  return Object.fromEntries(figures.map((figure) => [figure, (after[figure] as number) - (before[figure] as number)]));
}

function metricsOf(line: string): Record<string, number> {
  const metrics = JSON.parse(line)["Task Metrics"];
  const sums: Record<string, number> = {};
  for (const [path, figure] of SUMMANDS) sums[figure] = (sums[figure] ?? 0) + ((at(metrics, ...path) ?? 0) as number);
  return sums;
}

function negated(sums: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(sums).map(([figure, value]) => [figure, 0 - value]));
}

/** A kind of change; false when the log has no place for it. */
type Kind = (lines: readonly string[], random: Prng, before: Summary) => Promise<boolean>;

async function oneLine(
  before: Summary,
  lines: readonly string[],
  { i, becomes, said }: { readonly i: number; readonly becomes: readonly string[]; readonly said: string },
): Promise<Summary> {
  const after = await summaryOfLines([...lines.slice(0, i), ...becomes, ...lines.slice(i + 1)]);
  const reach: Reach = { stages: new Set(), jobs: new Set(), executors: new Set(), parts: new Set() };
  for (const line of [lines[i], ...becomes]) reachOf(line, reach);
  assertUntouched(before, after, reach, `${said} of line ${i}: ${lines[i].slice(0, 100)}`);
  return after;
}

/** Lines of which another event hangs on nothing, so that one of them can go. */
const KINDS: Readonly<Record<string, Kind>> = {
  async duplicateTaskEnd(lines, random, before) {
    const i = pick(lines, random, TASK_END);
    if (i === null) return false;
    const after = await oneLine(before, lines, { i, becomes: [lines[i], lines[i]], said: "a second copy" });
    const [was, is] = [stageOf(before, lines[i]), stageOf(after, lines[i])];
    if (was !== undefined && is !== undefined) assertEquals(sumsChange(was, is), metricsOf(lines[i]));
    return true;
  },
  async dropTaskEnd(lines, random, before) {
    const i = pick(lines, random, TASK_END);
    if (i === null) return false;
    const after = await oneLine(before, lines, { i, becomes: [], said: "the loss" });
    const [was, is] = [stageOf(before, lines[i]), stageOf(after, lines[i])];
    if (was !== undefined && is !== undefined) assertEquals(sumsChange(was, is), negated(metricsOf(lines[i])));
    return true;
  },
  async numberInTask(lines, random, before) {
    const i = pick(lines, random, TASK_END);
    if (i === null) return false;
    const json = JSON.parse(lines[i]);
    const [path, figure] = SUMMANDS[random.integer(SUMMANDS.length)];
    const holder = at(json["Task Metrics"], ...path.slice(0, -1)) as Json | undefined;
    const key = path.at(-1)!;
    if (holder === undefined || typeof holder[key] !== "number") return false;
    const more = 1 + random.integer(1_000_000);
    holder[key] = holder[key] + more;
    const after = await oneLine(before, lines, { i, becomes: [JSON.stringify(json)], said: `${key} + ${more}` });
    const change = sumsChange(stageOf(before, lines[i])!, stageOf(after, lines[i])!);
    assertEquals(change, { ...Object.fromEntries(Object.keys(change).map((name) => [name, 0])), [figure]: more });
    return true;
  },
  async dropLine(lines, random, before) {
    const i = random.integer(lines.length);
    await oneLine(before, lines, { i, becomes: [], said: "the loss" });
    return true;
  },
  async duplicateLine(lines, random, before) {
    const i = random.integer(lines.length);
    await oneLine(before, lines, { i, becomes: [lines[i], lines[i]], said: "a second copy" });
    return true;
  },
  async damagedLine(lines, random, before) {
    const i = random.integer(lines.length);
    const names = Object.keys(LINE_CHANGES);
    const name = names[random.integer(names.length)];
    const becomes = LINE_CHANGES[name](lines[i], random).split("\n");
    try {
      await oneLine(before, lines, { i, becomes, said: name });
    } catch (error) {
      // A changed id of the application is another application.
      if (!(error instanceof InputError && error.code.startsWith("event_log.several"))) throw error;
      assert(/ApplicationStart|EnvironmentUpdate/.test(lines[i]), `${name}: ${error}`);
    }
    return true;
  },
  async reorderedTasks(lines, random, before) {
    return await swapped(lines, random, before, /^\{"Event":"SparkListenerTask(Start|End)"/);
  },
  async reorderedBlocks(lines, random, before) {
    return await swapped(lines, random, before, /^\{"Event":"SparkListener(BlockUpdated|TaskStart|TaskEnd)"/);
  },
};

/** What two threads tell, or two tasks, may come in either order: neighbours are exchanged, as many as there are. */
async function swapped(lines: readonly string[], random: Prng, before: Summary, wanted: RegExp): Promise<boolean> {
  const changed = [...lines];
  let swaps = 0;
  for (let i = 0; i + 1 < changed.length; i++) {
    const [a, b] = [changed[i], changed[i + 1]];
    if (!wanted.test(a) || !wanted.test(b) || subjectOf(a) === subjectOf(b) || random.integer(2) === 0) continue;
    [changed[i], changed[i + 1]] = [b, a];
    swaps++;
  }
  if (swaps === 0) return false;
  const after = await summaryOfLines(changed);
  // How much was held at most depends on the order, and so does what is told of tasks that end before they start.
  const settled = (summary: Summary) => ({
    ...summary,
    warnings: [],
    storage: { ...summary.storage, peakBytes: 0 },
    executors: summary.executors.map((executor) => ({ ...executor, peakStorageBytes: 0 }))
      .sort((x, y) => x.executorId < y.executorId ? -1 : 1),
  });
  assertEquals(settled(after), settled(before), `${swaps} exchanges of neighbours`);
  return true;
}

/** The task or block that a line is about. */
function subjectOf(line: string): string {
  const json = JSON.parse(line);
  return `${at(json, "Task Info", "Task ID") ?? at(json, "Block Updated Info", "Block ID")}`;
}

/** The kinds of changes, for counting them. */
export const UNTOUCHED_KINDS: readonly string[] = Object.keys(KINDS);

/** Makes one change of one kind, and checks; false when the log has no place for it. */
export function checkUntouched(
  kind: string,
  log: { readonly lines: readonly string[]; readonly before: Summary },
  random: Prng,
): Promise<boolean> {
  return KINDS[kind](log.lines, random, log.before);
}

/**
 * Two applications in one log, however they are mixed and whatever else of one is lost, are refused as long as each of them says
 * who it is.
 */
export async function checkInterleaved(
  one: readonly string[],
  other: readonly string[],
  random: Prng,
): Promise<void> {
  const names = /ApplicationStart|EnvironmentUpdate/;
  const kept = other.filter((line) => names.test(line) || random.integer(3) > 0);
  // Of the two lines by which an application names itself one is enough.
  const lost = random.integer(3);
  const second = kept.filter((line) =>
    !(lost === 1 && line.includes("ApplicationStart") || lost === 2 && line.includes("EnvironmentUpdate"))
  );
  const mixed: string[] = [];
  for (let a = 0, b = 0; a < one.length || b < second.length;) {
    if (b >= second.length || a < one.length && random.integer(2) === 0) mixed.push(one[a++]);
    else mixed.push(second[b++]);
  }
  let code = "an answer";
  try {
    await summaryOfLines(mixed);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    code = error.code;
  }
  assertEquals(code, "event_log.several_applications");
}
