import { assertEquals, assertThrows } from "@std/assert";
import {
  booleanOr,
  countOf,
  countOr,
  idsOf,
  isLong,
  isObject,
  listOf,
  MalformedEvent,
  numberOf,
  numberOr,
  objectOf,
  objectOrNull,
  objectsOf,
  sizeOf,
  stageAttemptOf,
  stringOf,
  stringOr,
  textsOf,
} from "../../src/event_log/json_fields.ts";

Deno.test("missing fields are missing, fields of another type are malformed", () => {
  const json = {
    n: 1,
    s: "a",
    b: true,
    o: { x: 1 },
    l: [1],
    none: null,
    half: 0.5,
    os: [{}],
  };
  assertEquals([
    numberOf(json, "n"),
    numberOr(json, "none", 7),
    numberOr(json, "missing", null),
  ], [1, 7, null]);
  assertEquals([stringOf(json, "s"), stringOr(json, "none", "x")], ["a", "x"]);
  assertEquals(
    [booleanOr(json, "b", false), booleanOr(json, "missing", null)],
    [true, null],
  );
  assertEquals([objectOf(json, "o"), objectOrNull(json, "none")], [
    { x: 1 },
    null,
  ]);
  assertEquals([
    listOf(json, "l"),
    listOf(json, "none"),
    idsOf(json, "l"),
    objectsOf(json, "os"),
  ], [[1], [], [1], [{}]]);
  for (
    const read of [
      () => numberOf(json, "missing"),
      () => numberOf(json, "half"),
      () => numberOr(json, "s", 0),
      () => stringOf(json, "n"),
      () => stringOr(json, "n", ""),
      () => booleanOr(json, "n", false),
      () => objectOf(json, "l"),
      () => objectOrNull(json, "n"),
      () => listOf(json, "o"),
      () => idsOf({ l: ["1"] }, "l"),
      () => objectsOf(json, "l"),
    ]
  ) assertThrows(read, MalformedEvent);
});

Deno.test("counts and ids are Ints that are not negative, sizes are Longs that are not negative", () => {
  // Integer.MAX_VALUE and Long.MAX_VALUE of Java.
  const json = { int: 2 ** 31 - 1, more: 2 ** 31, less: -1, long: 9007199254740993, none: null, ids: [3, -1] };
  assertEquals([countOf(json, "int"), countOr(json, "none", 5), sizeOf(json, "long")], [2 ** 31 - 1, 5, 2 ** 53]);
  for (
    const read of [
      () => countOf(json, "more"),
      () => countOf(json, "less"),
      () => countOr(json, "less", 5),
      () => sizeOf(json, "less"),
      () => idsOf(json, "ids"),
    ]
  ) assertThrows(read, MalformedEvent);
  assertEquals([stageAttemptOf({ "Stage Attempt ID": -1 }), stageAttemptOf({}), stageAttemptOf({ a: 2 }, "a")], [
    -1,
    0,
    2,
  ]);
  assertThrows(() => stageAttemptOf({ "Stage Attempt ID": -2 }), MalformedEvent);
  assertEquals([1, 2 ** 63, 1e308, 0.5, NaN, "1"].map(isLong), [true, true, false, false, false, false]);
});

Deno.test("textsOf() keeps texts that pass", () => {
  assertEquals(textsOf({ a: "1", b: 2, c: "3" }, (key) => key !== "c"), {
    a: "1",
  });
  assertEquals(textsOf(null), {});
  assertEquals(isObject([]), false);
});
