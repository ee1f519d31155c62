// Times workerd from its start to the first answer, for the built service and for an empty worker in turns. Prints JSON.
import { readFile } from "node:fs/promises";

const [folder, rounds, name] = process.argv.slice(2);
const { Miniflare } = await import(name);
const EMPTY = 'export default { fetch: () => new Response("{}") };';
const SERVICE = [
  { type: "ESModule", path: "worker.js", contents: await readFile(`${folder}/worker.js`, "utf8") },
  { type: "CompiledWasm", path: "kernel.wasm", contents: await readFile(`${folder}/kernel.wasm`) },
];
const SIMULATION = JSON.stringify({ template: "sort", parameters: { maps: 8, reducers: 8 } });

/** From nothing to the first answer, ms. */
async function firstAnswer(modules, path, init) {
  const began = performance.now();
  const miniflare = new Miniflare({
    modules,
    compatibilityDate: "2026-06-01",
    compatibilityFlags: ["enable_request_signal"],
    host: "127.0.0.1",
    port: 0,
  });
  const response = await fetch(new URL(path, await miniflare.ready), init);
  await response.arrayBuffer();
  const ms = performance.now() - began;
  await miniflare.dispose();
  if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
  return ms;
}

const times = [];
for (let i = 0; i <= Number(rounds); i++) {
  const empty = await firstAnswer([{ type: "ESModule", path: "worker.js", contents: EMPTY }], "/");
  const sizing = await firstAnswer(SERVICE, "/v1/sizing?spark.executor.memory=4g");
  const simulation = await firstAnswer(SERVICE, "/v1/simulations", { method: "POST", body: SIMULATION });
  // The first round fills the file system's cache.
  if (i > 0) times.push({ empty, sizing, simulation });
}
console.log(JSON.stringify(times));
