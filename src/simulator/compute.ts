/**
 * A stretch of computing in a task: time passes, and at certain points of it memory is asked for, released, or
 * something fails.
 *
 * @module
 */
import { type Activity, type Process, type TaskFailure, WAIT } from "./process.ts";
import type { Task } from "./task.ts";

/** What happens during the stretch. */
export interface ComputeOptions {
  readonly activities: readonly Activity[];
}

/** Lets `ms` of computing pass and does the steps of the activities at their points of it, earliest first. */
export function* compute(task: Task, ms: number, options: ComputeOptions): Process<TaskFailure | null> {
  const activities = [...options.activities, ...task.unrolled.splice(0)];
  let done = 0;
  for (;;) {
    const activity = earliest(activities);
    if (activity === null) break;
    const sleepMs = Math.max(0, activity.next - done) * ms + stallMs(task);
    done = Math.max(done, activity.next);
    if (sleepMs > 0) yield sleepMs;
    task.position = done;
    let outcome = activity.step();
    while (outcome === WAIT) outcome = activity.resume(yield WAIT);
    task.executor.touch();
    if (outcome !== null) return outcome;
  }
  const restMs = (1 - done) * ms + stallMs(task);
  if (restMs > 0) yield restMs;
  return null;
}

function earliest(activities: readonly Activity[]): Activity | null {
  let found: Activity | null = null;
  for (const activity of activities) {
    if (activity.next <= 1 && (found === null || activity.next < found.next)) found = activity;
  }
  return found;
}

/** Time that disk work of the steps so far takes on top. */
function stallMs(task: Task): number {
  const ms = task.spillMs + task.executor.blocks.takeIoMs();
  task.spillMs = 0;
  return ms;
}
