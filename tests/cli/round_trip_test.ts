import { assert, assertEquals } from "@std/assert";
import { simulate } from "../../src/cli/simulate.ts";
import { readEventLog } from "../../src/event_log/read.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import type { Summary } from "../../src/report/summary.ts";
import { TEMPLATES } from "../../src/workload/templates.ts";
import { captureIo } from "../support/capture_io.ts";
import { RUN_NAMES, runPath } from "../support/runs.ts";

async function output(input: string, format: string): Promise<string> {
  const { io, out } = captureIo();
  assertEquals(await simulate.run([input, "--format", format], io), 0);
  return out.stdout;
}

/** What a simulated run knows and Spark writes into no event log. */
function asLogged({ app, storage, execution, ...rest }: Summary) {
  return {
    ...rest,
    app: { ...app, source: "observed" },
    storage: { ...storage, putsRefused: null, cacheHits: null, cacheMisses: null },
    execution: { ...execution, waits: null, waitMs: null },
  };
}

/** What a log tells less of than the run knew, by run: each with a warning. */
const TOLD_LESS: Readonly<Record<string, { readonly code: string; readonly fields: RegExp }>> = {
  // A block read back from disk into memory writes no update (BlockManager.maybeCacheDiskValuesInMemory).
  disk_level: { code: "storage.read_back", fields: /^storage\.(blocksDroppedToDisk|cachedAtEnd)/ },
  // A result that is refused or comes after its stage was aborted has no metrics, and in 2.4 its task has no end.
  max_result_size: { code: "results.lower_bound", fields: /^(stages\.\d+\.)?results\./ },
  spark_2_4_max_result_size: {
    code: "results.lower_bound",
    fields: /^(stages\.\d+\.)?results\.|^(storage|execution)\.peakBytes|^executors\.\d+\.peak/,
  },
};

function differences(a: unknown, b: unknown, path = ""): string[] {
  if (typeof a === "object" && a !== null && typeof b === "object" && b !== null) {
    const [x, y] = [a as Record<string, unknown>, b as Record<string, unknown>];
    return [...new Set([...Object.keys(x), ...Object.keys(y)])]
      .flatMap((key) => differences(x[key], y[key], path === "" ? key : `${path}.${key}`));
  }
  return a === b ? [] : [`${path}: ${a}, read ${b}`];
}

for (
  const [name, input] of [
    ...TEMPLATES.map(({ name }) => [name, `template:${name}`]),
    ...RUN_NAMES.map((run) => [run, runPath(run)]),
  ]
) {
  Deno.test(`the log of a simulated run says what the run said: ${name}`, async () => {
    const { verdict: _, ...run }: Summary & { verdict: unknown } = JSON.parse(await output(input, "json"));
    const summarizer = new Summarizer({ source: "observed" });
    const report = await readEventLog(new Blob([await output(input, "eventlog")]).stream(), summarizer);
    const read = JSON.parse(JSON.stringify(summarizer.summary())) as Summary;
    const less = TOLD_LESS[name];
    if (less === undefined) {
      assertEquals(report.warnings, []);
      return assertEquals(asLogged(read), asLogged(run));
    }
    const [known, told] = [{ ...asLogged(run), warnings: [] }, { ...asLogged(read), warnings: [] }];
    const unexpected = differences(known, told).filter((difference) => !less.fields.test(difference));
    assertEquals(unexpected, []);
    assert(read.warnings.some(({ code }) => code === less.code), JSON.stringify(read.warnings));
  });
}
