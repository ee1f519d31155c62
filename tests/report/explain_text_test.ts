import { assertEquals } from "@std/assert";
import { explain } from "../../src/report/explain.ts";
import { explanationText } from "../../src/report/explain_text.ts";

Deno.test("the text names the message, its meaning, its numbers, what to try and the settings, in lines that fit", () => {
  const text = explanationText(explain(
    "Serialized task 35:4 was 250906987 bytes, which exceeds max allowed: spark.rpc.message.maxSize (134217728 bytes).",
  ));
  const lines = text.split("\n");
  assertEquals(lines[0], "A task is too large to be sent [failure]");
  assertEquals(lines.every((line) => line.length <= 100), true);
  for (
    const part of ["  Numbers", "  What to try", "  Settings", "240 (MiB)", "spark.rpc.message.maxSize = 128 (default)"]
  ) {
    assertEquals([part, text.includes(part)], [part, true]);
  }
});

Deno.test("repeats are counted", () => {
  const text = explanationText(explain("Dropping block rdd_1_4 from memory\nDropping block rdd_1_5 from memory"));
  assertEquals(text.split("\n")[0], "One block is evicted [slows the job down] (2 times, first in line 1)");
});

Deno.test("nothing known is said in one sentence, with the nearest", () => {
  assertEquals(
    explanationText(explain("hello")),
    "No known message of Spark's memory and result path is in this text.\n" +
      "Paste the whole line, or the exception with its 'Caused by' lines.\n",
  );
});

Deno.test("the text says since when a message is printed, and what the nearest known one is", () => {
  const since = explanationText(explain(
    "Total size of serialized results of 3 tasks (2.0 GiB) is bigger than spark.driver.maxResultSize (1024.0 MiB)",
  ));
  assertEquals(/, printed by \S+, since Spark \d\.\d/.test(since), true, since);
  const nearest = explanationText(explain("what is the size of serialized results?"));
  assertEquals(/^The nearest known one is ".*": .* \(result\.maxResultSize\)\.$/m.test(nearest), true, nearest);
});
