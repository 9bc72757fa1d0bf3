/** Tests of thinning out: ends and extremes stay. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { downsample, type Point } from "../../src/report/downsample.ts";
import { randomSequence, STREAM } from "../../src/core/rng.ts";

Deno.test("downsample() returns short curves as they are", () => {
  const points: Point[] = [[0, 1], [1, 5], [2, 3], [7, 2]];
  assertEquals(downsample(points, 4), points);
  assertEquals(downsample([], 4), []);
});

Deno.test("downsample() keeps ends, extremes and order when 10,000 noisy points become few", () => {
  const random = randomSequence({ seed: 1, stream: STREAM.experiment, step: 0 });
  const order = random.permutation(10_000);
  const points = Array.from(order, (y, x): Point => [x, y]);
  for (const maxCount of [4, 5, 7, 100, 801, 9_999]) {
    const kept = downsample(points, maxCount);
    assert(kept.length <= maxCount && kept.length > maxCount / 4, `${kept.length} of ${maxCount}`);
    assertEquals([kept[0], kept.at(-1)], [points[0], points.at(-1)]);
    const ys = kept.map(([, y]) => y);
    assertEquals([Math.min(...ys), Math.max(...ys)], [0, 9_999]);
    assert(kept.every(([x], i) => i === 0 || x > kept[i - 1][0]));
    assert(kept.every(([x, y]) => points[x][1] === y));
  }
});

Deno.test("downsample() keeps a single value that is not finite", () => {
  const points = Array.from({ length: 1000 }, (_, x): Point => [x, x === 503 ? NaN : 1]);
  assert(downsample(points, 20).some(([x, y]) => x === 503 && Number.isNaN(y)));
});

Deno.test("downsample() refuses a number of points that cannot hold ends and extremes", () => {
  assertThrows(() => downsample([], 3), RangeError, "at least 4");
  assertThrows(() => downsample([], NaN), RangeError, "at least 4");
});
