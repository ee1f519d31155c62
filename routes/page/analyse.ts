/**
 * The analyse page: drop a log, read the verdict, change a setting.
 *
 * @module
 */
import { AnalyseApp } from "./analyse/app.ts";
import { WorkerClient } from "./analyse/worker_client.ts";
import { startShell } from "./ui/shell.ts";

// Tools that load every module of the tree have no document.
if ("document" in globalThis) {
  startShell();
  const { worker, explainer } = document.body.dataset;
  // The first worker is loaded at once, so that what follows needs no network.
  new AnalyseApp(new WorkerClient(worker!), () => new WorkerClient(explainer!)).start();
}
