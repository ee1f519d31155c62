import { assertEquals } from "@std/assert";
import { dirname, resolve } from "node:path/posix";
import { PAGE_PATHS } from "../../routes/page/mod.ts";
import { PAGES } from "../../routes/page/build/assets.js";

const ROOT = resolve(import.meta.dirname!, "../..");

/** What a module loads at once, types and `import()` left out: paths from the root, names of packages. */
function imports(path: string): string[] {
  const text = Deno.readTextFileSync(`${ROOT}/${path}`).replace(/\/\*[\s\S]*?\*\//g, "");
  const statements = text.matchAll(/^(?:import|export)\s(?!type\b)(?:[^"';]*?\sfrom\s)?"([^"]+)";/gm);
  return [...statements].filter(([statement]) => !/^\w+ \{(\s*type [^,}]+,?)+\s*\} from/.test(statement)).map((
    [, name],
  ) => name.startsWith(".") ? resolve("/", dirname(path), name).slice(1) : name);
}

/** Everything that is loaded with some modules. */
function loaded(...entries: string[]): string[] {
  const found = new Set(entries);
  for (const path of found) {
    if (/\.ts$/.test(path)) { for (const one of imports(path)) found.add(one); }
  }
  return [...found].sort();
}

Deno.test("imports() sees what is loaded at once and nothing else", () => {
  assertEquals(imports("routes/engine/simulate.ts"), ["src/what_if/run_workload.ts", "routes/engine/job.ts"]);
  assertEquals(imports("routes/engine/sizing.ts"), ["src/spark/sizing.ts", "routes/sizing_query.ts"]);
  assertEquals(loaded("routes/engine/simulate.ts").includes("src/simulator/simulate.ts"), true);
  assertEquals(loaded("routes/openapi.ts").includes("valibot"), true);
});

Deno.test("the service starts without what only some requests need: engine, schemas, document, page", () => {
  const start = loaded("routes/entries/cloudflare.ts");
  const library = start.filter((path) => path.startsWith("src/"));
  assertEquals(library, ["src/errors.ts"]);
  assertEquals(start.filter((path) => /valibot|openapi|docs_page|^routes\/engine|^routes\/page\/build/.test(path)), []);
});

Deno.test("sizing loads no simulator, a simulation loads neither the readers of logs nor the searches", () => {
  assertEquals(loaded("routes/engine/sizing.ts").filter((path) => !/^(src\/(spark|errors)|routes\/)/.test(path)), []);
  const simulation = loaded("routes/engine/simulate.ts", "routes/requests.ts", "routes/engine/input.ts");
  const others = /^src\/(event_log|replay)\/|\/(from_event_log|recommend|sweep|what_if|verdict|responses)\.ts$/;
  assertEquals(simulation.filter((path) => others.test(path)), []);
});

Deno.test("PAGE_PATHS are the pages that are built", () => {
  assertEquals(Object.keys(PAGES), [...PAGE_PATHS]);
});
