/**
 * The design tokens as colours that a canvas understands.
 *
 * @module
 */

/** Names of colour tokens in styles/tokens.css, without the dashes. */
export type ColourToken =
  | "surface"
  | "line"
  | "line-strong"
  | "ink"
  | "ink-2"
  | "ink-3"
  | "accent"
  | "storage"
  | "storage-soft"
  | "execution"
  | "execution-soft"
  | "unroll"
  | "unroll-soft"
  | "free"
  | "region"
  | "good"
  | "warn"
  | "bad"
  | "bad-soft";

/** Colours by token, and the page's font. */
export interface Theme {
  readonly colour: (token: ColourToken) => string;
  /** The colour of a stage, or of a line by its number. */
  readonly stage: (stageId: number) => string;
  readonly font: string;
}

/** Reads the tokens as they are now at a place in the page: light or dark. */
export function readTheme(place: HTMLElement): Theme {
  const probe = document.createElement("span");
  probe.hidden = true;
  place.append(probe);
  const known = new Map<ColourToken, string>();
  const style = getComputedStyle(probe);
  const colour = (token: ColourToken): string => {
    let value = known.get(token);
    if (value === undefined) {
      probe.style.color = `var(--${token})`;
      place.append(probe);
      value = style.color;
      probe.remove();
      known.set(token, value);
    }
    return value;
  };
  probe.remove();
  const stages = STAGE_COLOURS[isDark(place) ? "dark" : "light"];
  return {
    colour,
    stage: (stageId) => stages[stageId % stages.length],
    font: `12px ${getComputedStyle(document.body).fontFamily}`,
  };
}

/** A colour with another opacity; for the rgb() and color() forms that getComputedStyle gives. */
export function withAlpha(colour: string, alpha: number): string {
  const rgb = /^rgba?\((\d+), (\d+), (\d+)/.exec(colour);
  return rgb === null ? colour : `rgba(${rgb[1]}, ${rgb[2]}, ${rgb[3]}, ${alpha})`;
}

/** Colours by which stages are told apart; their order repeats. */
export const STAGE_COLOURS = {
  light: ["#4a76b8", "#3c8a80", "#8a6fb0", "#a3793a", "#5f8a4a", "#a8627d"],
  dark: ["#7ea6e6", "#6cc0b4", "#b79be0", "#d8ac6a", "#98c77f", "#dd93b0"],
} as const;

/** Whether colours at a place are those for a dark background. */
export function isDark(place: Element): boolean {
  const scheme = getComputedStyle(place).colorScheme;
  if (scheme === "dark" || scheme === "light") return scheme === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}
