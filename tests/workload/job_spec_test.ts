import { assertEquals, assertThrows } from "@std/assert";
import { InputError, LimitError } from "../../src/errors.ts";
import { parseJobSpec, workloadFromJobSpec } from "../../src/workload/job_spec.ts";
import type { JobSpec } from "../../src/workload/job_spec_types.ts";
import { parseStrictJson } from "../../src/workload/strict_json.ts";

/** What a document is refused for. */
function refusal(document: unknown): [code: string, pointer: string | undefined] {
  const error = assertThrows(() => workloadFromJobSpec(parseJobSpec(document).spec), InputError);
  return [error.code, error.pointer];
}

const one = { id: 0, tasks: 2 };

Deno.test("each mistake in a job spec has one error with a code and a pointer", () => {
  const cases: [document: unknown, code: string, pointer: string][] = [
    [null, "input.type", ""],
    [[], "input.type", ""],
    [{}, "job_spec.form", ""],
    [{ stages: [one], lineage: { rdds: [], demands: [], jobs: [] } }, "job_spec.form", ""],
    [{ stages: [] }, "input.range", "/stages"],
    [{ stages: [{ tasks: 1 }] }, "input.missing", "/stages/0/id"],
    [{ stages: [{ id: 0 }] }, "job_spec.missing", "/stages/0/tasks"],
    [{ stages: [{ id: 0, tasks: 0 }] }, "input.range", "/stages/0/tasks"],
    [{ stages: [{ id: 0, tasks: -1 }] }, "input.range", "/stages/0/tasks"],
    [{ stages: [{ id: 0, tasks: 1.5 }] }, "input.range", "/stages/0/tasks"],
    [{ stages: [{ id: 0, tasks: NaN }] }, "input.type", "/stages/0/tasks"],
    [{ stages: [{ id: 0, tasks: "8" }] }, "input.type", "/stages/0/tasks"],
    [{ stages: [{ ...one, resultBytes: 2 ** 53 }] }, "input.range", "/stages/0/resultBytes"],
    [{ stages: [{ ...one, resultBytes: Infinity }] }, "input.range", "/stages/0/resultBytes"],
    [{ stages: [{ ...one, resultBytes: "2000p" }] }, "input.range", "/stages/0/resultBytes"],
    [{ stages: [{ ...one, resultBytes: "lots" }] }, "size.bytes", "/stages/0/resultBytes"],
    [{ stages: [{ ...one, computeMs: "5 parsecs" }] }, "size.time", "/stages/0/computeMs"],
    [{ stages: [{ ...one, computeMs: "-5s" }] }, "input.range", "/stages/0/computeMs"],
    [{ stages: [{ ...one, computeMs: [1] }] }, "job_spec.length", "/stages/0/computeMs"],
    [{ stages: [{ ...one, computeMs: [1, -1] }] }, "input.range", "/stages/0/computeMs/1"],
    [{ stages: [{ ...one, computeMs: [1, null] }] }, "input.type", "/stages/0/computeMs/1"],
    [{ stages: [{ ...one, computeMs: { distribution: "bell" } }] }, "input.choice", "/stages/0/computeMs/distribution"],
    [
      { stages: [{ ...one, computeMs: { distribution: "uniform", min: 3, max: 2 } }] },
      "job_spec.range",
      "/stages/0/computeMs",
    ],
    [
      { stages: [{ ...one, computeMs: { distribution: "zipf", total: 3 } }] },
      "input.missing",
      "/stages/0/computeMs/exponent",
    ],
    [{ stages: [one, one] }, "job_spec.duplicate", "/stages/1/id"],
    [{ stages: [one], pools: [{ name: "a" }, { name: "a" }] }, "job_spec.duplicate", "/pools/1/name"],
    [{ stages: [one], pools: [{ name: "a", weight: 0 }] }, "input.range", "/pools/0/weight"],
    [{ stages: [one], conf: { "spark.scheduler.allocation.file": "pools.xml" } }, "job_spec.missing", "/pools"],
    [{ stages: [{ ...one, parents: [7] }] }, "job_spec.unknown_reference", "/stages/0/parents/0"],
    [{ stages: [{ ...one, parents: ["0"] }] }, "job_spec.unknown_reference", "/stages/0/parents/0"],
    [{ stages: [{ ...one, parents: [0] }] }, "job_spec.cycle", "/stages/0/parents"],
    [{ stages: [{ ...one, parents: [1] }, { id: 1, tasks: 1, parents: [0] }] }, "job_spec.cycle", "/stages/0/parents"],
    [
      {
        cached: [{ name: "r", partitions: 2, bytes: 1 }],
        stages: [{ ...one, parents: [1], caches: ["r"] }, { id: 1, reads: ["r"] }],
      },
      "job_spec.cycle",
      "/stages/0/parents",
    ],
    [{ stages: [{ ...one, reads: ["r"] }] }, "job_spec.unknown_reference", "/stages/0/reads/0"],
    [
      { cached: [{ name: "r", partitions: 1, bytes: 1 }], stages: [{ ...one, reads: ["r"] }] },
      "job_spec.range",
      "/stages/0/tasks",
    ],
    [{ cached: [{ name: "r", partitions: 1 }], stages: [one] }, "job_spec.missing", "/cached/0/bytes"],
    [
      { cached: [{ name: "r", partitions: 1, bytes: 1, storageLevel: "MEMORY" }], stages: [one] },
      "input.choice",
      "/cached/0/storageLevel",
    ],
    [{ stages: [{ ...one, shuffleReadBytes: 5 }] }, "job_spec.range", "/stages/0/shuffleReadBytes"],
    [{ stages: [{ ...one, memory: [{ kind: "Heap", bytes: 1 }] }] }, "input.choice", "/stages/0/memory/0/kind"],
    [
      { stages: [{ ...one, memory: [{ kind: "Raw", bytes: 1, start: 1, fillEnd: 0.5 }] }] },
      "job_spec.range",
      "/stages/0/memory/0",
    ],
    [{ stages: [one], jobs: [{ stage: 1 }] }, "job_spec.unknown_reference", "/jobs/0/stage"],
    [{ stages: [one], jobs: [{ stage: 0, after: [0] }] }, "job_spec.range", "/jobs/0/after/0"],
    [{ stages: [one], jobs: [{ stage: 0, partitions: [2] }] }, "job_spec.range", "/jobs/0/partitions/0"],
    [{ stages: [one], jobs: [{ stage: 0, partitions: [1, 1] }] }, "job_spec.duplicate", "/jobs/0/partitions/1"],
    [
      { stages: [one], faults: [{ kind: "taskException", stage: 0, partition: 2 }] },
      "job_spec.range",
      "/faults/0/partition",
    ],
    [
      { stages: [one], faults: [{ kind: "executorLost", executor: "9", atMs: 1 }] },
      "job_spec.unknown_reference",
      "/faults/0/executor",
    ],
    [{ stages: [one], faults: [{ kind: "executorLost", executor: "0" }] }, "job_spec.missing", "/faults/0"],
    [
      { stages: [one], faults: [{ kind: "slowHost", host: "x", factor: 2 }] },
      "job_spec.unknown_reference",
      "/faults/0/host",
    ],
    [{ stages: [one], cluster: { master: "local[*]" } }, "job_spec.missing", "/cluster/cores"],
    [{ stages: [one], cluster: { master: "local[4]", executors: 2 } }, "job_spec.form", "/cluster/executors"],
    [{ stages: [one], cluster: { executors: 10 ** 12 } }, "input.range", "/cluster/executors"],
    [{ stages: [one], sparkVersion: "two" }, "job_spec.version", "/sparkVersion"],
    [{ stages: [one], seed: -1 }, "input.range", "/seed"],
    [{ stages: [one], conf: { a: null } }, "input.type", "/conf/a"],
    [{ stages: [one], conf: [] }, "input.type", "/conf"],
    [{ stages: [one], cluster: { driver: [] } }, "input.type", "/cluster/driver"],
  ];
  for (const [document, code, pointer] of cases) {
    assertEquals(refusal(document), [code, pointer], JSON.stringify(document));
  }
});

