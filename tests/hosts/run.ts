/**
 * The kernel in other hosts: each example replays the recorded trace and must reach Spark's state; with another state in
 * the trace it must fail; the ten lines of its README print what they say. Runs those whose toolchain the machine has, says which it skipped, ends with
 * `N passed, N failed`. `run.ts NAME...` runs some of them.
 *
 * @module
 */
import { Checks } from "../support/checks.ts";
import { type Ran, runProgram } from "../support/programs.ts";
import { ensureChromium } from "../browser/support/install.ts";
import { tenLinesOf } from "./ten_lines.ts";

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
  /** Where the program of the README is put, before `prepare`, and how it is run beside kernel.wasm. */
  readonly tenLines: { readonly file: string; readonly run: Command };
  /** Another line that its output must have. */
  readonly line?: string;
}

const JAVA_OPENS = ["java.nio", "java.lang", "sun.nio.ch", "jdk.internal.misc"]
  .flatMap((name) => ["--add-opens", `java.base/${name}=ALL-UNNAMED`]);

const BROWSER: Command = [Deno.execPath(), "run", "-A", "--quiet", `${HERE}/browser/run.ts`];

const HOSTS: readonly Host[] = [
  {
    name: "node",
    needs: [["node", "--version"]],
    prepare: [],
    run: ["node", "replay.mjs"],
    tenLines: { file: "ten_lines.mjs", run: ["node", "ten_lines.mjs"] },
  },
  {
    name: "bun",
    needs: [["npm", "--version"]],
    folder: "node",
    prepare: [["npm", "install", "--no-save", "--no-fund", "--no-audit", BUN], ["npm", "rebuild", "bun"]],
    run: ["node_modules/.bin/bun", "replay.mjs"],
    tenLines: { file: "ten_lines.mjs", run: ["node_modules/.bin/bun", "ten_lines.mjs"] },
  },
  {
    name: "browser",
    needs: [],
    prepare: [],
    run: [...BROWSER],
    tenLines: { file: "ten_lines.html", run: [...BROWSER, "kernel.wasm", "ten_lines.html"] },
  },
  {
    name: "python",
    needs: [["python3", "--version"]],
    prepare: [
      ["python3", "-m", "venv", "venv"],
      ["venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"],
    ],
    run: ["venv/bin/python", "replay.py"],
    tenLines: { file: "ten_lines.py", run: ["venv/bin/python", "ten_lines.py"] },
  },
  {
    name: "go",
    needs: [["go", "version"]],
    prepare: [["go", "build", "-o", "replay", "."], ["go", "build", "-o", "ten", "./ten_lines"]],
    run: ["./replay"],
    tenLines: { file: "ten_lines/main.go", run: ["./ten"] },
  },
  {
    name: "rust",
    needs: [["cargo", "--version"]],
    prepare: [["cargo", "build", "--quiet", "--release", "--locked"]],
    run: ["target/release/replay"],
    tenLines: { file: "src/bin/ten_lines.rs", run: ["target/release/ten_lines"] },
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
    run: ["java", ...JAVA_OPENS, "-cp", "CLASSPATH", "hosts.Replay"],
    tenLines: { file: "src/main/java/TenLines.java", run: ["java", "-cp", "CLASSPATH", "TenLines"] },
    line: "20000 operations equal to those of Spark's own classes",
  },
];

function run([program, ...args]: Command, cwd: string): Promise<Ran> {
  return runProgram(program, args, { cwd, signal: AbortSignal.timeout(MAX_STEP_MS) });
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
  await Deno.copyFile(KERNEL, `${folder}/kernel.wasm`);
  const { program, prints } = tenLinesOf(await Deno.readTextFile(`${HERE}/${host.name}/README.md`));
  const file = `${folder}/${host.tenLines.file}`;
  await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
  await Deno.writeTextFile(file, program);
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
  if (host.line !== undefined) {
    if (good.stdout.split("\n").includes(host.line)) console.log(`${host.name.padEnd(8)} ${host.line}`);
    else problems.push(`does not say: ${host.line}`);
  }
  const ten = await run(filled(host.tenLines.run), folder);
  if (ten.code !== 0 || ten.stdout.trim() !== prints) {
    problems.push(`ten lines: exit ${ten.code}: ${ten.stdout + ten.stderr}, must print ${prints}`);
  }

  await Deno.writeTextFile(
    `${folder}/other.txt`,
    trace.replace(/\d\n$/, (digit) => `${(Number(digit[0]) + 1) % 10}\n`),
  );
  const other = await run([...filled(host.run), KERNEL, `${folder}/other.txt`], folder);
  if (other.code === 0) problems.push(`does not notice another state:\n${other.stdout}`);
  return problems;
}

const checks = new Checks();
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
    checks.check(host.name, problems.length === 0, problems.join("\n"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
checks.end();
