/**
 * Talking to the service in tests, without a network.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { createApp } from "../../routes/app.ts";
import type { AppOptions } from "../../routes/host.ts";
import type { Problem } from "../../routes/problem.ts";

/** An app and short ways to call it. */
export function testService(options: AppOptions = {}) {
  const app = createApp(options);
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    Promise.resolve(app.request(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" || body instanceof Uint8Array || body instanceof ReadableStream
        ? body as BodyInit
        : JSON.stringify(body),
    }));
  return {
    app,
    get: (path: string, headers: Record<string, string> = {}): Promise<Response> =>
      Promise.resolve(app.request(path, { headers })),
    post,
  };
}

/** The problem document of an answer, its shape checked as RFC 9457 and the contract have it. */
export async function problem(response: Response): Promise<Problem> {
  assertEquals(response.headers.get("content-type"), "application/problem+json");
  const document = await response.json() as Problem;
  assertEquals(document.status, response.status as Problem["status"]);
  assertEquals(document.type, `urn:sparkmem:problem:${document.code}`);
  assertEquals(/^[a-z_]+(\.[a-z_A-Z]+)?$/.test(document.code), true, document.code);
  assertEquals(typeof document.title === "string" && document.title !== "", true);
  assertEquals(typeof document.detail === "string" && document.detail !== "", true);
  assertEquals(typeof document.parameters === "object" && document.parameters !== null, true);
  if (document.pointer !== undefined) assertEquals(/^(\/[^/]*)*$/.test(document.pointer), true, document.pointer);
  return document;
}

/** Status, code and pointer of a refused request. */
export async function refused(
  response: Response | Promise<Response>,
): Promise<[status: number, code: string, pointer: string | undefined]> {
  const { status, code, pointer } = await problem(await response);
  return [status, code, pointer];
}
