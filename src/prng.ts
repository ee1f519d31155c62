/**
 * Random numbers from a seed, the same in every engine: the generator works on 32-bit integers, and logarithm and
 * exponential are made of + - * / alone, because Math.log, Math.exp and Math.pow differ between engines in the last
 * bit (ECMAScript leaves them implementation-approximated; Math.sqrt is exact).
 *
 * @module
 */
import { InputError } from "./errors.ts";

/** How sizes and times of a generated workload are spread. */
export type Distribution =
  | { readonly kind: "constant"; readonly value: number }
  | { readonly kind: "uniform"; readonly min: number; readonly max: number }
  | { readonly kind: "normal"; readonly mean: number; readonly standardDeviation: number }
  /** A value whose logarithm is normal; `median` is exp of the logarithm's mean, `sigma` its standard deviation. */
  | { readonly kind: "lognormal"; readonly median: number; readonly sigma: number }
  /** Rank r of 1..n with a probability in proportion to r^-exponent, times `scale`. */
  | { readonly kind: "zipf"; readonly n: number; readonly exponent: number; readonly scale?: number }
  /** One of the values, each as likely as the others. */
  | { readonly kind: "list"; readonly values: readonly number[] };

const LN2_HIGH = 6.93147180369123816490e-1;
const LN2_LOW = 1.90821492927058770002e-10;
const SQRT2 = 1.4142135623730951;

const bits = new DataView(new ArrayBuffer(8));

/** Binary exponent of a positive normal number, and the number scaled into [sqrt(1/2), sqrt(2)). */
function split(x: number): [exponent: number, mantissa: number] {
  let exponent = 0;
  if (x < 2.2250738585072014e-308) {
    x *= 18014398509481984; // 2^54: subnormal numbers become normal
    exponent = -54;
  }
  bits.setFloat64(0, x);
  const high = bits.getUint32(0);
  exponent += (high >>> 20) - 1023;
  bits.setUint32(0, (high & 0x000fffff) | 0x3ff00000);
  const mantissa = bits.getFloat64(0);
  return mantissa >= SQRT2 ? [exponent + 1, mantissa / 2] : [exponent, mantissa];
}

/** 2^k for k in -1022..1023. */
function powerOfTwo(k: number): number {
  bits.setUint32(0, (k + 1023) << 20);
  bits.setUint32(4, 0);
  return bits.getFloat64(0);
}

/**
 * Natural logarithm, within two units in the last place, the same bits in every engine.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { log } from "./prng.ts";
 *
 * assertEquals(log(1), 0);
 * assertEquals(log(2), 0.6931471805599453);
 * ```
 */
export function log(x: number): number {
  if (Number.isNaN(x) || x < 0) return NaN;
  if (x === 0) return -Infinity;
  if (x === Infinity) return Infinity;
  const [exponent, mantissa] = split(x);
  // log m = 2 artanh(s) with s = (m - 1) / (m + 1), |s| <= 0.1716: the terms fall below 2^-54 after s^19.
  const s = (mantissa - 1) / (mantissa + 1);
  const square = s * s;
  let tail = 0;
  for (let k = 21; k >= 3; k -= 2) tail = square * (1 / k + tail);
  return exponent * LN2_HIGH + (2 * s + (2 * s * tail + exponent * LN2_LOW));
}

/**
 * e to the power of x, within two units in the last place, the same bits in every engine.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { exp } from "./prng.ts";
 *
 * assertEquals(exp(0), 1);
 * assertEquals(exp(-1), 0.36787944117144233);
 * ```
 */
