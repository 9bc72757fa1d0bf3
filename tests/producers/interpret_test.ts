/** A log with its meaning: eras, definitions that fit or do not, parts, settings, and what stays unknown. */
import { assert, assertEquals } from "@std/assert";
import { interpret } from "../../src/producers/interpret.ts";
import { producerById } from "../../src/producers/producers.ts";
import { KEY_SETS, keysOf } from "./key_sets.ts";
import { logOf, logWithKeys } from "./log_of.ts";

const NO_SETTINGS = { settings: {} };
const viewOf = (keys: Iterable<string>) => interpret(logWithKeys(keys), NO_SETTINGS);

for (const { id, name, keys } of KEY_SETS) {
  Deno.test(`interpret() knows every key of ${name} of ${id}`, () => {
    const view = viewOf(keys);
    assertEquals(view.unknown, []);
    assert(view.understood.length > 0);
  });
}

Deno.test("interpret() lists what has no meaning, in the order of the file", () => {
  const view = viewOf([...keysOf("trl", "GRPO of 2026 with vLLM"), "my_metric", "a/b"]);
  assertEquals(view.unknown, ["my_metric", "a/b"]);
});

/** Rows of a GRPO run with one reward function, whose spreads are given. */
const grpo = (spreads: readonly (readonly [whole: number, own: number])[]) =>
  logOf(spreads.map(([reward_std, own], row) => ({
    loss: 0.01 * row,
    reward: 0.5,
    reward_std,
    kl: 0.01,
    "rewards/f/mean": 0.5,
    "rewards/f/std": own,
    "completions/mean_length": 100,
    "completions/clipped_ratio": 0.1,
  })));

Deno.test("interpret() hands out reward_std only for what all eras that fit agree on", () => {
  const view = viewOf(keysOf("trl", "GRPO of 2026 with vLLM"));
  assertEquals(view.era, undefined);
  assertEquals(view.measured("reward_std", { quantity: ["group_std"] }), undefined);
  assertEquals(view.measured("reward_std", { quantity: ["batch_std"] }), undefined);
  const any = view.measured("reward_std");
  assertEquals(any?.definition.quantity, "chosen_at_runtime");
  assertEquals(any?.key, "reward_std");
  const both = ["std_used_for_scaling", "batch_std", "group_std"] as const;
  assertEquals(view.measured("reward_std", { quantity: both })?.key, "reward_std");
});

Deno.test("interpret() tells by values that reward_std is the batch's or the groups'", () => {
  const batch = interpret(grpo([[0.4, 0.4], [0.3, 0.3001], [0.2, 0.2]]), NO_SETTINGS);
  assertEquals(batch.measured("reward_std", { quantity: ["batch_std"] })?.values[2], 0.2);
  assertEquals(batch.measured("reward_std", { quantity: ["group_std"] }), undefined);
  const weighted = interpret(grpo([[0.8, 0.4], [0.6, 0.3], [0.4, 0.2]]), NO_SETTINGS);
  assertEquals(weighted.measured("reward_std", { quantity: ["batch_std"] })?.key, "reward_std");
  const groups = interpret(grpo([[0.1, 0.4], [0.25, 0.3], [0, 0.2]]), NO_SETTINGS);
  assertEquals(groups.measured("reward_std", { quantity: ["batch_std"] }), undefined);
  assertEquals(
    groups.measured("reward_std", { quantity: ["group_std", "std_used_for_scaling"] })?.key,
    "reward_std",
  );
});

Deno.test("interpret() tells TRL's first names by the keys, and reads their definitions", () => {
  const view = viewOf(keysOf("trl", "GRPO of early 2025"));
  assertEquals(view.era?.id, "to-0.15");
  assertEquals(view.measured("reward_std", { quantity: ["group_std"] })?.key, "reward_std");
  assertEquals(view.measured("length")?.key, "completion_length");
  assertEquals(view.all("reward_component").map(({ part }) => part), [
    "accuracy_reward",
    "format_reward",
  ]);
});

