// Serves the built worker in workerd, as Cloudflare does; prints its address.
import { readFile } from "node:fs/promises";

const [folder, name] = process.argv.slice(2);
const { Miniflare } = await import(name);
const miniflare = new Miniflare({
  modules: [
    { type: "ESModule", path: "worker.js", contents: await readFile(`${folder}/worker.js`, "utf8") },
    { type: "CompiledWasm", path: "kernel.wasm", contents: await readFile(`${folder}/kernel.wasm`) },
  ],
  compatibilityDate: "2026-06-01",
  compatibilityFlags: ["enable_request_signal"],
  host: "127.0.0.1",
  port: 0,
});
console.log(String(await miniflare.ready));
