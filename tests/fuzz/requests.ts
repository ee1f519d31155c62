/**
 * Requests whose bodies are valid but for one to three values that were replaced by hostile ones: each is answered, or
 * refused with a problem document; the service never fails (500).
 *
 * @module
 */
import fc from "fast-check";
import { type LogRecord, quietHost } from "../../routes/host.ts";
import { CONF_ENTRIES } from "../../src/spark/conf_entries.ts";
import { jobSpecFromTemplate, TEMPLATES } from "../../src/workload/templates.ts";
import { arbitraryApplication } from "./arbitrary_application.ts";
import { runText } from "../support/runs.ts";
import { problem, testService } from "../support/service.ts";

/** Numbers at the edges of what is accepted, and beyond. */
const NUMBERS = [
  0,
  -0,
  -1,
  0.5,
  1.1,
  6.35e-5,
  1e-300,
  3,
  7,
  1000,
  65_536.5,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32,
  761511997031756.1,
  2 ** 50,
  2 ** 50 + 1,
  2 ** 53 - 1,
  2 ** 53,
  1e12,
  1e300,
];

const STRINGS = [
  "",
  "0",
  "-1",
  "1.5",
  "1e3",
  "8388607t",
  "1k",
  "zzz",
  "4.9.9",
  "\ud800",
  "0/0",
  "MEMORY_ONLY",
  "0",
  "rdd 0",
];

/** Values of another kind than is asked for. */
const OTHERS = [null, true, [], {}, [[]], [0, 0.5], { distribution: "zipf" }, -5, "9g"];

/** A change to a body: `at` modulo the number of its values is the place; `other` (one in ten) changes the kind as well. */
const change = fc.record({
  at: fc.noBias(fc.nat()),
  number: fc.constantFrom(...NUMBERS),
  string: fc.constantFrom(...STRINGS),
  other: fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(...OTHERS),
  }),
});

type Change = { readonly at: number; readonly number: number; readonly string: string; readonly other: unknown };

function replacement(before: unknown, { number, string, other }: Change): unknown {
  if (other !== null) return structuredClone(other);
  if (typeof before === "number") return number;
  return typeof before === "string" ? string : OTHERS[number % OTHERS.length] ?? null;
}

/** Where each value of a document lies: its holder and key. */
function places(value: unknown, found: [holder: Record<string, unknown>, key: string][] = []) {
  if (typeof value !== "object" || value === null) return found;
  for (const [key, inner] of Object.entries(value)) {
    found.push([value as Record<string, unknown>, key]);
    places(inner, found);
  }
  return found;
}

/** The body with its changes, and what they are: "cores 4 -> 0.5". */
function changed(body: unknown, changes: readonly Change[]): { body: unknown; said: string[] } {
  const copy = structuredClone(body);
  const said: string[] = [];
  for (const change of changes) {
    // Containers are changed through what they hold.
    const all = places(copy).filter(([holder, key]) => typeof holder[key] !== "object");
    const [holder, key] = all[change.at % all.length];
    const before = holder[key];
    holder[key] = replacement(before, change);
    said.push(`${key} ${JSON.stringify(before)} -> ${JSON.stringify(holder[key])}`);
  }
  return { body: copy, said };
}

/** A setting with a hostile value, beside those of the job. */
const setting = fc.option(
  fc.tuple(fc.constantFrom(...CONF_ENTRIES.keys()), fc.constantFrom<unknown>(...NUMBERS, ...STRINGS)),
);

/** The jobs of the templates, made small, as specs and as the exact lineage that a log would give. */
function templateJobs(lineages: readonly unknown[]): fc.Arbitrary<unknown> {
  const specs = TEMPLATES.map(({ name }) => jobSpecFromTemplate(name).spec);
  return fc.constantFrom<unknown>(...specs, ...lineages);
}

const settings = fc.constantFrom<Record<string, unknown>>(
  {},
  { executors: 3 },
  { conf: { "spark.executor.memory": "3g", "spark.memory.fraction": "0.7" } },
  { storageLevel: "MEMORY_AND_DISK_SER", conf: { "spark.executor.cores": 2 } },
);

/** A route and the body that it is sent, before it is changed. */
function requests(lineages: readonly unknown[]): fc.Arbitrary<{ path: string; body: unknown }> {
  const job = fc.oneof({ weight: 1, arbitrary: templateJobs(lineages) }, {
    weight: 2,
    arbitrary: arbitraryApplication(),
  });
  return fc.tuple(job, settings, fc.constantFrom("simulations", "what-ifs", "sweeps", "recommendations")).map((
    [workload, changes, route],
  ) => {
    const more: Record<string, unknown> = route === "what-ifs"
      ? { changes }
      : route === "sweeps"
      ? { vary: { "spark.executor.memory": ["1g", "2g"], executors: [2] } }
      : route === "simulations"
      ? changes
      : { budget: { maxEvictedBlocks: 1 } };
    return { path: `/v1/${route}`, body: { workload, ...more } };
  });
}

/** Runs whose workloads are sent in the form that `POST /v1/event-logs` answers with. */
const RUNS = ["cache_evictions", "max_result_size"];

async function lineagesOf(runs: readonly string[]): Promise<unknown[]> {
  const { post } = testService();
  const answers = runs.map(async (name) => await (await post("/v1/event-logs", await runText(name))).json());
  return (await Promise.all(answers)).map(({ workload }) => workload);
}

/** What came of the requests, by status. */
export interface RequestCounts {
  requests: number;
  answered: number;
  refused: number;
}

/**
 * Sends `runs` changed requests to a service with small limits.
 *
 * @throws {Error} With the seed, the request that makes the service fail, and what was changed in it.
 */
export async function fuzzRequests(seed: number, runs: number): Promise<RequestCounts> {
  const lineages = await lineagesOf(RUNS);
  const counts = { requests: 0, answered: 0, refused: 0 };
  const failures: LogRecord[] = [];
  const host = {
    ...quietHost(),
    log(record: LogRecord) {
      if (Number(record.status) >= 500) failures.push(record);
    },
  };
  const limits = { tasks: 2000, events: 20_000, blocks: 20_000 };
  const { post } = testService({ host, limits });
  await fc.assert(
    fc.asyncProperty(
      requests(lineages),
      fc.array(change, { maxLength: 3 }),
      setting,
      async (request, changes, setting) => {
        const { body, said } = changed(request.body, changes);
        if (setting !== null) {
          const [key, value] = setting;
          (body as { conf?: Record<string, unknown> }).conf = { [key]: value };
          said.push(`${key}=${value}`);
        }
        const response = await post(request.path, body);
        counts.requests++;
        if (response.status === 200) {
          counts.answered++;
          for (const line of (await response.text()).split("\n")) {
            if (line !== "" && JSON.parse(line).status >= 500) throw new Error(`${line}: ${said.join(", ")}`);
          }
          return;
        }
        counts.refused++;
        const { status, code } = await problem(response);
        if (status >= 500) throw new Error(`${code}: ${failures.at(-1)?.error}: ${said.join(", ")}`);
      },
    ),
    { seed, numRuns: runs, endOnFailure: true },
  );
  return counts;
}
