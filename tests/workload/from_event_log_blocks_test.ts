import { assertEquals } from "@std/assert";
import { STORAGE_LEVELS } from "../../src/spark/storage_level.ts";
import { BlockTable } from "../../src/workload/from_event_log_blocks.ts";

const { MEMORY_ONLY, MEMORY_ONLY_SER, DISK_ONLY, NONE } = STORAGE_LEVELS;

Deno.test("a drop does not change what a block measures", () => {
  const blocks = new BlockTable();
  blocks.update({ blockId: "rdd_1_0", storageLevel: MEMORY_ONLY, memorySize: 70, diskSize: 0 });
  blocks.update({ blockId: "rdd_1_0", storageLevel: NONE, memorySize: 70, diskSize: 0 });
  blocks.update({ blockId: "rdd_1_0", storageLevel: DISK_ONLY, memorySize: 70, diskSize: 40 });
  const { deserialized, serialized, disk } = blocks.rdds.get(1)!;
  assertEquals([deserialized.get(0), serialized.get(0), disk.get(0)], [70, undefined, 40]);
});

Deno.test("a broadcast piece that goes is not a piece that comes", () => {
  const blocks = new BlockTable();
  const update = { blockId: "broadcast_3_piece0", storageLevel: MEMORY_ONLY_SER, memorySize: 9, diskSize: 0 };
  assertEquals(blocks.update(update, "1")?.id, 3);
  assertEquals(blocks.update(update, "2")?.id, 3);
  // Removed: reported once more as it was (BlockManager.removeBlockInternal).
  assertEquals(blocks.update(update, "1"), null);
  assertEquals(blocks.update(update, "1")?.id, 3);
});

Deno.test("a broadcast is gone before the next job when executors dropped their pieces and none fetched them again", () => {
  const blocks = new BlockTable();
  const update = { blockId: "broadcast_3_piece0", storageLevel: MEMORY_ONLY_SER, memorySize: 9, diskSize: 0 };
  const before = () => blocks.broadcast(3).removedBeforeJob;
  blocks.jobStart(0);
  for (const executor of ["driver", "1", "2"]) blocks.update(update, executor);
  assertEquals(before(), null);
  blocks.update(update, "1");
  assertEquals(before(), 1);
  blocks.jobStart(1);
  blocks.update(update, "1");
  assertEquals(before(), null);
  blocks.update(update, "1");
  blocks.update(update, "driver");
  assertEquals(before(), 2);
});

Deno.test("a piece that is dropped to disk stays", () => {
  const blocks = new BlockTable();
  const update = { blockId: "broadcast_3_piece0", storageLevel: MEMORY_ONLY_SER, memorySize: 9, diskSize: 0 };
  blocks.update(update, "1");
  assertEquals(blocks.update({ ...update, storageLevel: DISK_ONLY, diskSize: 9 }, "1"), null);
  // And then goes from there: reported with nothing in memory.
  assertEquals(blocks.update({ ...update, storageLevel: DISK_ONLY, memorySize: 0, diskSize: 9 }, "1"), null);
  assertEquals(blocks.update(update, "1")?.id, 3);
});
