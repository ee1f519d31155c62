/**
 * Writes tests/LICENSES.md: every package of deno.lock with its licence, from the package's own package.json in Deno's cache.
 * `deno run -A tests/support/list_licenses.ts [--check]`; with `--check` it is only compared. A licence that is not known to be
 * compatible with Apache-2.0 is an error.
 *
 * @module
 */
import { assertEquals } from "@std/assert";

const LIST = new URL("../LICENSES.md", import.meta.url);
const COMPATIBLE = [
  "MIT",
  "ISC",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "0BSD",
  "CC0-1.0",
  "MPL-2.0",
  "BlueOak-1.0.0",
];

const lock: { npm?: Record<string, unknown> } = JSON.parse(
  await Deno.readTextFile(new URL("../../deno.lock", import.meta.url)),
);

/** Where Deno keeps the packages: the cache has a folder for each registry. */
async function cacheFolders(): Promise<string[]> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  const { npmCache } = JSON.parse(new TextDecoder().decode(stdout));
  return [...Deno.readDirSync(npmCache)].filter(({ isDirectory }) => isDirectory).map(({ name }) =>
    `${npmCache}/${name}`
  );
}

async function licenseOf(folders: readonly string[], name: string, version: string): Promise<string | null> {
  for (const folder of folders) {
    try {
      const { license } = JSON.parse(await Deno.readTextFile(`${folder}/${name}/${version}/package.json`));
      return typeof license === "string" ? license : license?.type ?? null;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return null;
}

const folders = await cacheFolders();
const rows: string[] = [];
for (const key of Object.keys(lock.npm ?? {}).sort()) {
  // A key is name@version, with the versions of its peers after a "_".
  const [, name, version] = /^(@?[^@]+)@([^_]+)/.exec(key)!;
  const license = await licenseOf(folders, name, version);
  // Types and optional parts for other platforms are in the lock and are not installed.
  if (license !== null && !license.split(/ OR |[()]/).some((one) => COMPATIBLE.includes(one.trim()))) {
    throw new Error(`Cannot list the licences: ${key} has ${license}, which is not known to be compatible`);
  }
  rows.push(`| ${name} | ${version} | ${license ?? "not installed"} |`);
}
const text = `# Licences of the dependencies

All packages of deno.lock, written by \`deno run -A tests/support/list_licenses.ts\`. axe-core, fast-check, lru-cache and
playwright-core are for tests and benchmarks only.

| package | version | licence |
| - | - | - |
${[...new Set(rows)].join("\n")}
`;
if (Deno.args.includes("--check")) assertEquals(await Deno.readTextFile(LIST), text);
else await Deno.writeTextFile(LIST, text);
