import { assert, assertEquals } from "@std/assert";
import { posix } from "node:path";
import { functionSizes } from "./support/function_sizes.ts";

/**
 * The layers, lowest first: a file may import from its own layer and from those before it. Folders in one row
 * must not import from each other unless ALSO says so.
 */
const LAYERS: readonly (readonly string[])[] = [
  ["src/errors.ts", "src/prng.ts"],
  ["src/spark"],
  ["src/kernel.ts", "src/kernel"],
  ["src/event_log", "src/simulator"],
  ["src/prng.ts", "src/errors.ts"],
  ["src/workload", "src/report"],
  ["src/replay", "src/what_if"],
  ["src/mod.ts"],
  ["src/cli", "routes"],
];

/** Imports inside one row that are meant: from, to. */
const ALSO: readonly (readonly [string, string])[] = [
  ["src/prng.ts", "src/errors.ts"],
  ["src/kernel.ts", "src/kernel"],
  ["src/workload", "src/report"],
  ["src/cli", "routes"],
];

const ROOT = posix.resolve(import.meta.dirname!, "..");

/** Row and folder of a path below the root, or null when it is in no layer. */
export function layerOf(path: string): { row: number; folder: string } | null {
  for (const [row, folders] of LAYERS.entries()) {
    for (const folder of folders) {
      if (path === folder || path.startsWith(folder + "/")) {
        return { row, folder };
      }
    }
  }
  return null;
}

/** What is wrong with `from` importing `to` (both relative to the root), or null. */
export function importProblem(from: string, to: string): string | null {
  const source = layerOf(from);
  const target = layerOf(to);
  if (source === null) return `${from} is in no layer`;
  if (target === null) return `${from} imports ${to}, which is in no layer`;
  if (source.folder === target.folder || target.row < source.row) return null;
  const meant = ALSO.some(([a, b]) => a === source.folder && b === target.folder);
  return meant ? null : `${from} imports ${to}: imports run downward only`;
}

async function* sourceFiles(folder: string): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(`${ROOT}/${folder}`)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) yield* sourceFiles(path);
    else if (/\.tsx?$/.test(entry.name)) yield path;
  }
}

/** Source text without comments, so that examples in documentation do not count. */
function withoutComments(text: string): string {
  return text.replace(
    /\/\*[\s\S]*?\*\//g,
    (comment) => comment.replace(/[^\n]/g, " "),
  ).replace(/(^|\s)\/\/.*$/gm, "$1");
}

async function checked(): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const folder of ["src", "routes"]) {
    for await (const path of sourceFiles(folder)) {
      files.set(
        path,
        withoutComments(await Deno.readTextFile(`${ROOT}/${path}`)),
      );
    }
  }
  return files;
}

