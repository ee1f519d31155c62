/**
 * Deterministic simulation testing of the simulator: random applications (arbitrary_application.ts) are run and checked
 * (check_application.ts). What fails is shrunk by fast-check.
 *
 * @module
 */
import fc from "fast-check";
import type { JobSpec } from "../../src/workload/job_spec_types.ts";
import { arbitraryApplication } from "./arbitrary_application.ts";
import { type ApplicationCounts, checkApplication, noCounts } from "./check_application.ts";

/** An application that fails, as small as it could be made. */
export class ApplicationFailure extends Error {
  override readonly name = "ApplicationFailure";

  constructor(readonly seed: number, readonly spec: JobSpec, cause: unknown) {
    const why = cause instanceof Error ? cause.message : String(cause);
    super(
      `A simulated application is not as it must be: ${why}\n` +
        `seed ${seed}: deno task fuzz --only simulation --seed ${seed}\nspec (deno task fuzz --spec FILE):\n${
          JSON.stringify(spec)
        }`,
      { cause },
    );
  }
}

/**
 * Runs so many random applications.
 *
 * @throws {ApplicationFailure} with the seed, and the application that was made smaller as long as it failed.
 */
export async function fuzzSimulation(
  seed: number,
  numRuns: number,
  options: { seconds?: number; counts?: ApplicationCounts } = {},
): Promise<ApplicationCounts> {
  const { seconds = 600, counts = noCounts() } = options;
  const property = fc.asyncProperty(arbitraryApplication(), (spec) => checkApplication(spec, counts));
  const result = await fc.check(property, {
    seed,
    numRuns,
    interruptAfterTimeLimit: 1000 * seconds,
    markInterruptAsFailure: false,
  });
  if (result.failed && result.counterexample !== null) {
    throw new ApplicationFailure(seed, result.counterexample[0], result.errorInstance);
  }
  return counts;
}
