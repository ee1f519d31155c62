/**
 * Makes sure that the browsers are there, by Debian's package manager.
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

/** Installs a program when it is missing. Resolves to null, or to why it is not there. */
async function ensure(program: string): Promise<string | null> {
  if (await succeeds(program, ["--version"])) return null;
  await succeeds("apt-get", ["update"]);
  const installed = await succeeds("apt-get", ["install", "--yes", "--no-install-recommends", program]);
  if (installed && await succeeds(program, ["--version"])) return null;
  return `${program} is not installed and apt-get cannot install it`;
}

/** Chromium; without it the page cannot be tested at all. */
export function ensureChromium(): Promise<string | null> {
  return ensure("chromium");
}

/** Firefox; Debian's long-term release. */
export function ensureFirefox(): Promise<string | null> {
  return ensure("firefox-esr");
}
