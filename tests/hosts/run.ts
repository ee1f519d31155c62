/**
 * The kernel in other hosts: each example replays the recorded trace and must reach Spark's state; with another state in
 * the trace it must fail. Runs those whose toolchain the machine has, says which it skipped, ends with
 * `N passed, N failed`. `run.ts NAME...` runs some of them.
 *
 * @module
 */
import { ensureChromium } from "../browser/support/install.ts";

const HERE = import.meta.dirname!;
const KERNEL = `${HERE}/../../assembly/build/kernel.wasm`;
const TRACE = `${HERE}/trace/trace.txt`;
/** Downloads and compilers are slow on a small machine. */
const MAX_STEP_MS = 8 * 60_000;
const BUN = "bun@1.4.5";

type Command = readonly string[];

/** A host. Commands run in a copy of its folder. */
interface Host {
  readonly name: string;
  /** Programs that it needs, with the argument that makes them print their version. */
  readonly needs: readonly Command[];
  readonly folder?: string;
  readonly prepare: readonly Command[];
  /** Without the two arguments KERNEL.WASM and TRACE.TXT. */
  readonly run: Command;
  /** Another command whose output must have this line. */
  readonly check?: { readonly command: Command; readonly line: string };
}

const JAVA_OPENS = ["java.nio", "java.lang", "sun.nio.ch", "jdk.internal.misc"]
  .flatMap((name) => ["--add-opens", `java.base/${name}=ALL-UNNAMED`]);

const HOSTS: readonly Host[] = [
  { name: "node", needs: [["node", "--version"]], prepare: [], run: ["node", "replay.mjs"] },
  {
    name: "bun",
    needs: [["npm", "--version"]],
    folder: "node",
    prepare: [["npm", "install", "--no-save", "--no-fund", "--no-audit", BUN], ["npm", "rebuild", "bun"]],
    run: ["node_modules/.bin/bun", "replay.mjs"],
  },
  {
    name: "browser",
    needs: [],
    prepare: [],
    run: [Deno.execPath(), "run", "-A", "--quiet", `${HERE}/browser/run.ts`],
  },
  {
    name: "python",
    needs: [["python3", "--version"]],
    prepare: [
      ["python3", "-m", "venv", "venv"],
      ["venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"],
    ],
    run: ["venv/bin/python", "replay.py"],
  },
  { name: "go", needs: [["go", "version"]], prepare: [["go", "build", "-o", "replay", "."]], run: ["./replay"] },
  {
    name: "rust",
    needs: [["cargo", "--version"]],
    prepare: [["cargo", "build", "--quiet", "--release", "--locked"]],
    run: ["target/release/replay"],
  },
  {
    name: "java",
    needs: [["java", "-version"], ["mvn", "--version"]],
    prepare: [[
      "mvn",
      "-q",
      "-B",
      "-ntp",
      "compile",
      "dependency:build-classpath",
      "-Dmdep.outputFile=target/classpath.txt",
    ]],
    run: ["java", "-cp", "CLASSPATH", "hosts.Replay"],
    check: {
      command: ["java", ...JAVA_OPENS, "-cp", "CLASSPATH", "hosts.CheckAgainstSpark", KERNEL, "7", "20000"],
      line: "20000 operations equal to those of Spark's own classes",
    },
  },
];

interface Result {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run([program, ...args]: Command, cwd: string): Promise<Result> {
  const signal = AbortSignal.timeout(MAX_STEP_MS);
  const { code, stdout, stderr } = await new Deno.Command(program, { args, cwd, signal, stdin: "null" }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

async function whySkipped(host: Host): Promise<string | null> {
  if (host.name === "browser") return await ensureChromium();
  for (const command of host.needs) {
    try {
      if ((await run(command, HERE)).code !== 0) return `${command[0]} does not run`;
    } catch {
      return `${command[0]} is not installed`;
    }
  }
  return null;
}

/** Copies the files of a host's folder, not what was built in it. */
async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory && name !== "target") await copyFolder(`${from}/${name}`, `${to}/${name}`);
    else if (!isDirectory) await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}

/** What is wrong with a host, nothing when all is well. */
async function problemsOf(host: Host, folder: string): Promise<string[]> {
  await copyFolder(`${HERE}/${host.folder ?? host.name}`, folder);
  for (const command of host.prepare) {
    const { code, stdout, stderr } = await run(command, folder);
    if (code !== 0) return [`${command.join(" ")}: ${(stdout + stderr).slice(-2000)}`];
  }
  const classpath = host.name === "java" ? await Deno.readTextFile(`${folder}/target/classpath.txt`) : "";
  const filled = (command: Command) =>
    command.map((word) => word === "CLASSPATH" ? `target/classes:${classpath.trim()}` : word);
  const problems: string[] = [];

  const trace = await Deno.readTextFile(TRACE);
  const state = trace.trimEnd().split("\n").at(-1)!;
  const good = await run([...filled(host.run), KERNEL, TRACE], folder);
  const speed = /^(\d+) operations per second$/m.exec(good.stdout);
  if (good.code !== 0 || !good.stdout.split("\n").includes(state) || !(Number(speed?.[1]) > 0)) {
    problems.push(`exit ${good.code}: ${(good.stdout + good.stderr).slice(-2000)}`);
  } else console.log(`${host.name.padEnd(8)} ${speed![1].padStart(9)} operations per second`);

  await Deno.writeTextFile(
    `${folder}/other.txt`,
    trace.replace(/\d\n$/, (digit) => `${(Number(digit[0]) + 1) % 10}\n`),
  );
  const other = await run([...filled(host.run), KERNEL, `${folder}/other.txt`], folder);
  if (other.code === 0) problems.push(`does not notice another state:\n${other.stdout}`);

  if (host.check !== undefined) {
    const { code, stdout, stderr } = await run(filled(host.check.command), folder);
    if (code === 0 && stdout.includes(host.check.line)) console.log(`${host.name.padEnd(8)} ${host.check.line}`);
    else problems.push(`exit ${code}: ${(stdout + stderr).slice(-2000)}`);
  }
  return problems;
}

let passed = 0;
let failed = 0;
for (const host of HOSTS) {
  if (Deno.args.length > 0 && !Deno.args.includes(host.name)) continue;
  const why = await whySkipped(host);
  if (why !== null) {
    console.log(`${host.name.padEnd(8)} skipped: ${why}`);
    continue;
  }
  const folder = await Deno.makeTempDir();
  try {
    const problems = await problemsOf(host, `${folder}/${host.name}`);
    for (const problem of problems) console.log(`${host.name}: ${problem}`);
    if (problems.length === 0) passed++;
    else failed++;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
console.log(`${passed} passed, ${failed} failed`);
Deno.exitCode = failed === 0 ? 0 : 1;
