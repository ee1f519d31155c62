/**
 * Why jobs failed.
 *
 * @module
 */
import { printedSize } from "../../spark/sizes.ts";
import { isCancelled } from "../job_fold.ts";
import { failureCause } from "./failure_cause.ts";
import { advise, type Evidence, type Finding, plural, size, tellingLine } from "./finding.ts";

const MAX_RESULT_SIZE =
  /Total size of serialized results of (\d+) tasks \((.+?)\) is bigger than (?:spark\.driver\.maxResultSize|local maxResultSize) \(?(.+?)\)/;
const TASK_TOO_LARGE =
  /Serialized task (\S+) was (\d+) bytes,? which exceeds max allowed: spark\.(rpc\.message\.maxSize|akka\.frameSize) \((\d+) bytes/;
const TASK_FAILED =
  /Task (\d+)(?:\.\d+)? in stage (\S+) failed (\d+) times?,? most recent failure: (?:Lost task \S+ in stage \S+ \(TID \d+\)\s*(?:\([^)]*\)|, [^:]*|\(?[^:]*\)?): )?([\s\S]*)/;
const SHUT_DOWN = /SparkContext was shut down/;
const FETCH_FAILED =
  /has failed the maximum allowable number of times: (\d+)\. (?:Most recent failure reason|Failure reason): ?\s*([\s\S]*)/;

function maxResultSize(message: string, run: Evidence): Finding | null {
  const match = MAX_RESULT_SIZE.exec(message);
  if (match === null) return null;
  const [, tasks, total, limit] = match;
  const { summary, facts } = run;
  const stage = summary.stages.find(({ failureReason }) => failureReason?.includes(match[0]) ?? false);
  const accepted = stage === undefined ? 0 : stage.tasks.succeeded;
  const evidence: string[] = [];
  let estimate = 0;
  if (stage !== undefined && accepted > 0 && stage.resultBytes !== null) {
    estimate = Math.max(stage.resultBytes / accepted * stage.tasks.total, printedSize(total)?.max ?? 0);
    evidence.push(
      `${plural(accepted, "result")} of ${plural(stage.tasks.total, "task")} came to ${
        size(stage.resultBytes)
      } before: ${size(stage.resultBytes / accepted)} each, about ${size(estimate)} in all if the others are alike`,
    );
  }
  const counted = Number(tasks) - accepted;
  const rest = (printedSize(total)?.min ?? 0) - (stage?.resultBytes ?? 0);
  if (stage !== undefined && counted === 1) {
    const dropped = rest > summary.thresholds.maxResultSize
      ? ": above the limit alone, so its executor dropped it and sent only the size"
      : "";
    evidence.push(`the result that crossed the limit has about ${size(rest)}${dropped}`);
  } else if (stage !== undefined && counted > 1) {
    evidence.push(`${counted} more results, whose sizes the log does not record, came to about ${size(rest)}`);
  }
  const where = stage === undefined ? "a stage" : `stage ${stage.stageId} (${stage.name})`;
  const kind = stage === undefined
    ? null
    : facts.stages.find((fold) => fold.stageId === stage.stageId && fold.attempt === stage.attempt)?.taskType;
  return {
    code: "results.max_result_size",
    severity: "failure",
    sentence: `The job failed because the results of ${where} are too large for the driver: ${total} from ${
      plural(Number(tasks), "task")
    }, and spark.driver.maxResultSize allows ${limit}.`,
    why:
      "the driver adds up the serialized results of one stage's tasks as they are announced, those that executors keep or drop " +
      `included, and aborts the stage when the sum is above the limit${
        kind === "ShuffleMapTask" ? "; up to Spark 3.0 it counts the small results of map tasks too (SPARK-32470)" : ""
      }`,
    evidence,
    settings: [
      advise(
        facts.conf,
        "spark.driver.maxResultSize",
        estimate > 0
          ? `at least ${size(estimate)} if all of it is wanted (0 is unlimited)`
          : "raise it if all of it is wanted (0 is unlimited)",
      ),
      advise(
        facts.conf,
        "spark.driver.memory",
        "the driver must hold what it collects, several times over while it deserializes",
      ),
      { key: "the job", value: null, advice: "collect less: aggregate, take, or write to files from the executors" },
    ],
  };
}

