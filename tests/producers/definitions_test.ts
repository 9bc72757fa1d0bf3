/** The tables of definitions: complete sentences, one meaning a key and era, keys that match and neighbours that do not. */
import { assert, assertEquals } from "@std/assert";
import { CANONICAL, type CanonicalMetric, type Producer } from "../../src/producers/definition.ts";
import { GENERIC_DEFINITIONS, STATED_DEFINITIONS } from "../../src/producers/generic.ts";
import { keyText } from "../../src/producers/key_text.ts";
import { producerById, PRODUCERS } from "../../src/producers/producers.ts";
import { entriesOf, readKey, wholeKey } from "../../src/producers/read_keys.ts";
import { KEY_SETS } from "./key_sets.ts";

/** Each era by itself; a producer without eras has one that is always told. */
function erasOf(producer: Producer): (ReadonlySet<string> | undefined)[] {
  return producer.eras.length === 0
    ? [undefined]
    : producer.eras.map(({ id }) => new Set<string>([id]));
}

for (const producer of PRODUCERS) {
  const { id, definitions } = producer;

  Deno.test(`definitions of ${id} are sentences with a unit, a sane floor and known eras`, () => {
    assert(definitions.length > 0);
    for (const definition of definitions) {
      const { key, metric, says, zero, nan, unit, floor, eras, quantity } = definition;
      const name = `${id}: ${keyText(key)}`;
      assert(Object.hasOwn(CANONICAL, metric), name);
      assert(unit.length > 0, name);
      assert(/^\S.*[^.]\.$/.test(says), `${name}: ${says}`);
      for (const text of [zero, nan]) assert(text === undefined || /\.$/.test(text), name);
      if (floor) {
        assert(floor.healthy >= 0 && floor.look >= floor.healthy, name);
        assert(floor.from.length > 10, `${name} must say who gives the bound`);
      }
      if (quantity === "abs_probability") assertEquals(unit, "probability", name);
      if (quantity === "exp_abs_log_prob") assertEquals(unit, "ratio", name);
      if (["k1", "k1_sum", "signed_log_prob"].includes(quantity)) {
        assertEquals(definition.signed, true, `${name} can be negative`);
      }
      const known = new Set(producer.eras.map((era) => era.id));
      assert((eras ?? []).every((era) => known.has(era)), `${name}: ${eras}`);
    }
  });

  Deno.test(`definitions of ${id} name no key twice in an era`, () => {
    for (const eras of erasOf(producer)) {
      const keys = entriesOf(definitions, eras).map(({ definition }) => String(definition.key));
      assertEquals(keys.filter((key, index) => keys.indexOf(key) !== index), []);
    }
  });
}

Deno.test("definitions give each key of a real set at most one meaning in an era", () => {
  for (const { id, keys } of KEY_SETS) {
    const producer = producerById(id);
    if (!producer) throw new RangeError(`There is no producer ${id}`);
    for (const eras of erasOf(producer)) {
      const entries = entriesOf(producer.definitions, eras);
      for (const key of keys) {
        const reading = readKey(key, entries);
        assert((reading?.candidates.length ?? 1) === 1, `${id}: ${key} has several meanings`);
      }
    }
  }
});

Deno.test("definitions: names and ids of producers are unique, and every era has a title", () => {
  for (const  of of["id", "title"] as const) {
    assertEquals(new Set(PRODUCERS.map((one) => one[of])).size, PRODUCERS.length);
  }
  for (const { eras } of PRODUCERS) {
    assertEquals(new Set(eras.map(({ id }) => id)).size, eras.length);
    assert(eras.every(({ title }) => title.length > 0));
  }
});

/** What the findings ask for. */
const NEEDED: readonly CanonicalMetric[] = [
  "reward",
  "reward_component",
  "eval_score",
  "truncated",
  "length",
  "flat_groups",
  "entropy",
  "kl_reference",
  "kl_old",
  "ratio",
  "clip_fraction",
  "gap",
  "gap_max",
  "loss",
  "grad_norm",
  "learning_rate",
  "step_time",
];

