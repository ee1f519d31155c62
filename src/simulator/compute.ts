/**
 * A stretch of computing in a task: time passes, and at certain points of it memory is asked for, released, or
 * something fails.
 *
 * @module
 */
import { type Activity, type Process, type Stretch, type TaskFailure, WAIT } from "./process.ts";
import type { Task } from "./task.ts";

/** What happens during the stretch. */
export interface ComputeOptions {
  readonly activities: readonly Activity[];
}

/** Lets `ms` of computing pass and does the steps of the activities at their points of it, earliest first. */
export function* compute(task: Task, ms: number, options: ComputeOptions): Process<TaskFailure | null> {
  const activities = [...options.activities, ...task.unrolled.splice(0)];
  return (yield new ComputeStretch(task, ms, activities)) as TaskFailure | null;
}

/** Where a stretch stands when it is resumed. */
const enum State {
  /** Nothing has happened yet. */
  Begin,
  /** The time of the current activity's next step has come. */
  Step,
  /** The current activity has what it waited for. */
  Waited,
  /** The time after the last step has passed. */
  End,
}

/** The stretch as a state machine: most of a task's events are its steps. */
class ComputeStretch implements Stretch {
  #state: State = State.Begin;
  #current: Activity | null = null;
  #done = 0;

  constructor(private readonly task: Task, private readonly ms: number, private readonly activities: Activity[]) {}

  resume(value: number): number | TaskFailure | null {
    for (;;) {
      if (this.#state === State.End) return null;
      if (this.#state !== State.Begin) {
        const outcome = this.#act(value);
        if (outcome === WAIT) {
          this.#state = State.Waited;
          return WAIT;
        }
        if (outcome !== null) return outcome;
      }
      const sleepMs = this.#plan();
      if (sleepMs > 0) return sleepMs;
    }
  }

  #act(value: number): number | TaskFailure | null {
    if (this.#state === State.Waited) return this.#current!.resume(value);
    this.task.position = this.#done;
    return this.#current!.step();
  }

  /** Finds the next step and how long it is until then, ms. */
  #plan(): number {
    const activity = this.#earliest();
    this.#current = activity;
    const until = activity === null ? 1 : Math.max(this.#done, activity.next);
    const sleepMs = (until - this.#done) * this.ms + stallMs(this.task) + (activity === null ? mergeMs(this.task) : 0);
    this.#done = until;
    this.#state = activity === null ? State.End : State.Step;
    return sleepMs;
  }

  #earliest(): Activity | null {
    let found: Activity | null = null;
    for (const activity of this.activities) {
      if (activity.next <= 1 && (found === null || activity.next < found.next)) found = activity;
    }
    return found;
  }
}

/** Time that disk work of the steps so far takes on top. */
function stallMs(task: Task): number {
  const ms = task.spillMs + task.executor.blocks.takeIoMs();
  task.spillMs = 0;
  return ms;
}

/** Time that merging what was spilled takes, before the stretch ends. */
function mergeMs(task: Task): number {
  const ms = task.mergeMs;
  task.mergeMs = 0;
  return ms;
}
