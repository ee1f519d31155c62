/**
 * The readers that the event log bench times; all must find the same.
 *
 * @module
 */
import { readEventLog } from "../../src/event_log/read.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import type { EventSink, SparkEvent } from "../../src/spark/events.ts";

/** What a reader found: the same for all of them. */
export interface Checksum {
  readonly tasks: number;
  readonly resultBytes: number;
}

class Sum implements EventSink {
  tasks = 0;
  resultBytes = 0;

  event(event: SparkEvent): void {
    if (event.kind !== "taskEnd") return;
    this.tasks++;
    this.resultBytes += event.metrics?.resultSize ?? 0;
  }
}

function fileStream(path: string): ReadableStream<Uint8Array> {
  let file: Deno.FsFile | null = null;
  const buffer = new Uint8Array(1 << 18);
  return new ReadableStream({
    pull(controller) {
      file ??= Deno.openSync(path);
      const length = file.readSync(buffer);
      if (length === null) {
        file.close();
        controller.close();
      } else controller.enqueue(buffer.subarray(0, length));
    },
  }, { highWaterMark: 0 });
}

/** Our reader with a sink that adds up. */
export async function readWithSum(path: string): Promise<Checksum> {
  const sum = new Sum();
  await readEventLog(fileStream(path), sum);
  return sum;
}

/** JSON.parse of every line, which is the least that a reader that parses has to do. */
export async function parseEveryLine(path: string): Promise<Checksum> {
  const sum = { tasks: 0, resultBytes: 0 };
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of fileStream(path)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      const event = JSON.parse(line);
      if (event.Event !== "SparkListenerTaskEnd") continue;
      sum.tasks++;
      sum.resultBytes += event["Task Metrics"]?.["Result Size"] ?? 0;
    }
  }
  return sum;
}

/** The whole Summary. */
export async function summarize(path: string): Promise<Checksum> {
  const summarizer = new Summarizer({ source: "observed" });
  await readEventLog(fileStream(path), summarizer);
  const { stages, results } = summarizer.summary();
  const tasks = stages.reduce((n, stage) => n + stage.tasks.succeeded + stage.tasks.failed + stage.tasks.killed, 0);
  return { tasks, resultBytes: results.totalBytes! };
}
