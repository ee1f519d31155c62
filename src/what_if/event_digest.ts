/**
 * A number that stands for all events of a run: two runs with the same one did the same.
 *
 * @module
 */
import type { EventSink, SparkEvent } from "../spark/events.ts";

/**
 * A sink that mixes every event into two 32-bit numbers (murmur's way of mixing), so that runs can be compared without
 * keeping their events.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { EventDigest } from "./event_digest.ts";
 *
 * const digestOf = (sparkVersion: string) => {
 *   const digest = new EventDigest();
 *   digest.event({ kind: "logStart", sparkVersion });
 *   return digest.text;
 * };
 * assertEquals(digestOf("4.1.0") === digestOf("4.1.0"), true);
 * assertEquals(digestOf("4.1.0") === digestOf("3.5.9"), false);
 * ```
 */
export class EventDigest implements EventSink {
  #a = 0x2545f491;
  #b = 0x41c6ce57;

  event(event: SparkEvent): void {
    const text = JSON.stringify(event);
    let a = this.#a;
    let b = this.#b;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      a = Math.imul(a ^ unit, 0x85ebca6b);
      b = Math.imul(b ^ unit, 0xc2b2ae35);
      a = (a << 13) | (a >>> 19);
      b = (b << 17) | (b >>> 15);
    }
    this.#a = a;
    this.#b = b;
  }

  /** The two numbers, in hexadecimal. */
  get text(): string {
    return `${(this.#a >>> 0).toString(16)}-${(this.#b >>> 0).toString(16)}`;
  }
}