Deno.test("interpret() tells no era where no name of one shows", () => {
  const view = viewOf(keysOf("trl", "a console with one function"));
  assertEquals(view.era, undefined);
  assertEquals(view.measured("reward_std", { quantity: ["group_std"] }), undefined);
  assertEquals(view.measured("reward_std")?.key, "reward_std");
});

Deno.test("interpret() reads keys behind a tracker's prefix, an evaluation's apart", () => {
  const view = viewOf(keysOf("trl", "GRPO as Weights & Biases has it"));
  assertEquals(view.measured("reward")?.key, "train/reward");
  assertEquals(view.all("reward_component").map(({ key, part }) => [key, part]), [
    ["train/rewards/tests_pass/mean", "tests_pass"],
  ]);
  assertEquals(view.measured("eval_score")?.key, "eval/reward");
  assert(!view.all("reward").some(({ key }) => key.startsWith("eval")));
});

Deno.test("interpret() gives a rule no key whose definition is another", () => {
  const ppo = viewOf(keysOf("trl", "PPO"));
  assertEquals(ppo.measured("kl_reference", { quantity: ["k3", "k2"] }), undefined);
  assertEquals(ppo.measured("kl_reference", { quantity: ["k1_sum"] })?.key, "objective/kl");
  const verl = viewOf(keysOf("verl", "GRPO of 2026"));
  assertEquals(verl.measured("gap", { quantity: ["abs_log_prob"] }), undefined);
  assertEquals(verl.measured("gap")?.key, "training/rollout_probs_diff_mean");
  assertEquals(verl.measured("kl_old", { over: ["samples"] }), undefined);
});

Deno.test("interpret() prefers the definition that stands first, and still lists the others", () => {
  const view = viewOf(keysOf("verl", "GRPO of 2026"));
  assertEquals(view.all("reward").map(({ key }) => key), [
    "critic/score/mean",
    "critic/rewards/mean",
  ]);
  assertEquals(view.all("eval_score").map(({ key, part }) => [key, part]), [
    ["val-core/openai/gsm8k/reward/mean@8", "openai/gsm8k/reward"],
  ]);
});

Deno.test("interpret() tells verl's eras by the names of the entropy", () => {
  assertEquals(viewOf(keysOf("verl", "TinyZero")).era?.id, "2024");
  assertEquals(viewOf(keysOf("verl", "GRPO of 2026")).era?.id, "2025-04");
});

Deno.test("interpret() tells no era of verl without an entropy", () => {
  assertEquals(viewOf(keysOf("verl", "a panel or two")).era, undefined);
});

Deno.test("interpret() takes rLLM's solved tasks for shares only where they are none but shares", () => {
  const log = (none: number, all: number, partial: number) =>
    interpret(
      logOf([{ "batch/solve_none": none, "batch/solve_all": all, "batch/solve_partial": partial }]),
      NO_SETTINGS,
    );
  assertEquals(log(0.25, 0.25, 0.5).measured("all_solved")?.key, "batch/solve_all");
  assertEquals(log(2, 1, 5).measured("all_solved"), undefined);
  assertEquals(log(0, 1, 1).measured("all_solved"), undefined, "two tasks");
});

Deno.test("interpret() takes a producer's rounding for a series whose values do not contradict it", () => {
  const keys = { reward: 0.5, reward_std: 0.1, "completions/mean_length": 10 };
  const lossOf = (loss: number) =>
    interpret(logOf([{ ...keys, loss }]), NO_SETTINGS).measured("loss")?.rounding;
  assertEquals(lossOf(0.0123), { decimals: 4 });
  assertEquals(lossOf(0), { decimals: 4 });
  assertEquals(lossOf(0.01234567), undefined);
});

