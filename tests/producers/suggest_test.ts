/** Guesses which metric an unknown key may be. */
import { assert, assertEquals } from "@std/assert";
import { interpret } from "../../src/producers/interpret.ts";
import { producerById } from "../../src/producers/producers.ts";
import { resemblances, suggestMetric } from "../../src/producers/suggest.ts";
import { keysOf } from "./key_sets.ts";
import { logWithKeys } from "./log_of.ts";

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
      "vocab_size",
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

Deno.test("resemblances() gives names that are understood once --map has given them to their keys", () => {
  for (
    const others of [["loss"], keysOf("trl", "GRPO of 2026 with vLLM"), keysOf("verl", "TinyZero")]
  ) {
    const theirs = [
      "gradNormTotal",
      "fraction_truncated",
      "val_accuracy_b",
      "ref_kl_nats",
      "humidity",
    ];
    const view = interpret(logWithKeys([...others, ...theirs]), { settings: {} });
    const found = resemblances(view);
    assert(found.length >= 3, JSON.stringify(found));
    assert(!found.some(({ key }) => key === "humidity"));
    const names = new Map(found.map(({ key, name }) => [key, name]));
    const renamed = [...others, ...theirs.map((key) => names.get(key) ?? key)];
    const again = interpret(logWithKeys(renamed), { settings: {} });
    assertEquals(again.unknown, theirs.filter((key) => !names.has(key)));
    assertEquals(again.producer?.id, view.producer?.id);
  }
});

Deno.test("resemblances() suggests no name that the log has", () => {
  const view = interpret(logWithKeys(["grad_norm", "gradient_normm"]), { settings: {} });
  assertEquals(resemblances(view), []);
});
