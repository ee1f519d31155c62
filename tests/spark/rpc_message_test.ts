import { assertEquals } from "@std/assert";
import { SparkConf } from "../../src/spark/conf.ts";
import { taskTooLargeToSend } from "../../src/spark/rpc_message.ts";

Deno.test("a task of exactly the limit is refused, one byte less is sent", () => {
  const fits = (size: number, version: string) =>
    taskTooLargeToSend({ taskId: 0, index: 0, size }, SparkConf.from({}, version)) === null;
  const limit = 128 * 2 ** 20;
  assertEquals([fits(limit - 1, "2.4.0"), fits(limit, "2.4.0")], [true, false]);
  // 1.x keeps 200 KiB of the frame, which is 10 MiB up to 1.5 and 128 MiB in 1.6.
  assertEquals([fits(limit - 204801, "1.6.3"), fits(limit - 204800, "1.6.3")], [true, false]);
  assertEquals(fits(10 * 2 ** 20 - 204800, "1.5.2"), false);
});

Deno.test("1.x names its own property", () => {
  assertEquals(
    taskTooLargeToSend({ taskId: 3, index: 0, size: 200_000_000 }, SparkConf.from({}, "1.6.3")),
    "Serialized task 3:0 was 200000000 bytes, which exceeds max allowed: spark.akka.frameSize (134217728 bytes) - " +
      "reserved (204800 bytes). Consider increasing spark.akka.frameSize or using broadcast variables for large values.",
  );
});
