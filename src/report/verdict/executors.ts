/**
 * Executors that were lost, tasks that failed on the way, shuffle data that could not be fetched.
 *
 * @module
 */
import { failureCause } from "./failure_cause.ts";
import { advise, type Evidence, type Finding, plural, tellingLine } from "./finding.ts";

/** Reasons of executors that left because they were not needed, or because the application ended. */
const EXPECTED =
  /idle|[Dd]ecommission|[Kk]illed by driver|driver commanded a shutdown|[Ss]park context is shutting down|SparkContext is stopped|exit(?:ed)? (?:unexpectedly )?with code 0\b|Finished|worker lost \(expected\)/;

/** Executors that were lost. */
export function lostExecutors({ summary, facts }: Evidence): Finding[] {
  const lost = facts.losses.filter(({ reason }) => !EXPECTED.test(reason));
  if (lost.length === 0) return [];
  const groups = new Map<string, { ids: string[]; reason: string; tasks: number }>();
  for (const { executorId, reason } of lost) {
    const key = failureCause(reason, facts)?.code ?? reason.replace(/\d+/g, "#");
    const group = groups.get(key) ?? { ids: [], reason, tasks: 0 };
    group.ids.push(executorId);
    group.tasks += facts.tasksLost.get(executorId) ?? 0;
    groups.set(key, group);
  }
  return [...groups.values()].map(({ ids, reason, tasks }) => {
    const cause = failureCause(reason, facts);
    const names = ids.slice(0, 8).join(", ") + (ids.length > 8 ? ", ..." : "");
    return {
      code: cause?.code ?? "executor.lost",
      severity: "problem",
      sentence: `${plural(ids.length, "executor was", "executors were")} lost (${names}): ${
        cause?.cause ?? tellingLine(reason)
      }.`,
      why: cause?.why ?? "cached blocks and shuffle files of a lost executor are gone with it, and its tasks run again",
      evidence: [
        ...cause === null ? [] : [`"${tellingLine(reason)}"`],
        ...tasks === 0 ? [] : [`${plural(tasks, "task")} failed with ${ids.length === 1 ? "it" : "them"}`],
        `${plural(summary.executors.length, "executor")} in all`,
      ],
      settings: cause?.settings ?? [],
    };
  });
}

/** Tasks that could not fetch shuffle data, and what that cost. */
export function fetchFailures({ summary, facts }: Evidence): Finding[] {
  const groups = facts.failures.filter(({ reason }) => reason === "FetchFailed");
  const failed = groups.reduce((n, { count }) => n + count, 0);
  if (failed === 0) return [];
  const retried = summary.stages.filter(({ attempt }) => attempt > 0);
  const again = retried.reduce((n, { tasks }) => n + tasks.succeeded, 0);
  const gone = facts.losses.length > 0;
  return [{
    code: "tasks.fetch_failed",
    severity: "problem",
    sentence: `${plural(failed, "task")} could not fetch shuffle data${
      gone
        ? ` because ${facts.losses.length === 1 ? "an executor that held it was" : "executors that held it were"} lost`
        : ""
    }: ${plural(retried.length, "stage attempt")} ran again.`,
    why:
      "a fetch failure ends the stage's attempt; the lost outputs of its parents are made again, then the rest of the stage runs in a " +
      "new attempt; four failed attempts in a row end the job",
    evidence: [
      `${plural(again, "task")} succeeded in later attempts`,
      ...groups.slice(0, 1).map(({ message }) => `"${tellingLine(message)}"`),
    ],
    settings: [
      advise(
        facts.conf,
        "spark.shuffle.service.enabled",
        "an external shuffle service keeps shuffle data when an executor ends",
      ),
      advise(facts.conf, "spark.stage.maxConsecutiveAttempts", "so many attempts in a row may fail"),
      advise(
        facts.conf,
        "spark.shuffle.io.maxRetries",
        "raise it when executors only pause, for example for collections",
      ),
    ],
  }];
}

/** Task failures that did not end the job, by kind. */
export function failedTasks({ summary, facts }: Evidence): Finding[] {
  const ended = summary.outcome.status === "failed";
  return facts.failures
    .filter(({ reason }) =>
      reason === "ExceptionFailure" || reason === "TaskResultLost" || reason === "TaskCommitDenied"
    )
    .sort((a, b) => b.count - a.count)
    .slice(0, 5)
    .map(({ reason, className, message, count, stageIds }): Finding => {
      const text = reason === "ExceptionFailure" ? `${className}: ${message}` : message;
      const cause = failureCause(text, facts);
      const what = reason === "TaskResultLost"
        ? "their results were lost before the driver had fetched them"
        : reason === "TaskCommitDenied"
        ? "another attempt had committed their output"
        : cause?.cause ?? tellingLine(text);
      return {
        code: cause?.code ?? (reason === "TaskResultLost" ? "results.lost" : "tasks.failed"),
        severity: "problem",
        sentence: `${plural(count, "task")} failed${ended ? "" : " and ran again"}: ${what.replace(/\.$/, "")}.`,
        why: cause?.why ?? null,
        evidence: [
          `in ${plural(stageIds.size, "stage")}: ${[...stageIds].slice(0, 8).join(", ")}`,
          ...cause === null ? [] : [`"${tellingLine(text).slice(0, 300)}"`],
        ],
        settings: cause?.settings ??
          [advise(facts.conf, "spark.task.maxFailures", "so many failures of one task end the job")],
      };
    });
}
