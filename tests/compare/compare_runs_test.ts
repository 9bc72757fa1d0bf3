/** Tests of two runs compared step by step: what parts first, equal bits, and definitions that must not be mixed up. */
import { assert, assertAlmostEquals, assertEquals, assertMatch } from "@std/assert";
import { type ComparedRun, compareRuns } from "../../src/compare/compare_runs.ts";
import { noiseOf, PARTING_STEPS, partingOf } from "../../src/compare/parting.ts";
import { equalSentence, partingSentence, settingTexts } from "../../src/compare/run_sentences.ts";
import { randomSequence } from "../../src/core/rng.ts";
import { definitionRelation } from "../../src/compare/definition_difference.ts";
import type { MetricDefinition } from "../../src/producers/definition.ts";
import { PRODUCERS } from "../../src/producers/producers.ts";
import type { MeasuredSeries } from "../../src/producers/run_view.ts";
import { interpret } from "../../src/producers/interpret.ts";
import { logOf } from "../producers/log_of.ts";

type Row = Record<string, number>;

function runOf(rows: readonly Row[], changes: Partial<ComparedRun> = {}): ComparedRun {
  const view = interpret(logOf(rows), { settings: {} });
  return { path: "run", view, settings: {}, isOwn: false, ...changes };
}

/** Rows of a TRL run; `of` gives further keys. */
function trl(of: (step: number) => Row, count = 40): Row[] {
  return Array.from({ length: count }, (_, step) => ({
    reward: 0.5,
    reward_std: 0.3,
    frac_reward_zero_std: 0.1,
    "completions/mean_length": 200,
    "completions/clipped_ratio": 0.01,
    ...of(step),
  }));
}

/** Rows of a verl run. */
function verl(of: (step: number) => Row, count = 40): Row[] {
  return Array.from({ length: count }, (_, step) => ({
    "critic/score/mean": 0.5,
    "critic/rewards/mean": 0.5,
    "actor/pg_loss": 0.01,
    "actor/grad_norm": 0.4,
    "response_length/mean": 300,
    "actor/lr": 1e-6,
    ...of(step),
  }));
}

/** Reproducible noise by step. */
function noise(seed: number, size: number): (step: number) => number {
  return (step) => size * randomSequence({ seed, stream: 3, step }).normal();
}

Deno.test("noiseOf() is the standard deviation of independent noise, whatever the trend and a few jumps", () => {
  const draw = noise(1, 0.2);
  const differences = Array.from(
    { length: 2000 },
    (_, i) => draw(i) + 0.001 * i + (i === 900 ? 50 : 0),
  );
  assertAlmostEquals(noiseOf(differences), 0.2, 0.02);
  // By hand: changes 1, 1, 3; their median 1.
  assertAlmostEquals(noiseOf([0, 1, 2, -1]), 1.4826 / Math.SQRT2, 1e-12);
});

Deno.test("partingOf() finds the first of five steps that differ beyond the noise, and passes over spikes", () => {
  const [one, two] = [noise(2, 0.1), noise(3, 0.1)];
  const steps = Array.from({ length: 60 }, (_, i) => i);
  const shifted = (from: number, by: number, spike = -1) => ({
    steps,
    first: steps.map((i) => one(i) + (i >= from ? by : 0) + (i === spike ? 99 : 0)),
    second: steps.map(two),
  });
  assertEquals(partingOf(shifted(30, 3))?.step, 30);
  assertEquals(partingOf(shifted(100, 0, 20)), undefined);
  assertEquals(partingOf(shifted(100, 0)), undefined);
  const few = shifted(0, 9);
  assertEquals(
    partingOf({
      steps: steps.slice(0, 5),
      first: few.first.slice(0, 5),
      second: few.second.slice(0, 5),
    }),
    undefined,
  );
});

Deno.test("partingOf() takes rounding for no difference, and a constant one for a difference without noise", () => {
  const steps = Array.from({ length: 20 }, (_, i) => i);
  const [first, second] = [steps.map(() => 0.12), steps.map(() => 0.123)];
  const common = { steps, first, second };
  assertEquals(partingOf(common, [{ decimals: 2 }, undefined]), undefined);
  assertEquals(partingOf(common), { step: 0, first: 0.12, second: 0.123, inNoise: null });
});

