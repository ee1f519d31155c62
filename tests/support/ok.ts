/**
 * `deno task ok`: the one gate. Format, lint, type check, the documentation of the library, the kernel rebuilt byte for
 * byte, all tests.
 *
 * @module
 */
/** As the tasks `build` and `build:page` have them. */
const BUILD_PERMISSIONS = ["--no-prompt", "--allow-read", "--allow-write", "--allow-run=deno"];

const steps: [name: string, args: string[]][] = [
  ["format", ["fmt", "--check"]],
  ["lint", ["lint", "--quiet"]],
  ["type check", ["check", "src", "routes", "tests"]],
  ["the library is documented", ["doc", "--lint", "--quiet", "src/mod.ts"]],
  ["kernel is reproducible", [
    "run",
    ...BUILD_PERMISSIONS,
    "tests/support/build_kernel.ts",
    "--check",
  ]],
  ["web page is reproducible", [
    "run",
    ...BUILD_PERMISSIONS,
    "tests/support/build_page.ts",
    "--check",
  ]],
  ["tests", ["task", "--quiet", "test"]],
];

for (const [name, args] of steps) {
  const start = performance.now();
  const { code } = await new Deno.Command("deno", {
    args,
    stdout: "inherit",
    stderr: "inherit",
  }).output();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  if (code !== 0) {
    console.error(`not ok: ${name} (${seconds} s)`);
    Deno.exit(1);
  }
  console.error(`ok: ${name} (${seconds} s)`);
}
