/**
 * A real Spark from PyPI: its jars, which hold the History Server.
 *
 * @module
 */

/** Versions whose History Server opens our logs. */
export const PYSPARK_VERSIONS = ["3.5.9", "4.0.4"] as const;

async function run(program: string, args: string[]): Promise<string | null> {
  try {
    const { code, stdout, stderr } = await new Deno.Command(program, { args, stdin: "null" }).output();
    return code === 0 ? null : new TextDecoder().decode(code === 0 ? stdout : stderr).slice(-400);
  } catch (error) {
    return String(error);
  }
}

/** Why this machine cannot run a History Server, or null: it needs Java and pip. */
export async function whyNoHistoryServer(): Promise<string | null> {
  const java = await run("java", ["-version"]);
  if (java !== null) return `no Java: ${java.split("\n", 1)[0]}`;
  const pip = await run("python3", ["-m", "pip", "--version"]);
  return pip === null ? null : `no pip: ${pip.split("\n", 1)[0]}`;
}

/** The folder of jars of a Spark version; installed once below SPARKMEM_PYSPARK, or below the system's temporary folder. */
export async function sparkJars(version: string): Promise<string> {
  const base = Deno.env.get("SPARKMEM_PYSPARK") ?? `${Deno.env.get("TMPDIR") ?? "/tmp"}/sparkmem-pyspark`;
  const target = `${base}/${version}`;
  const jars = `${target}/pyspark/jars`;
  try {
    await Deno.stat(`${target}/complete`);
    return jars;
  } catch {
    await Deno.remove(target, { recursive: true }).catch(() => {});
  }
  const failure = await run("python3", [
    "-m",
    "pip",
    "install",
    "--quiet",
    "--no-deps",
    "--target",
    target,
    `pyspark==${version}`,
  ]);
  if (failure !== null) throw new Error(`pyspark ${version} cannot be installed: ${failure}`);
  await Deno.writeTextFile(`${target}/complete`, "");
  return jars;
}
