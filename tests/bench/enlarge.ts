/**
 * A large event log from a real one: its jobs again and again, under ids of their own and later in time.
 *
 * @module
 */

/** Events that belong to jobs and SQL executions; the others stay single. */
const OF_JOBS =
  /"Event":"[^"]*SparkListener(JobStart|JobEnd|StageSubmitted|StageCompleted|TaskStart|TaskEnd|TaskGettingResult|BlockUpdated|UnpersistRDD|StageExecutorMetrics|SQLExecutionStart|SQLAdaptiveExecutionUpdate|SQLExecutionEnd|DriverAccumUpdates)"/;

/** Numbers that are shifted, by field: the family that shares an offset. */
const FAMILIES: Readonly<Record<string, string>> = {
  "Job ID": "job",
  "Stage ID": "stage",
  "Stage IDs": "stage",
  "Task ID": "task",
  "RDD ID": "rdd",
  "Completion Time": "time",
  "Submission Time": "time",
  "Launch Time": "time",
  "Finish Time": "time",
  "Getting Result Time": "time",
  time: "time",
  executionId: "execution",
  rootExecutionId: "execution",
  accumulatorId: "accumulator",
};

type Shift = (family: string, value: number) => number;

function familyOf(field: string, parent: string): string | undefined {
  if (field === "Parent IDs") return parent === "RDD Info" ? "rdd" : "stage";
  return field === "ID" && parent === "Accumulables" ? "accumulator" : FAMILIES[field];
}

function walk(value: unknown, shift: Shift, field: string, parent: string): unknown {
  if (Array.isArray(value)) {
    // Pairs of an accumulator and its value.
    if (field === "accumUpdates" && typeof value[0] === "number") return [shift("accumulator", value[0]), value[1]];
    return value.map((item) => walk(item, shift, field, parent));
  }
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, walk(inner, shift, name, field)]),
    );
  }
  if (typeof value === "number") {
    const family = familyOf(field, parent);
    return family === undefined ? value : shift(family, value);
  }
  if (field === "spark.sql.execution.id") return `${shift("execution", Number(value))}`;
  const block = field === "Block ID" && typeof value === "string" ? /^rdd_(\d+)_(\d+)$/.exec(value) : null;
  return block === null ? value : `rdd_${shift("rdd", Number(block[1]))}_${block[2]}`;
}

/** Lines of a log of at least so many bytes and tasks. */
export function* enlarged(lines: readonly string[], minBytes: number, minTasks = 0): Generator<string> {
  const body = lines.filter((line) => OF_JOBS.test(line)).map((line) => JSON.parse(line));
  const last = lines.findLastIndex((line) => OF_JOBS.test(line));
  const largest = new Map<string, number>();
  let first = Infinity;
  for (const event of body) {
    walk(
      event,
      (family, value) => {
        largest.set(family, Math.max(largest.get(family) ?? 0, value));
        if (family === "time" && value > 0) first = Math.min(first, value);
        return value;
      },
      "",
      "",
    );
  }
  const span = (largest.get("time") ?? 0) - first + 1000;
  let bytes = 0;
  for (const line of lines.slice(0, last).filter((line) => !OF_JOBS.test(line))) {
    bytes += line.length + 1;
    yield line + "\n";
  }
  const tasks = body.filter(({ Event }) => Event === "SparkListenerTaskEnd").length;
  for (let copy = 0; copy === 0 || bytes < minBytes || copy * tasks < minTasks; copy++) {
    const shift: Shift = (family, value) =>
      family === "time" ? value <= 0 ? value : value + copy * span : value + copy * ((largest.get(family) ?? 0) + 1);
    for (const event of body) {
      const line = JSON.stringify(walk(event, shift, "", "")) + "\n";
      bytes += line.length;
      yield line;
    }
  }
  for (const line of lines.slice(last).filter((line) => !OF_JOBS.test(line))) yield line + "\n";
}
