import { assertEquals } from "@std/assert";
import fc from "fast-check";
import * as v from "valibot";
import { RESPONSE_SCHEMAS } from "../routes/responses.ts";
import { JOB_EXAMPLES } from "../routes/examples.ts";
import { VERSION } from "../routes/version.ts";
import { problem, testService } from "./support/service.ts";

/** What the tests read of an OpenAPI document. */
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly example?: unknown }[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly examples?: Readonly<Record<string, { value: unknown }>> }>>;
  };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: { readonly $ref?: string } }>> }>
  >;
}

const { app, get, post } = testService({ limits: { tasks: 2000, events: 50_000 } });

async function operations(): Promise<{ method: string; path: string; operation: Operation }[]> {
  const { paths } = await (await get("/openapi.json")).json() as { paths: Record<string, Record<string, Operation>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation }))
  );
}

/** An answer must be as the description of its status and type says. */
async function conforms(response: Response, operation: Operation): Promise<void> {
  const described = operation.responses[response.status];
  assertEquals(described !== undefined, true, `status ${response.status} is not described`);
  const type = response.headers.get("content-type") ?? "";
  const content = described.content?.[type];
  assertEquals(content !== undefined, true, `${type} is not described`);
  const name = /\/(\w+)$/.exec(content!.schema.$ref ?? "")?.[1];
  if (name === undefined || RESPONSE_SCHEMAS[name] === undefined) return;
  const result = v.safeParse(RESPONSE_SCHEMAS[name], await response.clone().json());
  assertEquals(result.issues?.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`) ?? [], []);
}

Deno.test("every example of the OpenAPI document works and its answer is as described", async () => {
  let tried = 0;
  for (const { method, path, operation } of await operations()) {
    const examples = Object.values(operation.requestBody?.content["application/json"]?.examples ?? {});
    for (const { value } of examples) {
      const response = await post(path, value);
      assertEquals(response.status, 200, `${path}: ${await response.clone().text()}`);
      await conforms(response, operation);
      tried++;
    }
    if (method !== "get") continue;
    const query = new URLSearchParams();
    for (const { name, in: where, example } of operation.parameters ?? []) {
      if (where !== "query" || example === undefined) continue;
      const pairs: [string, unknown][] = typeof example === "object"
        ? Object.entries(example as object)
        : [[name, example]];
      for (const [key, value] of pairs) query.set(key, String(value));
    }
    const response = await get(`${path.replace("{name}", "sort")}?${query}`);
    assertEquals(response.status, 200, path);
    await conforms(response, operation);
    tried++;
  }
  assertEquals(tried >= 10, true);
});

Deno.test("every POST route describes the errors that it gives", async () => {
  for (const { method, path, operation } of await operations()) {
    if (method !== "post") continue;
    for (const body of ["", "{", "[]", '{"template":"sort","seed":-1}']) {
      await conforms(await post(path, body), operation);
    }
  }
});

/** A document with something changed at a random place. */
const mutated = fc.record({
  base: fc.constantFrom(...Object.values(JOB_EXAMPLES).map(({ value }) => value as unknown)),
  at: fc.nat(),
  to: fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom<unknown>(-1, 1e300, 2 ** 53, 0.5, "", "1e9", "-1g", "NaN", [], {}, null, true, ["a", "a"]),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  ),
}).map(({ base, at, to }) => {
  const copy = structuredClone(base);
  const places: [holder: Record<string, unknown>, key: string][] = [];
  const walk = (value: unknown) => {
    if (typeof value !== "object" || value === null) return;
    for (const key of Object.keys(value)) {
      places.push([value as Record<string, unknown>, key]);
      walk((value as Record<string, unknown>)[key]);
    }
  };
  walk(copy);
  const [holder, key] = places[at % places.length];
  holder[key] = to;
  return copy;
});

Deno.test("whatever is sent, the answer is a result or one problem, never a failure of the service", async () => {
  const paths = (await operations()).filter(({ method }) => method === "post").map(({ path }) => path);
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), fc.oneof(mutated, fc.jsonValue()), async (path, body) => {
      const response = await post(path, body);
      if (response.status === 200) return void await response.body?.cancel();
      const { status, code } = await problem(response);
      assertEquals(status >= 400 && status < 500, true, `${path} ${JSON.stringify(body)}: ${status} ${code}`);
    }),
    { seed: 11, numRuns: 400 },
  );
});

Deno.test("whatever the text, the answer is a result or one problem", async () => {
  const text = fc.oneof(
    fc.string(),
    fc.json(),
    fc.json().map((json) => json.slice(0, -1)),
    fc.string({ unit: "binary" }),
  );
  await fc.assert(
    fc.asyncProperty(text, async (body) => {
      const response = await post("/v1/simulations", body);
      const { status } = await problem(response);
      assertEquals(status === 400 || status === 422, true);
    }),
    { seed: 12, numRuns: 300 },
  );
});

Deno.test("whatever the path and the query, the answer is a result or one problem", async () => {
  const part = fc.oneof(
    fc.webPath(),
    fc.string().map(encodeURIComponent),
    fc.constantFrom("..", "%00", "v1", "__proto__"),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("", "/v1", "/v1/templates", "/v1/sizing"),
      part,
      fc.webQueryParameters(),
      async (base, path, query) => {
        const response = await app.request(new URL(`http://localhost${base}/${path}?${query}`).href);
        if (response.ok) return void await response.body?.cancel();
        assertEquals((await problem(response)).status < 500, true);
      },
    ),
    { seed: 13, numRuns: 300 },
  );
});

Deno.test("the service's version is the package's", async () => {
  const { version } = JSON.parse(await Deno.readTextFile(new URL("../deno.json", import.meta.url)));
  assertEquals(VERSION, version);
});
