/**
 * Dense numbers for names (executors, hosts), so that the scheduler's hot path works on integers.
 *
 * @module
 */

/**
 * java.lang.String.hashCode: Scala's hash maps place string keys by it.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { javaHashCode } from "./names.ts";
 *
 * assertEquals(javaHashCode("e1"), 101 * 31 + 49); // by the definition: s[0] * 31 + s[1]
 * ```
 */
export function javaHashCode(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) {
    hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
  }
  return hash;
}

/**
 * Names numbered in the order in which they are first seen.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { NameTable } from "./names.ts";
 *
 * const executors = new NameTable();
 * assertEquals([executors.idOf("7"), executors.idOf("8"), executors.idOf("7")], [0, 1, 0]);
 * assertEquals(executors.nameOf(1), "8");
 * ```
 */
export class NameTable {
  readonly #ids = new Map<string, number>();
  readonly #names: string[] = [];
  readonly #hashes: number[] = [];

  /** The id of a name, given to it now when it is new. */
  idOf(name: string): number {
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    const id = this.#names.length;
    this.#ids.set(name, id);
    this.#names.push(name);
    this.#hashes.push(javaHashCode(name));
    return id;
  }

  /** The name of an id. */
  nameOf(id: number): string {
    return this.#names[id];
  }

  /** {@linkcode javaHashCode} of the name. */
  hashOf(id: number): number {
    return this.#hashes[id];
  }
}
