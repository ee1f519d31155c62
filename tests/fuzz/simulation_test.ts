// The quick form of `deno task fuzz`, and every application that has failed once.
import { assert } from "@std/assert";
import { checkApplication, noCounts } from "./check_application.ts";
import { fuzzSimulation } from "./simulation.ts";

const CORPUS = new URL("corpus/", import.meta.url);

for (const { name } of [...Deno.readDirSync(CORPUS)].sort((a, b) => a.name < b.name ? -1 : 1)) {
  Deno.test(`an application that failed once is as it must be: ${name.replace(".json", "")}`, async () => {
    const counts = noCounts();
    await checkApplication(JSON.parse(await Deno.readTextFile(new URL(name, CORPUS))), counts);
    assert(counts.runs === 1, "it was run");
  });
}

Deno.test("random applications: nothing is lost, nothing hangs, and all answers agree", async () => {
  const counts = await fuzzSimulation(20_261, 100);
  // What is drawn must reach the paths that are checked.
  for (const [what, number] of Object.entries(counts)) assert(number > 0, `no ${what} in ${counts.runs} runs`);
});