Deno.test("compareRuns() names the metric that parts first, at its step, and those that do not", () => {
  const [a, b] = [noise(4, 0.02), noise(5, 0.02)];
  const comparison = compareRuns(
    runOf(trl((step) => ({ entropy: 1 + a(step), grad_norm: 0.3 + a(step + 100) }))),
    runOf(trl((step) => ({
      entropy: 1 + b(step) - (step >= 20 ? 0.5 : 0),
      grad_norm: 0.3 + b(step + 100) + (step >= 12 ? 0.4 : 0),
    }))),
  );
  const parts = comparison.metrics.filter(({ verdict }) => verdict === "parts");
  // Steps are counted from 1.
  assertEquals(parts.map(({ metric, parting }) => [metric, parting?.step]), [
    ["grad_norm", 13],
    ["entropy", 21],
  ]);
  assert((parts[0].parting?.inNoise ?? 0) > 8);
  assertMatch(
    partingSentence(comparison),
    /^First to part is grad_norm, from step 13 on: 0\.\d+ against 0\.\d+/,
  );
  const together = comparison.metrics.filter(({ verdict }) => verdict === "together");
  assert(together.some(({ metric }) => metric === "reward"));
});

Deno.test("compareRuns() never finds that one run with other seeds of the noise parts", () => {
  for (let seed = 10; seed < 30; seed++) {
    const of = (own: number) =>
      runOf(trl((step) => {
        const draw = (key: number) => noise(own, 0.05)(step + 1000 * key);
        return {
          reward: 0.2 + step / 100 + draw(1),
          entropy: 1 - step / 100 + draw(2),
          grad_norm: 0.3 + draw(3),
        };
      }, 100));
    const { metrics } = compareRuns(of(seed), of(seed + 100));
    assertEquals(metrics.filter(({ verdict }) => verdict === "parts"), []);
  }
});

Deno.test("compareRuns() tells a setting that a run does not have from one that its log does not tell", () => {
  const own = runOf(trl(() => ({})), { settings: { seed: 0, clipLow: null, lr: 1 }, isOwn: true });
  const foreign = runOf(trl(() => ({})), { settings: { lr: 2, num_generations: 8 } });
  const textsOf = (a: ComparedRun, b: ComparedRun) =>
    compareRuns(a, b).settings.map((one) => [one.name, ...settingTexts(one)]);
  assertEquals(textsOf(own, foreign), [
    ["seed", "0", "not told"],
    ["clipLow", "none", "not told"],
    ["lr", "1", "2"],
    ["num_generations", "none", "8"],
  ]);
  assertEquals(textsOf(own, { ...own, settings: { seed: 0, clipLow: 0.2, lr: 1 } }), [
    ["clipLow", "none", "0.2"],
  ]);
  // A seed of which the other log tells nothing is no seed that differs.
  assertEquals(textsOf(foreign, { ...foreign, settings: { lr: 2 } }), [
    ["num_generations", "8", "not told"],
  ]);
});

Deno.test("compareRuns() says until which step equal settings gave equal bits, and what differs first", () => {
  const settings = { algorithm: "grpo", seed: 1 };
  const of = (from: number) =>
    runOf(
      trl((step) => ({ entropy: 1 / (step + 3) + (step >= from ? 2 ** -50 : 0), step_time: from })),
      { settings, isOwn: true },
    );
  const parted = compareRuns(of(7), of(99));
  assertEquals([parted.isSameSetup, parted.equal?.equalSteps, parted.equal?.firstDifferent], [
    true,
    7,
    8,
  ]);
  assertEquals(parted.equal?.keys.map(({ key }) => key), ["entropy"]);
  assertMatch(
    equalSentence(parted),
    /^Same settings and seed: equal bit for bit until step 8, then entropy /,
  );
  assertEquals(
    equalSentence(compareRuns(of(7), of(7))),
    "Same settings and seed: equal bit for bit in all 40 common steps.",
  );
  const other = compareRuns(
    of(7),
    runOf(trl(() => ({})), { settings: { algorithm: "rloo", seed: 1 } }),
  );
  assertEquals(other.isSameSetup, false);
  assertEquals(other.settings, [{
    name: "algorithm",
    values: ["grpo", "rloo"],
    isTold: [true, true],
  }]);
});

Deno.test("compareRuns() never compares the steps of frameworks that count different things", () => {
  const comparison = compareRuns(
    runOf(trl(() => ({ entropy: 1 }))),
    runOf(verl(() => ({ "actor/entropy": 3 }))),
  );
  assertEquals([comparison.isAligned, comparison.equal], [false, null]);
  assertMatch(comparison.whyNotAligned ?? "", /optimizer step.*rollout/);
  assertEquals(comparison.metrics.filter(({ verdict }) => /parts|together/.test(verdict)), []);
});

