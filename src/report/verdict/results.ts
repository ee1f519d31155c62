/**
 * How results reached the driver, and how near they came to its limits.
 *
 * @module
 */
import { advise, type Evidence, type Finding, plural, size } from "./finding.ts";

/** A stage's results from this part of the limit on are worth a word. */
const NEAR = 0.5;

/** Results that went by way of the executors' block managers. */
export function indirectResults({ summary, facts }: Evidence): Finding[] {
  const { indirect, direct, lost, maxBytes } = summary.results;
  if (!indirect) return [];
  const { effectiveDirectLimit, maxDirectResultSize, rpcMessageMaxSize } = summary.thresholds;
  const key = maxDirectResultSize <= rpcMessageMaxSize ? "spark.task.maxDirectResultSize" : "spark.rpc.message.maxSize";
  return [{
    code: "results.indirect",
    severity: "notice",
    sentence: `${plural(indirect, "result")} larger than ${
      size(effectiveDirectLimit)
    } went by way of the block manager, ${(direct ?? 0).toLocaleString("en-US")} directly.`,
    why:
      "a result above the limit is stored at the executor (MEMORY_AND_DISK_SER, in storage memory, where it can evict cached " +
      "blocks) until the driver has fetched it; if the executor is lost meanwhile, the task runs again",
    evidence: [
      `largest result ${size(maxBytes ?? 0)}, all together ${size(summary.results.totalBytes ?? 0)}`,
      ...lost ? [`${plural(lost, "result")} lost before it was fetched`] : [],
    ],
    settings: [advise(facts.conf, key, "results up to the smaller of the two limits are sent directly")],
  }];
}

/** The stage whose results came nearest to spark.driver.maxResultSize. */
export function nearMaxResultSize({ summary, facts }: Evidence): Finding[] {
  const limit = summary.thresholds.maxResultSize;
  if (limit <= 0 || summary.stages.some(({ failureReason }) => failureReason?.includes("maxResultSize"))) return [];
  const results = facts.stages.filter((stage) =>
    stage.taskType === "ResultTask" || facts.conf.rules.results.mapStagesAbort
  );
  const largest = results.reduce<typeof results[number] | null>(
    (a, b) => a === null || b.resultBytes > a.resultBytes ? b : a,
    null,
  );
  if (largest === null || largest.resultBytes < limit * NEAR) return [];
  return [{
    code: "results.near_limit",
    severity: "notice",
    sentence: `The results of stage ${largest.stageId} (${largest.info?.name ?? ""}) came to ${
      size(largest.resultBytes)
    }, ${Math.round(largest.resultBytes / limit * 100)} % of what the driver accepts (${size(limit)}).`,
    why:
      "the sum of the results of one stage's tasks must not be above spark.driver.maxResultSize; other stages do not count",
    evidence: [
      `${plural(largest.succeeded, "result")}, the largest ${size(largest.maxResultBytes)}`,
      ...(summary.results.totalBytes ?? 0) > limit
        ? [
          `all stages together: ${
            size(summary.results.totalBytes!)
          }, above the limit, which holds for each stage alone`,
        ]
        : [],
    ],
    settings: [
      advise(facts.conf, "spark.driver.maxResultSize", "raise it before the data grows (0 is unlimited)"),
      advise(facts.conf, "spark.driver.memory", "the driver must hold what it collects"),
    ],
  }];
}

/** Map stages whose results are above the limit and do not count, since 3.1. */
export function mapResultsNotCounted({ summary, facts }: Evidence): Finding[] {
  const limit = summary.thresholds.maxResultSize;
  if (limit <= 0 || facts.conf.rules.results.mapStagesAbort) return [];
  const above = facts.stages.filter((stage) => stage.taskType === "ShuffleMapTask" && stage.resultBytes > limit);
  if (above.length === 0) return [];
  const [first] = above.sort((a, b) => b.resultBytes - a.resultBytes);
  return [{
    code: "results.map_tasks_not_counted",
    severity: "notice",
    sentence: `The results of the map stage ${first.stageId} came to ${
      size(first.resultBytes)
    }, above spark.driver.maxResultSize (${size(limit)}), and did not count.`,
    why:
      "since Spark 3.1 the small results of shuffle map tasks do not count towards the limit (SPARK-32470); before, they aborted the stage",
    evidence: [`${plural(first.succeeded, "task")} of ${size(first.resultBytes / Math.max(1, first.succeeded))}`],
    settings: [advise(facts.conf, "spark.driver.maxResultSize", "before 3.1 this job needs a higher limit")],
  }];
}
