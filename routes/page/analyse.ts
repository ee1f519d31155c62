/**
 * The analyse page: drop a log, read the verdict, change a setting.
 *
 * @module
 */
import { AnalyseApp } from "./analyse/app.ts";
import { WorkerClient } from "./analyse/worker_client.ts";
import { startShell } from "./ui/shell.ts";

startShell();
// Loaded at once, so that what follows needs no network.
new AnalyseApp(new WorkerClient(document.body.dataset.worker!)).start();
