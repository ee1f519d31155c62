import { assertEquals } from "@std/assert";
import type { LogRecord } from "../../routes/host.ts";
import { mountPage } from "../../routes/page/mod.ts";
import { refused, testService } from "../support/service.ts";

Deno.test("every answer has an id, its timing and the security headers", async () => {
  const { get, post } = testService({
    host: { now: () => 0, pause: () => Promise.resolve(), newRequestId: () => "id-1", log: () => {} },
  });
  const answers = [await get("/healthz"), await get("/nothing"), await post("/v1/event-logs", ""), await get("/docs")];
  for (const { headers } of answers) {
    assertEquals(headers.get("x-request-id"), "id-1");
    assertEquals(/(^|, )total;dur=0$/.test(headers.get("server-timing") ?? ""), true);
    assertEquals(headers.get("x-content-type-options"), "nosniff");
    assertEquals(headers.get("x-frame-options"), "DENY");
    assertEquals(headers.get("content-security-policy")?.startsWith("default-src 'none';"), true);
    assertEquals(headers.get("content-security-policy")?.includes("unsafe-inline"), false);
  }
});

Deno.test("unknown paths are 404, unknown methods 405 with the methods that there are", async () => {
  const { app, get } = testService();
  assertEquals(await refused(get("/v1/nothing")), [404, "request.path", undefined]);
  assertEquals(await refused(get("/v1/templates/nope")), [404, "template.unknown", undefined]);
  const response = await app.request("/v1/event-logs", { method: "PUT" });
  assertEquals(response.headers.get("allow"), "OPTIONS, POST");
  assertEquals(await refused(response), [405, "request.method", undefined]);
  const options = await app.request("/healthz", { method: "OPTIONS" });
  assertEquals([options.status, options.headers.get("allow")], [204, "GET, HEAD, OPTIONS"]);
  const head = await app.request("/healthz", { method: "HEAD" });
  assertEquals([head.status, await head.text()], [200, ""]);
});

Deno.test("the log has a line for each request: the route's pattern, no data of the user", async () => {
  const records: LogRecord[] = [];
  let ms = 0;
  const { get, post } = testService({
    host: {
      now: () => ms++,
      pause: () => Promise.resolve(),
      newRequestId: () => "x",
      log: (r) => void records.push(r),
    },
  });
  await get("/v1/templates/secret-name");
  await get("/secret/path?secret=1");
  await post("/v1/event-logs", '{"secret": 1}');
  assertEquals(records.map(({ route, status, error }) => [route, status, error]), [
    ["/v1/templates/:name", 404, "template.unknown"],
    ["/*", 404, null],
    ["/v1/event-logs", 422, "event_log.no_events"],
  ]);
  assertEquals(JSON.stringify(records).includes("secret"), false);
});

Deno.test("a failure of the service says nothing of itself; the log has its place, not its message", async () => {
  const records: LogRecord[] = [];
  const { app } = testService({
    host: { now: () => 0, pause: () => Promise.resolve(), newRequestId: () => "x", log: (r) => void records.push(r) },
  });
  app.get("/broken", () => {
    throw new RangeError("secret");
  });
  const response = await app.request("/broken");
  assertEquals(await refused(response), [500, "internal", undefined]);
  assertEquals(String(records[0].error).startsWith("RangeError at "), true);
  assertEquals(JSON.stringify(records).includes("secret"), false);
});

Deno.test("with a token the routes below /v1 ask for it, the others do not", async () => {
  const { get } = testService({ token: "s3cret", page: mountPage });
  const unnamed = await get("/v1/templates");
  assertEquals(unnamed.headers.get("www-authenticate")?.startsWith("Bearer"), true);
  assertEquals(await refused(unnamed), [401, "request.token", undefined]);
  assertEquals(await refused(get("/v1/templates", { authorization: "Bearer s3cre" })), [
    401,
    "request.token",
    undefined,
  ]);
  assertEquals(await refused(get("/v1/templates", { authorization: "Basic x" })), [401, "request.token", undefined]);
  assertEquals((await get("/v1/templates", { authorization: "Bearer s3cret" })).status, 200);
  for (const path of ["/healthz", "/openapi.json", "/docs", "/"]) assertEquals((await get(path)).status, 200, path);
});

Deno.test("other origins are allowed by configuration only", async () => {
  const origin = { origin: "https://a.example" };
  const allowed = async (options: { cors?: { origins: string[] } }) =>
    (await testService(options).get("/v1/templates", origin)).headers.get("access-control-allow-origin");
  assertEquals(await allowed({}), null);
  assertEquals(await allowed({ cors: { origins: ["https://a.example"] } }), "https://a.example");
  assertEquals(await allowed({ cors: { origins: ["https://b.example"] } }), null);
  assertEquals(await allowed({ cors: { origins: ["*"] } }), "*");
  const preflight = await testService({ cors: { origins: ["*"] }, token: "t" }).app.request("/v1/event-logs", {
    method: "OPTIONS",
    headers: { ...origin, "access-control-request-method": "POST" },
  });
  assertEquals(preflight.status, 204);
});

Deno.test("what does not change is answered with 304; large answers are compressed on request", async () => {
  const { get } = testService({ compress: true });
  for (const path of ["/openapi.json", "/v1/templates", "/docs", "/v1/sizing"]) {
    const first = await get(path);
    const tag = first.headers.get("etag");
    await first.body?.cancel();
    assertEquals((await get(path, { "if-none-match": tag! })).status, 304, path);
  }
  const gzip = await get("/openapi.json", { "accept-encoding": "gzip" });
  assertEquals(gzip.headers.get("content-encoding"), "gzip");
  const text = await new Response(gzip.body!.pipeThrough(new DecompressionStream("gzip"))).text();
  assertEquals(text, await (await get("/openapi.json")).text());
});
