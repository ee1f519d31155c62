/**
 * The report: one HTML file with everything in it, for whoever has neither the log nor this page.
 *
 * @module
 */
import type { Finding } from "../../../src/report/verdict.ts";
import { dataTable } from "../charts/panel.ts";
import type { Predicted, RunName, RunView, SettingRow } from "../protocol.ts";
import { h } from "../ui/dom.ts";
import { compareTable } from "./compare_table.ts";
import { memoryPanel, rddPanel, resultPanel, stagePanel, taskPanel } from "./run_panels.ts";
import { isChanged, type Scenario, submitOptions } from "./scenario.ts";

/** What goes into it. */
export interface ReportContent {
  readonly runs: Partial<Record<RunName, RunView>>;
  /** The run whose charts are shown. */
  readonly shown: RunName;
  readonly scenario: Scenario;
  readonly predicted: Predicted | null;
  readonly settings: readonly SettingRow[];
}

/** Width of the charts, CSS pixels. */
const WIDTH = 900;

const STYLE = `
:root { color-scheme: light; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1.5rem; color: #171d26; background: #fff; line-height: 1.5;
  font: 400 15px/1.55 -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; } h2 { font-size: 1.2rem; margin: 2rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; margin: .5rem 0; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #dde2e8; vertical-align: top; overflow-wrap: anywhere; }
.num { text-align: right; white-space: nowrap; } img { max-width: 100%; height: auto; } figure { margin: 0 0 1rem; }
code, pre { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .85em; } pre { background: #eef1f4; padding: .75rem; overflow: auto; }
.muted { color: #5c6674; } .finding { margin: 0 0 1rem; } .finding b { margin-right: .5rem; } caption { text-align: left; color: #5c6674; }
details summary { cursor: pointer; color: #454f5d; } @media print { details { display: none; } }
`;

function findingsList(findings: readonly Finding[]): HTMLElement {
  return h(
    "div",
    {},
    findings.map(({ severity, sentence, why, evidence, settings }) =>
      h(
        "div",
        { class: "finding" },
        h("p", {}, h("b", {}, `${severity[0].toUpperCase()}${severity.slice(1)}:`), sentence),
        why === null ? null : h("p", { class: "muted" }, `Why: ${why}`),
        evidence.length === 0 ? null : h("ul", {}, evidence.map((text) => h("li", {}, text))),
        settings.length === 0 ? null : h(
          "ul",
          {},
          settings.map(({ key, value, advice }) =>
            h("li", {}, h("code", {}, key), value === null ? "" : ` (${value})`, `: ${advice}`)
          ),
        ),
      )
    ),
  );
}

/** The charts as pictures with their tables; they are drawn aside, in the light theme, whatever the page shows. */
async function chartSections(run: RunView): Promise<HTMLElement[]> {
  const asChart = () => ({ shownAsTable: new Set<string>() });
  const asTable = () => ({ shownAsTable: new Set(["memory", "tasks", "stages", "results", "rdds"]) });
  const make = [memoryPanel, rddPanel, taskPanel, stagePanel, resultPanel];
  const stage = h("div", { class: "report-stage", "aria-hidden": "true" });
  stage.style.width = `${WIDTH}px`;
  document.body.append(stage);
  try {
    const sections: HTMLElement[] = [];
    for (const makePanel of make) {
      const panel = makePanel(run, asChart());
      if (panel === null) continue;
      stage.replaceChildren(panel);
      await nextFrames();
      const title = panel.querySelector("h2")!.textContent!;
      const pictures = [...panel.querySelectorAll("canvas")].map((canvas) => picture(canvas, panel, title));
      const tables = [...makePanel(run, asTable())!.querySelectorAll("table")];
      sections.push(h(
        "section",
        {},
        h("h2", {}, title),
        pictures,
        tables.length === 0
          ? null
          : h("details", { open: pictures.length === 0 }, h("summary", {}, "As tables"), tables),
      ));
    }
    return sections;
  } finally {
    stage.remove();
  }
}

/** Charts are drawn once their width is known, which takes a frame, and their drawing another. */
function nextFrames(): Promise<void> {
  return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 20))));
}

function picture(canvas: HTMLCanvasElement, panel: Element, title: string): HTMLElement {
  const figure = canvas.closest("figure");
  const caption = figure?.querySelector("figcaption")?.textContent ?? "";
  const label = canvas.closest("[aria-label]")?.getAttribute("aria-label") ?? title;
  const legend = panel.querySelector(".chart-legend")?.textContent ?? "";
  return h(
    "figure",
    {},
    caption === "" ? null : h("figcaption", {}, caption),
    h("img", {
      src: canvas.toDataURL("image/png"),
      alt: label.replace(" Arrow keys read it point by point.", ""),
      width: Math.round(canvas.width / devicePixelRatio),
      title: legend,
    }),
  );
}

/** Makes the file. */
export async function reportFile(content: ReportContent): Promise<Blob> {
  const { runs, shown, scenario, predicted, settings } = content;
  const observed = runs.observed!;
  const { app, outcome } = observed.summary;
  const title = app.name || "Spark application";
  const body = h(
    "main",
    {},
    h("h1", {}, title),
    h(
      "p",
      { class: "muted" },
      `${app.id ?? ""} Spark ${app.sparkVersion}, ${outcome.status}. Made by sparkmem from an event log.`,
    ),
    h("h2", {}, "What happened"),
    findingsList(observed.findings),
    predicted === null ? null : h("h2", {}, "What would change"),
    predicted === null ? null : findingsList(predicted.differences),
    isChanged(scenario) ? h("pre", {}, submitOptions(scenario)) : null,
    h("h2", {}, "Observed, replayed, predicted"),
    compareTable({
      observed: observed.summary,
      replayed: runs.replayed?.summary ?? null,
      predicted: predicted?.summary ?? null,
    }).querySelector("table")!,
    h("p", { class: "muted" }, `The charts show the ${shown} run.`),
    await chartSections(runs[shown] ?? observed),
    h("h2", {}, "Settings"),
    dataTable({
      caption: "Settings that were set in the run",
      columns: [{ name: "Setting" }, { name: "Value" }],
      rows: settings.filter(({ source }) => source === "set").map((
        { key, value },
      ) => [h("code", {}, key), value ?? ""]),
    }).querySelector("table")!,
  );
  for (const element of body.querySelectorAll("[tabindex]")) element.removeAttribute("tabindex");
  const page = h("html", { lang: "en" });
  page.append(
    h("head", {}, h("meta", { charset: "utf-8" }), h("title", {}, `${title}: sparkmem report`), h("style", {}, STYLE)),
    h("body", {}, body),
  );
  return new Blob(["<!doctype html>\n", page.outerHTML], { type: "text/html" });
}
