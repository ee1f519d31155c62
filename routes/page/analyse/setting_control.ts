/**
 * One control of the what-if panel: a slider with a field beside it, or a choice.
 *
 * @module
 */
import { h, icon } from "../ui/dom.ts";

/** A slider through values. */
export interface SliderOptions {
  readonly id: string;
  readonly label: string;
  /** The property, shown below the label. */
  readonly property: string;
  readonly steps: readonly number[];
  readonly recorded: number;
  readonly format: (value: number) => string;
  /** What a text means, or null when it means nothing here. */
  readonly parse: (text: string) => number | null;
  /** Told of each change; null: as recorded. */
  readonly changed: (value: number | null) => void;
}

/** What the panel does with a control. */
export interface Control {
  readonly element: HTMLElement;
  /** Shows a value without telling of it; null: as recorded. */
  set(value: string | null): void;
  focus(): void;
}

function nearestIndex(steps: readonly number[], value: number): number {
  let best = 0;
  steps.forEach((step, i) => {
    if (Math.abs(step - value) < Math.abs(steps[best] - value)) best = i;
  });
  return best;
}

/** Makes a slider with its field. */
export function sliderControl(options: SliderOptions): Control {
  const { id, label, property, steps, recorded, format, parse, changed } = options;
  const range = h("input", {
    type: "range",
    min: 0,
    max: steps.length - 1,
    step: 1,
    id: `${id}-range`,
    "aria-label": label,
  });
  const field = h("input", { type: "text", id, class: "setting-value", autocomplete: "off", spellcheck: "false" });
  const reset = resetButton(label, () => show(recorded, true));
  const root = h(
    "div",
    { class: "setting" },
    h("label", { for: id }, label, h("code", {}, property)),
    h("div", { class: "setting-line" }, field, reset),
    range,
  );
  const show = (value: number, tell: boolean) => {
    range.value = String(nearestIndex(steps, value));
    range.setAttribute("aria-valuetext", format(value));
    field.value = format(value);
    field.removeAttribute("aria-invalid");
    root.classList.toggle("changed", value !== recorded);
    reset.hidden = value === recorded;
    if (tell) changed(value === recorded ? null : value);
  };
  range.addEventListener("input", () => show(steps[Number(range.value)], true));
  field.addEventListener("change", () => {
    const value = parse(field.value);
    if (value === null) field.setAttribute("aria-invalid", "true");
    else show(value, true);
  });
  show(recorded, false);
  return {
    element: root,
    set: (text) => {
      const value = text === null ? recorded : parse(text);
      if (value !== null) show(value, false);
    },
    focus: () => range.focus(),
  };
}

function resetButton(label: string, press: () => void): HTMLButtonElement {
  const text = `${label}: as recorded`;
  return h(
    "button",
    { type: "button", class: "btn quiet icon", "aria-label": text, title: "As recorded", onclick: press, hidden: true },
    icon("reset"),
  );
}

/** A choice among names. */
export interface ChoiceOptions {
  readonly id: string;
  readonly label: string;
  readonly property: string;
  readonly choices: readonly string[];
  /** What is recorded, in words. */
  readonly recorded: string;
  /** Told of each change; null: as recorded. */
  readonly changed: (value: string | null) => void;
}

/** Makes a choice. */
export function choiceControl({ id, label, property, choices, recorded, changed }: ChoiceOptions): Control {
  const select = h(
    "select",
    { id },
    h("option", { value: "" }, `As recorded (${recorded})`),
    choices.map((choice) => h("option", { value: choice }, choice)),
  );
  const root = h(
    "div",
    { class: "setting" },
    h("label", { for: id }, label, h("code", {}, property)),
    select,
  );
  select.addEventListener("change", () => {
    root.classList.toggle("changed", select.value !== "");
    changed(select.value === "" ? null : select.value);
  });
  return {
    element: root,
    set: (value) => {
      select.value = value ?? "";
      root.classList.toggle("changed", select.value !== "");
    },
    focus: () => select.focus(),
  };
}
