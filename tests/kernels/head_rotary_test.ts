/** Tests of the kernel of heads: norms, every scaling, positions and cache rows that are not the rows. */
import { assertAlmostEquals } from "@std/assert";
import { headRotaryForward, rotaryFrequency } from "../../src/reference/head_rotary.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { assertHoldsInBothMemories } from "./harness.ts";
import { compareHeadRotaryForward } from "./head_rotary.ts";

const LLAMA3 = {
  kind: "llama3",
  factor: 8,
  lowFactor: 1,
  highFactor: 4,
  originalPositions: 64,
} as const;

Deno.test("rotaryFrequency() keeps fast pairs, slows slow ones, and blends between", () => {
  const options = { headWidth: 8, theta: 1e4, scaling: LLAMA3 };
  // Pairs turn by 1, 0.1, 0.01 and 0.001: 64 positions make 10.2, 1.02, 0.1 and 0.01 turns.
  const kept = (64 * 0.1 / (2 * Math.PI) - 1) / 3;
  const expected = [1, 0.1 * (kept + (1 - kept) / 8), 0.01 / 8, 0.001 / 8];
  expected.forEach((value, pair) =>
    assertAlmostEquals(rotaryFrequency(pair, options), value, 1e-12)
  );
  const linear = { ...options, scaling: { kind: "linear", factor: 4 } } as const;
  assertAlmostEquals(rotaryFrequency(1, linear), 0.025, 1e-12);
});

Deno.test("headRotaryForward() turns halves of a head against each other", () => {
  const turned = headRotaryForward([1, 0, 0, 1], {
    rowCount: 1,
    headCount: 1,
    headWidth: 4,
    theta: 1,
    scaling: { kind: "none" },
    position_N: [Math.PI / 2],
    norm: undefined,
  });
  [0, -1, 1, 0].forEach((value, i) => assertAlmostEquals(turned[i]!, value, 1e-12));
});

gpuTest("addHeadRotaryForward() matches the reference", async () => {
  const position_N = [0, 5, 1, 90, 30];
  for (
    const shape of [
      { headCount: 4, groupCount: 2, headWidth: 8, hasNorm: true, scaling: { kind: "none" } },
      { headCount: 3, groupCount: 1, headWidth: 24, hasNorm: false, scaling: LLAMA3 },
      {
        headCount: 2,
        groupCount: 2,
        headWidth: 128,
        hasNorm: true,
        scaling: { kind: "linear", factor: 2 },
      },
    ] as const
  ) {
    await assertHoldsInBothMemories(compareHeadRotaryForward({ ...shape, position_N }));
  }
});
