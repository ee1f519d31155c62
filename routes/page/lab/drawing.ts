/**
 * The lab's drawing of one memory mode: two pools with their boundary, the region line, blocks and tasks inside.
 * Parts keep their elements between steps, so that they move instead of jumping.
 *
 * @module
 */
import { fill, h, icon } from "../ui/dom.ts";
import { formatCount } from "../ui/format.ts";
import type { LabBlock, LabPools, LabTask } from "./state.ts";

/** A part of a pool: where it begins, how long it is, what it says. */
interface Segment {
  readonly key: string;
  readonly kind: string;
  readonly label: string;
  readonly bytes: number;
  readonly from: number;
  readonly note?: string;
  readonly hue?: number;
  readonly pinned?: boolean;
}

/** One of five hues by RDD, so that blocks of one RDD look alike. */
function hueOf(block: LabBlock): number | undefined {
  return block.rddId === null ? undefined : block.rddId % 5;
}

function storageSegments(pools: LabPools): Segment[] {
  const segments: Segment[] = [];
  let from = 0;
  const add = (segment: Omit<Segment, "from">) => {
    if (segment.bytes <= 0) return;
    segments.push({ ...segment, from });
    from += segment.bytes;
  };
  let blocks = 0;
  for (const block of pools.blocks) {
    blocks += block.size;
    add({
      key: `block ${block.name}`,
      kind: "block",
      label: block.name,
      bytes: block.size,
      hue: hueOf(block),
      pinned: block.readers > 0,
    });
  }
  for (const task of pools.tasks) {
    add({
      key: `unroll ${task.id}`,
      kind: "unroll",
      label: task.id < 0 ? "unroll" : `unroll, task ${task.id}`,
      bytes: task.unrollBytes,
    });
  }
  const unrollOfTasks = pools.tasks.reduce((sum, { unrollBytes }) => sum + unrollBytes, 0);
  add({
    key: "raw",
    kind: "raw",
    label: "acquired, not in a block",
    bytes: pools.storageMemoryUsed - blocks - unrollOfTasks,
  });
  add({
    key: "storage free",
    kind: "free",
    label: "free",
    bytes: pools.storagePoolSize - pools.storageMemoryUsed,
  });
  return segments;
}

function executionSegments(pools: LabPools): Segment[] {
  const segments: Segment[] = [];
  let from = pools.storagePoolSize;
  const add = (segment: Omit<Segment, "from">) => {
    if (segment.bytes <= 0) return;
    segments.push({ ...segment, from });
    from += segment.bytes;
  };
  add({
    key: "execution free",
    kind: "free",
    label: "free",
    bytes: pools.executionPoolSize - pools.executionMemoryUsed,
  });
  for (const task of [...pools.tasks].reverse()) {
    add({
      key: `task ${task.id}`,
      kind: "task",
      label: `task ${task.id}`,
      bytes: task.executionBytes,
    });
  }
  return segments;
}

/** The drawing of one memory mode. */
export class MemoryDrawing {
  readonly element: HTMLElement;
  readonly #bar = h("div", { class: "mem-bar" });
  readonly #storage = h("ol", { class: "mem-segments", "aria-label": "Storage pool, eldest block first" });
  readonly #execution = h("ol", { class: "mem-segments", "aria-label": "Execution pool" });
  readonly #region = h("div", { class: "mem-region" }, h("span", {}));
  readonly #boundary = h("div", { class: "mem-boundary", "aria-hidden": "true" });
  readonly #storageTitle = h("div", { class: "mem-title storage" });
  readonly #executionTitle = h("div", { class: "mem-title execution" });
  readonly #tasks = h("ul", { class: "mem-tasks", "aria-label": "Tasks" });
  readonly #segments = new Map<string, HTMLElement>();
  readonly #onBlock: (name: string) => void;
  readonly #onTask: (id: number) => void;

