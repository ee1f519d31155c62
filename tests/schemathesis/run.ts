/**
 * The running service against its own OpenAPI document, by schemathesis (PyPI). Ends with `N passed, N failed`.
 *
 * @module
 */

import { Checks } from "../support/checks.ts";
import { outputOf, runProgram } from "../support/programs.ts";

const VERSION = "4.32.5";
const ROOT = new URL("../../", import.meta.url);

/**
 * Left out: positive_data_acceptance expects that whatever fits the JSON Schema is accepted, but a schema cannot say that
 * stages must not form a cycle or that Spark starts with the settings; such bodies are answered with 422 as described.
 */
const EXCLUDED = "positive_data_acceptance";

/**
 * A body that breaks the schema by being too large is refused with 413, which is not among the statuses that the tool
 * takes for a refusal by itself.
 */
const CONFIG = `[checks.negative_data_rejection]
expected-statuses = ["400", "401", "404", "405", "413", "415", "422", "429"]
`;

async function install(folder: string): Promise<string> {
  await outputOf("python3", ["-m", "venv", folder]);
  const pip = ["install", "--quiet", "--disable-pip-version-check", `schemathesis==${VERSION}`];
  await outputOf(`${folder}/bin/pip`, pip);
  return `${folder}/bin/schemathesis`;
}

/** Starts the service with small limits, so that most of what is generated is computed at once. */
async function startService(): Promise<{ url: string; stop: () => Promise<void> }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: "run -A --quiet --unstable-no-legacy-abort routes/main.ts --port 0 --limit tasks=2000 --limit events=50000"
      .split(" "),
    cwd: ROOT,
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { url } = JSON.parse((await lines.read()).value!);
  const drained = (async () => {
    while (!(await lines.read()).done);
  })();
  return {
    url,
    async stop() {
      child.kill("SIGKILL");
      await child.status;
      await drained;
    },
  };
}

const folder = await Deno.makeTempDir();
const checks = new Checks();
try {
  const schemathesis = await install(`${folder}/venv`);
  const { url, stop } = await startService();
  const config = `${folder}/schemathesis.toml`;
  await Deno.writeTextFile(config, CONFIG);
  const common = [
    "--config-file",
    config,
    "run",
    `${url}/openapi.json`,
    "--checks",
    "all",
    "--exclude-checks",
    EXCLUDED,
    "--seed",
    "1",
  ];
  common.push("--generation-deterministic", "--no-color", "--continue-on-failure");
  // Enumerating every way to break the large schemas takes tens of thousands of requests: that phase is for the small ones.
  const runs = [
    ["--phases", "examples,fuzzing,stateful", "--max-examples", "12", "--max-time", "180"],
    ["--phases", "coverage", "--include-method", "GET"],
    ["--phases", "coverage", "--include-path", "/v1/event-logs"],
  ];
  try {
    for (const args of runs) {
      const { code, stdout, stderr } = await runProgram(schemathesis, [...common, ...args]);
      const output = stdout + stderr;
      console.log(output.slice(output.indexOf("SUMMARY") < 0 ? 0 : output.indexOf("SUMMARY")));
      // What failed and how to repeat it; the bodies are long.
      const failures = output.slice(Math.max(0, output.indexOf(" FAILURES ")));
      const shown = failures.split("\n").map((line) => line.slice(0, 2000)).join("\n").slice(0, 20_000);
      checks.check(args.join(" "), code === 0, shown);
    }
  } finally {
    await stop();
  }
} finally {
  await Deno.remove(folder, { recursive: true });
}
checks.end();
