// Runs a built worker in workerd itself, configured as its wrangler.jsonc says. For Node: workerd tells its port on a
// file descriptor of its own, which Deno's processes do not have.
import { execFileSync, spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";

/** The compatibility date and flags, and the modules by the rules of a folder's wrangler.jsonc, as workerd's config. */
function configOf(folder) {
  const text = readFileSync(`${folder}/wrangler.jsonc`, "utf8").replace(/^\s*\/\/.*$/gm, "");
  const { main, rules, compatibility_date: date, compatibility_flags: flags = [] } = JSON.parse(text);
  const kinds = { ESModule: "esModule", CompiledWasm: "wasm" };
  const modules = [main, ...readdirSync(folder).filter((name) => name !== main).sort()].flatMap((name) => {
    // Globs are of the form **/*.js.
    const rule = rules.find(({ globs }) => globs.some((glob) => name.endsWith(glob.replace("**/*", ""))));
    return rule === undefined ? [] : [`(name = "${name}", ${kinds[rule.type]} = embed "${name}")`];
  });
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [${modules.join(",\n      ")}],
    compatibilityDate = "${date}",
    compatibilityFlags = ${JSON.stringify(flags)},
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;
}

/**
 * Makes a folder's config in workerd's binary form, modules included, so that a start reads one file and parses none.
 *
 * @returns the path of the file.
 */
export function compileConfig(folder, binary) {
  const text = configOf(folder);
  writeFileSync(`${folder}/config.capnp`, text);
  const compiled = execFileSync(binary, ["compile", `${folder}/config.capnp`, "--config-only"], {
    maxBuffer: 2 ** 30,
    stdio: ["ignore", "pipe", "inherit"],
  });
  writeFileSync(`${folder}/config.bin`, compiled);
  return `${folder}/config.bin`;
}

/** Path of the binary that comes with npm's workerd, imported by this name. */
export async function workerdBinary(name) {
  const { default: { default: binary } } = await import(name);
  return binary;
}

/** Starts workerd on a compiled config; its process, and the address at which it listens. */
export async function startWorkerd(config, binary) {
  const child = spawn(binary, ["serve", "--binary", config, "--control-fd=3"], {
    stdio: ["ignore", "ignore", "inherit", "pipe"],
  });
  let told = "";
  const port = await new Promise((resolve, reject) => {
    child.stdio[3].on("data", (data) => {
      told += data;
      const found = /"port":\s*(\d+)/.exec(told);
      if (found !== null) resolve(found[1]);
    });
    child.on("exit", (code) => reject(new Error(`workerd has ended with ${code}`)));
  });
  return { child, address: `http://127.0.0.1:${port}/` };
}
