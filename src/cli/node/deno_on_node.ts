/**
 * What the command line uses of Deno and of web workers, on Node: files, standard streams, environment. The npm package's
 * command begins with it; in Deno nothing is replaced.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { availableParallelism } from "node:os";
import process from "node:process";
import { Readable } from "node:stream";
import { isatty } from "node:tty";
import { Worker as NodeWorker } from "node:worker_threads";

/** Deno's error classes that the command line tells apart. */
class NotFound extends Error {}
class PermissionDenied extends Error {}
class NotCapable extends Error {}
class IsADirectory extends Error {}
class BrokenPipe extends Error {}

const ERRORS: Readonly<Record<string, new (message: string, options: ErrorOptions) => Error>> = {
  ENOENT: NotFound,
  EACCES: PermissionDenied,
  EPERM: PermissionDenied,
  EISDIR: IsADirectory,
  EPIPE: BrokenPipe,
};

/** Runs a call of node:fs; what it throws becomes Deno's error. */
function translated<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    const { code = "", message } = error as { code?: string; message: string };
    throw code in ERRORS ? new ERRORS[code](message, { cause: error }) : error;
  }
}

/** A file that is read from its begin to its end. */
class File {
  readonly #fd: number;

  constructor(path: string | URL) {
    this.#fd = translated(() => fs.openSync(path, "r"));
  }

  readSync(into: Uint8Array): number | null {
    return translated(() => fs.readSync(this.#fd, into)) || null;
  }

  read(into: Uint8Array): Promise<number | null> {
    return new Promise((resolve) => resolve(this.readSync(into)));
  }

  close(): void {
    fs.closeSync(this.#fd);
  }

  get readable(): ReadableStream<Uint8Array> {
    return new ReadableStream({
      pull: (controller) => {
        const chunk = new Uint8Array(1 << 16);
        const length = this.readSync(chunk);
        if (length !== null) return controller.enqueue(chunk.subarray(0, length));
        this.close();
        controller.close();
      },
      cancel: () => this.close(),
    }, { highWaterMark: 0 });
  }
}

/** A standard stream's bytes, synchronously; a full pipe is waited for. */
function outputStream(fd: 1 | 2) {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  return {
    isTerminal: () => isatty(fd),
    writeSync(bytes: Uint8Array): number {
      while (true) {
        try {
          return translated(() => fs.writeSync(fd, bytes));
        } catch (error) {
          if ((error as { code?: string }).code !== "EAGAIN") throw error;
          Atomics.wait(pause, 0, 0, 1);
        }
      }
    },
  };
}

async function* entriesOf(path: string | URL) {
  const found = await fs.promises.readdir(path, { withFileTypes: true }).catch((error) =>
    translated(() => {
      throw error;
    })
  );
  for (const entry of found) {
    yield {
      name: entry.name,
      isDirectory: entry.isDirectory(),
      isFile: entry.isFile(),
      isSymlink: entry.isSymbolicLink(),
    };
  }
}

/** The part of the `Deno` namespace that the command line uses. */
export const denoOnNode = {
  args: process.argv.slice(2),
  errors: { NotFound, PermissionDenied, NotCapable, IsADirectory, BrokenPipe },
  stdout: outputStream(1),
  stderr: outputStream(2),
  stdin: {
    get readable(): ReadableStream<Uint8Array> {
      return Readable.toWeb(process.stdin) as unknown as ReadableStream<Uint8Array>;
    },
  },
  env: { get: (name: string): string | undefined => process.env[name] },
  cwd: (): string => process.cwd(),
  exit: (code: number): never => process.exit(code),
  build: { os: process.platform === "win32" ? "windows" : process.platform },
  addSignalListener: (signal: NodeJS.Signals, listener: () => void): void => void process.on(signal, listener),
  removeSignalListener: (signal: NodeJS.Signals, listener: () => void): void => void process.off(signal, listener),
  openSync: (path: string | URL): File => new File(path),
  open: (path: string | URL): Promise<File> => new Promise((resolve) => resolve(new File(path))),
  readFile: (path: string | URL): Promise<Uint8Array> =>
    new Promise((resolve) => resolve(new Uint8Array(translated(() => fs.readFileSync(path))))),
  readTextFile: (path: string | URL): Promise<string> =>
    new Promise((resolve) => resolve(translated(() => fs.readFileSync(path, "utf8")))),
  readDir: entriesOf,
  stat: (path: string | URL): Promise<{ size: number; isFile: boolean; isDirectory: boolean }> =>
    new Promise((resolve) => {
      const found = translated(() => fs.statSync(path));
      resolve({ size: found.size, isFile: found.isFile(), isDirectory: found.isDirectory() });
    }),
};

/** Runs before the module of a worker: gives it the scope of a web worker. */
const WORKER_SCOPE = `
import { parentPort, workerData } from "node:worker_threads";
globalThis.WorkerGlobalScope = class { static [Symbol.hasInstance]() { return true; } };
globalThis.postMessage = (data) => parentPort.postMessage(data);
const waiting = [];
parentPort.on("message", (data) => globalThis.onmessage ? globalThis.onmessage({ data }) : waiting.push(data));
await import(workerData.install);
await import(workerData.module);
for (const data of waiting) globalThis.onmessage({ data });
`;

/** A web worker on a thread of Node. */
class WorkerOnNode {
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onerror: ((event: { message: string; preventDefault(): void }) => void) | null = null;
  readonly #thread: NodeWorker;

  constructor(module: URL) {
    const scope = new URL(`data:text/javascript;base64,${Buffer.from(WORKER_SCOPE).toString("base64")}`);
    this.#thread = new NodeWorker(scope, {
      // in the package each module is .js
      workerData: { module: module.href.replace(/\.ts$/, ".js"), install: import.meta.url },
    });
    this.#thread.on("message", (data: unknown) => this.onmessage?.({ data }));
    this.#thread.on("error", ({ message }: Error) => this.onerror?.({ message, preventDefault() {} }));
  }

  postMessage(data: unknown): void {
    this.#thread.postMessage(data);
  }

  terminate(): void {
    this.#thread.terminate();
  }
}

const scope = globalThis as Record<string, unknown>;
scope.Deno ??= denoOnNode;
scope.Worker ??= WorkerOnNode;
scope.navigator ??= { hardwareConcurrency: availableParallelism() };
