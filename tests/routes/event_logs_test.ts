import { assertEquals } from "@std/assert";
import { parseJobSpec, workloadFromJobSpec } from "../../src/workload/job_spec.ts";
import { problem, refused, testService } from "../support/service.ts";

const { app, post } = testService();

async function logOf(name: string): Promise<Uint8Array<ArrayBuffer>> {
  const folder = new URL(`../testdata/runs/${name}/`, import.meta.url);
  for await (const { name: file } of Deno.readDir(folder)) {
    if (/^(app|local)-/.test(file)) return await Deno.readFile(new URL(file, folder));
  }
  throw new Error(`no log in ${name}`);
}

Deno.test("POST /v1/event-logs answers Summary, verdict and a workload that is accepted again, in every codec", async () => {
  for (const name of ["cache_evictions", "codec_lz4", "codec_lzf", "codec_snappy", "codec_zstd", "fetch_failure"]) {
    const response = await post("/v1/event-logs", await logOf(name));
    assertEquals(response.status, 200, name);
    const { summary, verdict, workload, evidence, read } = await response.json();
    assertEquals(summary.app.source, "observed");
    assertEquals(summary.stages.length > 0 && verdict.length > 0 && evidence.length > 0 && read.lines > 0, true, name);
    const parsed = parseJobSpec(workload);
    assertEquals(parsed.warnings, []);
    assertEquals(workloadFromJobSpec(parsed.spec).appId, summary.app.id);
  }
});

Deno.test("POST /v1/event-logs reads as the log arrives: the answer does not depend on the pieces", async () => {
  const log = await logOf("codec_zstd");
  const whole = await (await post("/v1/event-logs", log)).text();
  const pieces = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let i = 0; i < log.length; i += 777) controller.enqueue(log.subarray(i, i + 777));
      controller.close();
    },
  });
  const request = new Request("http://localhost/v1/event-logs", { method: "POST", body: pieces });
  assertEquals(await (await app.request(request)).text(), whole);
});

Deno.test("POST /v1/event-logs refuses what is no log", async () => {
  assertEquals((await refused(post("/v1/event-logs", "")))[0], 422);
  assertEquals((await refused(post("/v1/event-logs", "{}\n{}")))[1], "event_log.no_events");
  const garbage = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3);
  assertEquals((await refused(post("/v1/event-logs", garbage)))[1], "event_log.no_events");
});

Deno.test("the limits of a log hold at their value and not one beyond", async () => {
  const log = await logOf("cache_evictions");
  const plain = new Uint8Array(
    await new Response(new Blob([log]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer(),
  );
  const longest = Math.max(...new TextDecoder().decode(plain).split("\n").map((line) => line.length));
  const tasks = new TextDecoder().decode(plain).match(/"Event":"SparkListenerTaskEnd"/g)!.length;
  const status = async (limits: Record<string, number>, body: BodyInit) =>
    (await testService({ limits }).app.request("/v1/event-logs", { method: "POST", body })).status;
  assertEquals(await status({ logBytes: log.length }, log), 200);
  assertEquals(await status({ logBytes: log.length - 1 }, log), 413);
  assertEquals(await status({ logBytes: log.length - 1 }, new Blob([log]).stream() as unknown as BodyInit), 413);
  assertEquals(await status({ decompressedBytes: plain.length }, log), 200);
  assertEquals(await status({ decompressedBytes: plain.length - 1 }, log), 413);
  assertEquals(await status({ lineBytes: longest }, log), 200);
  assertEquals(await status({ lineBytes: longest - 1 }, log), 413);
  assertEquals(await status({ tasks }, log), 200);
  assertEquals(await status({ tasks: tasks - 1 }, log), 422);
});

Deno.test("a compression bomb stops early", async () => {
  // 64 MiB of zeros in 65 kB, in pieces of 1 KiB, each of which is about 1 MiB.
  const zeros = new Blob(Array.from({ length: 64 }, () => new Uint8Array(1 << 20)));
  const compressed = zeros.stream().pipeThrough(new CompressionStream("gzip"));
  const bomb = new Uint8Array(await new Response(compressed).arrayBuffer());
  for (const limits of [{ lineBytes: 1 << 20 }, { decompressedBytes: 1 << 20 }]) {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent >= bomb.length) return controller.close();
        controller.enqueue(bomb.slice(sent, sent += 1024));
      },
    }, { highWaterMark: 0 });
    const request = new Request("http://localhost/v1/event-logs", { method: "POST", body });
    assertEquals((await problem(await testService({ limits }).app.request(request))).status, 413);
    assertEquals(sent <= 8 * 1024, true, `${sent} of ${bomb.length} bytes read`);
  }
});

Deno.test("a log that declares to be too large is refused before any of it is read", async () => {
  let read = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      read = true;
      controller.enqueue(new Uint8Array(10));
    },
  }, { highWaterMark: 0 });
  const headers = { "content-length": "101" };
  const request = new Request("http://localhost/v1/event-logs", { method: "POST", body, headers });
  const { status, code, parameters } = await problem(
    await testService({ limits: { logBytes: 100 } }).app.request(request),
  );
  assertEquals([status, code, parameters.limit, read], [413, "limit.body", 100, false]);
});
