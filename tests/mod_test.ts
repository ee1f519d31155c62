import { assertEquals } from "@std/assert";
import * as sparkmem from "../src/mod.ts";

/** What the issue of the library promises by name. */
const PROMISED = [
  "simulate",
  "Simulation",
  "readEventLog",
  "workloadFromEventLog",
  "whatIf",
  "sweep",
  "recommend",
  "summarize",
  "sizing",
  "explain",
  "Kernel",
  "EventLogWriter",
  "SparkConf",
  "InputError",
] as const;

const ROOT = new URL("..", import.meta.url);

const LOG = new URL("testdata/runs/cache_evictions/app-20261130174132-0000.gz", import.meta.url);

Deno.test("the library has what it promises", () => {
  for (const name of PROMISED) assertEquals(typeof sparkmem[name], "function", name);
});

Deno.test("from an event log to its Summary, a simulation, a what-if and a sweep", async () => {
  const bytes = await Deno.readFile(LOG);
  const source = () => new Blob([bytes]).stream();
  const observed = await sparkmem.summarize(source());
  // as the executors' logs say ("Dropping block")
  assertEquals(observed.storage.blocksEvicted, 24);
  const workload = await sparkmem.workloadFromEventLog(source());

  const summarizer = new sparkmem.Summarizer({ source: "simulated" });
  const simulation = new sparkmem.Simulation(workload, {
    conf: sparkmem.SparkConf.from(workload.conf, workload.sparkVersion),
    sink: summarizer,
  });
  while (!simulation.run(10_000));
  const { replayed } = sparkmem.whatIf(workload, observed, {});
  assertEquals(summarizer.summary().storage, replayed.storage);

  const [small, large] = sparkmem.sweep(workload, { "spark.memory.storageFraction": ["0.2", "0.5"] });
  assertEquals([small.status, large.status], ["succeeded", "succeeded"]);
});

/** A declaration as `deno doc --json` tells it. */
interface Declaration {
  readonly kind: string;
  readonly jsDoc?: { readonly tags?: readonly { readonly kind: string; readonly doc?: string }[] };
}

Deno.test("every export that can be called or read has an example, which runs as a test", async () => {
  const { stdout } = await new Deno.Command("deno", { args: ["doc", "--json", "src/mod.ts"], cwd: ROOT })
    .output();
  const { nodes } = JSON.parse(new TextDecoder().decode(stdout)) as {
    nodes: Record<string, { symbols: { name: string; declarations: Declaration[] }[] }>;
  };
  const symbols = Object.values(nodes).flatMap((node) => node.symbols);
  const hasExample = ({ jsDoc }: Declaration) =>
    jsDoc?.tags?.some(({ kind, doc }) => kind === "example" && doc?.includes("```ts\n")) ?? false;
  const values = symbols.filter(({ name }) => name in sparkmem);
  assertEquals(values.map(({ name }) => name).sort(), Object.keys(sparkmem).sort());
  assertEquals(values.filter(({ declarations }) => !declarations.some(hasExample)).map(({ name }) => name), []);
});
