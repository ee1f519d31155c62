// Registries that answer, do not, or answer wrongly: what `deno task audit` makes of them.
import { assert, assertEquals } from "@std/assert";
import { audit, lockedPackages } from "./audit.ts";

/** As a registry says it. */
const ADVISORY = {
  id: 1,
  url: "https://github.com/advisories/GHSA-vh95-rmgr-6w4m",
  title: "Prototype Pollution in minimist",
  severity: "moderate",
  vulnerable_versions: "<0.2.1",
  cwe: ["CWE-1321"],
  cvss: { score: 5.6, vectorString: null },
};

async function audited(answer: (asked: Record<string, string[]>) => Response) {
  const asked: Record<string, string[]>[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    if (!request.url.endsWith("/advisories/bulk")) return new Response("", { status: 404 });
    const packed = request.headers.get("content-encoding") === "gzip";
    const body = packed ? request.body!.pipeThrough(new DecompressionStream("gzip")) : request.body;
    const lists: Record<string, string[]> = await new Response(body).json();
    // in no order of their own
    asked.push(Object.fromEntries(Object.entries(lists).map(([name, versions]) => [name, versions.sort()])));
    return answer(asked.at(-1)!);
  });
  const registry = `http://127.0.0.1:${server.addr.port}/`;
  const names = ["@a/one@1.0.0_hono@4.0.0", "two@2.0.0", "two@3.0.0", "two@3.0.0_one@1.0.0"];
  const packages = lockedPackages({ npm: Object.fromEntries(names.map((name) => [name, {}])) });
  try {
    return { asked, ...await audit(packages, { NPM_CONFIG_REGISTRY: registry, npm_config_registry: registry }) };
  } finally {
    await server.shutdown();
  }
}

const known = (asked: Record<string, string[]>) => asked.minimist === undefined ? {} : { minimist: [ADVISORY] };

Deno.test("all packages of the lock are asked about, each version once; none found is the answer of a service that knows one", async () => {
  const { kind, asked } = await audited((asked) => Response.json(known(asked)));
  assertEquals(kind, "none");
  assertEquals(asked, [{ minimist: ["0.0.8"] }, { "@a/one": ["1.0.0"], two: ["2.0.0", "3.0.0"] }]);
});

Deno.test("a vulnerability is told; one of versions that are not used is not", async () => {
  const affecting = (versions: string) =>
    audited((asked) =>
      Response.json({ ...known(asked), ...asked.two && { two: [{ ...ADVISORY, vulnerable_versions: versions }] } })
    );
  assertEquals((await affecting("<2.0.0")).kind, "none");
  const { kind, text } = await affecting("<3.0.0");
  assertEquals(kind, "some");
  assert(text.includes("two") && text.includes("moderate"), text);
});

Deno.test("a registry without such a service is no answer: not one that refuses, nor one that knows nothing", async () => {
  for (const refusal of ["", "{}", "<html>"]) {
    const { kind, text } = await audited(() => new Response(refusal, { status: 405 }));
    assertEquals([refusal, kind], [refusal, "unanswered"]);
    assert(text.startsWith("no advisory service answers (deno audit: "), text);
    assert(!text.includes("127.0.0.1"), text);
  }
  assertEquals((await audited(() => Response.json({}))).kind, "unanswered");
});
