/**
 * `.ci/run`: the README's test command, then the slower suites, each with its own time cap. Says which suites it
 * skipped and why, fails on a skip that is not on its list, ends with `N passed, N failed`.
 *
 * @module
 */

import { whyNoAudit } from "./audit.ts";
import { ensureChromium } from "../browser/support/install.ts";
import { whyNoHistoryServer } from "../history_server/spark.ts";

/** One suite: a command, the time it may take, what it needs. */
interface Suite {
  readonly name: string;
  readonly command: readonly string[];
  readonly capMinutes: number;
  /** Why this machine cannot run it, or null. */
  readonly skip?: () => Promise<string | null>;
  /** A skip that is known and accepted. */
  readonly maySkip?: boolean;
}

/** A skip when one of some programs is not on the path. */
function needs(...programs: string[]): () => Promise<string | null> {
  return async () => {
    for (const program of programs) {
      try {
        await new Deno.Command(program, { args: ["--version"], stdout: "null", stderr: "null" }).output();
      } catch {
        return `${program} is not installed`;
      }
    }
    return null;
  };
}

const SUITES: readonly Suite[] = [
  {
    name: "deno task test",
    command: ["deno", "task", "--quiet", "test"],
    capMinutes: 15,
  },
  {
    name: "web page in a browser",
    command: ["deno", "test", "--quiet", "-A", "tests/browser"],
    capMinutes: 10,
    skip: ensureChromium,
  },
  {
    name: "the kernel in other hosts",
    command: ["deno", "run", "-A", "--quiet", "tests/hosts/run.ts"],
    capMinutes: 15,
  },
  {
    name: "the npm package in Node",
    command: ["deno", "run", "-A", "--quiet", "tests/hosts/npm/run.ts"],
    capMinutes: 8,
  },
  {
    name: "the package on Deno",
    command: ["deno", "run", "-A", "--quiet", "tests/hosts/deno/run.ts"],
    capMinutes: 5,
  },
  {
    name: "a sweep on a Spark cluster",
    command: ["deno", "run", "-A", "--quiet", "tests/hosts/pyspark/run.ts"],
    capMinutes: 12,
  },
  {
    name: "written logs in Spark's History Server",
    command: ["deno", "test", "--quiet", "-A", "tests/history_server"],
    capMinutes: 12,
    skip: whyNoHistoryServer,
    maySkip: true,
  },
  {
    name: "the service in workerd, edge-runtime, Node, Bun and Deno",
    command: ["deno", "run", "-A", "tests/hosts/edge/run.ts"],
    capMinutes: 8,
    skip: needs("npm", "node"),
  },
  {
    name: "schemathesis against the service",
    command: ["deno", "run", "-A", "tests/schemathesis/run.ts"],
    capMinutes: 10,
    skip: needs("python3"),
  },
  {
    name: "known vulnerabilities of the dependencies",
    command: ["deno", "task", "--quiet", "audit"],
    capMinutes: 4,
    skip: whyNoAudit,
    // not every registry has an advisory service, and none answers offline
    maySkip: true,
  },
  {
    name: "filters of bounded memory",
    command: ["deno", "run", "-A", "--quiet", "tests/soak/filters.ts"],
    capMinutes: 6,
  },
  {
    name: "soak of the service",
    command: ["deno", "run", "-A", "--v8-flags=--expose-gc", "tests/soak/run.ts"],
    capMinutes: 6,
  },
];

const decoder = new TextDecoder();

async function runSuite(
  suite: Suite,
): Promise<{ passed: number; failed: number }> {
  const [program, ...args] = suite.command;
  const child = new Deno.Command(program, {
    args,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const timer = setTimeout(
    () => child.kill("SIGKILL"),
    suite.capMinutes * 60_000,
  );
  let tail = "";
  const copy = async (stream: ReadableStream<Uint8Array>) => {
    for await (const chunk of stream) {
      Deno.stdout.writeSync(chunk);
      tail = (tail + decoder.decode(chunk, { stream: true })).slice(-4000);
    }
  };
  await Promise.all([copy(child.stdout), copy(child.stderr)]);
  const { code } = await child.status;
  clearTimeout(timer);
  // deno-lint-ignore no-control-regex
  const plain = tail.replace(/\u001b\[[0-9;]*m/g, "");
  const counts = [...plain.matchAll(/(\d+) passed[^\n]*?(\d+) failed/g)].at(-1);
  const passed = counts ? Number(counts[1]) : code === 0 ? 1 : 0;
  const failed = Math.max(counts ? Number(counts[2]) : 0, code === 0 ? 0 : 1);
  return { passed, failed };
}

let passed = 0;
let failed = 0;
let skipped = 0;
for (const suite of SUITES) {
  const why = await suite.skip?.() ?? null;
  if (why !== null) {
    console.log(`--- ${suite.name}: skipped: ${why}`);
    skipped++;
    if (!suite.maySkip) failed++;
    continue;
  }
  const start = performance.now();
  const result = await runSuite(suite);
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  console.log(
    `--- ${suite.name}: ${result.passed} passed, ${result.failed} failed (${seconds} s)`,
  );
  passed += result.passed;
  failed += result.failed;
}
console.log(skipped > 0 ? `${skipped} suites skipped` : "no suite skipped");
console.log(`${passed} passed, ${failed} failed`);
Deno.exit(failed === 0 ? 0 : 1);
