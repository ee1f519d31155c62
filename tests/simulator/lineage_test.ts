import { assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { Lineage, parentRange } from "../../src/simulator/lineage.ts";
import type { Rdd, RddDependency } from "../../src/simulator/workload.ts";
import { STORAGE_LEVELS } from "../../src/spark/storage_level.ts";
import { rddOf } from "../support/workloads.ts";

function rdd(id: number, numPartitions: number, dependencies: RddDependency[], cached = false): Rdd {
  return rddOf(id, numPartitions, { dependencies, storageLevel: cached ? STORAGE_LEVELS.MEMORY_ONLY : null });
}
const narrow = (rddId: number): RddDependency => ({
  kind: "narrow",
  rddId,
  mapping: "oneToOne",
});
const shuffle = (shuffleId: number): RddDependency => ({
  kind: "shuffle",
  shuffleId,
});
const shuffleOf = (id: number, rddId: number) => ({
  id,
  rddId,
  numReducers: 2,
  demand: 0,
  reducerShares: null,
});

Deno.test("a task reads the nearest cached RDDs and no shuffle behind them", () => {
  const lineage = new Lineage({
    rdds: [
      rdd(0, 2, []),
      rdd(1, 2, [shuffle(0)]),
      rdd(2, 2, [narrow(1)], true),
      rdd(3, 2, [narrow(2), shuffle(1)]),
    ],
    shuffles: [shuffleOf(0, 0), shuffleOf(1, 0)],
  });
  assertEquals(lineage.cachedInputs(3, 1), [{ rdd: 2, partition: 1 }]);
  assertEquals(lineage.shuffleInputs(3), [1]);
  assertEquals(lineage.shuffleInputs(2), [0]);
});

Deno.test("a union's partitions come from one parent each, in order", () => {
  const lineage = new Lineage({
    rdds: [
      rdd(0, 2, [], true),
      rdd(1, 3, [], true),
      rdd(2, 5, [
        { kind: "narrow", rddId: 0, mapping: "range", outStart: 0 },
        { kind: "narrow", rddId: 1, mapping: "range", outStart: 2 },
      ]),
    ],
    shuffles: [],
  });
  assertEquals([0, 1, 2, 3, 4].map((p) => lineage.cachedInputs(2, p)), [
    [{ rdd: 0, partition: 0 }],
    [{ rdd: 0, partition: 1 }],
    [{ rdd: 1, partition: 0 }],
    [{ rdd: 1, partition: 1 }],
    [{ rdd: 1, partition: 2 }],
  ]);
});

Deno.test("coalesce takes runs of parent partitions and misses none", () => {
  const lineage = new Lineage({
    rdds: [
      rdd(0, 7, [], true),
      rdd(1, 3, [{ kind: "narrow", rddId: 0, mapping: "coalesce" }]),
    ],
    shuffles: [],
  });
  const seen = [0, 1, 2].flatMap((p) => lineage.cachedInputs(1, p).map(({ partition }) => partition));
  assertEquals(seen, [0, 1, 2, 3, 4, 5, 6]);
});

Deno.test("a partition that its RDD does not have needs nothing, in every mapping", () => {
  for (const mapping of ["oneToOne", "range", "coalesce", "all"] as const) {
    assertEquals(parentRange({ mapping }, 3, 3, 8), [0, 0]);
    assertEquals(parentRange({ mapping }, 0, 0, 8), [0, 0]);
  }
});

Deno.test("a cycle, an unknown parent and a duplicate id are bad input", () => {
  const make = (rdds: Rdd[]) => () => new Lineage({ rdds, shuffles: [shuffleOf(0, 1)] });
  assertThrows(
    make([rdd(0, 1, [narrow(1)]), rdd(1, 1, [narrow(0)])]),
    InputError,
    "depends on itself",
  );
  assertThrows(
    make([rdd(0, 1, [shuffle(0)]), rdd(1, 1, [narrow(0)])]),
    InputError,
    "depends on itself",
  );
  assertThrows(
    make([rdd(1, 1, [narrow(5)])]),
    InputError,
    "rdd 5 is not defined",
  );
  assertThrows(
    make([rdd(1, 1, []), rdd(1, 1, [])]),
    InputError,
    "rdd 1 is defined twice",
  );
});

Deno.test("a lineage of 20,000 RDDs is walked without recursion", () => {
  const rdds = Array.from(
    { length: 20_000 },
    (_, i) => rdd(i, 1, i === 0 ? [] : [narrow(i - 1)], i === 0),
  );
  const lineage = new Lineage({ rdds, shuffles: [] });
  assertEquals(lineage.cachedInputs(19_999, 0), [{ rdd: 0, partition: 0 }]);
});

Deno.test("of several parents only those with cached RDDs below count, and a cartesian product needs all of its parent", () => {
  const lineage = new Lineage({
    rdds: [
      rdd(0, 3, [], true),
      rdd(1, 2, []),
      rdd(2, 2, [narrow(1), { kind: "narrow", rddId: 0, mapping: "all" }]),
    ],
    shuffles: [],
  });
  assertEquals(lineage.cachedInputs(2, 1), [0, 1, 2].map((partition) => ({ rdd: 0, partition })));
  assertEquals(lineage.parentPartitions(2, 0, { kind: "narrow", rddId: 0, mapping: "all" }, 1), [0, 1, 2]);
});