Deno.test("each limit holds at its value and not one beyond", () => {
  const spec: JobSpec = {
    cluster: { executors: 3 },
    cached: [{ name: "a", partitions: 4, bytes: 1 }, { name: "b", partitions: 4, bytes: 1 }],
    broadcasts: [{ name: "x", bytes: 1 }],
    stages: [
      { id: 0, caches: ["a", "b"], memory: [{ kind: "Raw", bytes: 1 }], broadcasts: ["x"] },
      { id: 1, tasks: 4, parents: [0] },
      { id: 2, tasks: 4, parents: [0] },
    ],
    jobs: [{ stage: 1 }, { stage: 2 }, { stage: 2 }],
    faults: [{ kind: "slowHost", host: "host-0", factor: 2 }],
  };
  const at = {
    tasks: 12,
    stages: 3,
    jobs: 3,
    rdds: 2,
    blocks: 8,
    executors: 3,
    consumers: 1,
    broadcasts: 1,
    faults: 1,
    dependencies: 4,
  };
  workloadFromJobSpec(spec, { limits: at });
  for (const [what, limit] of Object.entries(at)) {
    const error = assertThrows(
      () => workloadFromJobSpec(spec, { limits: { ...at, [what]: limit - 1 } }),
      LimitError,
    );
    assertEquals([error.code, error.parameters.limit], [`limit.${what}`, limit - 1]);
  }
});

Deno.test("a distribution of a stage does not depend on the stages around it", () => {
  const computeMs = { distribution: "uniform", min: 0, max: 1e6 } as const;
  const alone = workloadFromJobSpec({ seed: 5, stages: [{ id: "x", tasks: 4, computeMs }] });
  const second = workloadFromJobSpec({
    seed: 5,
    stages: [{ id: "w", tasks: 9, computeMs }, { id: "x", tasks: 4, computeMs }],
  });
  assertEquals(second.demands[1].computeMs, alone.demands[0].computeMs);
  const other = workloadFromJobSpec({ seed: 6, stages: [{ id: "x", tasks: 4, computeMs }] });
  assertEquals(other.demands[0].computeMs.every((v, i) => v !== alone.demands[0].computeMs[i]), true);
});

Deno.test("unknown properties are warnings that name the nearest known one, the first twenty one by one", () => {
  const stage: Record<string, unknown> = { ...one, resultByte: 1 };
  for (let i = 0; i < 30; i++) stage[`zz${i}`] = 1;
  const { warnings } = parseJobSpec({ stages: [stage] });
  assertEquals(warnings[0].message, "Unknown property /stages/0/resultByte is ignored: did you mean resultBytes?");
  assertEquals(warnings.length, 20);
  assertEquals(warnings.reduce((sum, { count }) => sum + count, 0), 31);
});

Deno.test("the example of the README is a spec without warnings", async () => {
  const readme = await Deno.readTextFile(new URL("../../src/workload/README.md", import.meta.url));
  const [, example] = /```json\n([\s\S]*?)```/.exec(readme)!;
  const { spec, warnings } = parseJobSpec(parseStrictJson(example));
  assertEquals(warnings, []);
  const { jobs, demands } = workloadFromJobSpec(spec);
  assertEquals([jobs.length, demands.length], [2, 3]);
});