Deno.test("compareRuns() of two frameworks compares what is defined alike, and nothing else", () => {
  const skyrl = Array.from({ length: 40 }, () => ({
    "reward/avg_raw_reward": 0.9,
    "generate/avg_num_tokens": 250,
    "policy/policy_entropy": 2,
    "policy/policy_lr": 1e-6,
    "loss/avg_final_rewards": 0.8,
    "policy/raw_grad_norm": 0.4,
  }));
  const comparison = compareRuns(runOf(verl(() => ({ "actor/entropy": 1 }))), runOf(skyrl));
  assertEquals(comparison.trainers, ["verl", "SkyRL"]);
  const of = (metric: string) => comparison.metrics.find((one) => one.metric === metric);
  assertEquals(of("reward")?.verdict, "parts");
  assertEquals(of("entropy")?.verdict, "parts");
  // verl counts what tools answered, so 300 against 250 may be the same answers.
  assertEquals(of("length")?.verdict, "not-checkable");
  assertEquals(of("learning_rate")?.verdict, "together");
});

Deno.test("compareRuns() tells a difference of definitions from one of the runs", () => {
  const openrlhf = Array.from({ length: 40 }, () => ({
    reward: 0.5,
    ppo_kl: 0.01,
    actor_lr: 1e-6,
    policy_loss: 0.1,
    response_length: 100,
  }));
  const slime = Array.from({ length: 40 }, () => ({
    "rollout/raw_reward": 0.5,
    "train/ppo_kl": 0.3,
    "train/pg_loss": 0.1,
    "train/grad_norm": 0.5,
    "train/entropy_loss": 1,
    "rollout/response_lengths": 100,
    "rollout/step": 1,
  }));
  const comparison = compareRuns(runOf(openrlhf), runOf(slime));
  const kl = comparison.metrics.find(({ metric }) => metric === "kl_old");
  assertEquals([kl?.verdict, kl?.parting], ["not-comparable", undefined]);
  assertMatch(kl?.why ?? "", /averaged over something else: tokens against sequences/);
  assertEquals(kl?.definitions?.length, 2);
});

Deno.test(`compareRuns() checks nothing of ${PARTING_STEPS} common steps or fewer`, () => {
  const of = (value: number) => runOf(trl(() => ({ entropy: value }), PARTING_STEPS));
  const { metrics } = compareRuns(of(1), of(9));
  assert(metrics.length > 4);
  assertEquals(new Set(metrics.map(({ verdict }) => verdict)), new Set(["not-checkable"]));
});

Deno.test("definitionRelation() calls two definitions of any two frameworks the same only where all that is known of them is", () => {
  const seriesOf = (definition: MetricDefinition): MeasuredSeries => ({
    key: String(definition.key),
    axis: 0,
    steps: Float64Array.of(0, 1),
    values: Float64Array.of(1, 1),
    isNull: new Uint8Array(2),
    rows: new Uint32Array(2),
    definition,
    part: "",
  });
  let same = 0;
  for (const one of PRODUCERS) {
    for (const two of PRODUCERS) {
      for (const a of one.definitions) {
        for (const b of two.definitions.filter(({ metric }) => metric === a.metric)) {
          const relation = definitionRelation(seriesOf(a), seriesOf(b), {
            isSameFramework: one.id === two.id,
          });
          if (relation.kind !== "same") continue;
          same++;
          const fields = ({ unit, quantity, over }: MetricDefinition) => [unit, quantity, over];
          assertEquals(fields(a), fields(b));
          const isEqual = a.says === b.says;
          assert(isEqual || one.id !== two.id, `${one.id}: ${a.key} and ${b.key}`);
          assert(
            isEqual || a.quantity !== "plain" || ["reward", "learning_rate"].includes(a.metric),
            `${one.id} ${a.key} and ${two.id} ${b.key}`,
          );
        }
      }
    }
  }
  assert(same > 500);
});

Deno.test("compareRuns() does not take a reward after a penalty for one before it", () => {
  const of = (key: string) =>
    runOf(Array.from({ length: 40 }, () => ({
      "actor/ppo_kl": 0.001,
      "actor/pg_loss": 0.01,
      "actor/grad_norm": 0.4,
      "response_length/mean": 300,
      [key]: key === "critic/score/mean" ? 0.5 : 0.2,
    })));
  const comparison = compareRuns(of("critic/score/mean"), of("critic/rewards/mean"));
  const reward = comparison.metrics.find(({ metric }) => metric === "reward");
  assertEquals([reward?.keys, reward?.verdict], [
    ["critic/score/mean", "critic/rewards/mean"],
    "not-checkable",
  ]);
});
