import { assertEquals } from "@std/assert";
import { ExecutorTable } from "../../src/workload/from_event_log_cluster.ts";

function lost(reason: string): ExecutorTable {
  const table = new ExecutorTable();
  table.added({ kind: "executorAdded", time: 100, executorId: "0", host: "a", totalCores: 2 });
  table.get("0", "a").tasksStarted = 11;
  table.removed({ kind: "executorRemoved", time: 500, executorId: "0", reason });
  table.added({ kind: "executorAdded", time: 800, executorId: "1", host: "a", totalCores: 2 });
  return table;
}

Deno.test("an executor that replaces a lost one is part of the loss", () => {
  const table = lost("Command exited with code 137");
  assertEquals(table.specs(50, false, 0).map(({ id, addedMs }) => [id, addedMs]), [["0", 50]]);
  const [fault] = table.faults(50);
  assertEquals(fault.kind === "executorLost" && [fault.afterTasks, fault.replacedAfterMs], [11, 300]);
});

Deno.test("an executor was there before its first task, whatever the log dates it", () => {
  const table = new ExecutorTable();
  table.added({ kind: "executorAdded", time: 9_000_000, executorId: "0", host: "a", totalCores: 2 });
  table.launched("0", "a", 700);
  assertEquals(table.specs(500, false, 0).map(({ addedMs }) => addedMs), [200]);
});

Deno.test("an executor released by dynamic allocation is no fault", () => {
  const table = lost("Executor killed by driver.");
  assertEquals(table.faults(50), []);
  assertEquals(table.specs(50, false, 0).map(({ id, removedMs }) => [id, removedMs]), [["0", 450], ["1", null]]);
});

Deno.test("in local mode the driver is the executor", () => {
  const table = new ExecutorTable();
  table.blockManagerAdded({
    kind: "blockManagerAdded",
    time: 1,
    executorId: "driver",
    host: "h",
    maximumMemory: 10,
    maximumOnHeapMemory: 10,
    maximumOffHeapMemory: 0,
  });
  assertEquals(table.specs(0, true, 4).map(({ id, cores }) => [id, cores]), [["driver", 4]]);
});

Deno.test("the end of an executor of which nothing was said before is passed over", () => {
  const table = new ExecutorTable();
  table.removed({ kind: "executorRemoved", time: 500, executorId: "9", reason: "lost" });
  assertEquals([table.records, table.faults(50)], [[], []]);
});
