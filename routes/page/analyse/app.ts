/**
 * The analyse page from start to open log: choosing, reading with progress, showing, problems.
 *
 * @module
 */
import samples from "../samples.json" with { type: "json" };
import type { LogFile, OpenedLog, Progress } from "../protocol.ts";
import { byId, fill, h } from "../ui/dom.ts";
import { formatBytes, formatCount } from "../ui/format.ts";
import { explanationView } from "./explain_view.ts";
import { chosenFiles, droppedFiles } from "./files.ts";
import { RunPage } from "./run_page.ts";
import { WorkerClient, WorkerProblem } from "./worker_client.ts";

/** The page. */
export class AnalyseApp {
  readonly #client: WorkerClient;
  #reading: AbortController | null = null;

  constructor(client: WorkerClient) {
    this.#client = client;
  }

  /** Wires the page. */
  start(): void {
    const files = byId<HTMLInputElement>("files");
    const folder = byId<HTMLInputElement>("folder");
    byId("choose-files").addEventListener("click", () => files.click());
    byId("choose-folder").addEventListener("click", () => folder.click());
    for (const input of [files, folder]) {
      input.addEventListener("change", () => {
        const chosen = chosenFiles(input.files!);
        input.value = "";
        if (chosen.length > 0) this.#open(chosen);
      });
    }
    byId("cancel").addEventListener("click", () => this.#reading?.abort());
    this.#acceptDrops();
    byId("explain-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#explain(byId<HTMLTextAreaElement>("message").value);
    });
    fill(byId("samples"), samples.map((sample) => this.#sample(sample)));
  }

  #sample({ id, title, about }: typeof samples[number]): HTMLElement {
    return h(
      "li",
      {},
      h(
        "button",
        { type: "button", class: "sample", onclick: () => this.#openSample(id) },
        h("b", {}, title),
        h("span", {}, about),
      ),
    );
  }

  async #explain(text: string): Promise<void> {
    const place = byId("explanation");
    if (text.trim() === "") {
      fill(place, h("p", { class: "note" }, "Paste a message first."));
      return;
    }
    try {
      fill(place, explanationView(await this.#client.ask({ kind: "explain", text })));
    } catch (error) {
      if (!(error instanceof WorkerProblem)) throw error;
      fill(place, h("p", { class: "note bad" }, error.message));
    }
  }

  #acceptDrops(): void {
    const drop = byId("drop");
    addEventListener("dragover", (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
    addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) drop.classList.remove("over");
    });
    addEventListener("drop", async (event) => {
      event.preventDefault();
      drop.classList.remove("over");
      if (event.dataTransfer === null) return;
      const dropped = await droppedFiles(event.dataTransfer);
      if (dropped.length > 0) await this.#open(dropped);
    });
  }

  async #openSample(id: string): Promise<void> {
    try {
      const response = await fetch(`samples/${id}`);
      if (!response.ok) throw new Error(`${response.status}`);
      await this.#open([{ name: id, file: await response.blob() }]);
    } catch (error) {
      this.#showProblem(`The recorded run could not be loaded: ${error instanceof Error ? error.message : error}`);
    }
  }

  async #open(files: LogFile[]): Promise<void> {
    this.#reading?.abort();
    const reading = new AbortController();
    this.#reading = reading;
    this.#showOnly("progress");
    this.#showProgress({ bytesRead: 0, bytesTotal: 0, events: 0 });
    try {
      const log = await this.#client.ask({ kind: "open", files }, {
        signal: reading.signal,
        onProgress: (progress) => this.#showProgress(progress),
      });
      if (this.#reading === reading) this.#showRun(log);
    } catch (error) {
      if (!(error instanceof WorkerProblem)) throw error;
      if (this.#reading !== reading) return;
      this.#showOnly("start");
      if (error.code !== "page.cancelled") this.#showProblem(error.message);
    }
  }

  #showOnly(id: "start" | "progress" | "run"): void {
    for (const section of ["start", "progress", "run"]) byId(section).hidden = section !== id;
    byId("explain").hidden = id === "progress";
    byId("problem").hidden = true;
  }

  #showProblem(message: string): void {
    const problem = byId("problem");
    problem.textContent = message;
    problem.hidden = false;
  }

  #showProgress({ bytesRead, bytesTotal, events }: Progress): void {
    const bar = byId<HTMLProgressElement>("progress-bar");
    if (bytesTotal > 0) {
      bar.max = bytesTotal;
      bar.value = bytesRead;
    } else bar.removeAttribute("value");
    byId("progress-text").textContent = bytesTotal === 0
      ? "Starting"
      : `${formatBytes(bytesRead)} of ${formatBytes(bytesTotal)}, ${formatCount(events)} events`;
  }

  #showRun(log: OpenedLog): void {
    const page = new RunPage(log, {
      openAnother: () => {
        this.#showOnly("start");
        byId("main").focus();
      },
    });
    fill(byId("run"), page.element);
    this.#showOnly("run");
    scrollTo({ top: 0 });
    byId("main").focus({ preventScroll: true });
  }
}
