/** Tests of src/rl/metrics.ts and src/rl/run_summary.ts, on a step made by hand. */
import { assert, assertEquals } from "@std/assert";
import { type MetricsRow, metricsRow } from "../../src/rl/metrics.ts";
import { METRICS } from "../../src/rl/metric_dictionary.ts";
import { summarizeRun } from "../../src/rl/run_summary.ts";
import type { BugFixInfo } from "../../src/gym/episode_info.ts";
import { collate } from "../../src/rl/train_batch.ts";
import type { StepReport } from "../../src/rl/trainer.ts";
import type { MinibatchReport } from "../../src/rl/update_report.ts";
import type { Trajectory } from "../../src/rollout/trajectory.ts";

function episode(
  policyTokens: number,
  reward: number,
  info: Partial<BugFixInfo> = {},
): Trajectory<BugFixInfo> {
  const length = policyTokens + 1;
  return {
    ids: new Uint32Array(length).fill(3),
    owners: Uint8Array.from({ length }, (_, t) => t === 0 ? 1 : 2),
    logps: new Float32Array(length).fill(-0.5),
    reward,
    info: {
      task: "total",
      turns: 2,
      malformed: 0,
      calls: [],
      stop: "submit",
      ops: [],
      reads: 0,
      tests: 0,
      submitted: true,
      hiddenPass: reward > 0,
      publicPass: true,
      ...info,
    },
  };
}

function minibatch(values: {
  readonly approxKl: number;
  readonly gradNorm: number;
  readonly gaps: readonly number[];
}): MinibatchReport {
  return {
    statistics: {
      loss: 1,
      entropy: 0.5,
      approxKl: values.approxKl,
      approxKlMax: 9,
      clipFraction: 0.25,
      ratioMin: 0.5,
      ratioMax: 2,
      klRef: 0.125,
    },
    gradNorm: values.gradNorm,
    trainedTokens: values.gaps.length,
    logpGaps_N: Float64Array.from(values.gaps),
  };
}

/** Three groups of two: one passes whole, one fails whole, one is mixed. */
function report(groupId_B = [0, 0, 1, 1, 2, 2], hasReference = true): StepReport {
  const trajectories = [
    episode(3, 1),
    episode(5, 1, { reads: 2, ops: ["fix_init"] }),
    episode(7, 0, { submitted: false, hiddenPass: true, malformed: 6 }),
    episode(9, 0, { ops: ["fix_init", "hardcode_tests"] }),
    episode(4, 0),
    episode(8, 1, { tests: 3 }),
  ];
  const batch = collate(trajectories, { groupId_B, vocabSize: 60 });
  return {
    step: 4,
    batch,
    update: {
      minibatches: [
        minibatch({ approxKl: 0.25, gradNorm: 3, gaps: [0, 0.5, 0, 0] }),
        minibatch({ approxKl: 0.75, gradNorm: 1, gaps: [100] }),
      ],
      mask_BC: batch.policyMask_BC,
      advantage_B: new Float64Array(6),
      isSkipped: false,
      parts: [],
      hasReference,
    },
  };
}

Deno.test("metricsRow() measures outcome and behaviour over episodes, and flat groups over groups", () => {
  const row = metricsRow(report());
  assertEquals([row.step, row.reward, row.pass_rate], [4, 1 / 2, 1 / 2]);
  assertEquals([row.reads, row.tests, row.edits], [2 / 6, 3 / 6, 3 / 6]);
  assertEquals([row.malformed, row.hardcode, row.submitted], [1, 1 / 6, 5 / 6]);
  assertEquals([row.turns, row.length, row.loss_tokens], [2, 6, 6]);
  assertEquals([row.length_pass, row.length_fail], [16 / 3, 20 / 3]);
  assertEquals([row.zero_adv_frac, row.all_pass, row.all_fail], [2 / 3, 1 / 3, 1 / 3]);
});

Deno.test("metricsRow() averages minibatches, keeps the largest, and takes the gap before any step", () => {
  const row = metricsRow(report());
  assertEquals([row.approx_kl, row.approx_kl_max], [0.5, 0.75]);
  assertEquals([row.grad_norm, row.grad_norm_max], [2, 3]);
  assertEquals([row.ratio_min, row.ratio_max, row.clip_frac, row.kl_ref], [0.5, 2, 0.25, 0.125]);
  assertEquals([row.logp_gap, row.logp_gap_max], [0.125, 0.5]);
  // Between the largest of four values and the next, at 0.99 · 3 = 2.97 of the way.
  assert(Math.abs(row.logp_gap_p99 - 0.97 * 0.5) < 1e-12);
});

Deno.test("metricsRow() leaves out what was not measured", () => {
  const row = metricsRow(report(undefined, false));
  assertEquals("kl_ref" in row, false);
  assertEquals("eval_pass" in row, false);
  const evaluated = metricsRow(report(), { evaluation: [episode(3, 1), episode(3, 0)] });
  assertEquals(evaluated.eval_pass, 1 / 2);
  assert((evaluated.eval_pass_low ?? 1) < 0.2 && (evaluated.eval_pass_high ?? 0) > 0.8);
});

Deno.test("metricsRow() takes a batch without groups as one group", () => {
  const row = metricsRow(report([0, 1, 2, 3, 4, 5]));
  assertEquals([row.zero_adv_frac, row.all_pass, row.all_fail], [0, 0, 0]);
});

Deno.test("metricsRow() gives 0 for a length that no episode has", () => {
  const { batch, update } = report();
  const trajectories = [episode(3, 0)];
  const row = metricsRow({
    step: 0,
    batch: { ...batch, ...collate(trajectories, { groupId_B: [0], vocabSize: 60 }) },
    update,
  });
  assertEquals([row.length_pass, row.length_fail], [0, 3]);
});

Deno.test("METRICS explain every key of a row, and no other", () => {
  const { step: _, ...row } = metricsRow(report(), { evaluation: [episode(3, 1)] });
  assertEquals(Object.keys(METRICS).sort(), Object.keys(row).sort());
});

Deno.test("summarizeRun() takes means of four steps at either end, and the last evaluation", () => {
  const rows = Array.from({ length: 6 }, (_, step): MetricsRow => ({
    ...metricsRow(report()),
    step,
    reward: step,
    ...(step === 0 || step === 4 ? { eval_pass: step / 8 } : {}),
  }));
  const { first4, last4, evalPass } = summarizeRun(rows);
  assertEquals([first4.reward, last4.reward, evalPass], [1.5, 3.5, 0.5]);
  assertEquals([first4.eval_pass, "step" in first4], [0, false]);
  assertEquals(summarizeRun(rows.slice(1, 3)).evalPass, null);
});
