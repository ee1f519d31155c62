/**
 * A lesson that is no scenario of one executor's memory: steps with a drawing each.
 *
 * @module
 */
import type { LessonQuestion } from "./memory_lessons.ts";

/** One step: drawn before and after, told. */
export interface StoryStep {
  /** What happens, as Spark names it. */
  readonly call: string;
  readonly answer: string;
  readonly tone: "good" | "warn" | "bad" | "plain";
  readonly sentences: readonly string[];
  readonly note?: string;
  readonly question?: LessonQuestion;
  readonly drawBefore: () => HTMLElement;
  readonly drawAfter: () => HTMLElement;
}

/** The lesson. */
export interface Story {
  readonly id: string;
  readonly title: string;
  readonly belief: string;
  readonly steps: () => readonly StoryStep[];
  readonly start: string;
  readonly takeaway: string;
}
