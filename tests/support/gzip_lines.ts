/** The JSON lines of a gzip'd file. */
// deno-lint-ignore no-explicit-any
export async function gzipLines(path: string | URL): Promise<any[]> {
  const { readable } = await Deno.open(path);
  const text = await new Response(readable.pipeThrough(new DecompressionStream("gzip"))).text();
  return text.trim().split("\n").map((line) => JSON.parse(line));
}
