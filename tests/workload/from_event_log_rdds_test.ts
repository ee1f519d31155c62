import { assertEquals } from "@std/assert";
import { LogFindings } from "../../src/workload/from_event_log_findings.ts";
import { rddsOf } from "../../src/workload/from_event_log_rdds.ts";
import { collectedLog } from "../support/event_logs.ts";

Deno.test("only cached RDDs have sizes and costs", async () => {
  const rdds = rddsOf(new LogFindings(await collectedLog("unpersist")));
  assertEquals(rdds.map(({ id }) => id), [0, 1, 2, 3, 4, 5]);
  for (const rdd of rdds) {
    const cached = rdd.storageLevel !== null;
    assertEquals([rdd.deserializedBytes !== null, rdd.computeMs !== null], [cached, cached]);
  }
});

Deno.test("elements of blocks that no task found are as large as in RDDs made at the same place", async () => {
  const [first, , last] = rddsOf(new LogFindings(await collectedLog("unpersist")))
    .filter(({ storageLevel }) => storageLevel !== null);
  assertEquals([first.elements, last.elements], [new Float64Array(8).fill(320), new Float64Array(8).fill(320)]);
});
