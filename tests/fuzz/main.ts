/**
 * `deno task fuzz`: random inputs against everything that must hold, by the second or by the hour. tests/README.md says what each
 * part checks. A failure prints the seed, and for simulations the smallest spec that fails, and ends with status 1.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { checkApplication, noCounts } from "./check_application.ts";
import { fuzzEventLogs } from "./event_logs.ts";
import { recordNumbers } from "../support/numbers.ts";
import { fuzzSimulation } from "./simulation.ts";

const HELP = `
usage: deno task fuzz [--seed N] [--minutes M] [--only PART] [--record]
       deno task fuzz --spec FILE

  --seed N      where to begin (1); each round takes the next one
  --minutes M   go on for so long (1); each part takes its turn
  --only PART   one part alone: PARTS
  --record      keep the numbers in tests/README.md
  --spec FILE   check one application, a job spec, such as a failure has printed
`;

/** One round of a part: a small number of random inputs from a seed. Gives what was counted. */
type Round = (seed: number, totals: Record<string, number>) => Promise<void>;

function add(totals: Record<string, number>, counts: object): void {
  for (const [name, value] of Object.entries(counts)) {
    if (typeof value === "number") totals[name] = (totals[name] ?? 0) + value;
  }
}

/** The parts by name; each round takes a few seconds. */
const PARTS: Record<string, Round> = {
  async simulation(seed, totals) {
    add(totals, await fuzzSimulation(seed, 100));
  },
  async eventLogs(seed, totals) {
    const { answers, errors } = await fuzzEventLogs(seed * 1000, 100);
    add(totals, { answers, errors: Object.values(errors).reduce((a, b) => a + b, 0) });
  },
};

async function main(): Promise<number> {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      seed: { type: "string", default: "1" },
      minutes: { type: "string", default: "1" },
      only: { type: "string" },
      spec: { type: "string" },
      record: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help || (values.only !== undefined && !Object.hasOwn(PARTS, values.only))) {
    console.log(HELP.trim().replace("PARTS", Object.keys(PARTS).join(", ")));
    return values.help ? 0 : 2;
  }
  if (values.spec !== undefined) {
    const counts = noCounts();
    await checkApplication(JSON.parse(await Deno.readTextFile(values.spec)), counts);
    console.log(JSON.stringify(counts));
    return 0;
  }
  return await rounds(Number(values.seed), Number(values.minutes), values);
}

async function rounds(
  first: number,
  minutes: number,
  { only, record }: { readonly only?: string; readonly record?: boolean },
): Promise<number> {
  const end = performance.now() + minutes * 60_000;
  const parts = Object.entries(PARTS).filter(([name]) => only === undefined || name === only);
  const totals = Object.fromEntries(parts.map(([name]): [string, Record<string, number>] => [name, {}]));
  let seed = first;
  let failed = false;
  for (; !failed && performance.now() < end; seed++) {
    for (const [name, round] of parts) {
      try {
        await round(seed, totals[name]);
      } catch (error) {
        console.error(`${name}, seed ${seed}: ${error instanceof Error ? error.message : error}`);
        failed = true;
      }
    }
  }
  console.log(JSON.stringify({ seeds: [first, seed - 1], ...totals }));
  if (record && !failed) {
    for (const [name, numbers] of Object.entries(totals)) {
      recordNumbers(`deno task fuzz --only ${name}`, { "first seed": first, "last seed": seed - 1, ...numbers });
    }
  }
  return failed ? 1 : 0;
}

if (import.meta.main) Deno.exitCode = await main();
