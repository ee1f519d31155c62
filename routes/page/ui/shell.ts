/**
 * What both pages share: the theme button, the service worker that keeps the page usable offline, short messages.
 *
 * @module
 */
import { byId, fill, h, icon } from "./dom.ts";

const THEMES = ["auto", "light", "dark"] as const;
type Theme = typeof THEMES[number];

function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem("sparkmem.theme");
    return stored === "light" || stored === "dark" ? stored : "auto";
  } catch {
    return "auto";
  }
}

function applyTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem("sparkmem.theme", theme);
  } catch {
    // Storage may be forbidden; the choice then lasts as long as the page.
  }
  document.dispatchEvent(new Event("themechange"));
}

function showTheme(button: HTMLElement, theme: Theme): void {
  const name = { auto: "auto", light: "sun", dark: "moon" } as const;
  const label = `Theme: ${theme === "auto" ? "as the system" : theme}`;
  fill(button, icon(name[theme]));
  button.setAttribute("aria-label", label);
  button.title = label;
}

/** Wires the header; call once. */
export function startShell(): void {
  let theme = storedTheme();
  const button = byId("theme");
  showTheme(button, theme);
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    applyTheme(theme);
    showTheme(button, theme);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener(
    "change",
    () => document.dispatchEvent(new Event("themechange")),
  );
  if ("serviceWorker" in navigator) {
    navigator.serviceWorker.register("sw.js").catch(() => {
      // Without it (private windows, plain http) the open page still works offline; only a reload needs the network.
    });
  }
}

let toastTimer: ReturnType<typeof setTimeout> | undefined;

/** A short message at the bottom, read out by screen readers. */
export function toast(message: string): void {
  let region = document.getElementById("toast");
  if (region === null) {
    region = h("div", { id: "toast", role: "status", "aria-live": "polite" });
    document.body.append(region);
  }
  fill(region, h("div", { class: "toast" }, message));
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => fill(region), 4000);
}
