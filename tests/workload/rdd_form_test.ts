import { assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { workloadFromJobSpec } from "../../src/workload/job_spec.ts";

Deno.test("the shuffle input of a stage that caches is the cached RDD's: it is read only on a miss", () => {
  const { rdds, demands } = workloadFromJobSpec({
    cached: [{ name: "grouped", partitions: 2, bytes: "1m", computeMs: 7 }, {
      name: "mapped",
      partitions: 2,
      bytes: 9,
    }],
    stages: [
      { id: "load", tasks: 4, shuffleWriteBytes: 100 },
      { id: "use", parents: ["load"], caches: ["grouped", "mapped"] },
      { id: "again", reads: ["mapped"] },
    ],
  });
  assertEquals(rdds.map(({ name, dependencies }) => [name, dependencies]), [
    ["stage load", []],
    ["grouped", [{ kind: "shuffle", shuffleId: 0 }]],
    ["mapped", [{ kind: "narrow", rddId: 1, mapping: "oneToOne" }]],
    ["stage use", [{ kind: "narrow", rddId: 2, mapping: "oneToOne" }]],
    ["stage again", [{ kind: "narrow", rddId: 2, mapping: "oneToOne" }]],
  ]);
  assertEquals(rdds[1].shuffleReadBytes, Float64Array.of(200, 200));
  assertEquals(rdds[1].computeMs, Float64Array.of(7, 7));
  assertEquals(rdds[2].shuffleReadBytes, null);
  assertEquals(demands[1].shuffleReadBytes, Float64Array.of(0, 0));
});

Deno.test("a cached RDD that no stage computes comes from outside, and fewer tasks read runs of its partitions", () => {
  const { rdds } = workloadFromJobSpec({
    cached: [{ name: "table", partitions: 8, bytes: 1, inputBytes: 3 }],
    stages: [{ id: 0, tasks: 2, reads: ["table"] }],
  });
  assertEquals(rdds[0].dependencies, []);
  assertEquals(rdds[1].dependencies, [{ kind: "narrow", rddId: 0, mapping: "coalesce" }]);
});

Deno.test("bytes are in the form of the storage level; the other form stays unknown", () => {
  const sizes = (storageLevel: string) => {
    const [rdd] = workloadFromJobSpec({
      cached: [{ name: "r", partitions: 1, bytes: 5, storageLevel }],
      stages: [{ id: 0, reads: ["r"] }],
    }).rdds;
    return [rdd.deserializedBytes?.[0] ?? null, rdd.serializedBytes?.[0] ?? null];
  };
  assertEquals(sizes("MEMORY_ONLY"), [5, null]);
  assertEquals(sizes("MEMORY_AND_DISK_2"), [5, null]);
  assertEquals(sizes("MEMORY_ONLY_SER"), [null, 5]);
  assertEquals(sizes("OFF_HEAP"), [null, 5]);
  assertEquals(sizes("DISK_ONLY"), [null, 5]);
});

Deno.test("an RDD is unpersisted before a job that there is; one stage caches it, and broadcasts have names of their own", () => {
  const cached = [{ name: "c", partitions: 2, bytes: 1 }];
  const refusal = (spec: Parameters<typeof workloadFromJobSpec>[0]) => {
    const { code, pointer } = assertThrows(() => workloadFromJobSpec(spec), InputError);
    return [code, pointer];
  };
  const stages = [{ id: 0, caches: ["c"] }, { id: 1, caches: ["c"] }];
  assertEquals(refusal({ cached, stages }), ["job_spec.duplicate", "/stages/1/caches/0"]);
  assertEquals(refusal({ cached, stages: [{ id: 0, caches: ["c", "c"] }] }), [
    "job_spec.duplicate",
    "/stages/0/caches/1",
  ]);
  assertEquals(
    refusal({ cached: [{ ...cached[0], unpersistBeforeJob: 1 }], stages: [stages[0]], jobs: [{ stage: 0 }] }),
    ["job_spec.range", "/cached/0/unpersistBeforeJob"],
  );
  const broadcasts = [{ name: "b", bytes: 1 }, { name: "b", bytes: 2 }];
  assertEquals(refusal({ broadcasts, stages: [{ id: 0, tasks: 1 }] }), ["job_spec.duplicate", "/broadcasts/1/name"]);
});
