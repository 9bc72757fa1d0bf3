/** Tests of src/equations/advantage.ts. */
import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import {
  GROUP_STD_EPS,
  groupCenteredAdvantage,
  groupStandardizedAdvantage,
  leaveOneOutAdvantage,
  movingBaselineAdvantage,
  rewardToGo,
  totalReturn,
} from "../../src/equations/advantage.ts";
import { readGolden } from "../reference/golden.ts";

/** Two groups of unequal rewards and size, interleaved: 7 holds 0, 1, 0, 0 and 3 holds 2, 5, 2. */
const REWARDS_B = [0, 2, 1, 5, 0, 0, 2];
const GROUPS_B = [7, 3, 7, 3, 7, 7, 3];

Deno.test("groupStandardizedAdvantage() divides by the standard deviation with n − 1", () => {
  const advantage_B = groupStandardizedAdvantage(REWARDS_B, GROUPS_B);
  // Group 7: mean ¼, squared deviations ¾, variance ¾ / 3. Group 3: mean 3, squared deviations 6, variance 6 / 2.
  const std7 = 0.5 + GROUP_STD_EPS, std3 = Math.sqrt(3) + GROUP_STD_EPS;
  const expected = [
    -0.25 / std7,
    -1 / std3,
    0.75 / std7,
    2 / std3,
    -0.25 / std7,
    -0.25 / std7,
    -1 / std3,
  ];
  expected.forEach((a, b) => assertAlmostEquals(advantage_B[b], a, 1e-14));
});

Deno.test("groupStandardizedAdvantage() adds another ε where one is given, and 0 divides nothing by 0", () => {
  const [low, high] = groupStandardizedAdvantage([0, 1], [0, 0], { eps: 0.5 });
  assertAlmostEquals(high, 0.5 / (Math.SQRT1_2 + 0.5), 1e-15);
  assertEquals(low, -high);
  const flat = groupStandardizedAdvantage([1, 1, 0, 1], [0, 0, 1, 1], { eps: 0 });
  assertEquals([...flat.subarray(0, 2)], [0, 0]);
  assertAlmostEquals(flat[3], Math.SQRT1_2, 1e-15);
});

Deno.test("groupStandardizedAdvantage() gives the golden batch's advantages", () => {
  const batch = readGolden("batch");
  const advantage_B = groupStandardizedAdvantage(
    batch.rewards,
    batch.rewards.map((_, b) => Math.floor(b / 8)),
  );
  // PyTorch computed these in float32: mean, deviation, standard deviation and quotient are rounded, some 8 times in all.
  advantage_B.forEach((a, b) =>
    assertAlmostEquals(a, batch.advantages[b], 8 * 2 ** -24 * (1 + Math.abs(a)))
  );
  assert(advantage_B.some((a) => a > 1) && advantage_B.some((a) => a < 0));
});

Deno.test("groupCenteredAdvantage() subtracts the mean only, also in a group of one", () => {
  assertEquals([...groupCenteredAdvantage([...REWARDS_B, 9], [...GROUPS_B, 1])], [
    -0.25,
    -1,
    0.75,
    2,
    -0.25,
    -0.25,
    -1,
    0,
  ]);
});

Deno.test("leaveOneOutAdvantage() subtracts the mean of the others", () => {
  const advantage_B = leaveOneOutAdvantage(REWARDS_B, GROUPS_B);
  const expected = [-1 / 3, 2 - 3.5, 1, 5 - 2, -1 / 3, -1 / 3, 2 - 3.5];
  expected.forEach((a, b) => assertAlmostEquals(advantage_B[b], a, 1e-15));
});

for (
  const advantage of [groupStandardizedAdvantage, groupCenteredAdvantage, leaveOneOutAdvantage]
) {
  Deno.test(`${advantage.name}() follows the group ids when the batch is shuffled`, () => {
    const order = [4, 6, 0, 2, 1, 5, 3];
    const inOrder = advantage(REWARDS_B, GROUPS_B);
    const shuffled = advantage(order.map((b) => REWARDS_B[b]), order.map((b) => GROUPS_B[b]));
    order.forEach((b, i) => assertAlmostEquals(shuffled[i], inOrder[b], 1e-15));
    const layoutLost = advantage(order.map((b) => REWARDS_B[b]), GROUPS_B);
    assert(order.some((b, i) => Math.abs(layoutLost[i] - inOrder[b]) > 0.1));
  });

  Deno.test(`${advantage.name}() of a group of equal rewards is exactly 0`, () => {
    // 0.1 + 0.1 + 0.1 is not 0.3: a rounded mean would leave a trace, which the division by eps makes large.
    assertEquals([...advantage([0.1, 0.1, 0.1], [0, 0, 0])], [0, 0, 0]);
  });

  Deno.test(`${advantage.name}() refuses group ids of another length`, () => {
    assertThrows(() => advantage([1, 2], [0]), RangeError, "groupId_B holds 1 elements");
  });
}

for (const advantage of [groupStandardizedAdvantage, leaveOneOutAdvantage]) {
  Deno.test(`${advantage.name}() refuses a group of one`, () => {
    assertThrows(
      () => advantage([1, 2, 3], [0, 0, 5]),
      RangeError,
      "group 5 has 1 episode but needs at least 2",
    );
  });
}

Deno.test("movingBaselineAdvantage() subtracts the baseline before the batch and then moves it", () => {
  const first = movingBaselineAdvantage([1, 0, 0, 1], 0.1);
  assertEquals([...first.advantage_B], [0.9, -0.1, -0.1, 0.9]);
  assertAlmostEquals(first.baseline, 0.09 + 0.05, 1e-15);
  const second = movingBaselineAdvantage([0], first.baseline);
  assertAlmostEquals(second.advantage_B[0], -0.14, 1e-15);
  assertThrows(() => movingBaselineAdvantage([], 0), RangeError, "no episode");
  assertEquals(movingBaselineAdvantage([1, 0], 0.25, { decay: 0 }).baseline, 0.5);
  assertEquals(movingBaselineAdvantage([1, 0], 0.25, { decay: 0.5 }).baseline, 0.375);
});

Deno.test("rewardToGo() credits a call of chapter 6's episode with what comes after it", () => {
  // Four calls of two tokens, a cost of 0.1 at the end of each, and the outcome 1 at the last.
  const rewards_BT = [0, -0.1, 0, -0.1, 0, -0.1, 0, 0.9];
  const shape = { episodeCount: 1, columnCount: 8 };
  const toGo_BT = rewardToGo(rewards_BT, shape);
  assertEquals([0, 2, 4, 6].map((t) => toGo_BT[t].toFixed(2)), ["0.60", "0.70", "0.80", "0.90"]);
  assertEquals([...totalReturn(rewards_BT, shape)], [toGo_BT[0]]);
});

Deno.test("rewardToGo() keeps episodes apart and equals the total return for an outcome reward", () => {
  const rewards_BT = [1, 2, 4, 0, 0, 3];
  const shape = { episodeCount: 2, columnCount: 3 };
  assertEquals([...rewardToGo(rewards_BT, shape)], [7, 6, 4, 3, 3, 3]);
  assertEquals([...totalReturn(rewards_BT, shape)], [7, 3]);
  assertThrows(() => rewardToGo([1], shape), RangeError, "(B=2, T=3) needs 6");
});
