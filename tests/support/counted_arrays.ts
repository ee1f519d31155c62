/**
 * Counts the elements of the arrays that are made with a length, so that a test can hold memory to a budget without asking the clock
 * or the garbage collector. It is to be imported before what is counted: libraries keep the constructors that they find.
 *
 * @module
 */

const NAMES = [
  "Array",
  "Int8Array",
  "Uint8Array",
  "Int16Array",
  "Uint16Array",
  "Int32Array",
  "Uint32Array",
  "Float32Array",
  "Float64Array",
] as const;

/** More than this at once is refused, so that a fault is told and the machine lives on. */
const MOST = 3e7;

let elements = 0;

function counted<T extends new (...args: never[]) => object>(constructor: T): T {
  return new Proxy(constructor, {
    construct(target, args, newTarget) {
      const [length] = args;
      if (args.length === 1 && typeof length === "number") {
        elements += length;
        if (length > MOST) throw new Error(`an array of ${length} elements`);
      }
      return Reflect.construct(target, args, newTarget);
    },
  });
}

const globals = globalThis as unknown as Record<string, new (...args: never[]) => object>;
for (const name of NAMES) globals[name] = counted(globals[name]);

/** Elements of all arrays that were made with a length since the last call. */
export function takeElements(): number {
  const taken = elements;
  elements = 0;
  return taken;
}
