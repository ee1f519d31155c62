/**
 * `deno task build:npm`: the npm package in dist/npm/, as a folder and as the .tgz that `npm publish` takes. `deno pack`
 * makes JavaScript and types; added are the command, the kernel as a file with its checksum, and the entries for workerd.
 *
 * @module
 */
import { outputOf } from "./programs.ts";

const ROOT = new URL("../../", import.meta.url);
const COMMAND = "src/cli/node/sparkmem.js";

/** For workerd, in which no code may be compiled in a request: the kernel comes as a compiled module. */
const workerd = (entry: string) =>
  `import kernel from "./kernel.wasm";
import { useKernelModule } from "./src/mod.js";

useKernelModule(kernel);
export * from "./${entry}";
`;

/** An entry of the package: its module, and the one for workerd. */
const conditions = (entry: string, forWorkerd: string) => ({
  types: `./${entry.replace(/js$/, "d.ts")}`,
  workerd: `./${forWorkerd}`,
  browser: `./${entry}`,
  default: `./${entry}`,
});

/** package.json: what deno pack wrote, with conditions, command, and the versions that the project is tested with. */
function packageJson(packed: Record<string, unknown>, imports: Readonly<Record<string, string>>): string {
  const dependencies: Record<string, string> = {};
  for (const name of Object.keys(packed.dependencies as Record<string, string>)) {
    dependencies[name] = imports[name].slice(imports[name].lastIndexOf("@") + 1);
  }
  const { name, version, license } = packed;
  return JSON.stringify(
    {
      name,
      version,
      description:
        "What Apache Spark's memory manager and task-result path do to a job, and would do under other settings",
      license,
      type: "module",
      engines: { node: ">=20" },
      bin: { sparkmem: COMMAND },
      main: "./src/mod.js",
      types: "./src/mod.d.ts",
      exports: {
        ".": conditions("src/mod.js", "workerd.js"),
        "./service": conditions("routes/mod.js", "workerd_service.js"),
        "./client": { types: "./routes/client.d.ts", default: "./routes/client.js" },
        "./kernel.wasm": "./kernel.wasm",
        "./kernel.wasm.sha256": "./kernel.wasm.sha256",
        "./package.json": "./package.json",
      },
      dependencies,
    },
    null,
    2,
  ) + "\n";
}

/**
 * Builds the package into a folder.
 *
 * @returns the path of the .tgz
 */
export async function buildNpm(out: URL): Promise<string> {
  await Deno.mkdir(out, { recursive: true });
  const folder = new URL("package/", out);
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  const packed = new URL("packed.tgz", out);
  await outputOf(Deno.execPath(), ["pack", "--quiet", "--allow-dirty", "--no-source-maps", "-o", packed.pathname], {
    cwd: ROOT,
  });
  await outputOf("tar", ["xzf", packed.pathname], { cwd: out });
  await Deno.remove(packed);

  const { imports } = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT)));
  const manifest = new URL("package.json", folder);
  await Deno.writeTextFile(manifest, packageJson(JSON.parse(await Deno.readTextFile(manifest)), imports));
  const command = new URL(COMMAND, folder);
  await Deno.writeTextFile(command, `#!/usr/bin/env node\n${await Deno.readTextFile(command)}`);
  await Deno.chmod(command, 0o755);
  await Deno.writeTextFile(new URL("workerd.js", folder), workerd("src/mod.js"));
  await Deno.writeTextFile(new URL("workerd_service.js", folder), workerd("routes/mod.js"));
  for (const file of ["kernel.wasm", "kernel.wasm.sha256"]) {
    await Deno.copyFile(new URL(`assembly/build/${file}`, ROOT), new URL(file, folder));
  }
  const [{ filename }] = JSON.parse(
    await outputOf("npm", ["pack", "--json", "--pack-destination", ".."], { cwd: folder }),
  );
  return new URL(filename, out).pathname;
}

if (import.meta.main) console.log(await buildNpm(new URL("dist/npm/", ROOT)));
