import { assertEquals } from "@std/assert";
import { Prng } from "../../src/prng.ts";
import { SharedMapOutputSizes } from "../../src/simulator/map_output_sizes.ts";
import { MAP_STATUS_DEFAULTS, mapStatus } from "../../src/simulator/scheduler/map_status.ts";

Deno.test("sizes by the reducers' shares are those that MapStatus keeps of the same sizes, for few and for many reducers", () => {
  // map_status.ts is proven by recorded schedulers; beyond 2,000 reducers it is HighlyCompressedMapStatus.
  const random = new Prng(1);
  const total = 40 * MAP_STATUS_DEFAULTS.accurateBlockThreshold;
  for (const numReducers of [5, 2000, 2001, 3000]) {
    // a tenth empty, one that is huge
    const weights = Float64Array.from(
      { length: numReducers },
      () => random.integer(10) === 0 ? 0 : random.integer(1000),
    );
    weights[1] = 1000 * numReducers;
    const sum = weights.reduce((a, b) => a + b);
    const shares = weights.map((weight) => weight / sum);
    const kept = mapStatus(Array.from(shares, (share) => Math.trunc(total * share)));
    const shared = new SharedMapOutputSizes(total, { numReducers, shares });
    for (let i = 0; i < numReducers; i++) {
      assertEquals([numReducers, i, shared.getSizeForBlock(i)], [numReducers, i, kept.getSizeForBlock(i)]);
    }
    const equal = mapStatus(Array.from({ length: numReducers }, () => Math.trunc(total / numReducers)));
    const equalShares = new SharedMapOutputSizes(total, { numReducers, shares: null });
    assertEquals(equalShares.getSizeForBlock(numReducers - 1), equal.getSizeForBlock(numReducers - 1));
  }
});

Deno.test("where all blocks are huge there is no average", () => {
  const shares = Float64Array.from({ length: 3000 }, (_, i) => i < 2 ? 0.5 : 0);
  const sizes = new SharedMapOutputSizes(4 * MAP_STATUS_DEFAULTS.accurateBlockThreshold, { numReducers: 3000, shares });
  assertEquals(sizes.getSizeForBlock(2), 0);
});
