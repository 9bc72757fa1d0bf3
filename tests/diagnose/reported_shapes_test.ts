/** Tests of judgeLog() on shapes from public reports, written with the keys of the framework and invented numbers. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Finding } from "../../src/diagnose/finding.ts";
import { inWords } from "../../src/core/mention.ts";
import { judgeLog } from "../../src/diagnose/findings/judge_log.ts";
import { firstToAct } from "../../src/diagnose/findings/order.ts";
import type { LogSettings } from "../../src/logs/run_log.ts";
import { RunLogBuilder } from "../../src/logs/run_log_builder.ts";
import { interpret } from "../../src/producers/interpret.ts";
import { uniforms } from "./synthetic_runs.ts";

type Rows = readonly (Readonly<Record<string, number | null>> & { readonly step: number })[];

function judge(rows: Rows, flags: LogSettings = {}): Finding[] {
  const builder = new RunLogBuilder();
  builder.beginFile("log.jsonl");
  rows.forEach(({ step, ...values }, i) => {
    builder.add(step, { line: i + 1 }, Object.entries(values));
  });
  const log = builder.finish({ path: "log.jsonl", form: "jsonl" });
  return judgeLog(interpret(log, { settings: flags }));
}

const graveIds = (findings: readonly Finding[]) =>
  findings.filter((one) => one.class === "violated" || one.class === "suspect").map(({ id }) => id);
const idsOf = (findings: readonly Finding[], kind: Finding["class"]) =>
  findings.filter((one) => one.class === kind).map(({ id }) => id);

/** Rows of TRL's GRPO: a reward that rises with noise. */
function grpo(
  count: number,
  change: (at: number, random: () => number, step: number) => Record<string, number | null> =
    () => ({}),
): Rows {
  const random = uniforms(11);
  return Array.from({ length: count }, (_, i) => {
    const at = i / (count - 1);
    return {
      step: i + 1,
      reward: 0.3 + 0.4 * at + 0.06 * (random() - 0.5),
      reward_std: 0.3 + 0.05 * random(),
      "completions/mean_length": 210 + 10 * random(),
      "completions/clipped_ratio": 0.02 * random(),
      entropy: 0.6 - 0.2 * at + 0.02 * random(),
      loss: 0.001 * random(),
      grad_norm: 0.3 + 0.1 * random(),
      learning_rate: 1e-6,
      ...change(at, random, i + 1),
    };
  });
}

Deno.test("most groups flat in a run that learns is a note with what is wasted", () => {
  const findings = judge(
    grpo(2400, (_, random) => random() < 1418 / 2400 ? { reward_std: 0 } : {}),
  );
  assertEquals(graveIds(findings), []);
  const flat = findings.find(({ id }) => id === "flat_groups");
  assertEquals(flat?.class, "note");
  assertMatch(flat!.sentence, /In 1,4\d\d of 2,400 rows all rewards are equal/);
});

Deno.test("groups of two that are flat now and then are a note, and say why", () => {
  const rows = grpo(200, (_, random) => random() < 89 / 200 ? { reward_std: 0 } : {});
  const findings = judge(rows, { groupSize: 2 });
  assertEquals(graveIds(findings), []);
  assertMatch(findings.find(({ id }) => id === "flat_groups")!.sentence, /Groups of 2 .* chance/);
});

Deno.test("an adapter start with a first KL far from 0 comes before the answers that grow", () => {
  for (const first of [1.1, 0.33]) {
    const findings = judge(grpo(100, (at, random) => ({
      kl: first * (1 - 0.2 * at) * (0.9 + 0.2 * random()),
      reward: 0.4 + 0.05 * random(),
      "completions/mean_length": 60 * 11 ** at,
    })));
    assertEquals(graveIds(findings), ["reference_is_not_start", "length_runaway"], String(first));
    assertEquals(findings[0]!.explains, ["length_runaway"]);
    assertEquals(firstToAct(findings)?.id, "reference_is_not_start");
  }
});

Deno.test("a PPO run with one spike of the gradient and a KL summed over the answer is healthy", () => {
  const random = uniforms(5);
  const findings = judge(Array.from({ length: 120 }, (_, i) => ({
    step: i + 1,
    "objective/kl": i === 0 ? 0 : 6.8 * (i / 120) + random(),
    "objective/scores": -1 + 2 * (i / 120) + 0.4 * random(),
    "objective/entropy": 60 - 10 * (i / 120) + 3 * random(),
    "objective/rlhf_reward": -1 + 1.5 * (i / 120) + 0.4 * random(),
    "policy/approxkl_avg": i === 0 ? 0 : 0.01 + 0.004 * random(),
    "policy/clipfrac_avg": i === 0 ? 0 : 0.05 + 0.01 * random(),
    "val/ratio": 1 + 0.002 * (random() - 0.5),
    "val/ratio_var": NaN,
    grad_norm: i === 15 ? 66 : 2.2 + random(),
    lr: 3e-6 * (1 - i / 120),
    eps: 1,
    episode: 64 * (i + 1),
  })));
  assertEquals(graveIds(findings), []);
  const spike = findings.find(({ id }) => id === "gradient_spike");
  assertEquals([spike?.class, spike?.step, spike?.value], ["note", 16, 66]);
});

