/**
 * The graph of a job's stages, laid out by dagre: what depends on what, attempts and resubmissions.
 *
 * @module
 */
import { Graph, layout } from "@dagrejs/dagre";
import type { StageGraph, StageNode } from "../../../src/report/charts_stages.ts";
import { h, s } from "../ui/dom.ts";
import { formatBytes, formatCount, formatMs } from "../ui/format.ts";
import type { TableData } from "./panel.ts";

const NODE_WIDTH = 190;
const NODE_HEIGHT = 74;
/** More stages than this are shown by the table only. */
const MAX_NODES = 120;

function statusOf(stage: StageNode): { text: string; tone: string } {
  const last = stage.attempts[stage.attempts.length - 1];
  if (last === undefined) return { text: "skipped", tone: "" };
  if (last.status === "failed") return { text: "failed", tone: "bad" };
  if (last.status === "unfinished") return { text: "unfinished", tone: "warn" };
  return stage.attempts.length > 1
    ? { text: `${stage.attempts.length} attempts`, tone: "warn" }
    : { text: "done", tone: "good" };
}

function timeOf(stage: StageNode): number | null {
  const times = stage.attempts.map(({ submissionTime, completionTime }) =>
    submissionTime === null || completionTime === null ? null : completionTime - submissionTime
  );
  return times.includes(null) || times.length === 0 ? null : times.reduce<number>((sum, t) => sum + t!, 0);
}

