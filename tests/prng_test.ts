import { assertEquals, assertThrows } from "@std/assert";
import { type Distribution, distributionProblem, exp, log, pow, Prng } from "../src/prng.ts";

/** Steps between two doubles, for values of one sign. */
function ulps(a: number, b: number): number {
  const view = new DataView(new ArrayBuffer(16));
  view.setFloat64(0, a);
  view.setFloat64(8, b);
  const distance = view.getBigInt64(0) - view.getBigInt64(8);
  return Number(distance < 0n ? -distance : distance);
}

function moments(count: number, draw: () => number): { mean: number; deviation: number } {
  let sum = 0;
  let squares = 0;
  for (let i = 0; i < count; i++) {
    const x = draw();
    sum += x;
    squares += x * x;
  }
  const mean = sum / count;
  return { mean, deviation: Math.sqrt(squares / count - mean * mean) };
}

function near(actual: number, expected: number, tolerance: number, what: string): void {
  assertEquals(Math.abs(actual - expected) <= tolerance, true, `${what}: ${actual}, not ${expected}`);
}

Deno.test("a seed gives these numbers for ever", () => {
  // An independent implementation of xoshiro128** and its seeding, in Python.
  const first = (seed: number) => {
    const prng = new Prng(seed);
    return [prng.uint32(), prng.uint32(), prng.uint32(), prng.uint32()];
  };
  assertEquals(first(0), [1789933344, 44971166, 2521387044, 3848737593]);
  assertEquals(first(42), [3065982597, 2910636024, 2130211105, 274368468]);
  assertEquals(first(-1), [308417906, 1305470770, 587199847, 1018545785]);
  assertEquals(first(2 ** 53 - 1), [3254276787, 3508489748, 4034343921, 2052613321]);
  const prng = new Prng(7);
  assertEquals([prng.float(), prng.float(), prng.float()], [
    0.26008318098654004,
    0.7232034488401609,
    0.4680028859311466,
  ]);
});

Deno.test("a seed that is no safe integer is bad input", () => {
  for (const seed of [0.5, NaN, 2 ** 53, Infinity]) {
    assertThrows(() => new Prng(seed), TypeError, "Cannot use seed");
  }
});

Deno.test("log() and exp() are within two units in the last place of the true value", () => {
  // Correctly rounded with Python's decimal at 60 digits.
  for (
    const [x, value] of [
      [1e-320, -736.8272408909739],
      [1e-10, -23.025850929940457],
      [0.1, -2.3025850929940455],
      [0.5, -0.6931471805599453],
      [0.7, -0.35667494393873245],
      [0.9999999, -1.0000000494736474e-7],
      [1.0000001, 9.999999505838704e-8],
      [1.5, 0.4054651081081644],
      [2, 0.6931471805599453],
      [10, 2.302585092994046],
      [12345.678, 9.421061321291832],
      [1e100, 230.25850929940458],
      [1.7e308, 709.7268368932282],
    ]
  ) assertEquals(ulps(log(x), value) <= 2, true, `log ${x} = ${log(x)}`);
  for (
    const [x, value] of [
      [-740, 4.2e-322],
      [-20.5, 1.2501528663867426e-9],
      [-1, 0.36787944117144233],
      [-1e-9, 0.999999999],
      [1e-9, 1.000000001],
      [0.3, 1.3498588075760032],
      [0.5, 1.6487212707001282],
      [1, 2.718281828459045],
      [2, 7.38905609893065],
      [10, 22026.465794806718],
      [100.25, 3.451610733125924e43],
      [700, 1.0142320547350045e304],
      [709.7, 1.6549840276802644e308],
    ]
  ) assertEquals(ulps(exp(x), value) <= 2, true, `exp ${x} = ${exp(x)}`);
});

Deno.test("log() and exp() at the edges", () => {
  assertEquals([log(0), log(-1), log(Infinity), log(NaN)], [-Infinity, NaN, Infinity, NaN]);
  assertEquals([exp(1000), exp(-1000), exp(NaN), exp(-Infinity)], [Infinity, 0, NaN, 0]);
  assertEquals(exp(709.782712893384) < Infinity, true);
});

Deno.test("pow() is exact for small whole powers and square roots", () => {
  assertEquals(pow(3, 20), 3486784401);
  assertEquals(pow(2, -10), 1 / 1024);
  assertEquals(pow(2, 0.5), Math.SQRT2);
  assertEquals(pow(0, 2), 0);
  // Python: 10 ** 0.3
  assertEquals(ulps(pow(10, 0.3), 1.9952623149688795) <= 3, true);
});

Deno.test("integer() reaches every value of its range and no other", () => {
  const prng = new Prng(1);
  const counts = new Array(6).fill(0);
  for (let i = 0; i < 60_000; i++) counts[prng.integer(6)]++;
  for (const count of counts) near(count, 10_000, 400, "of 60,000 in 6");
  for (let i = 0; i < 1000; i++) {
    const value = prng.integer(2 ** 53 - 1);
    assertEquals(Number.isSafeInteger(value) && value >= 0, true);
  }
  assertEquals(prng.integer(1), 0);
});

