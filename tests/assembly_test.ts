/** The kernel's file and its ABI, against what assembly/README.md and tests/testdata/kernel_abi_N.txt promise. */
import { assert, assertEquals } from "@std/assert";

const ROOT = new URL("../", import.meta.url);
const read = (path: string) => Deno.readTextFileSync(new URL(path, ROOT));
const bytes = Deno.readFileSync(new URL("assembly/build/kernel.wasm", ROOT));
const module = new WebAssembly.Module(bytes);
const exports = new WebAssembly.Instance(module).exports;

/** Where something is does not belong to the contract: hosts ask. */
const ADDRESSES = new Set(["EVENT_LOG", "STATE_ADDRESS", "UNROLL_RESULT"]);
/** Bytes of the field types that the records use. */
const SIZES: Record<string, number> = { u8: 1, u16: 2, i32: 4, u32: 4, usize: 4, i64: 8, u64: 8, f64: 8 };

function globalOf(name: string): number {
  return (exports[name] as WebAssembly.Global).value as number;
}

/** Exports as lines: functions with their number of parameters, constants with their value. */
function exportLines(): string[] {
  return WebAssembly.Module.exports(module).map(({ name, kind }) => {
    if (kind === "function") return `${kind} ${name} ${(exports[name] as CallableFunction).length}`;
    return kind === "global" && !ADDRESSES.has(name) ? `${kind} ${name} ${globalOf(name)}` : `${kind} ${name}`;
  }).sort();
}

/** The fields of each record in the sources, laid out as the compiler does. */
function recordLines(source: string): string[] {
  return [...source.matchAll(/@unmanaged\n(?:export )?class (\w+) \{\n((?: {2}\w+!: \w+;\n)+)/g)].flatMap(
    ([, name, body]) => {
      let end = 0;
      const fields = [...body.matchAll(/(\w+)!: (\w+);/g)].map(([, field, type]) => {
        const offset = Math.ceil(end / SIZES[type]) * SIZES[type];
        end = offset + SIZES[type];
        return `record ${name} ${offset} ${field} ${type}`;
      });
      return fields;
    },
  );
}

function sources(): string[] {
  return [...Deno.readDirSync(new URL("assembly/", ROOT))].map(({ name }) => name).filter((name) =>
    name.endsWith(".ts")
  )
    .sort().map((name) => read(`assembly/${name}`));
}

Deno.test("the exports and records are those written down for this version of the ABI", () => {
  const version = globalOf("ABI_VERSION");
  const found = [...exportLines(), ...sources().flatMap(recordLines)].join("\n") + "\n";
  const path = `tests/testdata/kernel_abi_${version}.txt`;
  assertEquals(
    found,
    read(path),
    `the ABI changed: raise ABI_VERSION, describe the change in assembly/README.md, write ${path}`,
  );
});

Deno.test("the README has this version and names each export", () => {
  const readme = read("assembly/README.md");
  assert(readme.startsWith(`# The kernel's ABI, version ${globalOf("ABI_VERSION")}\n`));
  for (const { name, kind } of WebAssembly.Module.exports(module)) {
    if (name === "memory") continue;
    assert(readme.includes(kind === "function" ? `| \`${name}(` : `\`${name}\``), name);
  }
});

Deno.test("the README's functions have the parameters that they take, and its constants their values", () => {
  const readme = read("assembly/README.md");
  for (const [, name, parameters] of readme.matchAll(/^\| `(\w+)\(([^)]*)\)/gm)) {
    const count = parameters === "" ? 0 : parameters.split(",").length;
    assertEquals((exports[name] as CallableFunction).length, count, name);
  }
  const constants = [...readme.matchAll(/^\| `([A-Z_]+)` \| (-?\d+) \|/gm)];
  assertEquals(constants.length, 57);
  for (const [, name, value] of constants) assertEquals(globalOf(name), Number(value), name);
});

Deno.test("record comments say where the compiler puts the fields", () => {
  let compared = 0;
  for (const source of sources()) {
    for (const line of recordLines(source)) {
      const [, record, offset, field] = line.split(" ");
      const table = new RegExp(`\\* ${record} \\((\\d+) bytes[^]*?\\*/`).exec(source)?.[0];
      // fields that a comment describes as one (pools, arrays by mode, ends of lists) are named by it otherwise
      const described = table && new RegExp(`\\* \\| +(\\d+) \\| ${field} +\\|`).exec(table);
      if (described) assertEquals(described[1], offset, line);
      if (described) compared++;
    }
  }
  assert(compared >= 55, `${compared}`);
});

Deno.test("the kernel imports nothing and keeps its budget of 24 KiB", () => {
  assertEquals(WebAssembly.Module.imports(module), []);
  assert(bytes.length <= 24 * 1024, `${bytes.length} bytes`);
});
