import { assertEquals } from "@std/assert";
import { replayMemoryTrace } from "../../src/replay/memory.ts";
import { MemoryModel } from "../model/memory_model.ts";
import { replayed, traceFiles, traceLines } from "../support/traces.ts";

// Recorded from the real Spark: see tests/testdata/memory/README.md.

Deno.test("the kernel does what Spark 2.4.0 did in every random trace", async () => {
  const { status, last, differences } = await replayed(traceFiles("memory/random"));
  assertEquals(differences, []);
  assertEquals(last, "120002 operations compared in 60 traces, 0 differ");
  assertEquals(status, 0);
});

Deno.test("the kernel does what Spark 2.4.0 did in every handmade trace", async () => {
  const { last, differences } = await replayed(traceFiles("memory/handmade"));
  assertEquals(differences, []);
  assertEquals(last, "392 operations compared in 51 traces, 0 differ");
});

Deno.test("the kernel does what Spark 4.1.3 did with unmanaged memory", async () => {
  const handmade = await replayed(traceFiles("memory/unmanaged-4.1/handmade"));
  assertEquals(handmade.differences, []);
  assertEquals(handmade.last, "108 operations compared in 10 traces, 0 differ");
  const random = await replayed(traceFiles("memory/unmanaged-4.1/random"));
  assertEquals(random.differences, []);
  assertEquals(random.last, "20003 operations compared in 10 traces, 0 differ");
});

// Spark 3.5.9, 4.0.4 and 4.1.3 were run on these traces: they differ from 2.4.0 in the text of one exception, and refuse
// an execution pool of 0 bytes (12 traces with storage fraction 1, one with a heap of 0).
for (const version of ["3.5.9", "4.0.4", "4.1.3"]) {
  Deno.test(`with the rules of Spark ${version} the 2.4.0 traces differ only where that version does`, async () => {
    const files = [...traceFiles("memory/random"), ...traceFiles("memory/handmade")];
    const { last, differences } = await replayed(["--spark-version", version, ...files]);
    const expected =
      /x: recorded "java\.lang\.IllegalStateException: Block (\S+) not found", computed "org\.apache\.spark\.SparkException: Block \1 does not exist"$/;
    assertEquals(differences.filter((line) => !expected.test(line)), []);
    assertEquals(last, "104345 operations compared in 111 traces, 40 differ");
  });
}

Deno.test("the model does what Spark did in every trace", async () => {
  let operations = 0;
  for (const folder of ["random", "handmade", "unmanaged-4.1/handmade", "unmanaged-4.1/random"]) {
    for (const file of traceFiles(`memory/${folder}`)) {
      const [header, ...lines] = await traceLines(file);
      for (const record of replayMemoryTrace(header, lines, {}, (options) => new MemoryModel(options))) {
        if (record.compared) operations++;
        // a line as it is parsed here does not keep Long.MaxValue / 4, which the warnings name
        const differences = record.differences.filter(({ what }) => what !== "w");
        assertEquals(differences, [], `${file}:${record.line}`);
      }
    }
  }
  assertEquals(operations, 120_002 + 392 + 108 + 20_003);
});
