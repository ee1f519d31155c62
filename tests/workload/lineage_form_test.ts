import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { InputError } from "../../src/errors.ts";
import { jobSpecFromWorkload, parseJobSpec, workloadFromJobSpec } from "../../src/workload/job_spec.ts";
import { arbitraryJobSpec } from "../support/arbitrary_job_spec.ts";

/** What a document is refused for. */
function refusal(document: unknown): [code: string, pointer: string | undefined] {
  const error = assertThrows(() => workloadFromJobSpec(parseJobSpec(document).spec), InputError);
  return [error.code, error.pointer];
}

Deno.test("the exact form gives the same workload again, through JSON", () => {
  fc.assert(
    fc.property(arbitraryJobSpec(), (spec) => {
      const workload = workloadFromJobSpec(spec);
      const json = JSON.stringify(jobSpecFromWorkload(workload));
      const again = parseJobSpec(JSON.parse(json));
      assertEquals(again.warnings, []);
      assertEquals(workloadFromJobSpec(again.spec), workload);
    }),
    { seed: 3, numRuns: 100 },
  );
});

Deno.test("mistakes in the exact form are refused with a pointer", () => {
  const spec = jobSpecFromWorkload(workloadFromJobSpec({
    stages: [{ id: 0, tasks: 2, shuffleWriteBytes: 4 }, { id: 1, tasks: 2, parents: [0] }],
  }));
  // deno-lint-ignore no-explicit-any
  const changed = (change: (lineage: any) => void) => {
    const copy = JSON.parse(JSON.stringify(spec));
    change(copy.lineage);
    return refusal(copy);
  };
  assertEquals(changed((l) => l.rdds[1].id = 0), ["job_spec.duplicate", "/lineage/rdds/1/id"]);
  assertEquals(changed((l) => l.rdds[1].dependencies[0].shuffleId = 9), [
    "job_spec.unknown_reference",
    "/lineage/rdds/1/dependencies/0/shuffleId",
  ]);
  assertEquals(changed((l) => l.rdds[0].dependencies = [{ kind: "shuffle", shuffleId: 0 }]), [
    "job_spec.cycle",
    "/lineage/rdds/0/dependencies",
  ]);
  assertEquals(changed((l) => l.rdds[0].dependencies = [{ kind: "narrow", rddId: 0, mapping: "range" }]), [
    "job_spec.range",
    "/lineage/rdds/0/dependencies/0/outStart",
  ]);
  assertEquals(changed((l) => l.demands[0].tasks = 3), ["job_spec.range", "/lineage/shuffles/0/demand"]);
  assertEquals(changed((l) => l.demands[0].computeMs = [1]), ["job_spec.length", "/lineage/demands/0/computeMs"]);
  assertEquals(changed((l) => l.jobs[0].rddId = 7), ["job_spec.unknown_reference", "/lineage/jobs/0/rddId"]);
  assertEquals(changed((l) => l.jobs[0].demand = 7), ["job_spec.unknown_reference", "/lineage/jobs/0/demand"]);
  assertEquals(changed((l) => l.jobs[0].afterJobs = [0]), [
    "job_spec.unknown_reference",
    "/lineage/jobs/0/afterJobs/0",
  ]);
  assertEquals(changed((l) => l.jobs[0].shuffleId = 0), ["job_spec.unknown_reference", "/lineage/jobs/0/shuffleId"]);
  assertEquals(changed((l) => l.shuffles[0].reducerShares = [1]), [
    "job_spec.range",
    "/lineage/shuffles/0/reducerShares",
  ]);
  assertEquals(changed((l) => l.demands[0].broadcastIds = [1]), [
    "job_spec.unknown_reference",
    "/lineage/demands/0/broadcastIds/0",
  ]);
  assertEquals(changed((l) => l.faults = [{ kind: "resultLost", demand: 0, partition: 2, attempts: 1 }]), [
    "job_spec.range",
    "/lineage/faults/0/partition",
  ]);
});

