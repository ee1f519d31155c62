import { assert, assertEquals } from "@std/assert";
import { ON_HEAP } from "../../../../src/simulator/memory/execution_memory.ts";
import { inferDemand, type RecordedConsumer } from "../../../../src/simulator/memory/consumers/infer_demand.ts";
import { soloRun } from "../../../../src/simulator/memory/consumers/solo_run.ts";
import { rulesFor } from "../../../../src/spark/versions.ts";

const RULES = rulesFor("3.5.9").spilling;
const SETTINGS = { pageSizeBytes: 8388592, tungstenMemoryMode: ON_HEAP, rules: RULES };

const NOTHING_SPILLED = { memoryBytesSpilled: 0, diskBytesSpilled: 0 };

function recorded(more: Partial<RecordedConsumer>): RecordedConsumer {
  return {
    kind: "UnsafeExternalSorter",
    name: "Sort",
    records: 0,
    keys: null,
    recordBytes: null,
    peakMemory: null,
    ...NOTHING_SPILLED,
    serializedBytes: null,
    parameters: {},
    ...more,
  };
}

// Sort tasks of a Spark 3.5.9 run with pages of 8 MiB; their rows have 64 bytes, as the exchange says.
Deno.test("a sorter's peak tells the size of its rows and how it sorts", () => {
  const byString = inferDemand(recorded({ records: 999881, peakMemory: 109051760 }), SETTINGS);
  assertEquals(byString.input.bytes, 999881 * 64);
  assertEquals([byString.input.parameters, byString.grade], [{ radixSort: 0 }, "inferred"]);
  const small = inferDemand(
    recorded({ records: 493143, peakMemory: 50331584, parameters: { radixSort: 1 } }),
    SETTINGS,
  );
  // 4 pages: from 3 to 4 pages' worth of rows of 52 to 68 bytes; the middle is 56.
  assertEquals(small.input.bytes, 493143 * 56);
});

Deno.test("disk bytes are those of the records that were in memory, whatever the pages", () => {
  // The same sort with pages of 8 MiB and of 1 MiB: 524288 rows filled an array of 16 MiB both times.
  const sort = { records: 970151, recordBytes: 64, parameters: { radixSort: 1 }, diskBytesSpilled: 23741517 };
  const large = inferDemand(recorded({ ...sort, peakMemory: 58720176, memoryBytesSpilled: 41942960 }), SETTINGS);
  const small = inferDemand(recorded({ ...sort, peakMemory: 53476816, memoryBytesSpilled: 36699600 }), {
    ...SETTINGS,
    pageSizeBytes: 1048560,
  });
  assertEquals(large.input.diskBytesPerByte, small.input.diskBytesPerByte);
  // What one run tells predicts the other.
  const { memoryBytesSpilled, diskBytesSpilled } = soloRun("UnsafeExternalSorter", large.input, 81788926, {
    ...SETTINGS,
    pageSizeBytes: 1048560,
  });
  assertEquals([memoryBytesSpilled, diskBytesSpilled], [36699600, 23741517]);
});

// Aggregation tasks of a Spark 3.5.9 run with pages of 2 MiB; a group takes 40 bytes.
Deno.test("an aggregation's peak tells the size of its groups", () => {
  const settings = { ...SETTINGS, pageSizeBytes: 2097136 };
  const final = recorded({ kind: "HashAggregation", records: 577903, keys: 464228, peakMemory: 44039984 });
  const { input, grade } = inferDemand(final, settings);
  // 13 pages: 40 to 43 bytes beside 16 of the map's own.
  assertEquals([input.bytes, input.keys, grade], [577903 * 40, 464228, "inferred"]);
});

Deno.test("a dense hash relation is told from its size", () => {
  const build = recorded({
    kind: "HashedRelation",
    records: 499765,
    recordBytes: 24,
    peakMemory: 32777152,
    parameters: { longKey: 1 },
  });
  assertEquals(inferDemand(build, SETTINGS).input.parameters, { longKey: 1, keyRange: 1999991 });
});

// groupByKey on Spark 3.5.9: a task that spilled with 12.7 MiB, and without the limit estimated 19549325 bytes in all.
Deno.test("a collection that spilled is found by its share on disk", () => {
  const { input, grade } = inferDemand(
    recorded({
      kind: "ExternalAppendOnlyMap",
      records: 249776,
      peakMemory: 18570104,
      memoryBytesSpilled: 18570104,
      diskBytesSpilled: 10168083,
      serializedBytes: 11461215,
    }),
    SETTINGS,
  );
  assertEquals(grade, "inferred");
  assert(Math.abs(input.bytes / 19549325 - 1) < 0.08);
  assertEquals(input.diskBytesPerByte?.toFixed(3), (10168083 / 18570104).toFixed(3));
});

Deno.test("where nothing is recorded the size is assumed and says so", () => {
  for (const kind of ["UnsafeExternalSorter", "HashedRelation", "ExternalSorter"] as const) {
    const { input, grade } = inferDemand(recorded({ kind, records: 10, parameters: { longKey: 1 } }), SETTINGS);
    assertEquals([input.bytes, grade], [640, "assumed"]);
  }
  // A peak that is no array and pages of this kind.
  assertEquals(inferDemand(recorded({ records: 10, peakMemory: 12345 }), SETTINGS).grade, "assumed");
});