export function exp(x: number): number {
  if (Number.isNaN(x)) return NaN;
  if (x > 709.782712893384) return Infinity;
  if (x < -745.1332191019412) return 0;
  const k = Math.round(x / (LN2_HIGH + LN2_LOW));
  const high = x - k * LN2_HIGH;
  const rest = high - k * LN2_LOW;
  const lost = (high - rest) - k * LN2_LOW;
  let sum = 0;
  for (let n = 16; n >= 2; n--) sum = rest / n * (1 + sum);
  const value = 1 + (rest + (rest * sum + lost));
  if (k > 1023) return value * powerOfTwo(1023) * 2;
  return k < -1022 ? value * powerOfTwo(k + 54) * powerOfTwo(-54) : value * powerOfTwo(k);
}

/**
 * x to the power of y for x >= 0, the same bits in every engine.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { pow } from "./prng.ts";
 *
 * assertEquals(pow(9, 0.5), 3);
 * assertEquals(pow(5, 0), 1);
 * ```
 */
export function pow(x: number, y: number): number {
  if (y === 0 || x === 1) return 1;
  if (y === 1) return x;
  if (y === 0.5) return Math.sqrt(x);
  if (Number.isInteger(y) && Math.abs(y) <= 64) {
    let result = 1;
    for (let i = 0; i < Math.abs(y); i++) result *= x;
    return y < 0 ? 1 / result : result;
  }
  return exp(y * log(x));
}

/** One step of splitmix32, which spreads a seed over the generator's state. */
function splitmix32(state: number): number {
  let z = state | 0;
  z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return (z ^ (z >>> 15)) >>> 0;
}

/** FNV-1a over the UTF-16 units of a text: the seed of a named stream. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/**
 * A seeded generator (xoshiro128** of Blackman and Vigna). Equal seeds give equal numbers for ever.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Prng } from "./prng.ts";
 *
 * assertEquals(new Prng(42).uint32(), new Prng(42).uint32());
 * assertEquals(new Prng(42).integer(6) < 6, true);
 * ```
 */
