import { assertEquals } from "@std/assert";
import { outputDeterministicLevel } from "../../../src/simulator/scheduler/deterministic_level.ts";
import type { Dependency, Rdd } from "../../../src/simulator/scheduler/rdd.ts";
import type { DeterministicLevel } from "../../../src/spark/events.ts";

// Expected levels: RDD.getOutputDeterministicLevel, read in 2.4.0 and 4.2.0 (the same). The recorded traces handmade-i and
// random-i hold RDDs with and without a level of their own.

function rdd(id: number, dependencies: Dependency[], outputDeterministicLevel?: DeterministicLevel): Rdd {
  return { id, numPartitions: 1, dependencies, creationSite: "", isPersisted: false, outputDeterministicLevel };
}

const narrow = (parent: Rdd): Dependency => ({ kind: "narrow", rdd: parent, getParents: (i) => [i] });
const shuffle = (parent: Rdd): Dependency => ({ kind: "shuffle", shuffleId: parent.id, rdd: parent, numReducers: 1 });

Deno.test("an RDD without parents is determinate, one behind a shuffle unordered, one behind other data indeterminate", () => {
  const input = rdd(0, []);
  const shuffled = rdd(1, [shuffle(input)]);
  const random = rdd(2, [narrow(input)], "INDETERMINATE");
  assertEquals(
    [input, shuffled, rdd(3, [narrow(shuffled)]), rdd(4, [shuffle(random)]), rdd(5, [narrow(input), narrow(random)])]
      .map(outputDeterministicLevel),
    ["DETERMINATE", "UNORDERED", "UNORDERED", "INDETERMINATE", "INDETERMINATE"],
  );
});

Deno.test("an RDD that states its level is what it says, whatever its parents are", () => {
  const random = rdd(0, [], "INDETERMINATE");
  const checkpointed = rdd(1, [narrow(random)], "DETERMINATE");
  assertEquals(outputDeterministicLevel(rdd(2, [narrow(checkpointed)])), "DETERMINATE");
});

Deno.test("a lineage of 100,000 RDDs is no deeper than one", () => {
  let last = rdd(0, [], "INDETERMINATE");
  for (let id = 1; id < 100_000; id++) last = rdd(id, [narrow(last)]);
  assertEquals(outputDeterministicLevel(last), "INDETERMINATE");
});
