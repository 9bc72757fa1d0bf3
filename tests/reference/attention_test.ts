/** Tests of src/reference/attention.ts. */
import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import {
  attentionBackward,
  attentionForward,
  type AttentionOptions,
} from "../../src/reference/attention.ts";
import { assertGradient, dot, randomArray } from "./central_difference.ts";

/** Packed rows of episodes of the given lengths. */
function packed(lengths: readonly number[], heads: { headCount: number; headWidth: number }) {
  const startOfEpisode_N: number[] = [];
  const position_N: number[] = [];
  for (const length of lengths) {
    const start = position_N.length;
    for (let t = 0; t < length; t++) {
      startOfEpisode_N.push(start);
      position_N.push(t);
    }
  }
  const options: AttentionOptions = {
    rowCount: position_N.length,
    ...heads,
    startOfEpisode_N,
    position_N,
  };
  return { options, width: heads.headCount * heads.headWidth };
}

Deno.test("attentionForward() weighs values by hand-computed probabilities", () => {
  const { options } = packed([2], { headCount: 1, headWidth: 2 });
  // Row 0 stands at angle 0, row 1 at angle 1: its query (1, 0) becomes (cos 1, sin 1), its key (0, 1) (−sin 1, cos 1).
  const qkv_N3D = [9, 9, 2, 0, 10, 20, 1, 0, 0, 1, 30, 60];
  const o_ND = attentionForward(qkv_N3D, options);
  const score0 = 2 * Math.cos(1) / Math.SQRT2;
  const score1 = 0;
  const p0 = Math.exp(score0) / (Math.exp(score0) + Math.exp(score1));
  const expected = [10, 20, 10 * p0 + 30 * (1 - p0), 20 * p0 + 60 * (1 - p0)];
  expected.forEach((o, i) => assertAlmostEquals(o_ND[i], o, 1e-13));
});

Deno.test("attentionForward() with equal scores averages the values seen so far", () => {
  const { options } = packed([3], { headCount: 1, headWidth: 2 });
  const qkv_N3D = [0, 0, 5, 6, 3, 0, 0, 0, 7, 8, 6, 0, 0, 0, 1, 2, 0, 9];
  const o_ND = attentionForward(qkv_N3D, options);
  [3, 0, 4.5, 0, 3, 3].forEach((o, i) => assertAlmostEquals(o_ND[i], o, 1e-14));
});

Deno.test("attentionForward() is causal and keeps episodes apart", () => {
  const { options, width } = packed([3, 1, 5, 2], { headCount: 2, headWidth: 4 });
  const qkv_N3D = randomArray(11 * 3 * width, { seed: 1 });
  const before = attentionForward(qkv_N3D, options);
  // Row 6 is the third token of the third episode (rows 4 to 8).
  const changed = qkv_N3D.slice();
  for (let i = 6 * 3 * width; i < 7 * 3 * width; i++) changed[i] += 1;
  const after = attentionForward(changed, options);
  const rowsThatChanged = [];
  for (let n = 0; n < 11; n++) {
    const row = (o_ND: Float64Array) => [...o_ND.slice(n * width, (n + 1) * width)];
    if (row(before).join() !== row(after).join()) rowsThatChanged.push(n);
  }
  assertEquals(rowsThatChanged, [6, 7, 8]);
});

Deno.test("attentionForward() gives an episode the same numbers alone and in a pack", () => {
  const { options, width } = packed([4, 7], { headCount: 3, headWidth: 2 });
  const qkv_N3D = randomArray(11 * 3 * width, { seed: 2 });
  const inPack = attentionForward(qkv_N3D, options).slice(4 * width);
  const alone = attentionForward(
    qkv_N3D.slice(4 * 3 * width),
    packed([7], { headCount: 3, headWidth: 2 }).options,
  );
  assertEquals(inPack, alone);
});

Deno.test("attentionForward() survives scores of a thousand", () => {
  const { options } = packed([2], { headCount: 1, headWidth: 2 });
  const o_ND = attentionForward([0, 0, 1e3, 0, 1, 2, 1e3, 0, 0, 0, 3, 4], options);
  assert([...o_ND].every(Number.isFinite));
  assertEquals([...o_ND], [1, 2, 1, 2]);
});

for (const offset of [0, 100]) {
  Deno.test(`attentionBackward() equals central differences when values are offset by ${offset}`, () => {
    const { options, width } = packed([3, 1, 5], { headCount: 2, headWidth: 4 });
    const qkv_N3D = randomArray(9 * 3 * width, { seed: 3 }).map((x, i) =>
      i % (3 * width) < 2 * width ? x : x + offset
    );
    const do_ND = randomArray(9 * width, { seed: 4 });
    assertGradient("dqkv", {
      x: qkv_N3D,
      gradient: attentionBackward(do_ND, { ...options, qkv_N3D }),
      loss: (qkv) => dot(attentionForward(qkv, options), do_ND),
    });
  });
}

Deno.test("attentionForward() refuses an episode that begins after its row", () => {
  const options = { rowCount: 2, headCount: 1, headWidth: 2, position_N: [0, 0] };
  assertThrows(
    () => attentionForward(new Float64Array(12), { ...options, startOfEpisode_N: [0, 2] }),
    RangeError,
    "startOfEpisode_N of row 1",
  );
});
