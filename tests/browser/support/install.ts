/**
 * Makes sure that chromium is there, by Debian's package manager.
 *
 * @module
 */

async function succeeds(program: string, args: string[]): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(program, {
      args,
      env: { DEBIAN_FRONTEND: "noninteractive" },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).output();
    return success;
  } catch {
    return false;
  }
}

/** Installs what is missing. Resolves to null, or to why the browser tests cannot run here. */
export async function ensureChromium(): Promise<string | null> {
  if (await succeeds("chromium", ["--version"])) return null;
  await succeeds("apt-get", ["update"]);
  const installed = await succeeds("apt-get", [
    "install",
    "--yes",
    "--no-install-recommends",
    "chromium",
  ]);
  if (installed && await succeeds("chromium", ["--version"])) return null;
  return "chromium is not installed and apt-get cannot install it";
}
