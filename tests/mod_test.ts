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
