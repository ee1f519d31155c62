import { assertEquals } from "@std/assert";
import { BlockFold, rddOfBlock } from "../../src/report/block_fold.ts";
import type { BlockUpdated } from "../../src/spark/events.ts";

function update(
  blockId: string,
  change: Partial<Record<"memory" | "disk" | "freed", number>>,
  executorId = "1",
): BlockUpdated {
  const { memory = 0, disk = 0, freed = 0 } = change;
  return {
    kind: "blockUpdated",
    executorId,
    blockId,
    storageLevel: { useMemory: memory > 0, useDisk: disk > 0, useOffHeap: false, deserialized: true, replication: 1 },
    memorySize: memory + freed,
    diskSize: disk,
    time: null,
  };
}

Deno.test("a drop is told from a removal by the size that Spark reports as freed", () => {
  const blocks = new BlockFold("observed");
  assertEquals(blocks.updated(update("rdd_1_0", { memory: 100 })), "stored");
  assertEquals(blocks.updated(update("rdd_1_0", { freed: 100 })), "evicted");
  assertEquals(blocks.updated(update("rdd_1_1", { memory: 50 })), "stored");
  assertEquals(blocks.updated(update("rdd_1_1", {})), "other"); // removed, not evicted
  assertEquals([blocks.stored, blocks.evicted, blocks.bytesEvicted, blocks.droppedToDisk], [2, 1, 100, 0]);
  assertEquals(blocks.now(), { memoryBlocks: 0, memoryBytes: 0, diskBlocks: 0, diskBytes: 0 });
});

Deno.test("a block dropped to disk stays there, and its return to memory is seen only when it goes again", () => {
  const blocks = new BlockFold("observed");
  blocks.updated(update("rdd_1_0", { memory: 100 }));
  blocks.updated(update("rdd_1_0", { freed: 100, disk: 90 }));
  assertEquals(blocks.now(), { memoryBlocks: 0, memoryBytes: 0, diskBlocks: 1, diskBytes: 90 });
  blocks.updated(update("rdd_1_0", { freed: 100, disk: 90 }));
  assertEquals([blocks.evicted, blocks.droppedToDisk, blocks.unseen], [2, 2, 1]);
});

Deno.test("broadcast pieces and task results take storage memory, but are no RDD blocks", () => {
  const blocks = new BlockFold("observed");
  blocks.updated(update("broadcast_0_piece0", { memory: 40 }));
  blocks.updated(update("taskresult_7", { memory: 60 }));
  blocks.updated(update("taskresult_7", {}));
  assertEquals([blocks.stored, blocks.broadcastPeak], [0, 40]);
  assertEquals(blocks.ofExecutor("1"), { ...blocks.ofExecutor("1")!, memoryBytes: 40, peakBytes: 100 });
});

Deno.test("what tasks record stands for block updates where there are none: drops have a size of 0 there", () => {
  const blocks = new BlockFold("observed");
  const { kind: _kind, executorId: _executor, time: _time, ...stored } = update("rdd_1_0", { memory: 100 });
  const { kind: _kind2, executorId: _executor2, time: _time2, ...dropped } = update("rdd_1_0", {});
  assertEquals(blocks.updatedByTask("1", stored), "stored");
  assertEquals(blocks.updatedByTask("2", dropped), "other"); // it was never there
  assertEquals(blocks.updatedByTask("1", dropped), "evicted");
  assertEquals([blocks.stored, blocks.evicted, blocks.bytesEvicted], [1, 1, 100]);
  blocks.updated(update("rdd_1_1", { memory: 10 }));
  assertEquals(blocks.updatedByTask("1", stored), "other"); // block updates say it all
});

Deno.test("rdds() gives each RDD's partitions at their last size, with its evictions", () => {
  const blocks = new BlockFold("observed");
  blocks.updated(update("rdd_1_0", { memory: 100 }));
  blocks.updated(update("rdd_1_0", { freed: 100 }));
  blocks.updated(update("rdd_1_0", { memory: 110 }, "2"));
  blocks.updated(update("rdd_1_1", { disk: 30 }));
  assertEquals(blocks.rdds(), [{ rddId: 1, partitions: 2, bytes: 140, maxBytes: 110, evicted: 1 }]);
});

Deno.test("an executor that goes takes its blocks along; its peak stays", () => {
  const blocks = new BlockFold("observed");
  blocks.updated(update("rdd_1_0", { memory: 100 }));
  blocks.executorGone("1");
  assertEquals([blocks.lost, blocks.now().memoryBlocks, blocks.ofExecutor("1")?.peakBytes], [1, 0, 100]);
});

Deno.test("rddOfBlock() knows Spark's block ids", () => {
  assertEquals(["rdd_12_3", "rdd_x_3", "broadcast_1", "shuffle_1_2_3", "rdd_1"].map(rddOfBlock), [
    12,
    null,
    null,
    null,
    null,
  ]);
});

Deno.test("a piece of a broadcast that comes back from disk is no block of an RDD", () => {
  const fold = new BlockFold("simulated");
  fold.readBack("1", "broadcast_1_piece0", 10);
  assertEquals(fold.rdds(), []);
});