Deno.test("interpret() ranks settings: a flag outranks the file, and the file what keys imply", () => {
  const log = logWithKeys(keysOf("prime_rl", "2026"));
  const of = (ofFile: object, ofFlag: object) =>
    interpret({ ...log, settings: ofFile }, { settings: ofFlag }).settings.updatesPerBatch;
  assertEquals(of({}, {}), { value: 1, from: "implied" });
  assertEquals(of({ updatesPerBatch: 2 }, {}), { value: 2, from: "file" });
  assertEquals(of({ updatesPerBatch: 2 }, { updatesPerBatch: 3 }), { value: 3, from: "flag" });
});

Deno.test("interpret() infers the KL coefficient where the keys tell it, and only there", () => {
  const trl = keysOf("trl", "GRPO of 2026 with vLLM");
  assertEquals(viewOf(trl).settings.klCoef, undefined);
  const without = trl.filter((key) => key !== "kl");
  assertEquals(viewOf(without).settings.klCoef, { value: 0, from: "implied" });
  assertEquals(viewOf(["completions/mean_length", "reward"]).settings.klCoef, undefined);
  const verl = logOf([{ "actor/kl_coef": 0.001, "critic/score/mean": 1, "actor/ppo_kl": 0 }]);
  assertEquals(interpret(verl, NO_SETTINGS).settings.klCoef, { value: 0.001, from: "implied" });
});

Deno.test("interpret() hands nobody's log to rules that need no definition", () => {
  const view = viewOf(["reward", "loss", "entropy", "grad_norm", "kl", "time_s"]);
  assertEquals(view.producer, undefined);
  assertEquals(view.measured("reward")?.key, "reward");
  assertEquals(view.measured("entropy", { quantity: ["full"] }), undefined);
  assertEquals(view.measured("kl_reference"), undefined, "a bare kl may be to anything");
  assertEquals(view.unknown, ["kl", "time_s"]);
});

Deno.test("interpret() takes the producer of the form, and the user's word before it", () => {
  const log = logOf([{ loss: 1, grad_norm: 1, learning_rate: 1, epoch: 1 }], { producer: "verl" });
  assertEquals(interpret(log, NO_SETTINGS).producer?.id, "verl");
  const trl = producerById("trl");
  assertEquals(interpret(log, { settings: {}, producer: trl }).producer?.id, "trl");
});

Deno.test("interpret() says what a run trains by", () => {
  const kindOf = (keys: readonly string[]) => viewOf(keys).producer?.kind;
  assertEquals(kindOf(keysOf("trl", "PPO")), "rl");
  assertEquals(kindOf(keysOf("trl_sft", "SFTTrainer")), "sft");
  assertEquals(kindOf(keysOf("trl_sft", "Trainer")), "sft");
  assertEquals(kindOf(keysOf("trl_dpo", "DPO")), "preference");
});

Deno.test("interpret() counts the steps of the run that survived a restart", () => {
  const log = logOf([{ reward: 1 }, { reward: 2 }, { reward: 3 }]);
  assertEquals(interpret(log, NO_SETTINGS).steps, Float64Array.of(1, 2, 3));
  // Steps 2 and 3 were taken back: a restart at 2 wrote only 2 again.
  const restarted = {
    ...log,
    rows: {
      count: 4,
      steps: Float64Array.of(1, 2, 3, 2),
      files: new Uint32Array(4),
      lines: Uint32Array.of(1, 2, 3, 4),
      axes: new Uint32Array(4),
      stretches: Uint32Array.of(0, 0, 0, 1),
    },
    seams: [{ axis: 0, row: 3, lastStep: 3, nextStep: 2 }],
  };
  assertEquals(interpret(restarted, NO_SETTINGS).steps, Float64Array.of(1, 2));
});

Deno.test("interpret() of a log without columns has no series", () => {
  const view = interpret(logOf([]), NO_SETTINGS);
  assertEquals(view.measured("reward"), undefined);
  assertEquals(view.understood, []);
  assertEquals(view.steps.length, 0);
});
