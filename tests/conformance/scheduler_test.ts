import { assertEquals } from "@std/assert";
import { SCHEDULER_TRACES } from "../../src/replay/scheduler/mod.ts";
import type { TraceLine } from "../../src/replay/trace.ts";
import { testdata, traceLines } from "../support/traces.ts";

// Recorded from the real Spark: see tests/testdata/scheduler/README.md.

/** Each set with its numbers of traces and of events. */
const SETS: readonly (readonly [set: string, traces: number, events: number])[] = [
  ["2.4.0/handmade-a", 75, 636],
  ["2.4.0/random-a", 200, 7883],
  ["2.4.0/handmade-b", 45, 310],
  ["2.4.0/random-b", 50, 2919],
  ["2.4.0/random-d", 100, 6034],
  ["2.4.0/random-fair", 10, 1005],
  ["2.4.0/results", 6, 34],
  ["3.5.9/handmade-a", 75, 636],
  ["3.5.9/handmade-b", 45, 310],
  ["3.5.9/random-a", 10, 351],
  ["3.5.9/random-b", 10, 599],
  ["3.5.9/random-d", 10, 441],
  ["3.5.9/random-fair", 10, 1195],
  ["3.5.9/results", 7, 39],
  ["4.0.4/handmade-a", 75, 636],
  ["4.0.4/handmade-b", 45, 310],
  ["4.0.4/random-a", 10, 467],
  ["4.0.4/random-b", 10, 753],
  ["4.0.4/random-d", 10, 408],
  ["4.0.4/results", 7, 39],
  ["4.1.3/handmade-a", 75, 636],
  ["4.1.3/handmade-b", 45, 310],
  ["2.3.4/handmade-a", 75, 636],
  ["2.3.4/handmade-i", 25, 422],
  ["2.3.4/random-a", 15, 545],
  ["2.3.4/random-b", 15, 695],
  ["2.3.4/random-d", 15, 847],
  ["2.4.0/handmade-i", 25, 418],
  ["2.4.0/random-i", 25, 550],
  ["2.4.8/handmade-i", 25, 448],
  ["3.5.0/handmade-i", 25, 471],
  ["3.5.9/handmade-i", 25, 472],
  ["3.5.9/random-i", 25, 641],
  ["4.0.4/handmade-i", 25, 472],
  ["4.1.0/handmade-i", 46, 805],
  ["4.1.3/handmade-i", 46, 805],
  ["4.1.3/random-i", 25, 582],
  ["4.2.0/handmade-i", 46, 805],
  ["4.2.0/random-i", 25, 518],
];

/** The traces of a set, which stand one after the other in its file: a header, then events. */
async function traces(set: string): Promise<TraceLine[][]> {
  const found: TraceLine[][] = [];
  for (const line of await traceLines(testdata(`scheduler/${set}.jsonl.gz`))) {
    if (line.format !== undefined) found.push([]);
    found.at(-1)!.push(line);
  }
  return found;
}

for (const [set, numTraces, numEvents] of SETS) {
  Deno.test(`the driver does what Spark did in ${set}, every action and state, in order`, async () => {
    let compared = 0;
    const recorded = await traces(set);
    for (const [header, ...events] of recorded) {
      // What stages there are is an outcome, not an input.
      const { stages: _outcome, ...inputs } = header;
      for (const { line, differences } of SCHEDULER_TRACES.replay(inputs, events, {})) {
        assertEquals(differences, [], `${set} ${header.name} line ${line}`);
        compared++;
      }
    }
    assertEquals([recorded.length, compared], [numTraces, numEvents]);
  });
}

Deno.test("a trace replayed with another version's rules differs where that version does", async () => {
  const recorded = await traces("2.4.0/results");
  const different = recorded
    .filter(([header, ...events]) =>
      [...SCHEDULER_TRACES.replay(header, events, { sparkVersion: "3.5.9" })]
        .some(({ differences }) => differences.length > 0)
    )
    .map(([header]) => header.name);
  // Value bytes alone count (v01, v02), map stages go on (v03), a refused result ends as killed (v04), a loss before RUNNING
  // is no failure (v05), a success restarts the count (v07).
  assertEquals(different, ["v01", "v02", "v03", "v04", "v05", "v07"]);
});
