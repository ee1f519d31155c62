import { assertEquals } from "@std/assert";
import {
  changesOf,
  isChanged,
  linkText,
  NO_CHANGES,
  readLink,
  scenarioOf,
  settingsOf,
} from "../../../../routes/page/analyse/scenario.ts";
import { countSteps, offHeapSteps } from "../../../../routes/page/analyse/steps.ts";
import { formatMs } from "../../../../routes/page/ui/format.ts";

const FULL = { conf: { "spark.executor.memory": "4g" }, executors: 3, storageLevel: "DISK_ONLY", sparkVersion: "4.1" };

Deno.test("a scenario is the changes of the library, and the settings of a sweep and back", () => {
  assertEquals(changesOf(FULL), FULL);
  assertEquals(changesOf(NO_CHANGES), { conf: {} });
  const settings = { "spark.executor.memory": "4g", executors: "3", storageLevel: "DISK_ONLY", sparkVersion: "4.1" };
  assertEquals(settingsOf(FULL), settings);
  assertEquals(scenarioOf(settings), FULL);
  assertEquals(scenarioOf(settingsOf(NO_CHANGES)), { ...NO_CHANGES });
});

Deno.test("each part of a scenario changes something", () => {
  assertEquals(isChanged(NO_CHANGES), false);
  for (const part of ["conf", "executors", "storageLevel", "sparkVersion"] as const) {
    assertEquals([part, isChanged({ ...NO_CHANGES, [part]: FULL[part] })], [part, true]);
  }
});

Deno.test("a link names the application of a log of the user's own, never the log", () => {
  const link = { run: null, app: "app-1", scenario: NO_CHANGES };
  assertEquals(linkText(link), "app=app-1");
  assertEquals(readLink("app=app-1").app, "app-1");
});

Deno.test("sliders step through every small count and then in sixteenths, through no off-heap memory and more", () => {
  const counts = countSteps(30, 8);
  // all from 1 to 64, then 4 by 4 (64 / 16), ..., up to four times the recorded one
  assertEquals(counts.slice(0, 64), Array.from({ length: 64 }, (_, i) => i + 1));
  assertEquals(counts.slice(64, 67), [68, 72, 76]);
  assertEquals(counts.at(-1), 120);
  assertEquals(countSteps(1, 8).at(-1), 8);
  const mib = 2 ** 20;
  assertEquals(offHeapSteps(100 * mib).slice(0, 5).map((size) => size / mib), [0, 100, 128, 256, 512]);
});

Deno.test("times are printed in minutes and seconds, or as not recorded", () => {
  assertEquals([null, 60_000, 90_400, 3_540_000].map(formatMs), ["not recorded", "1 min", "1 min 30 s", "59 min"]);
});