function taskTooLarge(message: string, { facts }: Evidence): Finding | null {
  const match = TASK_TOO_LARGE.exec(message);
  if (match === null) return null;
  const [, task, bytes, key, limit] = match;
  const needed = Math.floor(Number(bytes) / 2 ** 20) + 1;
  return {
    code: "results.task_too_large",
    severity: "failure",
    sentence: `The job failed because task ${task} is ${size(Number(bytes))} when serialized, and a message may have ${
      size(Number(limit))
    } (spark.${key}).`,
    why: "a task is sent with what its function refers to: a large local collection or object is sent with every task",
    evidence: [`${Number(bytes).toLocaleString("en-US")} bytes against ${Number(limit).toLocaleString("en-US")}`],
    settings: [
      {
        key: "the job",
        value: null,
        advice: "send large values once with a broadcast variable, or make the data with the executors",
      },
      advise(facts.conf, `spark.${key}`, `${needed} (MiB) is the smallest value that lets it pass`),
    ],
  };
}

function taskFailed(message: string, run: Evidence): Finding | null {
  const match = TASK_FAILED.exec(message);
  if (match === null) return null;
  const [, task, stage, times, text] = match;
  const { facts } = run;
  const cause = failureCause(text, facts);
  const maxFailures = advise(
    facts.conf,
    "spark.task.maxFailures",
    "so many failures of one task end the job; raise it only when they come by chance",
  );
  return {
    code: cause?.code ?? "tasks.failed",
    severity: "failure",
    sentence: cause === null
      ? `The job failed because task ${task} of stage ${stage} failed ${plural(Number(times), "time")}: ${
        tellingLine(text)
      }`
      : `The job failed because task ${task} of stage ${stage} failed ${
        plural(Number(times), "time")
      }: ${cause.cause}.`,
    why: cause?.why ??
      "spark.task.maxFailures failures of one task abort its stage and with it the job; in local mode one is enough",
    evidence: cause === null ? [] : [tellingLine(text)],
    settings: cause === null ? [maxFailures] : [...cause.settings, maxFailures],
  };
}

function stageAttempts(message: string, { facts }: Evidence): Finding | null {
  const match = FETCH_FAILED.exec(message);
  if (match === null) return null;
  const cause = failureCause(match[2], facts);
  return {
    code: "tasks.stage_attempts",
    severity: "failure",
    sentence: `The job failed because a stage lost its input ${
      match[1]
    } times in a row: shuffle data could not be fetched.`,
    why:
      "a fetch failure ends a stage's attempt and runs the lost map tasks again; the fourth failed attempt in a row aborts the job",
    evidence: [tellingLine(match[2])].filter((line) => line !== ""),
    settings: [
      ...cause?.settings ?? [],
      advise(facts.conf, "spark.stage.maxConsecutiveAttempts", "raise it only when executors are lost by chance"),
      advise(
        facts.conf,
        "spark.shuffle.service.enabled",
        "an external shuffle service keeps the data when an executor ends",
      ),
    ],
  };
}

function shutDown(message: string, { facts }: Evidence): Finding | null {
  if (!SHUT_DOWN.test(message)) return null;
  return {
    code: "application.shut_down",
    severity: "failure",
    sentence: "The job was cut off because the application shut down while it ran.",
    why:
      "the program stopped the SparkContext, or the driver was ended from outside (SIGTERM, a lost client, the cluster manager)",
    evidence: [tellingLine(message), ...facts.exitCode === null ? [] : [`exit code ${facts.exitCode}`]],
    settings: [],
  };
}

function unknown(message: string, { facts }: Evidence): Finding {
  const cause = failureCause(message, facts);
  return {
    code: cause?.code ?? "job.failed",
    severity: "failure",
    sentence: cause === null ? `A job failed: ${tellingLine(message)}` : `The job failed: ${cause.cause}.`,
    why: cause?.why ?? null,
    evidence: cause === null ? [] : [tellingLine(message)],
    settings: cause?.settings ?? [],
  };
}

