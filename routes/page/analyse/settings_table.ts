/**
 * The settings of the run, with where each value came from.
 *
 * @module
 */
import { dataTable } from "../charts/panel.ts";
import type { SettingRow } from "../protocol.ts";
import { fill, h } from "../ui/dom.ts";

/** A table of settings that can be searched; those that were set come first. */
export function settingsTable(rows: readonly SettingRow[], sparkVersion: string): HTMLElement {
  const sorted = [...rows].sort((a, b) =>
    Number(b.source === "set") - Number(a.source === "set") || (a.key < b.key ? -1 : 1)
  );
  const list = h("div", {});
  const search = h("input", { type: "text", id: "settings-search", autocomplete: "off", spellcheck: "false" });
  const show = () => {
    const wanted = search.value.trim().toLowerCase();
    const matching = sorted.filter(({ key, value, source }) =>
      wanted === "" ? source === "set" : `${key} ${value ?? ""}`.toLowerCase().includes(wanted)
    );
    fill(
      list,
      dataTable({
        caption: "Settings of the run",
        columns: [{ name: "Setting" }, { name: "Value" }, { name: "From" }],
        rows: matching.map(({ key, value, source, defaultValue }) => [
          h("code", {}, key),
          valueOf(value),
          source === "set"
            ? `set in the run${defaultValue === null ? "" : `; default ${defaultValue}`}`
            : `default of Spark ${sparkVersion}`,
        ]),
      }),
    );
  };
  search.addEventListener("input", show);
  show();
  return h(
    "div",
    { class: "settings" },
    h(
      "div",
      { class: "field" },
      h("label", { for: "settings-search" }, "Find among all settings, defaults included"),
      search,
    ),
    list,
  );
}

/** Longer values are shown in full only when asked for. */
const LONG_VALUE = 160;

function valueOf(value: string | null): HTMLElement {
  if (value === null) return h("span", { class: "muted" }, "not set");
  const whole = h("code", { class: "value" }, value);
  if (value.length <= LONG_VALUE) return whole;
  const start = `${value.slice(0, LONG_VALUE / 2)}…`;
  return h("details", {}, h("summary", {}, h("code", { class: "value" }, start)), whole);
}