Deno.test("of two equal zeros one is expected and the other is not, by the updates on a batch", () => {
  const rows = grpo(60, () => ({ "clip_ratio/region_mean": 0 }));
  const once = judge(rows, { updatesPerBatch: 1 });
  assert(idsOf(once, "expected").includes("zero_clip_expected"));
  assertEquals(graveIds(once), []);
  const often = judge(rows, { updatesPerBatch: 4 });
  assertEquals(graveIds(often), ["ratio_always_one"]);
  const unknown = judge(rows);
  assertEquals(graveIds(unknown), []);
  assertMatch(
    unknown.find(({ id }) => id === "zero_clip_expected")!.sentence,
    /With more it would be suspect/,
  );
});

Deno.test("NaN is told from the key that broke first, and what follows is not accused besides", () => {
  const findings = judge(Array.from({ length: 80 }, (_, i) => {
    const step = i + 1;
    const from = (first: number, value: number) => step >= first ? NaN : value;
    return {
      step,
      "critic/score/mean": step >= 44 ? 0 : 0.3 + 0.004 * i,
      "actor/old_log_prob_mean": from(41, -0.6),
      "actor/ppo_kl": from(41, 0.001),
      "actor/pg_loss": from(41, 0.01),
      "actor/grad_norm": from(42, 0.4),
      "actor/entropy": from(42, 0.5),
      "actor/lr": 1e-6,
      "response_length/mean": step >= 44 ? 1 : 300,
    };
  }));
  const [first] = findings;
  assertEquals([first?.id, first?.class, first?.key, first?.step], [
    "non_finite",
    "violated",
    "actor/old_log_prob_mean",
    41,
  ]);
  assertMatch(first!.sentence, /then actor\/ppo_kl from step 41, actor\/pg_loss from step 41/);
  assertEquals(firstToAct(findings)?.id, "non_finite");
});

Deno.test("a metric that is scaled by the micro-batches is not a fault of the training", () => {
  const random = uniforms(8);
  const findings = judge(Array.from({ length: 60 }, (_, i) => {
    const entropy = 0.6 - 0.002 * i + 0.01 * random();
    return {
      step: i + 1,
      "critic/score/mean": 0.3 + 0.005 * i + 0.05 * random(),
      "actor/entropy": entropy,
      "actor/entropy_loss": 8 * entropy * (1 + 0.01 * random()),
      "actor/grad_norm": 0.4 + 0.05 * random(),
      "actor/pg_loss": 0.01 * random(),
      "actor/lr": 1e-6,
      "response_length/mean": 300 + 10 * random(),
    };
  }));
  assertEquals(graveIds(findings), []);
  const scaled = findings.find(({ id }) => id === "metrics_contradict");
  assertEquals([scaled?.class, scaled?.key], ["note", "actor/entropy_loss"]);
  assertMatch(scaled!.sentence, /steadily 8\.0?\d? times as large/);
});

Deno.test("all answers cut in the last quarter outranks what follows from it, NaN included", () => {
  const findings = judge(grpo(80, (at) =>
    at < 0.6 ? {} : {
      "completions/clipped_ratio": 1,
      "completions/mean_length": 512,
      "completions/max_length": 512,
      reward: 0,
      reward_std: 0,
      kl: NaN,
    }));
  assertEquals(findings[0]?.id, "answers_cut");
  assert(findings[0]?.explains?.includes("flat_groups"), JSON.stringify(findings[0]));
  assertEquals(firstToAct(findings)?.id, "answers_cut");
  assertMatch(inWords(firstToAct(findings)!.next!), /max_completion_length/);
});

Deno.test("logs of other kinds of training are said to be such, and not accused", () => {
  const sft = judge(Array.from({ length: 40 }, (_, i) => ({
    step: i + 1,
    loss: 2 - 0.01 * i,
    grad_norm: i === 9 ? 500 : 1,
    learning_rate: 0,
    mean_token_accuracy: 0.5,
    epoch: i / 40,
  })));
  assertEquals(sft.map(({ id }) => id), ["not_rl"]);
  const dpo = judge(Array.from({ length: 40 }, (_, i) => ({
    step: i + 1,
    loss: 0.7 - 0.01 * i,
    "rewards/chosen": 0.1,
    "rewards/rejected": -0.1,
    "rewards/margins": 0.2,
    "rewards/accuracies": 0.6,
    "logps/chosen": -90,
    "logps/rejected": -100,
  })));
  assertEquals(dpo.map(({ id }) => id), ["not_rl"]);
});

