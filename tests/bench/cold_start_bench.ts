/**
 * Cold start: from the start of workerd to the first answer, the time of an empty worker taken off. workerd itself is run
 * (npm workerd), on a config in its binary form: Miniflare around it would be timed as well.
 *
 * @module
 */
import { buildEdge } from "../support/build_edge.ts";
import { outputOf } from "../support/programs.ts";
import { median } from "./bench.ts";

/** The version of workerd that the host tests use as well. */
const WORKERD = "workerd@1.20261117.1";

/** From the start of workerd to the first answer, ms: by the clock, and the CPU time of its threads (null: not Linux). */
export interface FirstAnswer {
  readonly ms: number;
  readonly cpuMs: number | null;
}

/** One round: an empty worker, sizing, a small simulation. */
export interface ColdStart {
  readonly empty: FirstAnswer;
  readonly sizing: FirstAnswer;
  readonly simulation: FirstAnswer;
}

/** Median, lowest and highest over the rounds, ms. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** What the service adds to an empty worker in the same round. */
export interface ColdStartFigure {
  readonly answer: "sizing" | "simulation";
  readonly clock: Spread;
  /** null where the system does not tell it. */
  readonly cpu: Spread | null;
}

function spread(values: readonly number[]): Spread {
  return { median: median(values), low: Math.min(...values), high: Math.max(...values) };
}

/**
 * What the service adds in each round.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { coldStartFigures } from "./cold_start_bench.ts";
 *
 * const [sizing] = coldStartFigures([{
 *   empty: { ms: 26, cpuMs: 20 },
 *   sizing: { ms: 56, cpuMs: 45 },
 *   simulation: { ms: 90, cpuMs: 80 },
 * }]);
 * assertEquals(sizing.clock, { median: 30, low: 30, high: 30 });
 * assertEquals(sizing.cpu?.median, 25);
 * ```
 */
export function coldStartFigures(rounds: readonly ColdStart[]): ColdStartFigure[] {
  return (["sizing", "simulation"] as const).map((answer) => {
    const clock = rounds.map((round) => round[answer].ms - round.empty.ms);
    const cpu = rounds.flatMap(({ [answer]: { cpuMs }, empty }) =>
      cpuMs === null || empty.cpuMs === null ? [] : [cpuMs - empty.cpuMs]
    );
    return { answer, clock: spread(clock), cpu: cpu.length === 0 ? null : spread(cpu) };
  });
}

/** Builds the service for Cloudflare and times it; needs Node and npm. */
export async function coldStartBench({ rounds }: { readonly rounds: number }): Promise<ColdStartFigure[]> {
  const folder = await Deno.makeTempDir();
  try {
    await buildEdge(new URL(`file://${folder}/dist/`));
    await Deno.writeTextFile(`${folder}/package.json`, '{"private": true, "type": "module"}');
    await outputOf("npm", ["install", "--no-fund", "--no-audit", WORKERD], { cwd: folder });
    for (const file of ["bench/cold_start.mjs", "support/workerd.mjs"]) {
      await Deno.mkdir(`${folder}/${file.split("/")[0]}`);
      await Deno.copyFile(new URL(`../${file}`, import.meta.url), `${folder}/${file}`);
    }
    const printed = await outputOf("node", ["bench/cold_start.mjs", "dist/cloudflare", String(rounds), "workerd"], {
      cwd: folder,
    });
    return coldStartFigures(JSON.parse(printed));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