/** What a producer does not log by itself, and where one has to look instead. */
const NOT_LOGGED: Readonly<Record<string, readonly CanonicalMetric[]>> = {
  trl: [],
  // Rewards by part, groups and ratios are in the rollout files only.
  verl: ["reward_component", "flat_groups", "ratio"],
  // Sampler and trainer are compared directly: there is no old policy and no reference in the default loss. Flat groups are
  // those of all_solved and none_solved.
  prime_rl: ["flat_groups", "kl_reference", "kl_old", "ratio", "clip_fraction"],
};

for (const [id, missing] of Object.entries(NOT_LOGGED)) {
  Deno.test(`definitions of ${id} hold every metric that findings ask for, but what it does not log`, () => {
    const has = new Set(producerById(id)?.definitions.map(({ metric }) => metric));
    assertEquals(NEEDED.filter((metric) => !has.has(metric)), missing);
  });
}

Deno.test("definitions of our names cover every metric, and what is said of them has its unit", () => {
  const names = new Set(GENERIC_DEFINITIONS.map(({ metric }) => metric));
  assertEquals(
    Object.keys(CANONICAL).filter((metric) => !names.has(metric as CanonicalMetric)),
    [],
  );
  const gap = STATED_DEFINITIONS.find(({ key }) => key === "gap:abs_probability");
  assertEquals([gap?.quantity, gap?.unit], ["abs_probability", "probability"]);
});

/** Keys that differ by little, with what they measure; undefined: nothing that rules use. */
const NEIGHBOURS: Readonly<
  Record<string, readonly (readonly [string, CanonicalMetric | undefined, string?])[]>
