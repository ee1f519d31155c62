/**
 * The commands by name. Each is loaded when it is called, so that one command does not pay for the others.
 *
 * @module
 */
import type { Command } from "./command.ts";

/** Name of a command to the function that loads it. */
export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  fidelity: async () => (await import("./fidelity.ts")).fidelity,
  simulate: async () => (await import("./simulate.ts")).simulate,
  whatif: async () => (await import("./whatif.ts")).whatif,
  summarize: async () => (await import("./summarize.ts")).summarize,
  sweep: async () => (await import("./sweep.ts")).sweep,
  recommend: async () => (await import("./recommend.ts")).recommend,
  replay: async () => (await import("./replay.ts")).replay,
  explain: async () => (await import("./explain.ts")).explain,
  sizing: async () => (await import("./sizing.ts")).sizing,
};
