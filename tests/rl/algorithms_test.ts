/** Tests of src/rl/algorithms.ts. */
import { assert, assertEquals } from "@std/assert";
import { leaveOneOutAdvantage } from "../../src/equations/advantage.ts";
import { ALGORITHMS } from "../../src/rl/algorithms.ts";

const INPUT = { rewards_B: [1, 0, 0, 1, 1, 0], groupId_B: [0, 0, 0, 1, 1, 1], baseline: 0.5 };

Deno.test("ALGORITHMS compose what their papers say", () => {
  const table = Object.entries(ALGORITHMS).map(([name, a]) =>
    [name, a.grouped ? "groups" : "episodes", a.surrogate, a.aggregation].join(" ")
  );
  assertEquals(table, [
    "reinforce episodes reinforce token_mean",
    "ppo episodes clipped token_mean",
    "grpo groups clipped token_mean",
    "drgrpo groups clipped constant",
    "rloo groups reinforce seq_mean_token_sum",
  ]);
});

Deno.test("ALGORITHMS that draw groups centre each of them and leave the moving baseline alone", () => {
  for (const algorithm of Object.values(ALGORITHMS).filter((a) => a.grouped)) {
    const { advantage_B, baseline } = algorithm.advantage(INPUT);
    assert(baseline === 0.5);
    for (const start of [0, 3]) {
      const sum = advantage_B[start] + advantage_B[start + 1] + advantage_B[start + 2];
      assert(Math.abs(sum) <= 1e-15 && advantage_B[start] > 0, algorithm.title);
    }
  }
});

Deno.test("ALGORITHMS without groups subtract the moving baseline and move it", () => {
  for (const { advantage } of [ALGORITHMS.reinforce, ALGORITHMS.ppo]) {
    const { advantage_B, baseline } = advantage({ ...INPUT, baseline: 0.25 });
    assertEquals([...advantage_B], [0.75, -0.25, -0.25, 0.75, 0.75, -0.25]);
    assert(Math.abs(baseline - (0.225 + 0.05)) <= 1e-15);
  }
});

Deno.test("RLOO uses the leave-one-out advantage", () => {
  const { advantage_B } = ALGORITHMS.rloo.advantage(INPUT);
  assertEquals(advantage_B, leaveOneOutAdvantage(INPUT.rewards_B, INPUT.groupId_B));
});
