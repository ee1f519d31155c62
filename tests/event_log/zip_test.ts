import { assertEquals, assertThrows } from "@std/assert";
import { zipSync } from "fflate";
import { zipEntries } from "../../src/event_log/codec/zip.ts";
import { InputError } from "../../src/errors.ts";
import { Prng } from "../../src/prng.ts";
import { readEventLog } from "../../src/event_log/read.ts";
import { keepEvents, part } from "../support/runs.ts";
import { recordedLines } from "../support/recorded_logs.ts";

const ARCHIVES = { "zip64.zip": "app-big-task", "zip64_streamed.zip": "-", "zip64_commons.zip": "folder/app-big-task" };

function archive(name: string): Uint8Array {
  return Deno.readFileSync(new URL(`../testdata/zip/${name}`, import.meta.url));
}

for (const [name, entry] of Object.entries(ARCHIVES)) {
  Deno.test(`zipEntries() reads ${name}, whose sizes and places are in its zip64 records`, async () => {
    const entries = zipEntries(archive(name));
    assertEquals(entries.map(({ name }) => name), [entry]);
    const text = await new Response(entries[0].open()).text();
    assertEquals(text.trimEnd().split("\n"), await recordedLines("event_logs/big_task.gz"));
  });
}

Deno.test("readEventLog() reads a zip64 archive", async () => {
  const report = await readEventLog([part("log.zip", archive("zip64_streamed.zip"))], keepEvents());
  assertEquals(report.events.SparkListenerApplicationEnd, 1);
  assertEquals(report.warnings, []);
});

/** Writes a number of 64 bits where a pattern of the archive begins, so many bytes after it. */
function patched(name: string, signature: number, offset: number, value: bigint): Uint8Array {
  const bytes = archive(name);
  const view = new DataView(bytes.buffer);
  let at = bytes.length - 4;
  while (view.getUint32(at, true) !== signature) at--;
  view.setBigUint64(at + offset, value, true);
  return bytes;
}

Deno.test("a file of an archive that does not decompress is read as far as it goes", async () => {
  const bytes = archive("zip64_streamed.zip");
  // A thousand bytes come twice: the data ends before its end.
  const damaged = new Uint8Array(bytes.length + 1000);
  damaged.set(bytes.subarray(0, 15_622));
  damaged.set(bytes.subarray(14_622), 15_622);
  const report = await readEventLog([part("log.zip", damaged)], keepEvents());
  assertEquals(report.warnings.some(({ code }) => code === "log.corrupt"), true);
  assertEquals(report.events.SparkListenerLogStart, 1);
});

Deno.test("zipEntries() refuses zip64 records that point nowhere", () => {
  const cases = [
    patched("zip64.zip", 0x07064b50, 8, 1n << 40n),
    patched("zip64.zip", 0x07064b50, 8, (1n << 64n) - 1n),
    patched("zip64.zip", 0x07064b50, 8, 0n),
    patched("zip64.zip", 0x06064b50, 48, 1n << 63n),
    patched("zip64.zip", 0x06064b50, 32, 1n << 50n),
  ];
  for (const bytes of cases) {
    assertEquals(assertThrows(() => zipEntries(bytes), InputError).code, "event_log.zip");
  }
  // The extra field of an entry that says "see there" is missing.
  const bytes = archive("zip64_commons.zip");
  const extra = bytes.findLastIndex((byte, at) => byte === 1 && bytes[at + 1] === 0 && bytes[at + 2] === 0x1c);
  bytes[extra] = 2;
  assertThrows(() => zipEntries(bytes), InputError, "damaged");
});

Deno.test("whatever is done to an archive, it is read or refused", async () => {
  const random = new Prng(3);
  const small = zipSync({ "app-1": new TextEncoder().encode('{"Event":"SparkListenerLogStart"}\n'.repeat(50)) });
  for (let i = 0; i < 600; i++) {
    const bytes = (i % 2 === 0 ? archive("zip64_commons.zip") : small).slice();
    for (let k = 0; k <= i % 3; k++) {
      // Mostly at the end, where the directory is.
      bytes[bytes.length - 1 - random.integer(i % 5 === 0 ? bytes.length : 250)] = random.integer(256);
    }
    try {
      for (const { open } of zipEntries(bytes.subarray(0, bytes.length - (i % 7 === 0 ? random.integer(60) : 0)))) {
        await new Response(open()).bytes().catch(() => {});
      }
    } catch (error) {
      assertEquals(error instanceof InputError, true, `${error}`);
    }
  }
});

Deno.test("zipEntries() gives files that are stored as they are, and refuses what is too short", async () => {
  const content = "stored\n".repeat(20_000);
  const archive = zipSync({ "app-1": new TextEncoder().encode(content) }, { level: 0 });
  assertEquals(await new Response(zipEntries(archive)[0].open()).text(), content);
  assertThrows(() => zipEntries(archive.subarray(0, 10)), InputError, "cut off");
});
