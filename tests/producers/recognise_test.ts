/** Who wrote a log: realistic sets of keys, whole and minimal, and sets that are nobody's. */
import { assert, assertEquals } from "@std/assert";
import { METRICS } from "../../src/rl/metric_dictionary.ts";
import { producerById, PRODUCERS } from "../../src/producers/producers.ts";
import { namesOf, recogniseProducer, traitsOf } from "../../src/producers/recognise.ts";
import { KEY_SETS, keysOf, NOBODYS } from "./key_sets.ts";
import { logWithKeys } from "./log_of.ts";

const traits = (keys: Iterable<string>) => traitsOf(logWithKeys(keys));

for (const { id, name, keys } of KEY_SETS) {
  Deno.test(`recogniseProducer() takes ${name} for ${id} and is surer than of any other`, () => {
    assertEquals(recogniseProducer(traits(keys))?.id, id);
    const certainties = PRODUCERS.map((producer) => producer.recognise(traits(keys)))
      .sort((a, b) => b - a);
    assert(certainties.every((certainty) => certainty >= 0 && certainty <= 1));
    assert(certainties[0] > certainties[1], `${certainties}`);
  });
}

for (const [name, keys] of Object.entries(NOBODYS)) {
  Deno.test(`recogniseProducer() takes ${name} for nobody's`, () => {
    assertEquals(recogniseProducer(traits(keys))?.id, undefined);
  });
}

Deno.test("recogniseProducer() finds a producer behind a tracker's prefix, and with half its keys", () => {
  for (const { id, keys } of KEY_SETS) {
    if (id === "agentrl") continue; // Ours is a run only with every key.
    const behind = keys.map((key) => key.startsWith("train/") ? key : `train/${key}`);
    assertEquals(recogniseProducer(traits(behind))?.id, id, `train/ of ${keys}`);
  }
  const grpo = keysOf("trl", "GRPO of 2026 with vLLM");
  for (const rest of [0, 1]) {
    const half = grpo.filter((_, index) => index % 2 === rest);
    assertEquals(recogniseProducer(traits(half))?.id, "trl");
  }
});

/** Those on top of Hugging Face's Trainer share most of their keys; the other kinds of training are told by what they lack. */
const isSupervised = (id: string) => producerById(id)?.kind !== "rl";
const isOfTrainer = (id: string) => /^(?:trl|unsloth|ms_swift)/.test(id);

Deno.test("recogniseProducer() takes a mixed log for one of the two, or for neither where both are as sure", () => {
  let ties = 0;
  for (const [index, one] of KEY_SETS.entries()) {
    for (const other of KEY_SETS.slice(index + 1)) {
      // Together they may look like a third: the columns of a supervised run and another's reward.
      if (isOfTrainer(one.id) && isOfTrainer(other.id)) continue;
      if (isSupervised(one.id) || isSupervised(other.id)) continue;
      const mixed = traits(new Set([...one.keys, ...other.keys]));
      const [first, second] = PRODUCERS.map((producer) => producer.recognise(mixed))
        .sort((a, b) => b - a);
      const found = recogniseProducer(mixed)?.id;
      if (first === second) ties++;
      const expected: readonly (string | undefined)[] = first === second
        ? [undefined]
        : [one.id, other.id];
      const names = `${one.id} ${one.name} with ${other.id} ${other.name}`;
      assert(expected.includes(found), `${names}: ${found}`);
    }
  }
  assert(ties > 0, "no pair is as sure, so that the test says nothing of such");
});

Deno.test("recogniseProducer() takes the producer of the form unless the keys are surely another's", () => {
  const verl = producerById("verl");
  const rllm = keysOf("rllm", "with verl");
  assertEquals(recogniseProducer(traits(rllm), verl)?.id, "rllm");
  assertEquals(recogniseProducer(traits(keysOf("sft", "verl's SFT")), verl)?.id, "sft");
  assertEquals(recogniseProducer(traits(["actor/lr"]), verl)?.id, "verl");
  assertEquals(recogniseProducer(traits(keysOf("verl", "TinyZero")), verl)?.id, "verl");
});

Deno.test("recogniseProducer() takes a run for ours only with every key of a metrics row", () => {
  const keys = keysOf("agentrl", "metrics.jsonl");
  assertEquals([...keys].sort(), Object.keys(METRICS).sort(), "the fixture is the dictionary");
  const optional = new Set(["eval_pass", "eval_pass_low", "eval_pass_high", "kl_ref"]);
  for (const missing of keys) {
    const rest = keys.filter((key) => key !== missing);
    const expected = optional.has(missing) ? "agentrl" : undefined;
    assertEquals(recogniseProducer(traits(rest))?.id, expected, missing);
  }
});

Deno.test("namesOf() gives a key first and then what trackers made it of", () => {
  assertEquals(namesOf("reward"), ["reward"]);
  assertEquals(namesOf("train/reward"), ["train/reward", "reward"]);
  assertEquals(namesOf("eval/reward"), ["eval/reward", "eval_reward"]);
  assertEquals(namesOf("rewards / f / mean"), ["rewards / f / mean", "rewards/f/mean"]);
  assertEquals(namesOf("rollout/train/x"), ["rollout/train/x"]);
});

Deno.test("recogniseProducer() takes a pasted table of the Trainer with rewards for TRL, without its gradient", () => {
  const keys = ["loss", "reward", "reward_std", "completion_length", "kl", "rewards/tests_pass"];
  for (const form of ["markdown", "notebook"]) {
    assertEquals(recogniseProducer(traitsOf(logWithKeys(keys, { form })))?.id, "trl");
  }
  assertEquals(recogniseProducer(traitsOf(logWithKeys(keys, { form: "csv" })))?.id, undefined);
  const others = keys.filter((key) => key !== "reward_std");
  assertEquals(recogniseProducer(traitsOf(logWithKeys(others, { form: "markdown" }))), undefined);
});
