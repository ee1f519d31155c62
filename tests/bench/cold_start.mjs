// Times workerd from its start to the first answer, for the built service and for an empty worker in turns. Prints JSON.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { compileConfig, startWorkerd, workerdBinary } from "../support/workerd.mjs";

const [folder, rounds, name] = process.argv.slice(2);
const binary = await workerdBinary(name);
const SIMULATION = JSON.stringify({ template: "sort", parameters: { maps: 8, reducers: 8 } });

/** A worker that does nothing, configured as the service is. */
function emptyWorker() {
  mkdirSync("empty", { recursive: true });
  writeFileSync("empty/worker.js", 'export default { fetch: () => new Response("{}") };');
  writeFileSync("empty/wrangler.jsonc", readFileSync(`${folder}/wrangler.jsonc`));
  return "empty";
}

/** CPU time of a process with all its threads so far, ms, where Linux tells it. */
function cpuMs(pid) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const ns = threads.map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ")[0]));
    return ns.reduce((sum, one) => sum + one, 0) / 1e6;
  } catch {
    return null;
  }
}

/** From nothing to the first answer. */
async function firstAnswer(config, path, init) {
  const began = performance.now();
  const { child, address } = await startWorkerd(config, binary);
  const response = await fetch(new URL(path, address), init);
  await response.arrayBuffer();
  const ms = performance.now() - began;
  const cpu = cpuMs(child.pid);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
  if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
  return { ms, cpuMs: cpu };
}

const empty = compileConfig(emptyWorker(), binary);
const service = compileConfig(folder, binary);
const times = [];
for (let i = 0; i <= Number(rounds); i++) {
  const round = {
    empty: await firstAnswer(empty, "/"),
    sizing: await firstAnswer(service, "/v1/sizing?spark.executor.memory=4g"),
    simulation: await firstAnswer(service, "/v1/simulations", { method: "POST", body: SIMULATION }),
  };
  // The first round fills the file system's cache.
  if (i > 0) times.push(round);
}
console.log(JSON.stringify(times));
