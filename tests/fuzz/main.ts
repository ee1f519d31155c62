/**
 * `deno task fuzz`: random inputs against everything that must hold, by the second or by the hour. tests/README.md says what each
 * part checks. A failure prints the seed, and for simulations the smallest spec that fails, and ends with status 1.
 *
 * @module
 */
import { parseArgs } from "node:util";
// First: it counts the arrays that all that follows makes.
import "../support/counted_arrays.ts";
import { checkApplication, noCounts } from "./check_application.ts";
import { fuzzEventLogs } from "./event_logs.ts";
import { fuzzHostileValues } from "./hostile_values.ts";
import { fuzzAbi } from "./memory_abi_fuzz.ts";
import { fuzzBatches } from "./memory_batch_fuzz.ts";
import { fuzzMemory } from "./memory_fuzz.ts";
import { fuzzLimit } from "./memory_limit_fuzz.ts";
import { recordNumbers } from "../support/numbers.ts";
import { fuzzRequests } from "./requests.ts";
import { fuzzSimulation } from "./simulation.ts";
import { fuzzStoredLogs } from "./stored_logs.ts";

const HELP = `
usage: deno task fuzz [--seed N] [--minutes M | --ops N] [--only PART] [--record]
       deno task fuzz --spec FILE

  --seed N      where to begin (1); each round takes the next one
  --minutes M   go on for so long (1); each part takes its turn
  --ops N       the parts that count operations (MEMORY) go on for so many each, whatever time that takes
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

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((a, b) => a + b, 0);
}

/** The parts by name; each round takes a few seconds. */
const PARTS: Record<string, Round> = {
  async simulation(seed, totals) {
    add(totals, await fuzzSimulation(seed, 100));
  },
  async eventLogs(seed, totals) {
    const { answers, errors, untouched, interleaved } = await fuzzEventLogs(seed * 1000, 100);
    add(totals, { answers, errors: sum(errors), untouched: sum(untouched), interleaved });
  },
  async hostileValues(seed, totals) {
    const { answers, errors } = await fuzzHostileValues(seed, 100);
    add(totals, { answers, errors: sum(errors) });
  },
  async storedLogs(seed, totals) {
    const { answers, errors } = await fuzzStoredLogs(seed * 1000, 100);
    add(totals, { answers, errors: sum(errors) });
  },
  async requests(seed, totals) {
    add(totals, await fuzzRequests(seed, 200));
  },
  // a round of these uses up to a thousand seeds
  memory(seed, totals) {
    return Promise.resolve(add(totals, fuzzMemory({ seed: seed * 1000, ops: 100_000 })));
  },
  memoryBatches(seed, totals) {
    return Promise.resolve(add(totals, fuzzBatches({ seed: seed * 1000, ops: 100_000 })));
  },
  memoryAbi(seed, totals) {
    return Promise.resolve(add(totals, fuzzAbi({ seed, ops: 200_000 })));
  },
  memoryLimit(seed, totals) {
    const { operations, refused } = fuzzLimit({ seed: seed * 1000, ops: 50_000 });
    return Promise.resolve(add(totals, { operations, refused: sum(refused) }));
  },
};

/** The parts that count their operations. */
const WITH_OPERATIONS: readonly string[] = ["memory", "memoryBatches", "memoryAbi", "memoryLimit"];

async function main(): Promise<number> {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      seed: { type: "string", default: "1" },
      minutes: { type: "string", default: "1" },
      ops: { type: "string" },
      only: { type: "string" },
      spec: { type: "string" },
      record: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help || (values.only !== undefined && !Object.hasOwn(PARTS, values.only))) {
    console.log(
      HELP.trim().replace("PARTS", Object.keys(PARTS).join(", ")).replace("MEMORY", WITH_OPERATIONS.join(", ")),
    );
    return values.help ? 0 : 2;
  }
  if (values.spec !== undefined) {
    const counts = noCounts();
    await checkApplication(JSON.parse(await Deno.readTextFile(values.spec)), counts);
    console.log(JSON.stringify(counts));
    return 0;
  }
  if (values.ops !== undefined) return await untilOperations(Number(values.seed), Number(values.ops), values);
  return await rounds(Number(values.seed), Number(values.minutes), values);
}

/** Each part that counts operations, until it has done so many. */
async function untilOperations(
  first: number,
  operations: number,
  { only, record }: { readonly only?: string; readonly record?: boolean },
): Promise<number> {
  for (const name of WITH_OPERATIONS.filter((name) => only === undefined || name === only)) {
    const totals: Record<string, number> = {};
    let seed = first;
    try {
      while ((totals.operations ?? 0) < operations) await PARTS[name](seed++, totals);
    } catch (error) {
      console.error(`${name}, seed ${seed - 1}: ${error instanceof Error ? error.message : error}`);
      return 1;
    }
    console.log(JSON.stringify({ seeds: [first, seed - 1], [name]: totals }));
    if (record) {
      const numbers = { "first seed": first, "last seed": seed - 1, ...totals };
      recordNumbers(`deno task fuzz --ops ${operations} --only ${name}`, numbers);
    }
  }
  return 0;
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
