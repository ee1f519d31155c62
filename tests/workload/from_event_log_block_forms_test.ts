import { assert, assertEquals } from "@std/assert";
import {
  estimatedElements,
  objectsFromSerialized,
  serializedFromObjects,
} from "../../src/workload/from_event_log_block_forms.ts";

Deno.test("SizeEstimator loses what is beyond a full hundred elements", () => {
  // 640 arrays of 64 KiB: 39,333,776 bytes of 41,949,541 (Spark 3.5.9).
  const all = 640 * 65552 + 2576;
  assertEquals(Math.round((all - 2576) * estimatedElements(640) / 640) + 2576, 39333776);
  assert(Math.abs(serializedFromObjects(39333776, 640) / 41949541 - 1) < 0.001);
});

Deno.test("objects of a few fields serialize to half of their size", () => {
  // 115,343 case classes: 16,059,184 bytes as objects, 8,396,924 serialized (Spark 3.5.9).
  assert(Math.abs(serializedFromObjects(16059184, 115343) / 8396924 - 1) < 0.05);
  assert(Math.abs(objectsFromSerialized(8396924, 115343) / 16059184 - 1) < 0.05);
});

Deno.test("where the number of elements is not known, a block is taken for objects of a few fields", () => {
  assert(serializedFromObjects(1000, null) === 500 && serializedFromObjects(1000, 0) === 500);
  assert(objectsFromSerialized(500, null) === 1000);
});