/** The graph of these stages; null when there are too many to be read. */
export function stageGraph(stages: readonly StageNode[], choose: (stage: StageNode) => void): HTMLElement | null {
  if (stages.length === 0 || stages.length > MAX_NODES) return null;
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 18, ranksep: 48, marginx: 4, marginy: 4 });
  graph.setDefaultEdgeLabel(() => ({}));
  const ids = new Set(stages.map(({ stageId }) => stageId));
  for (const { stageId } of stages) graph.setNode(String(stageId), { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const { stageId, parentIds } of stages) {
    for (const parent of parentIds) if (ids.has(parent)) graph.setEdge(String(parent), String(stageId));
  }
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  const edges = graph.edges().map((edge: { v: string; w: string }) => {
    const { points } = graph.edge(edge) as { points: { x: number; y: number }[] };
    return s("path", { d: curve(points), class: "graph-edge", "marker-end": "url(#arrow)" });
  });
  const drawing = s(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", focusable: "false" },
    s(
      "defs",
      {},
      s(
        "marker",
        { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
        s("path", { d: "M0 0L8 4L0 8Z", class: "graph-arrow" }),
      ),
    ),
    edges,
  );
  const nodes = stages.map((stage) =>
    nodeOf(stage, graph.node(String(stage.stageId)) as { x: number; y: number }, choose)
  );
  const canvas = h("div", { class: "graph-canvas" }, drawing, h("ul", { class: "graph-nodes" }, nodes));
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  return h(
    "div",
    { class: "graph", tabindex: 0, role: "region", "aria-label": "Stages and what they depend on" },
    canvas,
  );
}

function nodeOf(stage: StageNode, place: { x: number; y: number }, choose: (stage: StageNode) => void): HTMLElement {
  const { text, tone } = statusOf(stage);
  const took = timeOf(stage);
  const tasks = stage.attempts.reduce((sum, { numTasks }) => sum + numTasks, 0);
  const button = h(
    "button",
    {
      type: "button",
      class: `graph-node ${stage.attempts.length === 0 ? "skipped" : ""}`,
      onclick: () => choose(stage),
    },
    h(
      "span",
      { class: "graph-node-head" },
      h("b", {}, `Stage ${stage.stageId}`),
      h("span", { class: `chip ${tone}` }, text),
    ),
    h("span", { class: "graph-node-name" }, stage.name),
    h(
      "span",
      { class: "graph-node-facts" },
      stage.attempts.length === 0
        ? `needs ${stage.parentIds.length === 0 ? "nothing" : stage.parentIds.join(", ")}`
        : `${formatCount(tasks)} tasks${took === null ? "" : `, ${formatMs(took)}`}`,
    ),
  );
  const item = h("li", {}, button);
  item.style.left = `${place.x - NODE_WIDTH / 2}px`;
  item.style.top = `${place.y - NODE_HEIGHT / 2}px`;
  return item;
}

/** A smooth line through an edge's points. */
function curve(points: readonly { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  let path = `M${first.x.toFixed(1)} ${first.y.toFixed(1)}`;
  for (let i = 0; i < rest.length - 1; i++) {
    const end = i === rest.length - 2
      ? rest[i + 1]
      : { x: (rest[i].x + rest[i + 1].x) / 2, y: (rest[i].y + rest[i + 1].y) / 2 };
    path += `Q${rest[i].x.toFixed(1)} ${rest[i].y.toFixed(1)} ${end.x.toFixed(1)} ${end.y.toFixed(1)}`;
  }
  return path;
}

/** The attempts of stages as a table. */
export function stageTable(graph: StageGraph, stages: readonly StageNode[], startMs: number): TableData {
  const number = (name: string) => ({ name, isNumber: true });
  return {
    caption: graph.leftOut > 0 ? `Stages; ${formatCount(graph.leftOut)} more are left out` : "Stages",
    columns: [
      { name: "Stage" },
      { name: "Name" },
      { name: "Needs" },
      { name: "Ended" },
      number("Tasks"),
      number("Failed"),
      number("Submitted"),
      number("Took"),
      number("Spilled"),
      number("Shuffle read"),
      number("Shuffle written"),
    ],
    rows: stages.flatMap((stage) => {
      const needs = stage.parentIds.length === 0 ? "" : stage.parentIds.join(", ");
      if (stage.attempts.length === 0) {
        return [[String(stage.stageId), stage.name, needs, "skipped", "", "", "", "", "", "", ""]];
      }
      return stage.attempts.map((attempt) => [
        `${stage.stageId}${attempt.attemptId > 0 ? `, attempt ${attempt.attemptId}` : ""}`,
        stage.name,
        needs,
        attempt.status,
        formatCount(attempt.numTasks),
        formatCount(attempt.failed),
        attempt.submissionTime === null ? "" : formatMs(attempt.submissionTime - startMs),
        attempt.submissionTime === null || attempt.completionTime === null
          ? ""
          : formatMs(attempt.completionTime - attempt.submissionTime),
        formatBytes(attempt.memoryBytesSpilled),
        formatBytes(attempt.shuffleReadBytes),
        formatBytes(attempt.shuffleWriteBytes),
      ]);
    }),
  };
}

/** What is known of one stage, attempt by attempt. */
export function stageDetails(stage: StageNode, startMs: number): HTMLElement {
  return h(
    "div",
    { class: "stage-details" },
    h("h3", {}, `Stage ${stage.stageId}: ${stage.name}`),
    stage.attempts.length === 0
      ? h("p", { class: "muted" }, "Skipped: its output was there from an earlier job.")
      : stage.attempts.map((attempt) =>
        h(
          "div",
          { class: "stage-attempt" },
          h(
            "p",
            {},
            h("b", {}, `Attempt ${attempt.attemptId}`),
            ` ${attempt.status}: ${formatCount(attempt.succeeded)} of ${formatCount(attempt.numTasks)} tasks succeeded`,
            attempt.failed > 0 ? `, ${formatCount(attempt.failed)} failed` : "",
            attempt.killed > 0 ? `, ${formatCount(attempt.killed)} killed` : "",
            attempt.submissionTime === null ? "" : `; submitted at ${formatMs(attempt.submissionTime - startMs)}`,
            attempt.memoryBytesSpilled > 0 ? `; spilled ${formatBytes(attempt.memoryBytesSpilled)} of memory` : "",
            ".",
          ),
          attempt.failureReason === null ? null : h("pre", { class: "reason", tabindex: 0 }, attempt.failureReason),
        )
      ),
  );
}
