/**
 * A model of a memory consumer whose life is written as a generator, for those that have few steps.
 *
 * @module
 */
import { WAITING } from "../execution_memory.ts";
import type { MemoryConsumer } from "../memory_consumer.ts";
import { SteppedConsumer, type StepResult } from "./stepped_consumer.ts";

/** A run of a model: yields what a step came to, returns whether it got to its end. */
export type Steps<T = boolean> = Generator<StepResult, T, void>;

/** Base of these models. */
export abstract class GeneratedSteps extends SteppedConsumer {
  #steps: Steps | null = null;
  #ended: StepResult | null = null;

  /** The consumer's life, a yield before each request. Its end gives back all memory. */
  protected abstract run(): Steps;

  override step(): StepResult {
    if (this.#ended !== null) return this.#ended;
    this.#steps ??= this.run();
    const { value, done } = this.#steps.next();
    if (!done) return value;
    return this.#ended = value ? "done" : "failed";
  }

  /** The result of a request, after it waited if it has to: `const got = yield* this.ended(this.allocatePage(n))`. */
  protected *ended(result: number, consumer: MemoryConsumer = this): Steps<number> {
    if (result !== WAITING) return result;
    yield "waiting";
    return consumer.completed;
  }

  /** What to yield before a request that comes at this place of the phase: `yield this.before(1)`. */
  protected before(fraction: number): "progress" {
    this.nextAt = fraction;
    return "progress";
  }
}
