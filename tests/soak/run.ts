/**
 * Thousands of mixed requests, several at a time: every answer is the one that is given alone, and memory does not grow.
 * Run with `--v8-flags=--expose-gc`. Ends with `N passed, N failed`.
 *
 * @module
 */
import { createApp } from "../../routes/app.ts";
import { quietHost } from "../../routes/host.ts";
import { Prng } from "../../src/prng.ts";

const REQUESTS = Number(Deno.args[0] ?? 3000);
const CONCURRENCY = 8;
/** What a process may use more after the last request than after the first third. */
const MAX_HEAP_GROWTH = 8 * 2 ** 20;
const MAX_RSS_GROWTH = 96 * 2 ** 20;
const SEED = 1;

type Case = readonly [path: string, body: string | Uint8Array<ArrayBuffer> | null, accept?: string];

const json = JSON.stringify;
const log = await Deno.readFile(
  new URL("../testdata/runs/cache_evictions/app-20261130174132-0000.gz", import.meta.url),
);
const SMALL = { parameters: { partitions: 8, iterations: 2 }, executors: 2 };

/** Requests of every kind, good and bad. */
const CASES: readonly Case[] = [
  ["/healthz", null],
  ["/v1/sizing?spark.executor.memory=2g", null],
  ["/v1/sizing?spark.executor.memory=1m", null],
  ["/v1/templates", null],
  ["/openapi.json", null],
  ["/nothing", null],
  ...["cached-iterative", "wide-aggregation", "sort", "skewed-join", "large-collect", "broadcast"].flatMap(
    (template): Case[] => [1, 2].map((seed) => ["/v1/simulations", json({ template, seed })]),
  ),
  ["/v1/simulations", json({ template: "sort" }), "application/x-ndjson"],
  ["/v1/simulations", json({ template: "sort", seed: -1 })],
  ["/v1/simulations", '{"template":'],
  ["/v1/simulations", json({ workload: { stages: [{ id: 0, tasks: 1, parents: [0] }] } })],
  ["/v1/event-logs", log],
  ["/v1/event-logs", log.slice(0, 5000)],
  ["/v1/event-logs", "no log"],
  [
    "/v1/what-ifs",
    json({ template: "cached-iterative", ...SMALL, changes: { conf: { "spark.executor.memory": "1g" } } }),
  ],
  [
    "/v1/sweeps",
    json({ template: "cached-iterative", ...SMALL, vary: { "spark.executor.memory": ["1g", "1m", "4g"] } }),
  ],
  ["/v1/recommendations", json({ template: "cached-iterative", ...SMALL, conf: { "spark.executor.memory": "1g" } })],
];

const app = createApp({
  host: { ...quietHost(), pause: () => new Promise((resolve) => setTimeout(resolve, 0)) },
  limits: { concurrency: CONCURRENCY },
});

async function answer([path, body, accept]: Case): Promise<string> {
  const response = await app.request(path, {
    method: body === null ? "GET" : "POST",
    body,
    headers: accept === undefined ? {} : { accept },
  });
  const bytes = await response.arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return `${response.status} ${bytes.byteLength} ${digest.toHex()}`;
}

/** Memory after a full collection. */
function memory(): { heap: number; rss: number } {
  (globalThis as unknown as { gc?: () => void }).gc?.();
  const { heapUsed, rss } = Deno.memoryUsage();
  return { heap: heapUsed, rss };
}

const alone: string[] = [];
for (const one of CASES) alone.push(await answer(one));

const prng = new Prng(SEED);
let sent = 0;
let different = 0;
let early: ReturnType<typeof memory> | undefined;
async function client(): Promise<void> {
  while (sent < REQUESTS) {
    sent++;
    if (sent === Math.floor(REQUESTS / 3)) early = memory();
    const i = prng.integer(CASES.length);
    const received = await answer(CASES[i]);
    if (received === alone[i]) continue;
    if (different++ < 5) console.log(`${CASES[i][0]}: ${received}, alone ${alone[i]}`);
  }
}
await Promise.all(Array.from({ length: CONCURRENCY }, client));
const late = memory();
const heapGrowth = late.heap - early!.heap;
const rssGrowth = late.rss - early!.rss;
const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
console.log(`${sent} requests, ${different} answers differ; heap +${mib(heapGrowth)}, process +${mib(rssGrowth)}`);
const failed = [different > 0, heapGrowth > MAX_HEAP_GROWTH, rssGrowth > MAX_RSS_GROWTH].filter((bad) => bad).length;
console.log(`${3 - failed} passed, ${failed} failed`);
Deno.exitCode = failed === 0 ? 0 : 1;
