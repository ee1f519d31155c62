/**
 * A section of the page that shows something as a chart or as a table.
 *
 * @module
 */
import { type Child, fill, h } from "../ui/dom.ts";

/** A table: a caption, column heads, rows of texts; columns of numbers are right-aligned. */
export interface TableData {
  readonly caption: string;
  readonly columns: readonly { readonly name: string; readonly isNumber?: boolean }[];
  readonly rows: readonly (readonly Child[])[];
}

/** How many rows a table shows at once; the rest follow at the press of a button. */
const ROWS_AT_ONCE = 200;

/** A table in the page's style; the first cell of each row is its head. */
export function dataTable(table: TableData): HTMLElement {
  const body = h("tbody", {});
  const more = h("button", { type: "button", class: "btn" });
  let shown = 0;
  const show = () => {
    const next = table.rows.slice(shown, shown + ROWS_AT_ONCE);
    for (const row of next) {
      body.append(h(
        "tr",
        {},
        row.map((cell, i) =>
          h(i === 0 ? "th" : "td", {
            scope: i === 0 ? "row" : null,
            class: table.columns[i]?.isNumber ? "num" : null,
          }, cell)
        ),
      ));
    }
    shown += next.length;
    more.hidden = shown >= table.rows.length;
    more.textContent = `Show more (${shown} of ${table.rows.length})`;
  };
  more.addEventListener("click", show);
  show();
  return h(
    "div",
    { class: "table-block" },
    h(
      "div",
      { class: "table-wrap", tabindex: 0, role: "region", "aria-label": table.caption },
      h(
        "table",
        { class: "data" },
        h("caption", { class: "visually-hidden" }, table.caption),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            table.columns.map(({ name, isNumber }) => h("th", { scope: "col", class: isNumber ? "num" : null }, name)),
          ),
        ),
        body,
      ),
    ),
    more,
  );
}

/** What a panel shows. */
export interface PanelOptions {
  readonly id: string;
  readonly title: string;
  /** One or two sentences below the title. */
  readonly intro?: Child | readonly Child[];
  /** Controls beside the title. */
  readonly controls?: readonly Child[];
  /** Remembers whether the table is shown, so that a panel that is made anew shows the same. */
  readonly shownAsTable?: Set<string>;
  /** Built when first shown. */
  readonly chart: (() => HTMLElement) | null;
  readonly tables: () => readonly TableData[];
}

/** A panel; with a chart it can be switched to its tables. */
export function panel(options: PanelOptions): HTMLElement {
  const { id, title, intro, controls = [], chart, tables, shownAsTable = new Set() } = options;
  const content = h("div", { class: "panel-content" });
  const asTable = h("button", { type: "button", class: "btn quiet", "aria-pressed": "false" }, "Table");
  let tableShown = chart === null || shownAsTable.has(id);
  const show = () => {
    asTable.setAttribute("aria-pressed", String(tableShown));
    asTable.textContent = tableShown ? "Chart" : "Table";
    fill(content, tableShown || chart === null ? tables().map(dataTable) : chart());
  };
  asTable.addEventListener("click", () => {
    tableShown = !tableShown;
    if (tableShown) shownAsTable.add(id);
    else shownAsTable.delete(id);
    show();
  });
  show();
  return h(
    "section",
    { class: "card panel", id, "aria-labelledby": `${id}-title`, tabindex: -1 },
    h(
      "div",
      { class: "panel-head" },
      h("h2", { id: `${id}-title` }, title),
      h("div", { class: "panel-controls" }, controls, chart === null ? null : asTable),
    ),
    intro === undefined ? null : h("p", { class: "muted" }, intro),
    content,
  );
}
