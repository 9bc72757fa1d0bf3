/** Guesses which metric an unknown key may be. */
import { assertEquals } from "@std/assert";
import { producerById } from "../../src/producers/producers.ts";
import { suggestMetric } from "../../src/producers/suggest.ts";

Deno.test("suggestMetric() sees through spelling, order, synonyms and typing errors", () => {
  const guesses = {
    my_reward: "reward",
    avg_return: "reward",
    "trainer/gradient_norm": "grad_norm",
    "responses/length_mean": "length",
    meanRespLen: "length",
    policy_ent: "entropy",
    entrpy: "entropy",
    ref_kl: "kl_reference",
    clip_frac: "clip_fraction",
    learningRate: "learning_rate",
    trunc_ratio: "truncated",
    eval_accuracy: "eval_score",
    logp_difference: "gap",
    seconds_per_step: "step_time",
  } as const;
  for (const [key, metric] of Object.entries(guesses)) {
    assertEquals(suggestMetric(key), metric, key);
  }
});

Deno.test("suggestMetric() has no guess for what resembles nothing", () => {
  for (
    const key of [
      "temperature",
      "gpu_mem",
      "humidity",
      "x",
      "",
      "mean",
      "////",
      "0",
      "eval_loss",
      "value_loss",
      "prompt_length",
    ]
  ) {
    assertEquals(suggestMetric(key), undefined, key);
  }
});

Deno.test("suggestMetric() tries the names of the log's own producer first", () => {
  // TRL's `kl` is to the reference, whatever others call so.
  assertEquals(suggestMetric("my_kl", producerById("trl")), "kl_reference");
  assertEquals(suggestMetric("vllm_kl_mean", producerById("openrlhf")), "gap");
});
