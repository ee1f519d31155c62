import { assertEquals } from "@std/assert";
import { fuzzEventLogs } from "../fuzz/event_logs.ts";

Deno.test("hundreds of damaged event logs give an answer or a clear error, and untouched lines stay right", async () => {
  const { answers, errors } = await fuzzEventLogs(1, 250);
  // Most damage is of a line or two: the log is still usable.
  assertEquals(answers > 150, true, JSON.stringify({ answers, errors }));
  // Two applications in one, or nothing left.
  const known = ["event_log.several_applications", "event_log.no_events", "event_log.several_attempts"];
  assertEquals(Object.keys(errors).filter((code) => !known.includes(code)), []);
});
