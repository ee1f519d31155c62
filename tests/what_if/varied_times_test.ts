import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { variedTimes } from "../../src/what_if/varied_times.ts";
import { workloadFromJobSpec } from "../../src/workload/job_spec.ts";

const sum = (column: Iterable<number>) => [...column].reduce((a, b) => a + b, 0);

Deno.test("times for a byte are dealt out, so that larger tasks stay larger", () => {
  const inputBytes = [1000, 1000, 1000, 100_000];
  const workload = workloadFromJobSpec({ stages: [{ id: 0, tasks: 4, computeMs: [10, 11, 12, 1100], inputBytes }] });
  const seen = new Set<string>();
  for (let seed = 0; seed < 20; seed++) {
    const [demand] = variedTimes(workload, seed).demands;
    assertEquals([...demand.inputBytes], inputBytes);
    assert(demand.computeMs[3] >= 1000 && demand.computeMs[3] <= 1200, demand.computeMs.join());
    const rates = [...demand.computeMs].map((time, i) => Math.round(time / inputBytes[i] * 1000)).sort((a, b) => a - b);
    assertEquals(rates, [10, 11, 11, 12]);
    seen.add(demand.computeMs.join());
  }
  assert(seen.size > 3);
});

Deno.test("tasks that read nothing exchange their times", () => {
  const workload = workloadFromJobSpec({
    stages: [{ id: 0, tasks: 50, computeMs: Array.from({ length: 50 }, (_, i) => i) }],
  });
  const { computeMs } = variedTimes(workload, 7).demands[0];
  assertAlmostEquals(sum(computeMs), sum(workload.demands[0].computeMs));
  assert(computeMs.some((time, i) => time !== i));
});

Deno.test("cached RDDs' times vary too, and a seed gives the same again", () => {
  const workload = workloadFromJobSpec({
    cached: [{ name: "c", partitions: 8, bytes: 10, computeMs: { distribution: "uniform", min: 0, max: 1e6 } }],
    stages: [{ id: 0, reads: ["c"] }],
  });
  const times = (
    seed: number,
  ) => [...variedTimes(workload, seed).rdds.find(({ computeMs }) => computeMs !== null)!.computeMs!];
  assertEquals(times(3), times(3));
  assert(times(3).join() !== times(4).join());
});
