import { assertEquals } from "@std/assert";
import { JOB_PROPERTIES } from "../../src/event_log/event_json.ts";
import { wantedOf } from "../../src/event_log/wanted_fields.ts";

Deno.test("job starts are read for the properties that the decoder keeps", () => {
  const { fields } = wantedOf("SparkListenerJobStart")!;
  assertEquals(new Set(Object.keys(fields!.Properties.fields!)), JOB_PROPERTIES);
});

Deno.test("small events, and those read by templates, are not scanned; of events without a use only the name is wanted", () => {
  for (const name of ["SparkListenerTaskEnd", "SparkListenerBlockUpdated", "SparkListenerJobEnd"]) {
    assertEquals(wantedOf(name), null);
  }
  assertEquals(Object.keys(wantedOf("toString")!.fields!), ["Event"]);
});
