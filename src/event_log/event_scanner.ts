/**
 * Large events of an event log, of which only what is used becomes JSON.
 *
 * @module
 */
import { eventName, withoutPackage } from "./event_json.ts";
import type { JsonObject } from "./json_fields.ts";
import { DeferredJson, JsonScanner } from "./json_scan.ts";
import { wantedOf } from "./wanted_fields.ts";

/** Spark writes the name first: `{"Event":`. */
const PREFIX = new TextEncoder().encode('{"Event":');

/**
 * Scans lines for what is used of them ({@linkcode wantedOf}).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { EventScanner } from "./event_scanner.ts";
 *
 * const line = new TextEncoder().encode('{"Event":"org.apache.SparkListenerOther","list":[1,2,3]}');
 * assertEquals(new EventScanner().scan(line, 0, line.length), { Event: "org.apache.SparkListenerOther" });
 * assertEquals(new EventScanner().scan(line, 0, line.length - 1), null);
 * ```
 */
export class EventScanner {
  readonly #scanner = new JsonScanner();
  #plan: DeferredJson | null = null;

  /** What is used of the event from `start` to `end`; null when the line has to be parsed. */
  scan(bytes: Uint8Array, start: number, end: number): JsonObject | null {
    if (end - start < PREFIX.length) return null;
    for (let i = 0; i < PREFIX.length; i++) if (bytes[start + i] !== PREFIX[i]) return null;
    const className = this.#scanner.text(bytes, start + PREFIX.length, end);
    if (className === null) return null;
    const name = withoutPackage(className);
    const wanted = wantedOf(name);
    if (wanted === null) return null;
    const json = this.#scanner.scan(bytes, start, end, wanted);
    // Of two names JSON.parse takes the last.
    if (json === null || typeof json.Event !== "string" || eventName(json) !== name) return null;
    if (json.sparkPlanInfo instanceof DeferredJson) this.#plan = json.sparkPlanInfo;
    return json;
  }

  /** The line that was scanned last is not valid any more: what was put off cannot be read from now on. */
  expire(): void {
    this.#plan?.expire();
    this.#plan = null;
  }
}