function explained(message: string, run: Evidence): Finding {
  return maxResultSize(message, run) ?? taskTooLarge(message, run) ?? stageAttempts(message, run) ??
    taskFailed(message, run) ?? shutDown(message, run) ?? unknown(message, run);
}

/** Failed jobs, one finding for each kind, the first first. */
export function jobFailures(run: Evidence): Finding[] {
  const found = new Map<string, { finding: Finding; jobs: number[] }>();
  for (const { jobId, reason } of run.summary.jobs) {
    if (reason === null || isCancelled(reason)) continue;
    const finding = explained(reason, run);
    const known = found.get(finding.code);
    if (known === undefined) found.set(finding.code, { finding, jobs: [jobId] });
    else known.jobs.push(jobId);
  }
  return [...found.values()].map(({ finding, jobs }) => ({
    ...finding,
    evidence: jobs.length === 1
      ? finding.evidence
      : [...finding.evidence, `${plural(jobs.length, "job")} failed like that: ${listed(jobs)}`],
  }));
}

function listed(numbers: readonly number[]): string {
  return numbers.slice(0, 8).join(", ") + (numbers.length > 8 ? ", ..." : "");
}

/** Jobs that somebody cancelled. */
export function cancelledJobs({ summary }: Evidence): Finding[] {
  const cancelled = summary.jobs.filter(({ reason }) => reason !== null && isCancelled(reason));
  if (cancelled.length === 0) return [];
  return [{
    code: "job.cancelled",
    severity: "notice",
    sentence: `${plural(cancelled.length, "job was", "jobs were")} cancelled: ${
      listed(cancelled.map(({ jobId }) => jobId))
    } (${tellingLine(cancelled[0].reason!)}).`,
    why:
      "the program or a person cancelled them (a job group, SQL's own cancelling of a broadcast that is not needed, or the page); " +
      "what their tasks had done is lost",
    evidence: [`${plural(cancelled.reduce((n, { stageIds }) => n + stageIds.length, 0), "stage")} belonged to them`],
    settings: [],
  }];
}

/** Errors of SQL executions that no job tells of. */
export function sqlErrors(run: Evidence): Finding[] {
  if (run.summary.jobs.some(({ status, reason }) => status === "failed" && !isCancelled(reason!))) return [];
  const messages = run.facts.sqlErrors.filter((message) => !/cancelled|canceled/i.test(tellingLine(message)));
  if (messages.length === 0) return [];
  const cause = messages.map((message) => failureCause(message, run.facts)).find((found) => found !== null);
  return [{
    code: cause?.code ?? "sql.error",
    severity: cause === undefined ? "problem" : "failure",
    sentence: cause === undefined
      ? `${plural(messages.length, "SQL query", "SQL queries")} ended with an error: ${tellingLine(messages[0])}`
      : `${plural(messages.length, "SQL query", "SQL queries")} ended with an error: ${cause.cause}.`,
    why: cause?.why ?? null,
    evidence: [tellingLine(messages[0])],
    settings: cause?.settings ?? [],
  }];
}

/** A log without an end. */
export function unfinished({ summary, facts }: Evidence): Finding[] {
  if (summary.outcome.status !== "unfinished") return [];
  const open = summary.jobs.filter(({ status }) => status === "unfinished").length;
  return [{
    code: "application.unfinished",
    severity: "problem",
    sentence: `The log has no end: ${
      open === 0 ? "no job was running" : `${plural(open, "job was", "jobs were")} running`
    } when it stops.`,
    why:
      "the application was still running when the log was copied, or its driver was killed (then Spark leaves the log without " +
      "an application end; a driver out of memory ends like that too)",
    evidence: facts.exitCode === null ? [] : [`exit code ${facts.exitCode}`],
    settings: facts.conf.get("spark.driver.memory") === null ? [] : [
      advise(
        facts.conf,
        "spark.driver.memory",
        "raise it if the driver was killed or ran out of memory: see the driver's own log",
      ),
    ],
  }];
}
