import { assertEquals } from "@std/assert";
import { InputError, LimitError } from "../src/errors.ts";

Deno.test("an InputError has a built-in parent, a code, parameters and the place", () => {
  const error = new InputError("a.b", "Cannot a: b", {
    parameters: { n: 1 },
    pointer: "/x",
    line: 3,
  });
  assertEquals(error instanceof TypeError, true);
  assertEquals([error.name, error.code, error.pointer, error.line], [
    "InputError",
    "a.b",
    "/x",
    3,
  ]);
});

Deno.test("a LimitError is an InputError", () => {
  assertEquals(
    new LimitError("limit.x", "Cannot x") instanceof InputError,
    true,
  );
});
