import { assertEquals } from "@std/assert";
import { testService } from "../support/service.ts";

Deno.test("GET /docs shows every operation and every schema, without a script or another host", async () => {
  const { get } = testService();
  const document = await (await get("/openapi.json")).json();
  const response = await get("/docs");
  assertEquals(response.headers.get("content-security-policy")?.includes("script-src"), false);
  const page = await response.text();
  const paths = Object.entries(document.paths as Record<string, Record<string, { operationId: string }>>);
  for (const [path, methods] of paths) {
    for (const [method, { operationId }] of Object.entries(methods)) {
      assertEquals(page.includes(`${method.toUpperCase()} ${path}`), true, path);
      assertEquals(page.includes(`id="${operationId}"`), true, operationId);
    }
  }
  for (const name of Object.keys(document.components.schemas)) {
    assertEquals(page.includes(`id="schema-${name}"`), true, name);
  }
  for (const [, target] of page.matchAll(/href="#([^"]*)"/g)) {
    assertEquals(page.includes(`id="${target}"`), true, target);
  }
  assertEquals(/<script|(?:src|href)="(?:https?:)?\/\//.test(page), false);
  assertEquals((await get("/docs/style.css")).headers.get("content-type"), "text/css; charset=utf-8");
});
