/**
 * Cold start: from the modules to the first answer in workerd (npm miniflare), the time of an empty worker taken off.
 *
 * @module
 */
import { buildEdge } from "../support/build_edge.ts";
import { outputOf } from "../support/programs.ts";
import { median } from "./bench.ts";

/** The version of miniflare that the host tests use as well. */
const MINIFLARE = "miniflare@4.20260730.0";

/** Milliseconds from the start of workerd to the first answer: of an empty worker, of sizing, of a small simulation. */
export interface ColdStart {
  readonly empty: number;
  readonly sizing: number;
  readonly simulation: number;
}

/** What the service adds to an empty worker, ms: median, lowest and highest over the rounds. */
export interface ColdStartFigure {
  readonly answer: "sizing" | "simulation";
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/**
 * What the service adds in each round.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { coldStartFigures } from "./cold_start_bench.ts";
 *
 * const [sizing] = coldStartFigures([{ empty: 400, sizing: 430, simulation: 450 }]);
 * assertEquals(sizing, { answer: "sizing", median: 30, low: 30, high: 30 });
 * ```
 */
export function coldStartFigures(rounds: readonly ColdStart[]): ColdStartFigure[] {
  return (["sizing", "simulation"] as const).map((answer) => {
    const added = rounds.map((round) => round[answer] - round.empty);
    return { answer, median: median(added), low: Math.min(...added), high: Math.max(...added) };
  });
}

/** Builds the service for Cloudflare and times it; needs Node and npm. */
export async function coldStartBench({ rounds }: { readonly rounds: number }): Promise<ColdStartFigure[]> {
  const folder = await Deno.makeTempDir();
  try {
    await buildEdge(new URL(`file://${folder}/dist/`));
    await Deno.writeTextFile(`${folder}/package.json`, '{"private": true, "type": "module"}');
    await outputOf("npm", ["install", "--no-fund", "--no-audit", MINIFLARE], { cwd: folder });
    await Deno.copyFile(new URL("cold_start.mjs", import.meta.url), `${folder}/cold_start.mjs`);
    const printed = await outputOf("node", ["cold_start.mjs", "dist/cloudflare", String(rounds), "miniflare"], {
      cwd: folder,
    });
    // The lines before are the service's own log.
    return coldStartFigures(JSON.parse(printed.trim().split("\n").at(-1)!));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
