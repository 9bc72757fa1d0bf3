/** Tests of src/rl/named_losses.ts. */
import { assertEquals, assertThrows } from "@std/assert";
import { NAMED_LOSSES, namedLossTask, requiredGrids } from "../../src/rl/named_losses.ts";
import { packEpisodes } from "../../src/rollout/batch.ts";

const BATCH = packEpisodes([[1, 2], [3, 4, 5]], { vocabSize: 6 });
const GRIDS = {
  actionMask_BC: [1, 0, 1, 1],
  advantages_B: [7, -8],
  oldLogp_BC: [-1, -2, -3, -4],
  refLogp_BC: [-5, -6, -7, -8],
};

Deno.test("requiredGrids() names what each loss reads besides the mask", () => {
  assertEquals(requiredGrids(NAMED_LOSSES.cross_entropy), []);
  assertEquals(requiredGrids(NAMED_LOSSES.reinforce_constant), ["advantages_B"]);
  assertEquals(requiredGrids(NAMED_LOSSES.ppo_clip_token_mean), ["advantages_B", "oldLogp_BC"]);
  assertEquals(requiredGrids(NAMED_LOSSES.ppo_k3_entropy), [
    "advantages_B",
    "oldLogp_BC",
    "refLogp_BC",
  ]);
});

Deno.test("namedLossTask() weighs tokens by the loss's aggregation and KL and entropy by the token mean", () => {
  const task = namedLossTask(BATCH, {
    loss: NAMED_LOSSES.reinforce_seq_mean_token_mean,
    grids: GRIDS,
  });
  const rows = Array.from({ length: 5 }, (_, n) => task.objective_N4.subarray(4 * n, 4 * n + 3));
  assertEquals(rows.map((row) => row[0]), [7, 7, -8, -8, -8]);
  assertEquals(rows.map((row) => row[1]), [0.5, 0, 0.25, 0.25, 0]);
  assertEquals(rows.map((row) => row[2]), [1 / 3, 0, 1 / 3, 1 / 3, 0].map(Math.fround));
  assertEquals(Array.from(task.refLogp_N ?? []), [-5, -6, -7, -8, 0]);
});

Deno.test("namedLossTask() imitates with advantages of 1, whatever the batch says", () => {
  const { objective_N4 } = namedLossTask(BATCH, { loss: NAMED_LOSSES.cross_entropy, grids: GRIDS });
  assertEquals(Array.from(objective_N4.filter((_, i) => i % 4 === 0)), [1, 1, 1, 1, 1]);
});

Deno.test("namedLossTask() refuses a missing grid and a missing constant", () => {
  assertThrows(
    () =>
      namedLossTask(BATCH, {
        loss: NAMED_LOSSES.ppo_k3_entropy,
        grids: { ...GRIDS, refLogp_BC: undefined },
      }),
    RangeError,
    "it needs refLogp_BC",
  );
  assertThrows(
    () => namedLossTask(BATCH, { loss: NAMED_LOSSES.reinforce_constant, grids: GRIDS }),
    RangeError,
    "normConst is undefined",
  );
});

Deno.test("namedLossTask() refuses a mask on pads, and numbers other than 0 and 1", () => {
  const take = (actionMask_BC: readonly number[]) =>
    namedLossTask(BATCH, { loss: NAMED_LOSSES.cross_entropy, grids: { ...GRIDS, actionMask_BC } });
  assertThrows(() => take([1, 1, 1, 1]), RangeError, "actionMask_BC[1] is 1 but must be 0, since");
  assertThrows(
    () => take([1, 0, 0.5, 1]),
    RangeError,
    "actionMask_BC[2] is 0.5 but must be 0 or 1",
  );
});
