import { assertEquals } from "@std/assert";
import { chosenFiles, droppedFiles } from "../../../../routes/page/analyse/files.ts";

interface FakeEntry {
  readonly isFile: boolean;
  readonly fullPath: string;
  file?(resolve: (file: File) => void): void;
  createReader?(): { readEntries(resolve: (entries: FakeEntry[]) => void): void };
}

const file = (fullPath: string): FakeEntry => ({
  isFile: true,
  fullPath,
  file: (resolve) => resolve(new File(["x"], fullPath.split("/").at(-1)!)),
});

/** A folder as browsers show it: some entries at a time, nothing at the end. */
const folder = (fullPath: string, children: FakeEntry[]): FakeEntry => ({
  isFile: false,
  fullPath,
  createReader: () => {
    const rest = [...children];
    return { readEntries: (resolve) => resolve(rest.splice(0, 2)) };
  },
});

const transferOf = (entries: FakeEntry[]) =>
  ({ items: entries.map((entry) => ({ webkitGetAsEntry: () => entry })) }) as unknown as DataTransfer;

Deno.test("a dropped folder gives all its files with their paths, without what systems put there", async () => {
  const dropped = await droppedFiles(transferOf([
    folder("/eventlog_v2_app", [
      file("/eventlog_v2_app/events_1_app"),
      file("/eventlog_v2_app/.events_1_app.crc"),
      file("/eventlog_v2_app/events_2_app"),
      folder("/eventlog_v2_app/inner", [file("/eventlog_v2_app/inner/events_3_app")]),
    ]),
    file("/single"),
  ]));
  assertEquals(dropped.map(({ name }) => name), [
    "eventlog_v2_app/events_1_app",
    "eventlog_v2_app/events_2_app",
    "eventlog_v2_app/inner/events_3_app",
    "single",
  ]);
});

Deno.test("where a browser shows no entries, the files themselves are taken", async () => {
  const files = [new File(["x"], "app-1"), new File(["x"], ".DS_Store")];
  const transfer = { items: [{}], files } as unknown as DataTransfer;
  assertEquals((await droppedFiles(transfer)).map(({ name }) => name), ["app-1"]);
  assertEquals(chosenFiles(files as unknown as FileList).map(({ name }) => name), ["app-1"]);
});
