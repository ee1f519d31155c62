/**
 * The built service in workerd, edge-runtime, Node, Bun and Deno: the same requests have the same answers, byte for byte.
 * Ends with `N passed, N failed`.
 *
 * @module
 */
import { createApp } from "../../../routes/app.ts";
import { EDGE_LIMITS } from "../../../routes/limits.ts";
import { mountPage } from "../../../routes/page/mod.ts";
import { Checks } from "../../support/checks.ts";
import { outputOf } from "../../support/programs.ts";
import { buildEdge, SERVICE_BUDGET_BYTES } from "../../support/build_edge.ts";

const HERE = import.meta.dirname!;
const LOG = `${HERE}/../../testdata/runs/cache_evictions/app-20261130174132-0000.gz`;
/** Versions of what is installed for the test. */
const PACKAGES = ["workerd@1.20261117.1", "edge-runtime@4.0.1", "bun@1.4.5"];

/** A runtime: how it is started, and which limits it has. */
interface Runtime {
  readonly name: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly edge: boolean;
}

/** One request. */
type Case = readonly [method: string, path: string, body?: string | Uint8Array<ArrayBuffer>, accept?: string];

const job = (value: unknown) => JSON.stringify(value);
const CASES: readonly Case[] = [
  ["GET", "/healthz"],
  ["GET", "/v1/templates"],
  ["GET", "/v1/templates/broadcast"],
  ["GET", "/v1/sizing?spark.executor.memory=4g&sparkVersion=3.5.1&collector=parallel"],
  ["GET", "/v1/sizing?spark.executor.memory=100m"],
  ["GET", "/openapi.json"],
  ["GET", "/docs"],
  ["GET", "/"],
  ["GET", "/nothing"],
  ["DELETE", "/healthz"],
  ...["cached-iterative", "wide-aggregation", "sort", "skewed-join", "large-collect", "many-tiny-tasks", "broadcast"]
    .map(
      (
        template,
      ): Case => ["POST", "/v1/simulations", job({ template, seed: 7, conf: { "spark.executor.memory": "2g" } })],
    ),
  ["POST", "/v1/simulations", job({ template: "skewed-join", seed: 3 }), "application/x-ndjson"],
  ["POST", "/v1/simulations", '{"template": "sort", "seed": 1, "seed": 2}'],
  ["POST", "/v1/simulations", "[".repeat(100_000)],
  ["POST", "/v1/simulations", job({ template: "sort", executors: 1e12 })],
  ["POST", "/v1/event-logs", await Deno.readFile(LOG)],
  ["POST", "/v1/event-logs", "no log"],
  ["POST", "/v1/what-ifs", job({ template: "cached-iterative", changes: { storageLevel: "MEMORY_AND_DISK_SER" } })],
  ["POST", "/v1/sweeps", job({ template: "sort", vary: { "spark.executor.memory": ["1g", "1m", "2g"] } })],
  ["POST", "/v1/recommendations", job({ template: "sort", executors: 2, parameters: { maps: 8, reducers: 8 } })],
];

async function answer([method, path, body, accept]: Case, send: (request: Request) => Promise<Response>) {
  const response = await send(
    new Request(new URL(path, "http://localhost"), {
      method,
      body,
      headers: accept === undefined ? {} : { accept },
    }),
  );
  const bytes = new Uint8Array(await response.arrayBuffer());
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const type = response.headers.get("content-type")?.toLowerCase();
  return `${response.status} ${type} ${bytes.length} bytes ${digest.slice(0, 8).toHex()}`;
}

/** Starts a runtime and gives its address, which it prints first. */
async function start({ command: [program, ...args], env = {} }: Runtime, cwd: string) {
  const child = new Deno.Command(program, { args, cwd, env, stdin: "null", stdout: "piped", stderr: "inherit" })
    .spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let printed = "";
  let address: string | undefined;
  while (address === undefined) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`${program} ended: ${printed}`);
    printed += value;
    address = /https?:\/\/[^\s"]+/.exec(printed)?.[0];
  }
  const drained = (async () => {
    while (!(await reader.read()).done);
  })();
  return {
    address,
    async stop() {
      child.kill("SIGTERM");
      await child.status;
      await drained;
    },
  };
}

async function install(folder: string): Promise<void> {
  await Deno.writeTextFile(`${folder}/package.json`, '{"private": true, "type": "module"}');
  for (const args of [["install", "--no-fund", "--no-audit", ...PACKAGES], ["rebuild", "bun"]]) {
    await outputOf("npm", args, { cwd: folder });
  }
}

const folder = await Deno.makeTempDir();
const checks = new Checks();
try {
  const { serviceBytes } = await buildEdge(new URL(`file://${folder}/dist/`));
  console.log(`service without page: ${(serviceBytes / 1024).toFixed(1)} KiB gzip'd`);
  checks.check("size", serviceBytes <= SERVICE_BUDGET_BYTES, `${serviceBytes} bytes, at most ${SERVICE_BUDGET_BYTES}`);
  await install(folder);
  for (const path of ["hosts/edge", "support"]) await Deno.mkdir(`${folder}/${path}`, { recursive: true });
  for (const file of ["hosts/edge/workerd.mjs", "hosts/edge/edge_runtime.mjs", "support/workerd.mjs"]) {
    await Deno.copyFile(`${HERE}/../../${file}`, `${folder}/${file}`);
  }
  const runtimes: Runtime[] = [
    { name: "workerd", command: ["node", "hosts/edge/workerd.mjs", "dist/cloudflare", "workerd"], edge: true },
    { name: "edge-runtime", command: ["node", "hosts/edge/edge_runtime.mjs", "dist/web", "edge-runtime"], edge: true },
    { name: "Node", command: ["node", "dist/node/server.mjs"], env: { PORT: "0" }, edge: false },
    { name: "Bun", command: ["node_modules/.bin/bun", "dist/bun/server.mjs"], env: { PORT: "0" }, edge: false },
    {
      name: "Deno",
      command: [Deno.execPath(), "run", "-A", "--quiet", "--unstable-no-legacy-abort", `${HERE}/deno.ts`],
      edge: false,
    },
  ];
  const references = new Map<boolean, string[]>();
  for (const edge of [true, false]) {
    const app = createApp({ page: mountPage, limits: edge ? EDGE_LIMITS : {} });
    const answers: string[] = [];
    for (const one of CASES) {
      answers.push(await answer(one, (request) => Promise.resolve(app.fetch(request))));
      checks.check(`${one[0]} ${one[1]}`, !answers.at(-1)!.startsWith("500"), answers.at(-1));
    }
    references.set(edge, answers);
  }
  for (const runtime of runtimes) {
    const began = performance.now();
    const { address, stop } = await start(runtime, folder);
    try {
      for (const [i, one] of CASES.entries()) {
        const received = await answer(one, (request) => {
          const { pathname, search } = new URL(request.url);
          return fetch(new Request(new URL(pathname + search, address), request));
        });
        if (i === 0) console.log(`${runtime.name}: first answer after ${(performance.now() - began).toFixed(0)} ms`);
        const expected = references.get(runtime.edge)![i];
        checks.check(`${runtime.name} ${one[0]} ${one[1]}`, received === expected, `${received}, expected ${expected}`);
      }
    } finally {
      await stop();
    }
  }
} finally {
  await Deno.remove(folder, { recursive: true });
}
checks.end();
