import { assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { parseStorageLevel, STORAGE_LEVELS, storageLevelName } from "../../src/spark/storage_level.ts";

Deno.test("each constant has its name, another level its five fields in the words of StorageLevel.toString", () => {
  for (const [name, level] of Object.entries(STORAGE_LEVELS)) {
    // two constants may be one level
    assertEquals(storageLevelName(level) === name || parseStorageLevel(storageLevelName(level)) === level, true, name);
  }
  assertEquals(
    storageLevelName({ ...STORAGE_LEVELS.MEMORY_ONLY, replication: 3 }),
    "StorageLevel(disk=false, memory=true, offHeap=false, deserialized=true, 3 replicas)",
  );
  assertEquals(assertThrows(() => parseStorageLevel("toString"), InputError).code, "storage_level.unknown");
});