export class Prng {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  /** @param seed Any safe integer. */
  constructor(seed: number) {
    if (!Number.isSafeInteger(seed)) {
      throw new InputError("seed.integer", `Cannot use seed: must be an integer up to 2^53 - 1: received ${seed}`, {
        parameters: { seed: String(seed) },
      });
    }
    const low = seed >>> 0;
    const high = Math.floor(seed / 4294967296) >>> 0;
    const step = 0x9e3779b9;
    const state = splitmix32(low) ^ Math.imul(high, 0x85ebca6b);
    this.#a = splitmix32(state + step);
    this.#b = splitmix32(state + 2 * step);
    this.#c = splitmix32(state + 3 * step);
    this.#d = splitmix32(state + 4 * step);
    if ((this.#a | this.#b | this.#c | this.#d) === 0) this.#a = 1;
  }

  /** A generator of its own for a part of the work: what one part draws does not shift the numbers of another. */
  fork(name: string): Prng {
    return new Prng(hashText(name) * 1048576 + (this.#peek() >>> 12));
  }

  #peek(): number {
    return splitmix32(this.#a ^ Math.imul(this.#b, 5) ^ Math.imul(this.#c, 7) ^ Math.imul(this.#d, 9));
  }

  /** A whole number in [0, 2^32). */
  uint32(): number {
    const scrambled = Math.imul(this.#b, 5);
    const result = Math.imul((scrambled << 7) | (scrambled >>> 25), 9) >>> 0;
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = (this.#d << 11) | (this.#d >>> 21);
    return result;
  }

  /** A number in [0, 1) with 53 random bits. */
  float(): number {
    const high = this.uint32() >>> 5;
    const low = this.uint32() >>> 6;
    return (high * 67108864 + low) / 9007199254740992;
  }

  /** A whole number in [0, n), each as likely as the others; n up to 2^53. */
  integer(n: number): number {
    if (n <= 4294967296) {
      const limit = 4294967296 - 4294967296 % n;
      let value = this.uint32();
      while (value >= limit) value = this.uint32();
      return value % n;
    }
    const limit = 9007199254740992 - 9007199254740992 % n;
    let value = this.#bits53();
    while (value >= limit) value = this.#bits53();
    return value % n;
  }

  #bits53(): number {
    const high = this.uint32() >>> 11;
    return high * 4294967296 + this.uint32();
  }

  /** A standard normal number (Marsaglia's polar method). */
  normal(): number {
    for (;;) {
      const u = 2 * this.float() - 1;
      const v = 2 * this.float() - 1;
      const s = u * u + v * v;
      if (s > 0 && s < 1) return u * Math.sqrt(-2 * log(s) / s);
    }
  }

  /** A rank in 1..n with a probability in proportion to rank^-exponent (rejection-inversion, Hörmann and Derflinger). */
  zipf(n: number, exponent: number): number {
    const top = zipfIntegral(n + 0.5, exponent);
    const bottom = zipfIntegral(1.5, exponent) - 1;
    const certain = 2 - zipfInverse(zipfIntegral(2.5, exponent) - pow(2, -exponent), exponent);
    for (;;) {
      const u = bottom + this.float() * (top - bottom);
      const x = zipfInverse(u, exponent);
      const rank = Math.min(Math.max(Math.round(x), 1), n);
      if (rank - x <= certain || u >= zipfIntegral(rank + 0.5, exponent) - pow(rank, -exponent)) return rank;
    }
  }

  /** Shuffles in place, every order as likely as the others. */
  shuffle<T>(items: T[]): T[] {
    for (let i = items.length - 1; i > 0; i--) {
      const j = this.integer(i + 1);
      [items[i], items[j]] = [items[j], items[i]];
    }
    return items;
  }

  /** A number of a distribution. Draws nothing for a constant. */
  sample(distribution: Distribution): number {
    switch (distribution.kind) {
      case "constant":
        return distribution.value;
      case "uniform":
        return distribution.min + (distribution.max - distribution.min) * this.float();
      case "normal":
        return distribution.mean + distribution.standardDeviation * this.normal();
      case "lognormal":
        return distribution.median * exp(distribution.sigma * this.normal());
      case "zipf":
        return (distribution.scale ?? 1) * this.zipf(distribution.n, distribution.exponent);
      case "list":
        return distribution.values[this.integer(distribution.values.length)];
    }
  }
}

/** Integral of x^-exponent from 1, of which rejection-inversion needs the values and the inverse. */
function zipfIntegral(x: number, exponent: number): number {
  return exponent === 1 ? log(x) : (pow(x, 1 - exponent) - 1) / (1 - exponent);
}

function zipfInverse(y: number, exponent: number): number {
  if (exponent === 1) return exp(y);
  // Rounding can push the base below 0 at the far end of steep distributions.
  return pow(Math.max(1 + y * (1 - exponent), 0), 1 / (1 - exponent));
}

/**
 * What is wrong with a distribution, or null.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { distributionProblem } from "./prng.ts";
 *
 * assertEquals(distributionProblem({ kind: "list", values: [] }), "list must have at least one value");
 * assertEquals(distributionProblem({ kind: "constant", value: 5 }), null);
 * ```
 */
export function distributionProblem(distribution: Distribution): string | null {
  switch (distribution.kind) {
    case "constant":
      return Number.isFinite(distribution.value) ? null : "constant must be a number";
    case "uniform":
      return distribution.min <= distribution.max ? null : "uniform must have min <= max";
    case "normal":
      return distribution.standardDeviation >= 0 ? null : "normal must have standardDeviation >= 0";
    case "lognormal":
      return distribution.median > 0 && distribution.sigma >= 0
        ? null
        : "lognormal must have median > 0 and sigma >= 0";
    case "zipf":
      return Number.isSafeInteger(distribution.n) && distribution.n >= 1 && distribution.exponent > 0
        ? null
        : "zipf must have a whole n >= 1 and exponent > 0";
    case "list":
      return distribution.values.length > 0 ? null : "list must have at least one value";
  }
}