Deno.test("normal and lognormal have their moments", () => {
  const prng = new Prng(2);
  const normal = moments(100_000, () => prng.normal());
  near(normal.mean, 0, 0.01, "mean");
  near(normal.deviation, 1, 0.01, "deviation");
  const median = 1000;
  const sigma = 0.5;
  const lognormal = moments(100_000, () => prng.sample({ kind: "lognormal", median, sigma }));
  // mean = median exp(sigma^2 / 2) = 1133.15
  near(lognormal.mean, 1133.15, 8, "mean of lognormal");
  assertEquals(prng.sample({ kind: "normal", mean: 5, standardDeviation: 0 }), 5);
});

Deno.test("zipf() has the probabilities of its ranks", () => {
  // Of 1..1000, in Python: [p(1), p(2), p(10), p(>100)].
  for (
    const [exponent, first, second, tenth, tail] of [
      [0.5, 0.016180965650554213, 0.011441670537653482, 0.00511687061966995, 0.6992022590537573],
      [1, 0.13359213049244018, 0.06679606524622009, 0.013359213049244019, 0.3070071857499374],
      [1.2, 0.2306398172796488, 0.1003918114256567, 0.014552388664216421, 0.1689970941910608],
      [2, 0.6082967170759085, 0.15207417926897712, 0.006082967170759085, 0.005444661045563823],
    ]
  ) {
    const prng = new Prng(3);
    const draws = 200_000;
    const counts = new Float64Array(1001);
    for (let i = 0; i < draws; i++) counts[prng.zipf(1000, exponent)]++;
    near(counts[1] / draws, first, 0.004, `p(1) at ${exponent}`);
    near(counts[2] / draws, second, 0.003, `p(2) at ${exponent}`);
    near(counts[10] / draws, tenth, 0.001, `p(10) at ${exponent}`);
    near(counts.subarray(101).reduce((a, b) => a + b) / draws, tail, 0.004, `tail at ${exponent}`);
  }
  assertEquals(new Prng(4).zipf(1, 1.5), 1);
  assertEquals(Number.isSafeInteger(new Prng(5).zipf(2 ** 53 - 1, 0.9)), true);
});

Deno.test("sample() stays within a uniform's and a list's values", () => {
  const prng = new Prng(6);
  for (let i = 0; i < 1000; i++) {
    const x = prng.sample({ kind: "uniform", min: 10, max: 20 });
    assertEquals(x >= 10 && x < 20, true);
  }
  const values = new Set(Array.from({ length: 100 }, () => prng.sample({ kind: "list", values: [1, 2, 3] })));
  assertEquals([...values].sort(), [1, 2, 3]);
});

Deno.test("fork() gives streams that do not depend on how much another one drew", () => {
  const a = new Prng(8);
  const taskSizes = a.fork("task sizes");
  const before = [taskSizes.uint32(), taskSizes.uint32()];
  const b = new Prng(8);
  b.fork("results").uint32();
  const again = b.fork("task sizes");
  assertEquals([again.uint32(), again.uint32()], before);
  assertEquals(new Prng(8).fork("x").uint32() === new Prng(8).fork("y").uint32(), false);
});

Deno.test("shuffle() keeps every item", () => {
  const items = Array.from({ length: 50 }, (_, i) => i);
  const shuffled = new Prng(9).shuffle([...items]);
  assertEquals([...shuffled].sort((a, b) => a - b), items);
  assertEquals(shuffled.join() === items.join(), false);
});

Deno.test("distributionProblem() names what is wrong", () => {
  const problems: [Distribution, string | null][] = [
    [{ kind: "constant", value: NaN }, "constant must be a number"],
    [{ kind: "uniform", min: 2, max: 1 }, "uniform must have min <= max"],
    [{ kind: "normal", mean: 0, standardDeviation: -1 }, "normal must have standardDeviation >= 0"],
    [{ kind: "lognormal", median: 0, sigma: 1 }, "lognormal must have median > 0 and sigma >= 0"],
    [{ kind: "zipf", n: 0, exponent: 1 }, "zipf must have a whole n >= 1 and exponent > 0"],
    [{ kind: "list", values: [1] }, null],
  ];
  for (const [distribution, problem] of problems) assertEquals(distributionProblem(distribution), problem);
});

Deno.test("pow() with an exponent of 1, sample() of a constant and of ranks, integers beyond 2^52 + 2^51", () => {
  assertEquals(pow(0.1, 1), 0.1);
  const random = new Prng(5);
  const before = new Prng(5).uint32();
  assertEquals(random.sample({ kind: "constant", value: 7 }), 7);
  assertEquals(random.uint32(), before, "a constant draws nothing");
  const ranks = new Prng(5);
  const scaled = new Prng(5).sample({ kind: "zipf", n: 10, exponent: 1, scale: 100 });
  assertEquals(scaled, 100 * ranks.zipf(10, 1));
  // Of 2^53 numbers a quarter is beyond the only multiple of 3 x 2^51: these are drawn again.
  const n = 3 * 2 ** 51;
  const drawn = Array.from({ length: 200 }, () => random.integer(n));
  assertEquals(drawn.every((value) => Number.isSafeInteger(value) && value >= 0 && value < n), true);
  near(drawn.filter((value) => value < n / 2).length / 200, 0.5, 0.15, "halves");
});
