/** Tests of judgeLog() on what people paste: one row or a few, with the keys of the framework and invented numbers. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Finding } from "../../src/diagnose/finding.ts";
import { inWords } from "../../src/core/mention.ts";
import { judgeLog } from "../../src/diagnose/findings/judge_log.ts";
import { RunLogBuilder } from "../../src/logs/run_log_builder.ts";
import { interpret } from "../../src/producers/interpret.ts";
import { uniforms } from "./synthetic_runs.ts";

type Row = Readonly<Record<string, number | null>> & { readonly step: number };

function judge(rows: readonly Row[], axis = "step"): Finding[] {
  const builder = new RunLogBuilder();
  builder.beginFile("log");
  rows.forEach(({ step, ...values }, i) =>
    builder.add(step, { line: i + 1, axis }, Object.entries(values))
  );
  return judgeLog(interpret(builder.finish({ path: "log", form: "jsonl" }), { settings: {} }));
}

const find = (findings: readonly Finding[], id: string) => findings.find((one) => one.id === id);
const classOf = (findings: readonly Finding[], id: string) => find(findings, id)?.class;

const GRPO = {
  reward: 0.4,
  reward_std: 0.2,
  frac_reward_zero_std: 0,
  "completions/mean_length": 180.5,
  "completions/clipped_ratio": 0,
  kl: 0.0004,
  loss: 0.00012,
  grad_norm: 0.31,
  learning_rate: 1e-6,
} as const;

Deno.test("a row with most answers cut and all groups flat says both, as notes", () => {
  const findings = judge([{
    ...GRPO,
    step: 40,
    "completions/clipped_ratio": 0.8,
    frac_reward_zero_std: 1,
  }]);
  assertEquals(classOf(findings, "answers_cut"), "note");
  assertEquals(classOf(findings, "flat_groups"), "note");
  assertEquals(classOf(findings, "too_little"), "note");
  assertMatch(inWords(find(findings, "flat_groups")!.next!), /by hand/);
  const healthy = judge([{ ...GRPO, step: 40 }]);
  assertEquals(find(healthy, "answers_cut") ?? find(healthy, "flat_groups"), undefined);
});

Deno.test("a gradient of exactly 0 is suspect in one row where all groups differ, and not where a flat step may be behind it", () => {
  const zero = { ...GRPO, grad_norm: 0 };
  assertEquals(classOf(judge([{ ...zero, step: 5 }]), "gradient_zero_with_signal"), "suspect");
  const some = { ...zero, frac_reward_zero_std: 0.4 };
  // Of a mean over unknown steps the last may be flat; a step by itself has groups that differ.
  assertEquals(find(judge([{ ...some, step: 5 }]), "gradient_zero_with_signal"), undefined);
  assertEquals(classOf(judge([{ ...some, step: 1 }]), "gradient_zero_with_signal"), "suspect");
  const pair = [{ ...some, step: 9 }, { ...some, step: 10 }];
  assertEquals(classOf(judge(pair), "gradient_zero_with_signal"), "suspect");
  assertEquals(find(judge(pair, "row"), "gradient_zero_with_signal"), undefined);
  const moves = [...pair, { ...GRPO, step: 11 }];
  assertEquals(find(judge(moves), "gradient_zero_with_signal"), undefined);
  const flat = [{ ...zero, frac_reward_zero_std: 1, step: 1 }];
  assertEquals(find(judge(flat), "gradient_zero_with_signal"), undefined);
});

Deno.test("rows between two batches do not interrupt a gradient of 0", () => {
  const { frac_reward_zero_std: _flat, reward: _reward, reward_std: _std, ...between } = GRPO;
  const rows = Array.from({ length: 12 }, (_, i) => ({
    ...(i % 2 === 0 ? GRPO : between),
    grad_norm: 0,
    step: i + 1,
  }));
  assertEquals(classOf(judge(rows), "gradient_zero_with_signal"), "suspect");
});

const VERL = {
  "actor/pg_loss": -0.01,
  "actor/grad_norm": 0.2,
  "actor/kl_loss": 0.001,
  "actor/entropy_loss": 0.4,
  "critic/score/mean": 0.5,
  "critic/score/max": 1,
  "critic/score/min": 0,
  "critic/advantages/mean": 0.01,
} as const;

Deno.test("a loss that is NaN in all of a few rows is suspect, of the policy and of the critic", () => {
  const broken = { "actor/pg_loss": NaN, "actor/grad_norm": NaN, "actor/kl_loss": NaN };
  const policy = find(judge([{ ...VERL, ...broken, step: 83 }]), "non_finite");
  assertEquals([policy?.class, policy?.key], ["suspect", "actor/pg_loss"]);
  assertMatch(
    policy!.sentence,
    /actor\/kl_loss.*actor\/grad_norm|actor\/grad_norm.*actor\/kl_loss/,
  );
  const critic = find(judge([{ ...VERL, "critic/vf_loss": NaN, step: 1 }]), "non_finite");
  assertEquals([critic?.class, critic?.key], ["suspect", "critic/vf_loss"]);
  // A statistic that is not defined there is no fault.
  assertEquals(classOf(judge([{ ...VERL, "actor/kl_loss": NaN, step: 1 }]), "non_finite"), "note");
});

Deno.test("rewards whose best is the worst leave nothing to learn, which verl shows without groups", () => {
  const rows = (min: number, max: number) =>
    Array.from({ length: 20 }, (_, i) => ({
      ...VERL,
      "critic/score/mean": min,
      "critic/score/min": min,
      "critic/score/max": max,
      step: i + 1,
    }));
  const flat = find(judge(rows(0, 0)), "flat_groups");
  assertEquals(flat?.class, "suspect");
  assertEquals(classOf(judge(rows(0, 1)), "flat_groups"), "not-checkable");
});

Deno.test("groups are not missed where a value function stands in for them, and not checkable with half of their shares", () => {
  assertEquals(
    find(judge([{ ...VERL, "critic/vf_loss": 2.5, step: 1 }]), "flat_groups"),
    undefined,
  );
  const prime = { "mismatch_kl/all/mean": 0.0006, "loss/mean": 0.01, "optim/lr": 1e-6, step: 3 };
  const shares = {
    "train/agg/all/solved_none": 0.5,
    "train/agg/all/solved_all": 0.25,
    "train/agg/effective/solved_none": 0,
    "train/agg/effective/solved_all": 0,
  };
  const whole = find(judge([{ ...prime, ...shares }]), "flat_groups");
  // Before the filters, which leave none of them.
  assertEquals([whole?.class, whole?.value], ["note", 0.75]);
  const half = judge([{ ...prime, "train/agg/all/solved_all": 0.25 }]);
  assertEquals(classOf(half, "flat_groups"), "not-checkable");
});

/** Rows that are counted, with an epoch that begins at `from`, and a divergence that is large from the first on. */
function counted(from: number): Row[] {
  return Array.from({ length: 12 }, (_, i) => ({
    ...GRPO,
    kl: 0.9 + 0.01 * i,
    epoch: from + 0.02 * i,
    step: i + 1,
  }));
}