  /** @param on what a click on a block or a task does */
  constructor(title: string, on: { block: (name: string) => void; task: (id: number) => void }) {
    this.#onBlock = on.block;
    this.#onTask = on.task;
    this.#bar.append(this.#storage, this.#execution, this.#region, this.#boundary);
    this.element = h(
      "section",
      { class: "mem", "aria-label": title },
      h("h3", { class: "mem-name" }, title),
      h("div", { class: "mem-titles" }, this.#storageTitle, this.#executionTitle),
      this.#bar,
      this.#tasks,
    );
  }

  /** Draws a state; `touched` are the keys of segments that the step concerns. */
  update(pools: LabPools, touched: ReadonlySet<string>): void {
    const share = (bytes: number) => `${Math.max(0, Math.min(100, bytes / pools.max * 100))}%`;
    fill(
      this.#storageTitle,
      h("b", {}, "Storage pool"),
      ` ${formatCount(pools.storagePoolSize)}`,
      h("span", {}, ` · ${formatCount(pools.storageMemoryUsed)} used`),
    );
    fill(
      this.#executionTitle,
      h("b", {}, "Execution pool"),
      ` ${formatCount(pools.executionPoolSize)}`,
      h("span", {}, ` · ${formatCount(pools.executionMemoryUsed)} used`),
    );
    this.#boundary.style.left = share(pools.storagePoolSize);
    this.#region.style.left = share(pools.region);
    const atEnd = pools.region > pools.max * 0.7;
    this.#region.classList.toggle("end", atEnd);
    this.#region.firstElementChild!.textContent = `storage region ${formatCount(pools.region)}`;
    const storage = storageSegments(pools);
    const execution = executionSegments(pools);
    this.#place(this.#storage, storage, pools.max, touched);
    this.#place(this.#execution, execution, pools.max, touched);
    const keys = new Set([...storage, ...execution].map(({ key }) => key));
    for (const [key, element] of this.#segments) {
      if (keys.has(key)) continue;
      element.remove();
      this.#segments.delete(key);
    }
    fill(this.#tasks, pools.tasks.filter(({ id }) => id >= 0).map((task) => this.#taskCard(pools, task)));
  }

  #place(list: HTMLElement, segments: readonly Segment[], max: number, touched: ReadonlySet<string>): void {
    segments.forEach((segment, i) => {
      let element = this.#segments.get(segment.key);
      if (element === undefined) {
        element = this.#create(segment);
        this.#segments.set(segment.key, element);
      }
      if (list.children[i] !== element) list.insertBefore(element, list.children[i] ?? null);
      element.style.left = `${segment.from / max * 100}%`;
      element.style.width = `${segment.bytes / max * 100}%`;
      element.classList.toggle("touched", touched.has(segment.key));
      element.classList.toggle("pinned", segment.pinned === true);
      const inner = element.firstElementChild as HTMLElement;
      fill(
        inner,
        segment.pinned ? icon("lock") : null,
        h("span", { class: "seg-name" }, segment.label),
        h("span", { class: "seg-size" }, formatCount(segment.bytes)),
        segment.pinned ? h("span", { class: "visually-hidden" }, ", being read") : null,
      );
      inner.title = `${segment.label}: ${formatCount(segment.bytes)}${segment.pinned ? ", being read" : ""}`;
    });
  }

  #create(segment: Segment): HTMLElement {
    const name = segment.key.slice(segment.key.indexOf(" ") + 1);
    const inner = segment.kind === "block"
      ? h("button", { type: "button", class: "seg-inner", onclick: () => this.#onBlock(name) })
      : segment.kind === "task"
      ? h("button", { type: "button", class: "seg-inner", onclick: () => this.#onTask(Number(name)) })
      : h("div", { class: "seg-inner" });
    const hue = segment.hue === undefined ? "" : ` hue-${segment.hue}`;
    return h("li", { class: `seg ${segment.kind}${hue}` }, inner);
  }

  #taskCard(pools: LabPools, task: LabTask): HTMLElement {
    const active = pools.tasks.filter(({ isActive }) => isActive).length;
    const maxPool = pools.max - Math.min(pools.storageMemoryUsed, pools.region);
    const most = active > 0 ? Math.floor(maxPool / active) : maxPool;
    const least = active > 0 ? Math.floor(pools.executionPoolSize / (2 * active)) : 0;
    const gauge = h(
      "div",
      { class: "gauge", "aria-hidden": "true" },
      h("i", { class: "fill" }),
      h("i", { class: "least" }),
    );
    const scale = Math.max(most, task.executionBytes, 1);
    (gauge.children[0] as HTMLElement).style.width = `${Math.min(1, task.executionBytes / scale) * 100}%`;
    (gauge.children[1] as HTMLElement).style.left = `${Math.min(1, least / scale) * 100}%`;
    const waiting = task.waitsFor !== null
      ? h("span", { class: "chip warn" }, `waits for ${formatCount(task.waitsFor)}`)
      : null;
    const unroll = task.unrollBytes > 0
      ? h("span", { class: "chip" }, h("i", { class: "swatch unroll" }), `unroll ${formatCount(task.unrollBytes)}`)
      : null;
    return h(
      "li",
      { class: "task-card" },
      h("div", { class: "task-head" }, h("b", {}, `Task ${task.id}`), waiting, unroll),
      gauge,
      h(
        "div",
        { class: "small muted" },
        task.isActive
          ? `holds ${formatCount(task.executionBytes)}; at least ${formatCount(least)} (1/2N), at most ${
            formatCount(most)
          } (1/N)`
          : "not active",
      ),
    );
  }
}
