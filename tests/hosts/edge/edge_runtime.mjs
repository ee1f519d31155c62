// Serves the built service in Vercel's edge-runtime; prints its address.
import { readFile } from "node:fs/promises";

const [folder, name] = process.argv.slice(2);
const { EdgeRuntime, runServer } = await import(name);
const text = await readFile(`${folder}/service.js`, "utf8");
// The runtime runs scripts, not modules.
const script = text.replace(
  /export\s*\{\s*([\w$]+) as default\s*\};?\s*$/,
  (_, service) => `addEventListener("fetch", (event) => event.respondWith(${service}.fetch(event.request)));`,
);
const server = await runServer({ runtime: new EdgeRuntime({ initialCode: script }), host: "127.0.0.1", port: 0 });
console.log(server.url);
