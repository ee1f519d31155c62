/**
 * Firefox through WebDriver BiDi, as far as the tests need it. Debian's Firefox is not the patched one that
 * playwright-core drives, but it speaks BiDi by itself.
 *
 * @module
 */

interface Reply {
  readonly id?: number;
  readonly type: "success" | "error" | "event";
  readonly method?: string;
  // deno-lint-ignore no-explicit-any
  readonly result?: any;
  // deno-lint-ignore no-explicit-any
  readonly params?: any;
  readonly message?: string;
}

/** How long Firefox may take to start, ms. */
const START_MS = 60_000;

/** A running Firefox with one page. */
export class Firefox {
  /** Errors of the page's scripts and console. */
  readonly problems: string[] = [];
  /** Addresses that were asked for. */
  readonly requests: string[] = [];
  readonly #process: Deno.ChildProcess;
  readonly #profile: string;
  readonly #pending = new Map<number, { resolve: (result: Reply["result"]) => void; reject: (error: Error) => void }>();
  #socket!: WebSocket;
  #context = "";
  #next = 1;

  private constructor(process: Deno.ChildProcess, profile: string) {
    this.#process = process;
    this.#profile = profile;
  }

  /** Starts Firefox with a fresh profile. */
  static async launch(program = "firefox-esr"): Promise<Firefox> {
    const profile = await Deno.makeTempDir();
    const process = new Deno.Command(program, {
      args: ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"],
      env: { HOME: profile },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    const firefox = new Firefox(process, profile);
    await firefox.#connect(await listeningAddress(process.stderr));
    return firefox;
  }

  async #connect(address: string): Promise<void> {
    this.#socket = new WebSocket(`${address}/session`);
    this.#socket.addEventListener("message", ({ data }) => this.#heard(JSON.parse(data)));
    await new Promise((resolve, reject) => {
      this.#socket.addEventListener("open", resolve, { once: true });
      this.#socket.addEventListener("error", reject, { once: true });
    });
    await this.#send("session.new", { capabilities: {} });
    await this.#send("session.subscribe", { events: ["log.entryAdded", "network.beforeRequestSent"] });
    this.#context = (await this.#send("browsingContext.create", { type: "tab" })).context;
  }

  #heard(reply: Reply): void {
    if (reply.method === "log.entryAdded" && reply.params.level === "error") this.problems.push(reply.params.text);
    if (reply.method === "network.beforeRequestSent") this.requests.push(reply.params.request.url);
    const pending = reply.id === undefined ? undefined : this.#pending.get(reply.id);
    if (pending === undefined) return;
    this.#pending.delete(reply.id!);
    if (reply.type === "error") pending.reject(new Error(reply.message));
    else pending.resolve(reply.result);
  }

  #send(method: string, params: object): Promise<Reply["result"]> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  /** Goes to a page and waits for it. */
  async goto(url: string): Promise<void> {
    await this.#send("browsingContext.navigate", { context: this.#context, url, wait: "complete" });
  }

  /** The value of an expression in the page: a text, number, boolean or null; promises are awaited. */
  async evaluate(expression: string): Promise<unknown> {
    const { type, result, exceptionDetails } = await this.#send("script.evaluate", {
      expression,
      target: { context: this.#context },
      awaitPromise: true,
      userActivation: true,
    });
    if (type === "exception") throw new Error(exceptionDetails.text);
    return result.value ?? null;
  }

  /** Waits until an expression is true. */
  async until(expression: string, timeoutMs = 30_000): Promise<void> {
    const end = performance.now() + timeoutMs;
    while (!await this.evaluate(`Boolean(${expression})`)) {
      if (performance.now() > end) throw new Error(`Not within ${timeoutMs} ms: ${expression}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** The page as a PNG. */
  async screenshot(): Promise<Uint8Array> {
    const { data } = await this.#send("browsingContext.captureScreenshot", { context: this.#context });
    return Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
  }

  /** Ends it and removes its profile. */
  async close(): Promise<void> {
    this.#socket.close();
    this.#process.kill("SIGTERM");
    await this.#process.status;
    await Deno.remove(this.#profile, { recursive: true }).catch(() => {});
  }
}

/** Firefox says on its standard error where it listens; what follows there is read and thrown away. */
async function listeningAddress(stderr: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stderr.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let text = "";
  const timer = setTimeout(() => reader.cancel(), START_MS);
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`Firefox did not say where it listens: ${text.slice(-500)}`);
    text += value;
    const address = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(text)?.[1];
    if (address === undefined) continue;
    clearTimeout(timer);
    (async () => {
      while (!(await reader.read()).done);
    })().catch(() => {});
    return address;
  }
}