Deno.test("rows without steps are compared with the start only where their epoch begins there", () => {
  const start = judge(counted(0.02), "row");
  assertEquals(classOf(start, "reference_is_not_start"), "suspect");
  assertEquals(find(start, "past_erased"), undefined);
  const middle = judge(counted(0.31), "row");
  assertEquals(find(middle, "reference_is_not_start"), undefined);
  assertMatch(find(middle, "past_erased")!.sentence, /epoch 0\.31/);
});

/** A reward that surely rises, with evaluations at equal distances. */
function evaluated(scores: readonly number[], gain = 0.8): Row[] {
  const random = uniforms(5);
  return Array.from({ length: 100 }, (_, i) => ({
    ...GRPO,
    reward: 0.1 + gain * i / 99 + 0.03 * random(),
    step: i + 1,
    ...((i + 1) % 25 === 0 ? { eval_reward: scores[(i + 1) / 25 - 1] } : {}),
  }));
}

Deno.test("four evaluations that break down while the reward rises beyond doubt are suspect, noisy ones are not", () => {
  const findings = judge(evaluated([0.175, 0.25, 0, 0]));
  assertEquals(classOf(findings, "reward_up_eval_down"), "suspect");
  for (const scores of [[0.175, 0.25, 0.1, 0.05], [0.2, 0.05, 0, 0.1], [0, 0.2, 0, 0]]) {
    assertEquals(find(judge(evaluated(scores)), "reward_up_eval_down"), undefined);
  }
  // Without a reward that rises there is nothing to exploit.
  const level = judge(evaluated([0.175, 0.25, 0, 0], 0));
  assertEquals(find(level, "reward_up_eval_down"), undefined);
  assert(findings.length > 0);
});

Deno.test("a divergence far from 0 in the first step is a note by one row, and nothing where the step is not told", () => {
  const row = { ...GRPO, kl: 0.6, step: 1 };
  assertEquals(classOf(judge([row]), "reference_is_not_start"), "note");
  assertEquals(find(judge([row], "row"), "reference_is_not_start"), undefined);
  assertEquals(find(judge([{ ...row, step: 40 }]), "reference_is_not_start"), undefined);
  assertEquals(find(judge([{ ...row, kl: 0.004 }]), "reference_is_not_start"), undefined);
  const grows = [row, { ...row, kl: 6, step: 2 }];
  assertEquals(find(judge(grows), "reference_is_not_start"), undefined);
});
