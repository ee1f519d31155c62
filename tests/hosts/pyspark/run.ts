/**
 * A sweep of 1,000 scenarios over four logs on a Spark cluster of two workers, through RDD.pipe: the same lines as the
 * sweep on this machine gives. Ends with `N passed, N failed`.
 *
 * @module
 */
const HERE = import.meta.dirname!;
const ROOT = `${HERE}/../../..`;
const RUNS = `${ROOT}/tests/testdata/runs`;
const LOGS = [
  "cache_evictions/app-20261130174132-0000.gz",
  "fetch_failure/app-20261130175421-0000.gz",
  "max_result_size/app-20261130174421-0000.gz",
  "spark_2_4_max_result_size/app-20261130181425-0000.gz",
];
const MAX_STEP_MS = 10 * 60_000;
const SWEEP = [Deno.execPath(), "run", "-A", "--quiet", `${ROOT}/src/cli/main.ts`, "sweep", "--stdin", "--jobs", "1"];

/** 250 settings of each log, mixed; one more would be a line that is refused. */
function scenarios(): string[] {
  const lines: string[] = [];
  for (let memory = 0; memory < 25; memory++) {
    for (let fraction = 0; fraction < 10; fraction++) {
      for (const log of LOGS) {
        const conf = {
          "spark.executor.memory": `${400 + 25 * memory}m`, // below 450m Spark refuses to start
          "spark.memory.fraction": `0.${fraction === 0 ? "05" : fraction}`,
        };
        lines.push(JSON.stringify({ id: String(lines.length), input: `${RUNS}/${log}`, conf }));
      }
    }
  }
  return lines;
}

async function run(program: string, args: readonly string[], options: { cwd: string; stdin?: string }) {
  const signal = AbortSignal.timeout(MAX_STEP_MS);
  const child = new Deno.Command(program, {
    args: [...args],
    cwd: options.cwd,
    signal,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const output = child.output();
  await new Blob([options.stdin ?? ""]).stream().pipeTo(child.stdin);
  const { code, stdout, stderr } = await output;
  const decoder = new TextDecoder();
  if (code !== 0) throw new Error(`${program}: exit ${code}: ${decoder.decode(stderr).slice(-3000)}`);
  return decoder.decode(stdout);
}

/** Result lines in the order of the scenarios. */
function ordered(text: string): string[] {
  const id = (line: string) => Number(JSON.parse(line).id);
  return text.trimEnd().split("\n").sort((a, b) => id(a) - id(b));
}

const folder = await Deno.makeTempDir();
let failed = 0;
try {
  await run("python3", ["-m", "venv", "venv"], { cwd: folder });
  const pip = ["install", "--quiet", "--disable-pip-version-check", "-r", `${HERE}/requirements.txt`];
  await run(`${folder}/venv/bin/pip`, pip, { cwd: folder });
  const lines = scenarios();
  await Deno.writeTextFile(`${folder}/scenarios.ndjson`, lines.join("\n") + "\n");
  const submit = ["--master", "local-cluster[2,1,1024]", `${HERE}/sweep.py`, "scenarios.ndjson", "results.ndjson"];
  const python = `${folder}/venv/bin/python`;
  const environment = [`PYSPARK_PYTHON=${python}`, `PYSPARK_DRIVER_PYTHON=${python}`, "SPARK_LOCAL_IP=127.0.0.1"];
  const spark = [...environment, `${folder}/venv/bin/spark-submit`, ...submit, ...SWEEP];
  const said = await run("env", spark, { cwd: folder });
  console.log(said.trimEnd().split("\n").at(-1));

  const [program, ...args] = SWEEP;
  const single = ordered(await run(program, args, { cwd: folder, stdin: lines.join("\n") + "\n" }));
  const cluster = ordered(await Deno.readTextFile(`${folder}/results.ndjson`));
  const different = single.findIndex((line, i) => line !== cluster[i]);
  if (single.length !== lines.length || cluster.length !== lines.length || different >= 0) {
    console.log(`${cluster.length} lines of the cluster, ${single.length} of this machine; the first that differs:`);
    console.log(`${cluster[different]}\n${single[different]}`);
    failed++;
  }
  if (!/ on 2 executors/.test(said)) {
    console.log("the cluster does not have two executors");
    failed++;
  }
  const statuses = new Set(single.map((line) => JSON.parse(line).status));
  if (!["succeeded", "failed", "refused"].every((status) => statuses.has(status))) {
    console.log(`the scenarios do not cover every status: ${[...statuses].join(", ")}`);
    failed++;
  }
} finally {
  await Deno.remove(folder, { recursive: true });
}
console.log(`${failed === 0 ? 1 : 0} passed, ${failed} failed`);
Deno.exitCode = failed === 0 ? 0 : 1;
