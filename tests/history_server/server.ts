/**
 * Starts Spark's own History Server on a folder of logs and asks its REST API.
 *
 * @module
 */

/** What Java 17 must open for Spark (org.apache.spark.launcher.JavaModuleOptions). */
const JAVA_OPTIONS = [
  "-Xmx1g",
  "-XX:+IgnoreUnrecognizedVMOptions",
  ...[
    "java.lang",
    "java.lang.invoke",
    "java.lang.reflect",
    "java.io",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
  ]
    .map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`),
  "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
];
const START_SECONDS = 90;

/** A running History Server. */
export interface HistoryServer extends AsyncDisposable {
  /** JSON of a path below /api/v1. */
  get<T>(path: string): Promise<T>;
  /** What the server logged so far. */
  log(): string;
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Starts a server on a folder of event logs and waits until it lists so many applications. */
export async function startHistoryServer(
  jars: string,
  logs: string,
  applications: number,
): Promise<HistoryServer> {
  const port = freePort();
  const work = await Deno.makeTempDir();
  const child = new Deno.Command("java", {
    args: [
      ...JAVA_OPTIONS,
      `-Dspark.history.fs.logDirectory=file://${logs}`,
      `-Dspark.history.ui.port=${port}`,
      "-Dspark.history.fs.update.interval=1s",
      "-cp",
      `${jars}/*`,
      "org.apache.spark.deploy.history.HistoryServer",
    ],
    cwd: work,
    env: { SPARK_LOCAL_IP: "127.0.0.1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let text = "";
  const decoder = new TextDecoder();
  const copy = async (stream: ReadableStream<Uint8Array>) => {
    for await (const chunk of stream) text += decoder.decode(chunk, { stream: true });
  };
  const copied = Promise.all([copy(child.stdout), copy(child.stderr)]);
  const stop = async () => {
    try {
      child.kill("SIGKILL");
    } catch {
      // It had ended.
    }
    await child.status;
    await copied;
    await Deno.remove(work, { recursive: true });
  };
  const get = async <T>(path: string): Promise<T> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${(await response.text()).slice(0, 300)}`);
    return await response.json();
  };
  for (let second = 0; second < START_SECONDS; second++) {
    const listed = await get<unknown[]>("/applications").catch(() => []);
    if (listed.length >= applications) return { get, log: () => text, [Symbol.asyncDispose]: stop };
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  await stop();
  throw new Error(
    `the History Server listed no ${applications} applications in ${START_SECONDS} s:\n${text.slice(-3000)}`,
  );
}