> = {
  trl: [
    ["rewards/x/mean", "reward_component", "x"],
    ["rewards/x/std", "reward_component_std", "x"],
    ["rewards/a/b/mean", "reward_component", "a/b"],
    ["reward", "reward"],
    ["reward_std", "reward_std"],
    ["kl", "kl_reference"],
    ["kl_loss", undefined],
    ["objective/kl", "kl_reference"],
    ["entropy", "entropy"],
    ["entropy_coef", undefined],
    ["loss", "loss"],
    ["Training Loss", "loss"],
    ["aux_loss", undefined],
    ["train_loss", undefined],
    ["eval_loss", undefined],
    ["eval_reward", "eval_score", ""],
    ["eval_math_reward", "eval_score", "math"],
    ["eval_reward_std", undefined],
    ["eval/reward", "eval_score", ""],
    ["completions/mean_length", "length"],
    ["completions/mean_terminated_length", "length_terminated"],
    ["completions/min_length", undefined],
    ["clip_ratio/region_mean", "clip_fraction", ""],
    ["clip_ratio/low_mean", "clip_fraction", "low"],
    ["clip_ratio/low_min", undefined],
    ["sampling/sampling_logp_difference/mean", "gap"],
    ["sampling/sampling_logp_difference/max", "gap_max"],
    ["sampling/importance_sampling_ratio/min", undefined],
    ["val/ratio", "ratio"],
    ["val/ratio_var", undefined],
  ],
  verl: [
    ["actor/entropy", "entropy"],
    ["actor/entropy_coeff", undefined],
    ["actor/kl_loss", "kl_reference"],
    ["actor/kl_coef", undefined],
    ["actor/ppo_kl", "kl_old"],
    ["critic/kl", "kl_reference"],
    ["critic/kl_coeff", undefined],
    ["actor/reward_kl_penalty", "kl_reference"],
    ["actor/reward_kl_penalty_coeff", undefined],
    ["actor/pg_clipfrac", "clip_fraction", ""],
    ["actor/pg_clipfrac_lower", "clip_fraction", "lower"],
    ["critic/score/mean", "reward"],
    ["critic/score/max", "reward_max"],
    ["critic/rewards/max", undefined],
    ["val-core/openai/gsm8k/acc/mean@16", "eval_score", "openai/gsm8k/acc"],
    ["val-core/openai/gsm8k/acc/best@16/mean", undefined],
    ["val-aux/openai/gsm8k/reward/mean@16", "eval_score", "openai/gsm8k/reward"],
    ["val-aux/num_turns/mean", undefined],
    ["training/rollout_probs_diff_mean", "gap"],
    ["training/rollout_probs_diff_max", "gap_max"],
    ["training/rollout_probs_diff_std", undefined],
    ["rollout_corr/kl", "gap"],
    ["rollout_corr/k3_kl", "gap"],
    ["mismatch/mismatch_k3_kl", "gap"],
    ["timing_s/step", "step_time"],
    ["timing_s/gen", undefined],
  ],
  prime_rl: [
    ["train/agg/effective/agent/reward/mean", "reward", ""],
    ["train/agg/all/agent/reward/mean", "reward", ""],
    ["train/agg/effective/agent/reward/p90", undefined],
    ["train/wordle/effective/agent/reward/mean", "reward_component", "wordle"],
    ["train/org/wordle/effective/agent/reward/mean", "reward_component", "org/wordle"],
    ["train/wordle/all/agent/reward/mean", undefined],
    ["reward/all/mean", "reward", ""],
    ["reward/wordle/mean", "reward_component", "wordle"],
    ["reward/wordle/max", undefined],
    ["mismatch_kl/all/mean", "gap"],
    ["mismatch_kl/all/max", "gap_max"],
    ["masked_mismatch_kl/mean", undefined],
    ["is_masked/mean", "masked_by_correction", ""],
    ["is_masked_low/mean", "masked_by_correction", "low"],
    ["eval/org/gsm8k/avg@8", "eval_score", "org/gsm8k"],
    ["eval/gsm8k/all/agent/reward/mean", "eval_score", "gsm8k"],
    ["eval/gsm8k/pass@8", undefined],
    ["entropy/all/mean", "entropy"],
    ["entropy/all/max", undefined],
  ],
  tinker: [
    ["env/all/reward/total", "reward", ""],
    ["env/gsm8k/reward/total", "reward_component", "gsm8k"],
    ["test/env/all/reward/total", "eval_score", "test"],
    ["test/env/gsm8k/reward/total", undefined],
    ["env/all/by_group/frac_mixed", undefined],
    ["optim/kl_sample_train_v1", "gap"],
    ["optim/kl_pre_post_v2", "kl_update"],
  ],
  openrlhf: [
    ["train/kl", "kl_reference"],
    ["train/ppo_kl", "kl_old"],
    ["train/vllm_kl", "gap"],
    ["rollout/reward_std", "reward_std"],
    ["eval/eval_aime_pass1", "eval_score", "aime"],
    ["eval/epoch", undefined],
  ],
  slime: [
    ["rollout/raw_reward", "reward"],
    ["rollout/rewards", undefined],
    ["eval/aime-2024", "eval_score", "aime-2024"],
    ["eval/aime-truncated_ratio", undefined],
    ["eval/aime/response_len/mean", undefined],
    ["eval/step", undefined],
    ["train/kl_loss", "kl_reference"],
    ["train/ppo_kl", "kl_old"],
    ["train/loss", "loss"],
  ],
  nemo_rl: [
    ["train/probs_ratio", "ratio"],
    ["train/probs_ratio_max", "ratio_max"],
    ["train/probs_ratio_clamped", undefined],
    ["train/probs_ratio_clamped_max", undefined],
    ["train/loss", "loss"],
    ["train/reward", "reward"],
  ],
  skyrl: [
    ["policy/loss_metrics/clip_ratio", "clip_fraction"],
    ["policy/policy_loss", "loss"],
    ["eval/openai/gsm8k/avg_score", "eval_score", "openai/gsm8k"],
    ["reward/avg_pass_at_8", undefined],
  ],
};

for (const [id, keys] of Object.entries(NEIGHBOURS)) {
  Deno.test(`definitions of ${id} match their keys and not the neighbours`, () => {
    const producer = producerById(id);
    if (!producer) throw new RangeError(`There is no producer ${id}`);
    const eras = producer.eras.at(-1);
    const entries = entriesOf(producer.definitions, eras && new Set([eras.id]));
    for (const [key, metric, part] of keys) {
      const reading = readKey(key, entries);
      assertEquals(reading?.metric, metric, key);
      if (part !== undefined) assertEquals(reading?.part, part, key);
    }
  });
}

Deno.test("wholeKey() matches nothing but the whole key, whichever alternative is first", () => {
  assert(wholeKey(/loss|train_loss/).test("train_loss"));
  assert(!wholeKey(/loss|train_loss/).test("aux_loss"));
});
