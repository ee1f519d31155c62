import { assertEquals } from "@std/assert";
import { whatIfText } from "../../src/what_if/text.ts";
import { whatIf } from "../../src/what_if/what_if.ts";
import { workloadOfLog } from "../support/event_logs.ts";

Deno.test("the report begins with the changes, then says what comes of them, then the figures", async () => {
  const workload = await workloadOfLog("unpersist");
  const text = whatIfText(whatIf(workload, null, { conf: { "spark.memory.fraction": "0.3" } }));
  const [title, changes] = text.split("\n");
  assertEquals([title, changes], ["What if", "  spark.memory.fraction: 0.6 (default) -> 0.3"]);
  const order = ["What if", "the application succeeds", "replayed  predicted", "Assumed"].map((part) =>
    text.indexOf(part)
  );
  assertEquals(order, [...order].sort((a, b) => a - b));
  assertEquals(order.includes(-1), false);
});

Deno.test("without changes there is one column", async () => {
  const text = whatIfText(whatIf(await workloadOfLog("task_failures"), null, {}));
  assertEquals([text.includes("replayed"), text.includes("predicted")], [true, false]);
});
