import { assertEquals } from "@std/assert";
import { runMain } from "../../src/cli/main.ts";
import { captureIo } from "../support/capture_io.ts";

async function explain(
  args: string[],
  stdin?: string,
): Promise<{ status: number; stdout: string; stderr: string }> {
  const { io, out } = captureIo({ stdin });
  return { status: await runMain(["explain", ...args], io), ...out };
}

Deno.test("a message is explained as text and as JSON", async () => {
  const message = "Managed memory leak detected; size = 4456448 bytes, TID = 1034";
  const text = await explain([message]);
  assertEquals([text.status, text.stderr], [0, ""]);
  assertEquals(
    text.stdout.includes("4456448 = 1 page(s) of 4194304 bytes (4 MiB) + 262144 bytes of pointer array"),
    true,
  );
  const json = await explain([message, "--format", "json"]);
  assertEquals(JSON.parse(json.stdout).explanations[0].values.pages, 1);
});

Deno.test("- reads a stack trace from standard input", async () => {
  const { stdout } = await explain(["-", "--format=json"], "a\nb\njava.lang.OutOfMemoryError: Java heap space\n");
  const [one] = JSON.parse(stdout).explanations;
  assertEquals([one.code, one.line], ["jvm.heapSpace", 3]);
});

Deno.test("an unknown message gives exit status 1, none at all 2", async () => {
  assertEquals((await explain(["hello world"])).status, 1);
  assertEquals((await explain([])).status, 2);
  assertEquals((await explain(["-"], " \n")).status, 2);
});

Deno.test("--conf and --spark-version are used", async () => {
  const { stdout } = await explain([
    "TID 12 waiting for at least 1/2N of on-heap execution pool to be free",
    "--conf=spark.executor.cores=2",
    "--spark-version=2.4.0",
    "--format=json",
  ]);
  const [one] = JSON.parse(stdout).explanations;
  assertEquals(one.arithmetic[0].includes("2 task(s) share 384093388 bytes"), true);
});
