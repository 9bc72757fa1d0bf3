/** Tests of src/faults/faults.ts: what each fault changes, stage by stage, and what it leaves alone. */
import type { Fault } from "../../src/faults/fault.ts";
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { CATALOGUE_NAMES, catalogueConfig } from "../../src/faults/catalogue.ts";
import {
  ENTROPY_PENALTY,
  FAULT_NAMES,
  faultConfig,
  type FaultName,
  FAULTS,
  faultyStages,
} from "../../src/faults/faults.ts";
import { trainLogged } from "../../src/rl/train_logged.ts";
import { bugFixSpec } from "../../src/gym/bugfix.ts";
import { TINY_AGENT } from "../../src/model/config.ts";
import { HEALTHY_STAGES } from "../../src/rl/stages.ts";
import { collate } from "../../src/rl/train_batch.ts";
import type { Trajectory } from "../../src/rollout/trajectory.ts";
import type { BugFixInfo } from "../../src/gym/episode_info.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { openBench, smallConfig, withTrainer } from "./small_runs.ts";

/** Two episodes of 5 and 7 tokens, the policy's the last two and positions 1 and 2. */
function toyBatch(padColumns = 0) {
  const episode = (owners: number[], ids: number[], reward: number): Trajectory<BugFixInfo> => ({
    ids: Uint32Array.from(ids),
    owners: Uint8Array.from(owners),
    logps: Float32Array.from(owners, (owner) => owner === 2 ? -1 : 0),
    reward,
    info: {
      task: "t",
      turns: 1,
      malformed: 0,
      calls: [],
      stop: "submit",
      ops: [],
      reads: 0,
      tests: 0,
      submitted: true,
      hiddenPass: reward > 0,
      publicPass: true,
    },
  });
  const episodes = [
    episode([1, 1, 3, 2, 2], [7, 8, 9, 10, 11], 1),
    episode([1, 2, 2, 3, 3, 2, 2], [7, 8, 9, 10, 11, 12, 13], 0),
  ];
  return collate(episodes, { groupId_B: [0, 0], vocabSize: TINY_AGENT.vocabSize, padColumns });
}

Deno.test("mask_shift moves each span one token right, and loses the last one without padding", () => {
  const { lossMask } = faultyStages("mask_shift");
  const spec = bugFixSpec(30, 6);
  const batch = toyBatch();
  assertEquals(Array.from(batch.policyMask_BC), [0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1]);
  assertEquals(Array.from(lossMask(batch, { spec })), [0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1]);
  const padded = Array.from(lossMask(toyBatch(1), { spec }));
  assertEquals(padded.reduce((a, b) => a + b), 6, "with padding no token is lost");
});

Deno.test("sign_flip negates advantages, entropy_sign turns the bonus into a penalty", () => {
  const config = smallConfig();
  const context = { config, baseline: 0 };
  const healthy = HEALTHY_STAGES.advantages(toyBatch(), context).advantage_B;
  const flipped = faultyStages("sign_flip").advantages(toyBatch(), context).advantage_B;
  assert(healthy[0] > 0.5, "there is something to negate");
  assertEquals(Array.from(flipped), Array.from(healthy, (advantage) => -advantage));
  assertEquals(faultyStages("entropy_sign").lossTerms(config).entropyCoef, -ENTROPY_PENALTY);
});

Deno.test("accum_local weighs tokens of short microbatches more, denominator all tokens less", () => {
  const batch = toyBatch();
  const context = {
    config: smallConfig(),
    mask_BC: batch.policyMask_BC,
    columnCount: batch.packed.columnCount,
    maxPolicyTokens: 36,
  };
  const sums = (name: FaultName | undefined) =>
    faultyStages(name).accumulate([0, 1], context).map(({ episodes, weight_BC }) => [
      episodes.length,
      Math.max(...Array.from(weight_BC)),
    ]);
  assertEquals(sums(undefined), [[2, Math.fround(1 / 6)]]);
  // Two parts (there are only two episodes), each its own mean over 2 and 4 tokens, halved.
  assertEquals(sums("accum_local"), [[1, 1 / 4], [1, 1 / 8]]);
  const [[, weight]] = sums("denominator");
  assert(Math.abs(weight - 1 / 12) < 1e-7, "12 cells divide, not 6 tokens");
});

gpuTest(
  "each code fault changes a run of three steps, and those with a signature show it",
  async () => {
    const bench = await openBench();
    const stepsOf = async (name: FaultName | undefined) =>
      await withTrainer(
        bench,
        {
          config: smallConfig({ steps: 3, ...faultConfig(name) }),
          stages: faultyStages(name),
        },
        (trainer) => trainLogged(trainer),
      );
    const healthy = await stepsOf(undefined);
    const rows = new Map<FaultName, typeof healthy>();
    for (const name of FAULT_NAMES) {
      if (FAULTS[name].kind === "code") rows.set(name, await stepsOf(name));
    }
    const last = (name: FaultName) => rows.get(name)!.at(-1)!;
    assertEquals(rows.size, 12);
    for (const [name, own] of rows) assertNotEquals(own, healthy, name);
    assertEquals(healthy.map(({ logp_gap_max }) => logp_gap_max), [0, 0, 0]);
    assert(rows.get("mask_shift")![0].logp_gap > 1);
    assertEquals([last("stale_old_logp").clip_frac, last("stale_old_logp").ratio_max], [0, 1]);
    assertEquals(rows.get("stale_old_logp")!.map(({ approx_kl }) => approx_kl), [0, 0, 0]);
    assertEquals(rows.get("ref_is_policy")!.map(({ kl_ref }) => kl_ref), [0, 0, 0]);
    assert(healthy[1].kl_ref! > 0);
    assert(rows.get("sampler_temp")![0].logp_gap > 0.01);
    assert(rows.get("sampler_logp_temp")![0].logp_gap > 0.01);
    const late = rows.get("stale_sampler")!.map(({ logp_gap }) => logp_gap);
    assert(late[0] === 0 && late[1] > 0 && late[2] > 0, `${late}`);
    assert(last("mask_end_call").loss_tokens < last("mask_end_call").length);
  },
);

Deno.test("FAULTS hold stages or a configuration each, and the catalogue a run for every one", () => {
  for (const name of FAULT_NAMES) {
    const fault: Fault = FAULTS[name];
    assertEquals(fault.stages !== undefined, fault.kind === "code", name);
    assert(fault.stages !== undefined || fault.config !== undefined, name);
    assert((CATALOGUE_NAMES as string[]).includes(name), name);
  }
  assertEquals(catalogueConfig("lr_high", 3).lr, 1e-2);
  assertEquals(catalogueConfig("length_bias", 3).maxTurns, 12);
  assertEquals(catalogueConfig("kl_0.1", 3).steps, 8);
});
