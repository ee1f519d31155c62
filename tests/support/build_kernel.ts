/**
 * `deno task build`: compiles assembly/ to assembly/build/kernel.wasm and the base64 module made from it.
 * With `--check` it builds elsewhere and fails when a byte differs from what is committed.
 *
 * @module
 */
import { join } from "node:path";

const ASSEMBLY = join(import.meta.dirname!, "..", "..", "assembly");
const COMPILER = "npm:assemblyscript@0.28.20/asc";

/** Compiles assembly/ into `file`. */
async function compile(file: string): Promise<void> {
  const { code, stderr } = await new Deno.Command("deno", {
    args: [
      "run",
      "--quiet",
      "-A",
      COMPILER,
      "--config",
      "asconfig.json",
      "--target",
      "release",
      "--outFile",
      file,
    ],
    cwd: ASSEMBLY,
    stderr: "piped",
  }).output();
  if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
}

/** The module that carries the kernel where a .wasm file cannot be loaded. */
function base64Module(wasm: Uint8Array): string {
  let binary = "";
  for (const byte of wasm) binary += String.fromCharCode(byte);
  const lines = btoa(binary).match(/.{1,112}/g)!;
  return `// Made by \`deno task build\` from assembly/. Do not edit.
// deno-fmt-ignore-file
/** assembly/build/kernel.wasm in base64. */
export const KERNEL_WASM: string =
  "${lines.join('" +\n  "')}";
`;
}

/** A line of `sha256sum --check`. */
async function checksumLine(wasm: Uint8Array<ArrayBuffer>): Promise<string> {
  return `${new Uint8Array(await crypto.subtle.digest("SHA-256", wasm)).toHex()}  kernel.wasm\n`;
}

/** Builds into `folder`: kernel.wasm, its checksum, and kernel_wasm.ts. */
export async function buildKernel(folder: string): Promise<void> {
  const file = join(folder, "kernel.wasm");
  await compile(file);
  const wasm = await Deno.readFile(file);
  await Deno.writeTextFile(`${file}.sha256`, await checksumLine(wasm));
  await Deno.writeTextFile(join(folder, "kernel_wasm.ts"), base64Module(wasm));
}

async function check(): Promise<boolean> {
  const folder = await Deno.makeTempDir();
  try {
    await buildKernel(folder);
    for (const name of ["kernel.wasm", "kernel.wasm.sha256", "kernel_wasm.ts"]) {
      const built = await Deno.readFile(join(folder, name));
      const committed = await Deno.readFile(join(ASSEMBLY, "build", name));
      if (
        built.length !== committed.length ||
        built.some((byte, i) => byte !== committed[i])
      ) {
        console.error(
          `assembly/build/${name} is not what assembly/ gives: run deno task build`,
        );
        return false;
      }
    }
    return true;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) {
  if (Deno.args.includes("--check")) Deno.exit(await check() ? 0 : 1);
  await buildKernel(join(ASSEMBLY, "build"));
}