Deno.test("cartesian products hold their limit at its value and not one beyond", () => {
  const spec = {
    lineage: {
      rdds: [
        { id: 0, name: "left", numPartitions: 30 },
        { id: 1, name: "both", numPartitions: 20, dependencies: [{ kind: "narrow", rddId: 0, mapping: "all" }] },
      ],
      demands: [{ tasks: 20 }],
      jobs: [{ id: 0, rddId: 1, demand: 0 }],
    },
  } as const;
  workloadFromJobSpec(spec, { limits: { partitionDependencies: 600 } });
  const error = assertThrows(() => workloadFromJobSpec(spec, { limits: { partitionDependencies: 599 } }), InputError);
  assertEquals(error.code, "limit.partitionDependencies");
});

Deno.test("the exact form refuses references to what there is not, each at its place", () => {
  const lineage = () => ({
    rdds: [{ id: 0, name: "a", callSite: "", numPartitions: 2 }, {
      id: 1,
      name: "b",
      callSite: "",
      numPartitions: 2,
      dependencies: [{ kind: "narrow", rddId: 0, mapping: "oneToOne" }],
    }],
    shuffles: [],
    demands: [{ tasks: 2 }],
    jobs: [{ id: 0, rddId: 1, demand: 0 }],
    broadcasts: [],
    faults: [],
  });
  const refused = (change: (spec: ReturnType<typeof lineage>) => void) => {
    const spec = lineage();
    change(spec);
    return refusal({ lineage: spec });
  };
  const job = { id: 0, rddId: 1, demand: 0 };
  const fault = { kind: "fetchFailure", demand: 1, partition: 0, attempts: 1 };
  assertEquals(refused((spec) => spec.rdds[1].dependencies![0].rddId = 7), [
    "job_spec.unknown_reference",
    "/lineage/rdds/1/dependencies/0/rddId",
  ]);
  assertEquals(refused((spec) => spec.jobs = [{ ...job, partitions: [0, 2] } as never]), [
    "job_spec.range",
    "/lineage/jobs/0/partitions/1",
  ]);
  assertEquals(refused((spec) => spec.faults = [fault] as never), [
    "job_spec.unknown_reference",
    "/lineage/faults/0/demand",
  ]);
});

Deno.test("an RDD of the exact form keeps what it computes with, and when it is persisted and unpersisted", () => {
  const spec = {
    cached: [{
      name: "c",
      partitions: 2,
      bytes: 10,
      unpersistBeforeJob: 1,
      memory: [{ kind: "UnsafeExternalSorter" as const, bytes: 100 }],
    }],
    stages: [{ id: 0, reads: ["c"], preferredHosts: undefined }, { id: 1, tasks: 1 }],
    jobs: [{ stage: 0 }, { stage: 1 }],
  };
  const workload = workloadFromJobSpec(spec as never);
  const [rdd] = workload.rdds;
  const rdds = [
    { ...rdd, alwaysSerialized: true, preferredHosts: [["host-0"], []], persistBeforeJob: 0 },
    ...workload.rdds.slice(1),
  ];
  const again = workloadFromJobSpec(JSON.parse(JSON.stringify(jobSpecFromWorkload({ ...workload, rdds }))));
  assertEquals(again.rdds[0], rdds[0]);
});

Deno.test("shares of reducers go through the exact form", () => {
  const workload = workloadFromJobSpec({
    stages: [
      { id: 0, tasks: 2, shuffleWriteBytes: 500 },
      { id: 1, tasks: 2, parents: [0], shuffleReadBytes: [900, 100] },
    ],
  });
  const again = workloadFromJobSpec(JSON.parse(JSON.stringify(jobSpecFromWorkload(workload))));
  assertEquals(again.shuffles[0].reducerShares, Float64Array.of(0.9, 0.1));
});
