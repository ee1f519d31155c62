/**
 * `deno task start`: the service as a process of its own. For `deno serve` there is entries/deno.ts.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { InputError } from "../src/errors.ts";
import { createApp } from "./app.ts";
import type { AppOptions, Host } from "./host.ts";
import { mountPage } from "./page/mod.ts";
import { DEFAULT_LIMITS, type ServiceLimits } from "./limits.ts";

const HELP = `
usage: deno task start [options]

Serves the web page and the HTTP API (/docs describes it).

  --port N             port (8000)
  --host ADDRESS       address to listen on (127.0.0.1; 0.0.0.0 for all)
  --limit NAME=VALUE   changes a limit; repeats. Names and defaults:
${Object.entries(DEFAULT_LIMITS).map(([name, value]) => `                         ${name}=${value}`).join("\n")}
  --cors ORIGIN        lets pages of this origin call the API; repeats; * for all
  --quiet              no request log

With SPARKMEM_TOKEN in the environment the API asks for that bearer token.

Each request is a line of JSON on standard output, without anything that the client has sent.
`;

/** Environment variable of the bearer token. */
export const TOKEN_VARIABLE = "SPARKMEM_TOKEN";

/** The clock, the ids and the output of Deno. */
export function denoHost({ quiet = false } = {}): Host {
  return {
    now: () => performance.now(),
    pause: () => new Promise((resolve) => setTimeout(resolve, 0)),
    newRequestId: () => crypto.randomUUID(),
    log: (record) => {
      if (!quiet) console.log(JSON.stringify({ time: new Date().toISOString(), ...record }));
    },
  };
}

/** What the command line asks for. */
interface StartOptions {
  readonly port: number;
  readonly hostname: string;
  readonly quiet: boolean;
  readonly app: AppOptions;
}

/**
 * Reads the arguments of `deno task start`.
 *
 * @throws {InputError} `cli.option`.
 */
export function startOptions(args: readonly string[], token?: string): StartOptions {
  const { values } = parse(args);
  return {
    port: portOf(values.port ?? "8000"),
    hostname: values.host ?? "127.0.0.1",
    quiet: values.quiet ?? false,
    app: {
      limits: limitsOf(values.limit ?? []),
      ...(values.cors === undefined ? {} : { cors: { origins: values.cors } }),
      ...(token === undefined || token === "" ? {} : { token }),
    },
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        port: { type: "string" },
        host: { type: "string" },
        limit: { type: "string", multiple: true },
        cors: { type: "string", multiple: true },
        quiet: { type: "boolean" },
      },
    });
  } catch (error) {
    throw new InputError("cli.option", `Cannot start: ${(error as Error).message}`, { cause: error });
  }
}

function portOf(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65535) return port;
  throw new InputError("cli.option", `Cannot start: --port must be in [0, 65535]: received ${text}`);
}

function limitsOf(texts: readonly string[]): Partial<ServiceLimits> {
  const limits: Record<string, number> = {};
  for (const text of texts) {
    const [name, value] = text.split("=", 2);
    if (!Object.hasOwn(DEFAULT_LIMITS, name)) {
      throw new InputError(
        "cli.option",
        `Cannot start: --limit must be one of ${Object.keys(DEFAULT_LIMITS).join(", ")}: received ${name}`,
      );
    }
    limits[name] = Number(value);
  }
  return limits;
}

function start(args: readonly string[]): void {
  const { port, hostname, quiet, app } = startOptions(args, Deno.env.get(TOKEN_VARIABLE));
  const host = denoHost({ quiet });
  const { fetch } = createApp({ ...app, host, page: mountPage, compress: true });
  Deno.serve({
    port,
    hostname,
    onListen: ({ hostname, port }) => {
      // The socket is open: from here on the process needs no permission at all.
      for (const name of ["net", "env"] as const) Deno.permissions.revokeSync({ name });
      host.log({ event: "listening", url: `http://${hostname}:${port}` });
    },
  }, (request) => fetch(request));
}

if (import.meta.main) {
  if (Deno.args.includes("--help")) console.log(HELP.trim());
  else {
    try {
      start(Deno.args);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      console.error(`error[${error.code}]: ${error.message}`);
      Deno.exitCode = 2;
    }
  }
}
