import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { denoOnNode } from "../../src/cli/node/deno_on_node.ts";

const FILE = new URL("../testdata/memory/README.md", import.meta.url);
const FOLDER = new URL("../testdata/memory/", import.meta.url);

Deno.test("files on Node give the bytes that Deno gives", async () => {
  const expected = await Deno.readFile(FILE);
  assertEquals(await denoOnNode.readFile(FILE), expected);
  assertEquals(await denoOnNode.readTextFile(FILE), new TextDecoder().decode(expected));
  assertEquals((await denoOnNode.stat(FILE)).size, expected.length);
  const opened = await denoOnNode.open(FILE);
  assertEquals(new Uint8Array(await new Response(opened.readable).arrayBuffer()), expected);
  const file = denoOnNode.openSync(FILE);
  const chunk = new Uint8Array(expected.length + 1);
  assertEquals(file.readSync(chunk), expected.length);
  assertEquals(await file.read(chunk), null);
  file.close();
});

Deno.test("folders on Node have the entries that Deno lists", async () => {
  const names = async (entries: AsyncIterable<{ name: string; isDirectory: boolean }>) => {
    const found: string[] = [];
    for await (const { name, isDirectory } of entries) found.push(`${name} ${isDirectory}`);
    return found.sort();
  };
  assertEquals(await names(denoOnNode.readDir(FOLDER)), await names(Deno.readDir(FOLDER)));
});

Deno.test("errors on Node are the classes that the command line tells apart", async () => {
  const { errors } = denoOnNode;
  await assertRejects(() => denoOnNode.stat("no such file"), errors.NotFound);
  await assertRejects(() => denoOnNode.readFile(FOLDER), errors.IsADirectory);
  assertThrows(() => denoOnNode.openSync("no such file"), errors.NotFound);
  await assertRejects(() => names(denoOnNode.readDir("no such folder")), errors.NotFound);
  async function names(entries: AsyncIterable<unknown>) {
    for await (const _ of entries);
  }
});