Deno.test("a restart is a note, and a suspect where the learning rate or the reward jumps", () => {
  const first = grpo(60), again = grpo(100).slice(50);
  const clean = judge([...first, ...again]);
  assertEquals(idsOf(clean, "note").filter((id) => id === "restart_seam"), ["restart_seam"]);
  assertEquals(graveIds(clean), []);
  const jumped = judge([...first, ...again.map((row) => ({ ...row, learning_rate: 1e-5 }))]);
  assertEquals(graveIds(jumped), ["restart_seam"]);
  const lost = judge([...first, ...again.map((row) => ({ ...row, reward: 0.05 }))]);
  assert(graveIds(lost).includes("restart_seam"));
});

Deno.test("a log that begins late says so, and does not hold its first row against the start", () => {
  const findings = judge(
    grpo(60, () => ({ kl: 0.4 })).map((row) => ({ ...row, step: row.step + 300 })),
  );
  assert(idsOf(findings, "note").includes("past_erased"));
  assertEquals(graveIds(findings), []);
});

Deno.test("a reward of 0 is expected in distillation, and a silent reward function is not", () => {
  const rows = (extra: Record<string, number>) =>
    Array.from({ length: 40 }, (_, i) => ({
      step: i,
      "env/all/reward/total": 0,
      "optim/kl_sample_train_v1": 0.001,
      "optim/entropy": 0.4,
      "progress/batch": i,
      ...extra,
    }));
  const distilled = judge(rows({ teacher_kl: 0.8 }));
  assert(idsOf(distilled, "expected").includes("zero_reward_expected"));
  assertEquals(graveIds(distilled), []);
  assertEquals(graveIds(judge(rows({}))), ["flat_groups"]);
});

Deno.test("what a log lacks is said with the flag of its own framework", () => {
  const verl = judge(Array.from({ length: 20 }, (_, i) => ({
    step: i + 1,
    "critic/score/mean": 0.3 + 0.01 * (i % 3),
    "actor/entropy": 0.5,
    "actor/pg_clipfrac": 0.001,
    "actor/grad_norm": 0.3,
  })));
  const gap = verl.find(({ id }) => id === "sampler_trainer_gap");
  assertEquals([gap?.class, gap?.next], [
    "not-checkable",
    "actor_rollout_ref.rollout.calculate_log_probs=True",
  ]);
});

Deno.test("a writer that drops NaN is known by the key that stops appearing", () => {
  const rows = (goes: number) =>
    Array.from({ length: 60 }, (_, i) => ({
      step: i,
      "train/agg/effective/agent/reward/mean": 0.3 + 0.005 * i + 0.03 * (i % 2),
      "mismatch_kl/all/mean": 0.0007,
      "optim/lr": 1e-6,
      "optim/grad_norm": 0.2,
      "entropy/all/mean": 0.4,
      ...(i < goes ? { "loss/mean": 0.01 } : {}),
    }));
  const gone = judge(rows(40)).find(({ id }) => id === "non_finite");
  assertEquals([gone?.class, gone?.key, gone?.step], ["suspect", "loss/mean", 40]);
  assertEquals(graveIds(judge(rows(60))), []);
});

Deno.test("four evaluations that are all but lost tell of a hacked reward, four that dip do not", () => {
  const rows = (evaluations: readonly number[]) =>
    grpo(24, (at, random, step) => ({
      reward: 0.2 + 0.75 * at + 0.02 * random(),
      ...(step % 6 === 0 ? { eval_reward: evaluations[step / 6 - 1]! } : {}),
    }));
  assertEquals(graveIds(judge(rows([0.15, 0.225, 0, 0]))), ["reward_up_eval_down"]);
  assertEquals(graveIds(judge(rows([0.2, 0.225, 0.12, 0.15]))), []);
});

Deno.test("an entropy that is all but gone is a collapse where the noisy reward has gained little", () => {
  const rows = (gain: number) =>
    grpo(24, (at, random) => ({
      reward: 0.15 + gain * at + 0.12 * (random() - 0.5),
      entropy: 0.4 * Math.exp(-4 * at),
    }));
  assertEquals(graveIds(judge(rows(0))), ["entropy_collapse"]);
  assertEquals(graveIds(judge(rows(0.6))), []);
});
