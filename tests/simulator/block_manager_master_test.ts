import { assertEquals } from "@std/assert";
import { NO_RDD } from "../../src/kernel/types.ts";
import { BlockManagerMaster } from "../../src/simulator/block_manager_master.ts";

Deno.test("locations of a block keep the order of storing and forget what is removed", () => {
  const master = new BlockManagerMaster([{ id: 9, numPartitions: 2 }, { id: 3, numPartitions: 2 }]);
  const block = master.rddBlock(1, 0);
  assertEquals([master.nameOf(block), master.rddOf(block)], ["rdd_3_0", 1]);
  for (const executor of [4, 0, 4, 7]) master.stored(block, executor);
  assertEquals(master.locations(block), [4, 0, 7]);
  master.removed(block, 4);
  assertEquals(master.locations(block), [0, 7]);
  master.removed(block, 7);
  master.removed(block, 0);
  assertEquals([master.locations(block), master.isStored(block)], [[], false]);
});

Deno.test("ids of blocks without an RDD are given out again", () => {
  const master = new BlockManagerMaster([{ id: 0, numPartitions: 2 }]);
  const block = master.newBlock("taskresult_5");
  assertEquals([master.nameOf(block), master.rddOf(block)], ["taskresult_5", NO_RDD]);
  master.freeBlock(block);
  assertEquals(master.newBlock("taskresult_6"), block);
  assertEquals(master.nameOf(block), "taskresult_6");
});

Deno.test("what is cached of an RDD is counted as it changes, over all executors", () => {
  const master = new BlockManagerMaster([{ id: 9, numPartitions: 2 }, { id: 3, numPartitions: 2 }]);
  const [a, b] = [master.rddBlock(1, 0), master.rddBlock(1, 1)];
  for (const [block, executor] of [[a, 0], [a, 1], [b, 1]]) {
    master.stored(block, executor);
    master.resized(block, 10, 0);
  }
  assertEquals(master.cachedOf(1), { partitions: 2, memorySize: 30, diskSize: 0 });
  // One of two replicas is dropped to disk, the other goes.
  master.resized(a, -10, 4);
  master.resized(a, -10, 0);
  master.removed(a, 1);
  assertEquals(master.cachedOf(1), { partitions: 2, memorySize: 10, diskSize: 4 });
  master.resized(a, 0, -4);
  master.removed(a, 0);
  assertEquals([master.cachedOf(1).partitions, master.cachedOf(0)], [1, { partitions: 0, memorySize: 0, diskSize: 0 }]);
  assertEquals([master.hasCachedBlocks(0), master.hasCachedBlocks(1)], [false, true]);
});
