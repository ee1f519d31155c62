import { assert, assertEquals } from "@std/assert";
import { runMain } from "../../src/cli/main.ts";
import type { SweepAnswer, SweepMessage } from "../../src/cli/sweep_worker.ts";
import { InputError } from "../../src/errors.ts";
import { refusedResult } from "../../src/what_if/sweep.ts";
import { captureIo } from "../support/capture_io.ts";

async function sweep(args: string[], stdin?: string) {
  const { io, out } = captureIo(stdin === undefined ? {} : { stdin });
  const status = await runMain(["sweep", ...args], io);
  return { status, ...out };
}

const GRID = ["--vary", "spark.memory.fraction=0.4,0.6,0.8", "--vary", "spark.executor.memory=640m,1g"];

Deno.test("sweep says of a whole answer that nothing lacks", async () => {
  const { stdout } = await sweep(["template:sort", "--vary", "executors=2", "--jobs", "1", "--format", "json"]);
  assertEquals(JSON.parse(stdout).partial, null);
});

Deno.test("sweep prints one line per combination, and marks what nothing beats", async () => {
  const { status, stdout } = await sweep([...GRID, "--jobs", "1"]);
  assertEquals(status, 0);
  const lines = stdout.trimEnd().split("\n");
  assertEquals(lines.length, 7);
  assert(lines.some((line) => line.endsWith("*")));
});

Deno.test("sweep with workers gives the bytes of one worker", async () => {
  // As a process: workers of this one would be type-checked once more.
  const main = new URL("../../src/cli/main.ts", import.meta.url).pathname;
  const command = (jobs: string) =>
    new Deno.Command("deno", {
      args: [
        "run",
        "--quiet",
        "--allow-read",
        "--allow-env",
        main,
        "sweep",
        ...GRID,
        "--format",
        "ndjson",
        "--jobs",
        jobs,
      ],
      stdout: "piped",
    }).output();
  const [one, two] = await Promise.all([command("1"), command("2")]);
  assertEquals([one.code, two.code], [0, 0]);
  assertEquals(new TextDecoder().decode(two.stdout), new TextDecoder().decode(one.stdout));
});

Deno.test("sweep --stdin is a filter: a result a line, errors as lines, in order", async () => {
  const lines = [
    { id: "a", conf: { "spark.memory.fraction": 0.8 } },
    { id: "b", input: "template:sort", conf: { "spark.executor.memory": "1g" } },
    "no object",
    { id: "c", conf: { "spark.executor.memory": "10m" } },
    { id: "d", input: "no-such-file" },
  ];
  const stdin = lines.map((line) => JSON.stringify(line)).join("\n") + "\n{broken\n";
  const bundled = new URL("../testdata/runs/", import.meta.url);
  const log = [...Deno.readDirSync(bundled)].filter(({ isFile }) => isFile).map(({ name }) => name)
    .find((name) => name.includes("cache"));
  const { status, stdout } = await sweep([
    ...log === undefined ? [] : [new URL(log, bundled).pathname],
    "--stdin",
    "--jobs",
    "1",
  ], stdin);
  assertEquals(status, 0);
  const results = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals(results.map(({ id }) => id), ["a", "b", "3", "c", "d", "6"]);
  assertEquals(results.map(({ status }) => status).slice(1), ["succeeded", "refused", "refused", "refused", "refused"]);
  assertEquals(results[4].code, "input.file");
});

Deno.test("sweep without --vary, or with a bad one, is bad input", async () => {
  assertEquals((await sweep([])).status, 2);
  assertEquals((await sweep(["--vary", "spark.memory.fraction"])).status, 2);
  assert((await sweep(["--vary", "memory=1g"])).stdout.includes("refused"));
});