Deno.test("imports run downward only", async () => {
  const problems: string[] = [];
  for (const [path, text] of await checked()) {
    for (
      const match of text.matchAll(
        /(?:from|import)\s*\(?\s*["'](\.[^"']+)["']/g,
      )
    ) {
      const target = posix.relative(
        ROOT,
        posix.resolve(ROOT, posix.dirname(path), match[1]),
      );
      if (target.startsWith("assembly/build/")) continue;
      const problem = importProblem(path, target);
      if (problem !== null) problems.push(problem);
    }
  }
  assertEquals(problems, []);
});

Deno.test("a planted upward import is found", () => {
  assertEquals(
    importProblem("src/spark/conf.ts", "src/report/summary.ts"),
    "src/spark/conf.ts imports src/report/summary.ts: imports run downward only",
  );
  assertEquals(
    importProblem("src/report/summary.ts", "src/spark/conf.ts"),
    null,
  );
});

Deno.test("kernel.ts is the only source file that names WebAssembly", async () => {
  const naming = [...await checked()]
    .filter(([path, text]) => /\bWebAssembly\b/.test(text) && !path.startsWith("routes/entries/"))
    .map(([path]) => path);
  assertEquals(naming.filter((path) => path !== "src/kernel.ts"), []);
});

/** Ways to order versions, or to ask for one by name. */
const VERSION_COMPARISONS: readonly RegExp[] = [
  /\b(?:holdsSince|valueIn|resolveVersion)\b/,
  /[vV]ersion\s*\.\s*(?:split|startsWith|endsWith|match|localeCompare|slice|substring|includes|indexOf)\(/,
  /[vV]ersion\s*[!=]==?\s*["'`]/,
  /["'`]\s*[!=]==?\s*(?:\w+\.)*\w*[vV]ersion\b/,
  /[vV]ersion\s*[<>]=?\s*["'`\d]/,
  /\.test\((?:\w+\.)*\w*[vV]ersion\)/,
  /parseSparkVersion\((?:\w+\.)*\w+\)(?!\s*===\s*null)/,
];

Deno.test("Spark versions are compared in src/spark alone: everything else asks for a rule", async () => {
  const found: string[] = [];
  for (const [path, text] of await checked()) {
    if (path.startsWith("src/spark/")) continue;
    for (const comparison of VERSION_COMPARISONS) {
      const match = comparison.exec(text);
      if (match !== null) found.push(`${path}: ${match[0]}`);
    }
  }
  assertEquals(found, []);
});

Deno.test("a planted comparison of versions is found", () => {
  const planted = [
    'if (sparkVersion.startsWith("3.")) return;',
    'const old = app.sparkVersion === "2.4.0";',
    'if ("2.4.0" === conf.sparkVersion) return;',
    'if (version >= "3.5") return;',
    "const [major] = parseSparkVersion(version);",
    "if (/^3/.test(app.sparkVersion)) return;",
    'const values = valueIn(version, [["2.4", 1]]);',
  ];
  for (const line of planted) {
    assertEquals(VERSION_COMPARISONS.some((comparison) => comparison.test(line)), true, line);
  }
  assertEquals(VERSION_COMPARISONS.some((comparison) => comparison.test("a.sparkVersion !== b.sparkVersion")), false);
});

Deno.test("no clock, randomness, timer, environment or file access below the edges", async () => {
  const edge = /^(src\/cli\/|routes\/main\.ts$|routes\/entries\/|routes\/page\/)/;
  const forbidden =
    /\b(Date\.now|new Date\(\)|performance\.now|Math\.random|crypto\.getRandomValues|crypto\.randomUUID|setTimeout|setInterval|Deno\.|process\.(?:env|argv|cwd|exit|hrtime|std))/;
  const found: string[] = [];
  for (const [path, text] of await checked()) {
    if (edge.test(path)) continue;
    const match = forbidden.exec(text);
    if (match !== null) found.push(`${path}: ${match[1]}`);
  }
  assertEquals(found, []);
});

Deno.test("functions of Math that differ between engines are not used below the edges", async () => {
  const found: string[] = [];
  for (const [path, text] of await checked()) {
    if (/^(src\/cli\/|routes\/page\/)/.test(path)) continue;
    const match = /\bMath\.(log|log2|log10|log1p|exp|expm1|pow|sin|cos|tan|atan2|cbrt|hypot)\b/
      .exec(text);
    if (match !== null) found.push(`${path}: ${match[0]}`);
  }
  assertEquals(found, []);
});

Deno.test("nothing is used that Node 20 lacks, which the npm package says is enough", async () => {
  const newer = new RegExp([
    String.raw`\b(?:Map|Object)\.groupBy\b`,
    String.raw`\bArray\.fromAsync\b`,
    String.raw`\bPromise\.(?:withResolvers|try)\b`,
    String.raw`\bRegExp\.escape\b`,
    String.raw`\bIterator\.(?:from|concat)\b`,
    String
      .raw`\.(?:values|keys|entries)\(\)\s*\.(?:map|filter|take|drop|some|every|find|reduce|toArray|forEach|flatMap)\(`,
    String.raw`\.(?:isSubsetOf|isSupersetOf|isDisjointFrom|symmetricDifference)\(`,
    String.raw`\.(?:toHex|toBase64|setFromHex|setFromBase64)\(`,
    String.raw`\busing \w+ =`,
  ].join("|"));
  const found: string[] = [];
  for (const [path, text] of await checked()) {
    if (/^routes\/(page|entries|main)\b/.test(path)) continue;
    const match = newer.exec(text);
    if (match !== null) found.push(`${path}: ${match[0]}`);
  }
  assertEquals(found, []);
});

Deno.test("each source file has a mirrored test, or is covered by its folder's", async () => {
  const tests = new Set<string>();
  for await (const path of sourceFiles("tests")) tests.add(path);
  const missing: string[] = [];
  for (const path of (await checked()).keys()) {
    const text = await Deno.readTextFile(`${ROOT}/${path}`);
    const typesOnly = !/^(export )?(async )?(function|class|const|let)\b/m.test(
      text,
    );
    const inner = path.replace(/^src\//, "").replace(/\.tsx?$/, "");
    const wanted = `tests/${inner}_test.ts`;
    const folderTest = `tests/${posix.dirname(inner)}_test.ts`;
    const documented = /@example/.test(text);
    // What needs a document, a worker or a cache is driven in a real browser.
    const inBrowser = path.startsWith("routes/page/") &&
      /\bdocument\b|\/dom\.ts"|\bcaches\b|\bpostMessage\b/.test(text) &&
      tests.has("tests/browser/page_test.ts");
    if (
      !typesOnly && !documented && !inBrowser && !tests.has(wanted) &&
      !tests.has(folderTest)
    ) missing.push(wanted);
  }
  assertEquals(missing.filter((path) => !UNTESTED.has(path)), []);
});

/** Files whose test has another place, with the reason. */
const UNTESTED: ReadonlySet<string> = new Set([
  "tests/cli/io_test.ts", // the process's own streams: tests/cli run the commands as processes
  "tests/cli/commands_test.ts", // a table: every command's test goes through it
]);

Deno.test("file sizes are listed", async () => {
  const large = [...await checked()]
    .map(([path, text]) => ({ path, lines: text.split("\n").length }))
    .filter(({ path, lines }) => lines > 400 && !path.startsWith("src/kernel/"))
    .sort((a, b) => b.lines - a.lines);
  for (const { path, lines } of large) console.log(`${path}: ${lines} lines`);
  assertEquals(large.filter(({ lines }) => lines > 900), []);
});

/** Most lines of a function. */
const MOST_LINES = 70;
/** Functions from here on are listed. */
const LISTED_LINES = 60;

/** Functions with more lines than that, as PATH:LINE NAME: LINES lines. */
function longFunctions(path: string, text: string, lines: number): string[] {
  return functionSizes(path, text)
    .filter((size) => size.lines > lines)
    .map(({ name, line, lines }) => `${path}:${line} ${name}: ${lines} lines`);
}

Deno.test("function sizes are listed, and none is beyond the limit", async () => {
  const beyond: string[] = [];
  let listed = 0;
  for (const folder of ["src", "routes", "assembly"]) {
    for await (const path of sourceFiles(folder)) {
      if (path.includes("/build/")) continue;
      const text = await Deno.readTextFile(`${ROOT}/${path}`);
      for (const long of longFunctions(path, text, LISTED_LINES)) {
        console.log(long);
        listed++;
      }
      beyond.push(...longFunctions(path, text, MOST_LINES));
    }
  }
  assert(listed > 0, "no function is seen");
  assertEquals(beyond, []);
});

Deno.test("a planted long function is found, of whatever kind", () => {
  const body = "{\n" + "  f();\n".repeat(MOST_LINES - 1) + "}\n";
  const planted = (text: string) => longFunctions("src/planted.ts", text, MOST_LINES);
  assertEquals(planted(`function long() ${body}`), ["src/planted.ts:1 long: 71 lines"]);
  assertEquals(planted(`\nconst arrow = () => ${body}`), ["src/planted.ts:2 arrow: 71 lines"]);
  assertEquals(planted(`class A {\nmethod() ${body}}\n`), ["src/planted.ts:2 method: 71 lines"]);
  assertEquals(planted(`function short() {\n${"  f();\n".repeat(MOST_LINES - 2)}}\n`), []);
});

Deno.test("every package of deno.lock has its integrity there and its licence in LICENSES.md, and no other version is listed", async () => {
  const { npm } = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.lock`)) as {
    npm: Record<string, { integrity?: string }>;
  };
  const locked = Object.entries(npm).map(([key, { integrity }]) => {
    assert(/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ""), `${key} has no integrity`);
    // name@version, then the versions of its peers: name@version_peer@version
    const [, name, version] = /^(@?[^@]+)@([^_]+)/.exec(key)!;
    return `${name} ${version}`;
  });
  const listed = [
    ...(await Deno.readTextFile(`${ROOT}/tests/LICENSES.md`)).matchAll(/^\| (\S+) \| (\d\S*) \| (.+) \|$/gm),
  ];
  assertEquals(listed.map(([, name, version]) => `${name} ${version}`).sort(), [...new Set(locked)].sort());
  for (const [, name, , licence] of listed) assert(licence !== "not installed", `${name} has no licence`);
});

Deno.test("dependencies are pinned to exact versions", async () => {
  const { imports } = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.json`)) as { imports: Record<string, string> };
  const specifiers = Object.values(imports).filter((specifier) => !specifier.startsWith("./"));
  assert(specifiers.length > 0);
  for (const specifier of specifiers) assert(/^npm:(@[^@]+|[^@]+)@\d+\.\d+\.\d+$/.test(specifier), specifier);
});
