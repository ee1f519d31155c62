/**
 * A stretch of computing in a task: time passes, and at certain points of it memory is asked for, released, or
 * something fails.
 *
 * @module
 */
import { type Activity, SLEEP, sleep, type Stretch, type TaskFailure, WAIT } from "./process.ts";
import type { Task } from "./task.ts";

/** Lets `ms` of computing pass and does the steps of the activities at their points of it, earliest first. */
export function compute(task: Task, ms: number, activities: readonly Activity[]): Stretch {
  if (task.unrolled.length === 0) return new ComputeStretch(task, ms, activities);
  return new ComputeStretch(task, ms, [...activities, ...task.unrolled.splice(0)]);
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
  readonly #task: Task;
  readonly #activities: readonly Activity[];
  /** Length in ms. */
  #ms = 0;

  constructor(task: Task, ms: number, activities: readonly Activity[]) {
    this.#task = task;
    this.#ms = ms;
    this.#activities = activities;
    task.position = 0;
  }

  resume(value: number): typeof SLEEP | typeof WAIT | TaskFailure | null {
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
      if (this.#plan()) return SLEEP;
      // A step that takes no time is no event of the queue.
      this.#task.environment.countWork(1);
    }
  }

  #act(value: number): typeof WAIT | TaskFailure | null {
    if (this.#state === State.Waited) return this.#current!.resume(value);
    return this.#current!.step();
  }

  /** Finds the next step; true when the task sleeps until then. */
  #plan(): boolean {
    const task = this.#task;
    const activity = this.#earliest();
    this.#current = activity;
    const until = activity === null ? 1 : Math.max(task.position, activity.next);
    sleep[0] = (until - task.position) * this.#ms + stallMs(task) + (activity === null ? mergeMs(task) : 0);
    task.position = until;
    this.#state = activity === null ? State.End : State.Step;
    return sleep[0] > 0;
  }

  #earliest(): Activity | null {
    const activities = this.#activities;
    let found: Activity | null = null;
    for (let i = 0; i < activities.length; i++) {
      const activity = activities[i];
      if (activity.next <= 1 && (found === null || activity.next < found.next)) found = activity;
    }
    return found;
  }
}

/** Time that disk work of the steps so far takes on top. */
function stallMs(task: Task): number {
  const ms = task.spillMs + task.executor.blocks.takeIoMs();
  if (task.spillMs !== 0) task.spillMs = 0;
  return ms;
}

/** Time that merging what was spilled takes, before the stretch ends. */
function mergeMs(task: Task): number {
  const ms = task.mergeMs;
  task.mergeMs = 0;
  return ms;
}