Deno.test("sweep --resume runs what a cut-off sweep has not, from the grid and from standard input", async () => {
  const file = await Deno.makeTempFile({ suffix: ".ndjson" });
  try {
    const all = (await sweep([...GRID, "--format", "ndjson", "--jobs", "1"])).stdout.trimEnd().split("\n");
    // Two results and half of the third.
    await Deno.writeTextFile(file, `${all[0]}\n${all[1]}\n${all[2].slice(0, 40)}`);
    const rest = await sweep([...GRID, "--format", "ndjson", "--jobs", "1", "--resume", file]);
    assertEquals(rest.stdout.trimEnd().split("\n"), all.slice(2));
    const text = async (args: string[]) => (await sweep([...GRID, "--jobs", "1", ...args])).stdout;
    assertEquals(await text(["--resume", file]), await text([]));
    const lines = [1, 2].map((n) =>
      JSON.stringify({ id: `s${n}`, input: "template:sort", conf: { "spark.task.cpus": n } })
    );
    const both = (await sweep(["--stdin", "--jobs", "1"], lines.join("\n"))).stdout.trimEnd().split("\n");
    await Deno.writeTextFile(file, both[0] + "\n");
    const second = await sweep(["--stdin", "--jobs", "1", "--resume", file], lines.join("\n"));
    assertEquals(second.stdout, both[1] + "\n");
    // The same id under other settings is another scenario.
    const other = lines[0].replace(":1}", ":2}");
    assertEquals((await sweep(["--stdin", "--jobs", "1", "--resume", file], other)).stdout.includes('"s1"'), true);
  } finally {
    await Deno.remove(file);
  }
});

Deno.test("sweep has a worker for each processor unless --jobs says otherwise, and none that has nothing to do", async () => {
  let made = 0;
  const RealWorker = globalThis.Worker;
  const processors = Object.getOwnPropertyDescriptor(Navigator.prototype, "hardwareConcurrency")!;
  class CountedWorker extends EventTarget {
    onmessage: (event: MessageEvent<SweepAnswer>) => void = () => {};
    constructor() {
      super();
      made++;
    }
    postMessage(message: SweepMessage): void {
      if (message.kind === "start") return;
      const result = refusedResult(message.scenario, new InputError("test.worker", "counted"));
      const event = new MessageEvent("message", { data: { number: message.number, result } });
      queueMicrotask(() => this.onmessage(event));
    }
    terminate(): void {}
  }
  const madeBy = async (...args: string[]) => {
    made = 0;
    assertEquals((await sweep(["template:sort", ...GRID, ...args])).status, 0);
    return made;
  };
  globalThis.Worker = CountedWorker as unknown as typeof Worker;
  try {
    for (const [available, workers] of [[5, 5], [64, 6], [2, 2]]) {
      Object.defineProperty(Navigator.prototype, "hardwareConcurrency", { ...processors, get: () => available });
      assertEquals(await madeBy(), workers); // the grid has 6 scenarios
    }
    assertEquals(await madeBy("--jobs", "3"), 3);
  } finally {
    globalThis.Worker = RealWorker;
    Object.defineProperty(Navigator.prototype, "hardwareConcurrency", processors);
  }
});

/** Runs `body` with workers that together answer four scenarios, and do `atFifth` when they get the fifth. */
async function withFourAnswers(
  atFifth: (worker: { onerror: (event: ErrorEvent) => void }) => void,
  body: () => Promise<void>,
): Promise<void> {
  const RealWorker = globalThis.Worker;
  class FourAnswersWorker extends EventTarget {
    static answered = 0;
    onmessage: (event: MessageEvent<SweepAnswer>) => void = () => {};
    onerror: (event: ErrorEvent) => void = () => {};
    postMessage(message: SweepMessage): void {
      if (message.kind === "start") return;
      FourAnswersWorker.answered++;
      if (FourAnswersWorker.answered === 5) return queueMicrotask(() => atFifth(this));
      if (FourAnswersWorker.answered > 5) return;
      const result = refusedResult(message.scenario, new InputError("test.worker", "counted"));
      const event = new MessageEvent("message", { data: { number: message.number, result } });
      queueMicrotask(() => this.onmessage(event));
    }
    terminate(): void {}
  }
  globalThis.Worker = FourAnswersWorker as unknown as typeof Worker;
  try {
    await body();
  } finally {
    globalThis.Worker = RealWorker;
  }
}

