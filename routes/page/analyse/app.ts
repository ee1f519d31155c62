/**
 * The analyse page from start to open log: choosing, reading with progress, showing, problems.
 *
 * @module
 */
import samples from "../samples.json" with { type: "json" };
import type { LogFile, OpenedLog, Progress, RunSettings } from "../protocol.ts";
import { byId, fill, h } from "../ui/dom.ts";
import { formatBytes, formatCount } from "../ui/format.ts";
import { isChanged, type Link, linkText, readLink } from "./scenario.ts";
import { explanationView } from "./explain_view.ts";
import { chosenFiles, droppedFiles } from "./files.ts";
import { RunPage } from "./run_page.ts";
import { WorkerClient, WorkerProblem } from "./worker_client.ts";

/** The page. */
export class AnalyseApp {
  readonly #client: WorkerClient;
  /** Makes the worker that explains messages, when it is first needed. */
  readonly #newExplainer: () => WorkerClient;
  #explainer: WorkerClient | null = null;
  /** Settings of the open log. */
  #settings: RunSettings | null = null;
  #reading: AbortController | null = null;
  /** What the address asked for. */
  #link: Link = readLink(location.hash.slice(1));

  constructor(client: WorkerClient, newExplainer: () => WorkerClient) {
    this.#client = client;
    this.#newExplainer = newExplainer;
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
    this.#keepSectionLinks();
    this.#followLink();
  }

  /** Opens the recorded run that a link names, or says which log it is about. */
  #followLink(): void {
    const { run, app, scenario } = this.#link;
    if (run !== null && samples.some(({ id }) => id === run)) this.#openSample(run);
    else if (isChanged(scenario)) {
      this.#showProblem(
        `This link holds changed settings${app === null ? "" : ` for application ${app}`}. The log is not in a link: ` +
          "open it here, and the settings are applied.",
      );
    }
  }

  /** Links to sections of the page move there and leave the address, which holds the scenario, as it is. */
  #keepSectionLinks(): void {
    document.addEventListener("click", (event) => {
      const link = (event.target as Element).closest<HTMLAnchorElement>('a[href^="#"]');
      if (link === null || link.classList.contains("skip")) return;
      const section = document.getElementById(link.hash.slice(1));
      if (section === null) return;
      event.preventDefault();
      section.scrollIntoView();
      section.focus({ preventScroll: true });
    });
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
      this.#explainer ??= this.#newExplainer();
      const settings = this.#settings;
      fill(place, explanationView(await this.#explainer.ask({ kind: "explain", text, settings })));
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
      await this.#open([{ name: id, file: await response.blob() }], id);
    } catch (error) {
      this.#showProblem(`The recorded run could not be loaded: ${error instanceof Error ? error.message : error}`);
    }
  }

  async #open(files: LogFile[], sampleId: string | null = null): Promise<void> {
    this.#reading?.abort();
    const reading = new AbortController();
    this.#reading = reading;
    this.#showOnly("progress");
    this.#showProgress({ done: 0, total: 0 });
    try {
      const log = await this.#client.ask({ kind: "open", files }, {
        signal: reading.signal,
        onProgress: (progress) => this.#showProgress(progress),
      });
      if (this.#reading === reading) this.#showRun(log, sampleId);
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

  #showProgress({ done, total, events = 0 }: Progress): void {
    const bar = byId<HTMLProgressElement>("progress-bar");
    if (total > 0) {
      bar.max = total;
      bar.value = done;
    } else bar.removeAttribute("value");
    byId("progress-text").textContent = total === 0
      ? "Starting"
      : `${formatBytes(done)} of ${formatBytes(total)}, ${formatCount(events)} events`;
  }

  #showRun(log: OpenedLog, sampleId: string | null): void {
    const { scenario, run, app } = this.#link;
    const set = log.settings.flatMap(({ key, value, source }) =>
      source === "set" && value !== null ? [[key, value]] : []
    );
    this.#settings = { conf: Object.fromEntries(set), sparkVersion: log.observed.summary.app.sparkVersion };
    const page = new RunPage({
      log,
      client: this.#client,
      sampleId,
      openAnother: () => {
        this.#link = readLink("");
        this.#settings = null;
        history.replaceState(null, "", location.pathname);
        this.#showOnly("start");
        byId("main").focus();
      },
    });
    fill(byId("run"), page.element);
    this.#showOnly("run");
    scrollTo({ top: 0 });
    byId("main").focus({ preventScroll: true });
    // A link's scenario belongs to its run; one without a run belongs to whatever log is opened next.
    const isMeant = run === sampleId && (app === null || app === log.observed.summary.app.id);
    if (isMeant && isChanged(scenario)) page.apply(scenario);
    else history.replaceState(null, "", `#${linkText(page.link)}`);
  }
}
