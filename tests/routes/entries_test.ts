import { assertEquals, assertThrows } from "@std/assert";
import { serviceLimits } from "../../routes/limits.ts";
import { startOptions } from "../../routes/main.ts";
import { InputError } from "../../src/errors.ts";

// What only runs in workerd, edge-runtime, Node and Bun is tried there: tests/hosts/edge/run.ts.

Deno.test("the entries for web runtimes serve page and API", async () => {
  const log = console.log;
  console.log = () => {};
  try {
    for (const name of ["web", "deno", "bun"]) {
      const { default: entry } = await import(`../../routes/entries/${name}.ts`);
      for (const path of ["/", "/healthz", "/docs"]) {
        const response = await entry.fetch(new Request(`http://localhost${path}`));
        assertEquals(response.status, 200, `${name} ${path}`);
        await response.body?.cancel();
      }
    }
  } finally {
    console.log = log;
  }
});

Deno.test("deno task start takes port, host, limits and origins, and refuses others", () => {
  const { port, hostname, app } = startOptions(
    ["--port", "8123", "--host", "0.0.0.0", "--limit", "tasks=9", "--cors", "https://a.example"],
    "t",
  );
  assertEquals([port, hostname, app.limits, app.cors, app.token], [
    8123,
    "0.0.0.0",
    { tasks: 9 },
    { origins: ["https://a.example"] },
    "t",
  ]);
  assertEquals(startOptions([]).app.token, undefined);
  for (const args of [["--port", "x"], ["--port", "70000"], ["--limit", "memory=1"], ["--prot", "1"], ["x"]]) {
    let refused: unknown;
    try {
      startOptions(args);
    } catch (error) {
      refused = error;
    }
    assertEquals(refused instanceof InputError && refused.code, "cli.option", args.join(" "));
  }
});

Deno.test("deno task start serves with no permission but its port, and logs lines of JSON", async () => {
  const { tasks } = JSON.parse(await Deno.readTextFile(new URL("../../deno.json", import.meta.url)));
  const [program, ...args] = tasks.start.command.split(" ");
  assertEquals(program, "deno");
  assertEquals(args.filter((arg: string) => arg.startsWith("--allow")), ["--allow-net", "--allow-env=SPARKMEM_TOKEN"]);
  const child = new Deno.Command("deno", {
    args: [...args, "--port", "0"],
    cwd: new URL("../../", import.meta.url),
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  try {
    const { event, url } = JSON.parse((await lines.read()).value!);
    assertEquals(event, "listening");
    const response = await fetch(`${url}/v1/simulations`, { method: "POST", body: '{"template":"sort"}' });
    assertEquals([response.status, (await response.json()).outcome.status], [200, "succeeded"]);
    const { route, status, id } = JSON.parse((await lines.read()).value!);
    assertEquals([route, status, id], ["/v1/simulations", 200, response.headers.get("x-request-id")]);
  } finally {
    child.kill("SIGKILL");
    await lines.cancel();
    const errors = await new Response(child.stderr).text();
    await child.status;
    assertEquals(errors, "");
  }
});

Deno.test("a limit is a positive whole number", () => {
  for (const tasks of [0, -1, 1.5, NaN, 2 ** 53]) {
    const error = assertThrows(() => serviceLimits({ tasks }), InputError);
    assertEquals([error.code, error.parameters.name], ["limits.value", "tasks"]);
  }
  assertEquals(serviceLimits({ tasks: 1 }).tasks, 1);
});