/** How often each format says that a combination was refused, and that it is missing. */
const SAID = [
  ["ndjson", /^\{.*"refused"/gm, /^$/g, 0],
  ["csv", /,refused,/g, /,missing,/g, 2],
  ["text", / refused$/gm, / missing$/gm, 2],
] as const;
/** Settings of the two last of the six combinations: the last --vary varies fastest. */
const LAST_TWO = ["640m", "1g"].map((memory) => ({ "spark.memory.fraction": "0.8", "spark.executor.memory": memory }));

Deno.test("sweep gives what is finished when a worker dies, in every format, the rest as missing, then says why it ends", async () => {
  const died = (worker: { onerror: (event: ErrorEvent) => void }) =>
    worker.onerror(new ErrorEvent("error", { message: "out of memory", cancelable: true }));
  const why = "Cannot go on with the sweep: a worker ended: out of memory";
  for (const [format, refused, missing, count] of SAID) {
    await withFourAnswers(died, async () => {
      const { status, stdout, stderr } = await sweep(["template:sort", ...GRID, "--jobs", "2", "--format", format]);
      assertEquals([format, status, stdout.match(refused)?.length], [format, 2, 4]);
      assertEquals([format, stdout.match(missing)?.length ?? 0], [format, count]);
      assert(stderr.includes(why), stderr);
    });
  }
  await withFourAnswers(died, async () => {
    const { stdout } = await sweep(["template:sort", ...GRID, "--jobs", "2", "--format", "json"]);
    const { results, partial } = JSON.parse(stdout);
    assertEquals(results.map(({ id }: { id: string }) => id), ["0", "1", "2", "3"]);
    assertEquals(partial, { reason: why, missing: LAST_TWO.map((settings, i) => ({ id: `${4 + i}`, settings })) });
  });
});

Deno.test("sweep gives what is finished when it is stopped, and ends with the shell's status for the signal", async () => {
  for (const [signal, status] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
    for (const [format, refused, missing, count] of SAID) {
      const { io, out } = captureIo();
      let stop: ((signal: "SIGINT" | "SIGTERM") => void) | null = null;
      const onStop = (listener: (signal: "SIGINT" | "SIGTERM") => void) => {
        stop = listener;
        return () => stop = null;
      };
      const args = ["sweep", "template:sort", ...GRID, "--jobs", "2", "--format", format];
      await withFourAnswers(() => stop!(signal), async () => {
        assertEquals(await runMain(args, { ...io, onStop }), status);
      });
      assertEquals(stop, null, "nobody listens when the sweep has ended");
      assertEquals([format, out.stdout.match(refused)?.length], [format, 4]);
      assertEquals([format, out.stdout.match(missing)?.length ?? 0], [format, count]);
      if (format === "text") {
        assert(out.stdout.endsWith(`\npartial: 2 of 6 are missing: interrupted (${signal})\n`), out.stdout);
      }
      const why = `error[sweep.interrupted]: Cannot go on with the sweep: interrupted (${signal}) after 4 of 6\n`;
      assertEquals(out.stderr, why);
    }
  }
});

Deno.test("sweep --stdin lines set level, executors and version as --conf and the options do for all", async () => {
  const lines = [
    { id: 1, storageLevel: "DISK_ONLY", executors: 3, sparkVersion: "3.5.9" },
    { id: 2, conf: { "spark.memory.fraction": null } },
    { id: 3, input: 7 },
    { id: 4, conf: "spark.memory.fraction=0.4" },
  ];
  const all = ["--storage-level", "MEMORY_ONLY", "--executors", "2", "--spark-version", "4.0.0"];
  const { stdout } = await sweep(
    ["template:cached-iterative", "--stdin", "--jobs", "1", "--conf", "spark.memory.fraction=0.5", ...all],
    lines.map((line) => JSON.stringify(line)).join("\n"),
  );
  const results = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals(results[0].settings, {
    "spark.memory.fraction": "0.5",
    storageLevel: "DISK_ONLY",
    executors: "3",
    sparkVersion: "3.5.9",
  });
  assertEquals(results[0].figures.executors, 3);
  assertEquals(results[1].settings, {
    "spark.memory.fraction": "",
    storageLevel: "MEMORY_ONLY",
    executors: "2",
    sparkVersion: "4.0.0",
  });
  assertEquals(results.slice(2).map(({ status, reason }) => [status, reason]), [
    ["refused", 'Cannot read the scenario in line 3: "input" is no text'],
    ["refused", 'Cannot read the scenario in line 4: "conf" is no object'],
  ]);
});
