/**
 * Making and finding elements. Text always goes in as text, never as markup: what a log contains cannot become HTML.
 *
 * @module
 */

/** What may stand between an element's tags. */
export type Child = Node | string | number | null | undefined | false;

/** Attributes, properties that begin with `on` as listeners, `class` and `data-*` as attributes. */
export type Attributes = Readonly<
  Record<
    string,
    string | number | boolean | null | undefined | ((event: never) => void)
  >
>;

const SVG = "http://www.w3.org/2000/svg";

function build<E extends Element>(
  element: E,
  attributes: Attributes,
  children: readonly (Child | readonly Child[])[],
): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), value as EventListener);
    } else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
  return element;
}

function append(
  element: Element,
  children: readonly (Child | readonly Child[])[],
): void {
  for (const child of children.flat() as Child[]) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/** An HTML element. `null`, `undefined` and `false` attributes and children are left out; listeners are named `onclick`. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Child | readonly Child[])[]
): HTMLElementTagNameMap[K] {
  return build(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Child | readonly Child[])[]
): SVGElementTagNameMap[K] {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

/** Replaces what an element contains. */
export function fill(
  element: Element,
  ...children: (Child | readonly Child[])[]
): void {
  element.replaceChildren();
  append(element, children);
}

/** The element with an id; a page without it is a bug. */
export function byId<E extends HTMLElement = HTMLElement>(id: string): E {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`No element #${id}`);
  return found as E;
}

/** An inline icon of the page's own set, 24 by 24, hidden from screen readers. */
export function icon(name: keyof typeof ICONS): SVGSVGElement {
  return s(
    "svg",
    {
      viewBox: "0 0 24 24",
      fill: "none",
      stroke: "currentColor",
      "stroke-width": 1.75,
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
      "aria-hidden": "true",
      focusable: "false",
    },
    s("path", { d: ICONS[name] }),
  );
}

const ICONS = {
  sun:
    "M12 4V2M12 22v-2M4 12H2M22 12h-2M5.6 5.6 4.2 4.2M19.8 19.8l-1.4-1.4M5.6 18.4l-1.4 1.4M19.8 4.2l-1.4 1.4M16 12a4 4 0 1 1-8 0 4 4 0 0 1 8 0Z",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5Z",
  auto: "M12 3a9 9 0 1 0 0 18Zm0 0a9 9 0 0 1 0 18",
  upload: "M12 16V4m0 0L7 9m5-5 5 5M4 16v3a1 1 0 0 0 1 1h14a1 1 0 0 0 1-1v-3",
  lock: "M7 11V8a5 5 0 0 1 10 0v3M6 11h12v9H6Z",
  play: "M7 5l12 7-12 7Z",
  pause: "M8 5v14M16 5v14",
  previous: "M15 6l-6 6 6 6",
  next: "M9 6l6 6-6 6",
  first: "M18 6l-6 6 6 6M7 6v12",
  last: "M6 6l6 6-6 6M17 6v12",
  copy: "M9 9h10v11H9ZM5 15V4h10",
  download: "M12 4v12m0 0 5-5m-5 5-5-5M4 20h16",
  link: "M10 14a4 4 0 0 0 6 .5l3-3a4 4 0 0 0-5.7-5.7L12 7M14 10a4 4 0 0 0-6-.5l-3 3a4 4 0 0 0 5.7 5.7L12 17",
  check: "M5 12.5l4.5 4.5L19 7.5",
  cross: "M6 6l12 12M18 6L6 18",
  reset: "M4 12a8 8 0 1 0 2.5-5.8M4 4v5h5",
  table: "M4 5h16v14H4ZM4 10h16M4 14.5h16M10 10v9",
} as const;
