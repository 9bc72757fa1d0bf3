/** Tests of src/diagnose/data_invariants.ts on recorded batches: partial evidence is enough, and no device is needed. */
import { assert, assertEquals } from "@std/assert";
import { at } from "../../src/core/element.ts";
import { randomSequence, STREAM } from "../../src/core/rng.ts";
import { mean } from "../../src/core/statistics.ts";
import { promisedAdvantages } from "../../src/diagnose/advantage_rule.ts";
import { repeatsWithin } from "../../src/diagnose/copies.ts";
import type {
  CheckedEpisode,
  CheckResult,
  KnownTrainer,
  LoadedMinibatch,
} from "../../src/diagnose/invariant.ts";
import { invariantKey, INVARIANTS } from "../../src/diagnose/invariant_list.ts";
import { checkInvariants, violated } from "../../src/diagnose/invariants.ts";
import {
  groupCenteredAdvantage,
  groupStandardizedAdvantage,
  leaveOneOutAdvantage,
} from "../../src/equations/advantage.ts";

const [PROBLEMS, GROUP, TOKENS] = [8, 8, 12] as const;
const B = PROBLEMS * GROUP;

/** A policy without context: log-probs of four tokens, here those of a small agent that is mostly sure. */
function policyOf(logits: readonly number[], temperature = 1) {
  const weights = logits.map((logit) => Math.exp(logit / temperature));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const p_V = weights.map((weight) => weight / total);
  const entropy = -p_V.reduce((sum, p) => sum + p * Math.log(p), 0);
  const variance = p_V.reduce((sum, p) => sum + p * (Math.log(p) + entropy) ** 2, 0);
  return { p_V, entropy, variance };
}

const LOGITS = [3, 1, 0.5, 0];

interface Sampled {
  readonly logits?: readonly number[];
  /** Of the sampler; the policy's own is 1. */
  readonly temperature?: number;
  readonly seed?: number;
  readonly step?: number;
  /** Tokens below this share of the likeliest are never drawn. */
  readonly minP?: number;
}

/** A prompt and 12 tokens of the policy each; what is recorded is the policy's own log-prob. */
function sample(options: Sampled = {}): (CheckedEpisode & { readonly ids: number[] })[] {
  const { logits = LOGITS, temperature = 1, seed = 0, step = 0, minP = 0 } = options;
  const random = randomSequence({ seed, stream: STREAM.experiment, step });
  const said = policyOf(logits);
  const { p_V } = policyOf(logits, temperature);
  const drawn_V = p_V.map((p) => p < minP * Math.max(...p_V) ? 0 : p);
  const total = drawn_V.reduce((sum, p) => sum + p, 0);
  const draw = () => {
    let rest = random.uniform() * total;
    const found = drawn_V.findIndex((p) => (rest -= p) < 0);
    return found < 0 ? 0 : found;
  };
  return Array.from({ length: B }, (_, b) => {
    const tokens = Array.from({ length: TOKENS }, draw);
    return {
      ids: [9, ...tokens],
      owners: [1, ...tokens.map(() => 2)],
      logps: [0, ...tokens.map((token) => Math.log(at(said.p_V, token)))],
      reward: Number(tokens.filter((token) => token === 0).length > 9),
      problem: Math.floor(b / GROUP),
    };
  });
}

const flat = (episodes: readonly CheckedEpisode[]) =>
  episodes.flatMap(({ logps }) => Array.from(logps).slice(1));

function distributionOf(logits: readonly number[] = LOGITS, withVariance = true) {
  const { entropy, variance } = policyOf(logits);
  return {
    entropy_BC: Array(B * TOKENS).fill(entropy),
    ...(withVariance && { variance_BC: Array(B * TOKENS).fill(variance) }),
  };
}

const RULE = { kind: "group_standardized", eps: 1e-6 } as const;
const groupsOf = (episodes: readonly CheckedEpisode[]) =>
  episodes.map(({ problem }) => Number(problem));
const rewardsOf = (episodes: readonly CheckedEpisode[]) => episodes.map(({ reward }) => reward);
const advantagesOf = (episodes: readonly CheckedEpisode[]) =>
  Array.from(groupStandardizedAdvantage(rewardsOf(episodes), groupsOf(episodes)));

/** An update in two minibatches. @param order The episodes, as the loss goes over them. */
function loaded(
  advantage_B: readonly number[],
  order: readonly number[] = advantage_B.map((_, b) => b),
): LoadedMinibatch[] {
  const half = order.length / 2;
  return [order.slice(0, half), order.slice(half)].map((episodes) => {
    const cell_N = episodes.flatMap((b) =>
      Array.from({ length: TOKENS }, (_, t) => b * TOKENS + t)
    );
    const weight_N = cell_N.map(() => 1 / cell_N.length);
    return {
      cell_N,
      advantage_N: cell_N.map((cell) => advantage_B[Math.floor(cell / TOKENS)] ?? NaN),
      weight_N,
      meanWeight_N: weight_N,
      oldLogp_N: cell_N.map(() => -1),
    };
  });
}

const EPISODES = sample();

/** What a dump of an honest batch tells, and what a test makes of it. */
function known(
  episodes: readonly CheckedEpisode[] = EPISODES,
  change: {
    readonly advantage_B?: readonly number[];
    readonly minibatches?: readonly LoadedMinibatch[];
    readonly logits?: readonly number[];
    readonly withVariance?: boolean;
    readonly trainer?: KnownTrainer;
  } = {},
): KnownTrainer {
  const { advantage_B = advantagesOf(episodes), logits, withVariance } = change;
  return {
    episodes,
    advantageRule: RULE,
    epochs: 1,
    draw: { groupSize: GROUP, problemCount: 20 },
    lossInputs: (pad) =>
      Promise.resolve(
        pad > 0 ? undefined : {
          columnCount: TOKENS,
          mask_BC: Array(B * TOKENS).fill(1),
          logp_BC: flat(episodes),
          advantage_B,
          distribution: distributionOf(logits, withVariance),
        },
      ),
    update: () => Promise.resolve({ minibatches: change.minibatches ?? loaded(advantage_B) }),
    ...change.trainer,
  };
}

const keysOf = (results: readonly CheckResult[]) => results.map(({ id }) => invariantKey(id));
const brokenBy = async (trainer: KnownTrainer) => keysOf(violated(await checkInvariants(trainer)));
async function resultOf(key: string, trainer: KnownTrainer): Promise<CheckResult> {
  const found = (await checkInvariants(trainer)).find(({ id }) => invariantKey(id) === key);
  assert(found);
  return found;
}

Deno.test("checkInvariants() judges a dump by what it holds, and says of the others what they lack", async () => {
  const results = await checkInvariants(known());
  assertEquals(violated(results), []);
  const holding = keysOf(results.filter(({ verdict }) => verdict === "holds"));
  for (const key of ["policy_mask", "advantage_of_episode", "sampled_as_said", "all_data_once"]) {
    assert(holding.includes(key), key);
  }
  const lacking = results.filter(({ verdict }) => verdict === "not-checkable");
  assert(lacking.every(({ value, reason }) => value === null && /^not told: \S+$/.test(reason)));
  const reasonOf = (key: string) => lacking.find(({ id }) => invariantKey(id) === key)?.reason;
  assertEquals(reasonOf("padding_invariant"), "not told: padded");
  assertEquals(reasonOf("ratio_one_before_step"), "not told: logpTolerance");
  assertEquals(reasonOf("update_follows_advantage"), "not told: groupId_B");
  assertEquals(reasonOf("reward_of_episode"), "not told: episodes.replayedReward");
  const nothing = await checkInvariants({});
  assertEquals(nothing.length, INVARIANTS.length);
  assert(nothing.every(({ verdict }) => verdict === "not-checkable"));
});

Deno.test("sampled_as_said holds for honest draws, and not for a sampler that records another distribution's", async () => {
  const z = async (options: Sampled, withVariance = true) => {
    const { value, verdict } = await resultOf(
      "sampled_as_said",
      known(sample(options), { withVariance }),
    );
    return { value: value ?? NaN, verdict };
  };
  const honest = await Promise.all(Array.from({ length: 60 }, (_, seed) => z({ seed })));
  assert(honest.every(({ verdict }) => verdict === "holds"));
  // Half of a normal distribution's absolute values lie below 0.67.
  const above = honest.filter(({ value }) => value > 0.67).length;
  assert(above > 15 && above < 45, `${above} of 60`);
  for (const wrong of [{ temperature: 0.5 }, { temperature: 2 }, { minP: 0.2 }]) {
    assertEquals((await z(wrong)).verdict, "violated", JSON.stringify(wrong));
  }
  // Without the variance there is less power, and no false alarm: none from a policy that is all but sure, either.
  assertEquals((await z({ temperature: 0.4 }, false)).verdict, "violated");
  for (const logits of [[9, 0, 0, 0], [12, 0, 0, 0], [1, 1, 1, 1], [40, 0, 0, 0]]) {
    for (let seed = 0; seed < 10; seed++) {
      for (const withVariance of [true, false]) {
        const episodes = sample({ logits, seed });
        const { verdict } = await resultOf(
          "sampled_as_said",
          known(episodes, { logits, withVariance }),
        );
        assert(verdict !== "violated", `${logits} ${seed} ${withVariance}`);
      }
    }
  }
});

Deno.test("sampled_as_said sees a single token that its random number does not point to", async () => {
  const { p_V } = policyOf(LOGITS);
  const below_V = p_V.map((_, v) => p_V.slice(0, v).reduce((sum, p) => sum + p, 0));
  const cells = EPISODES.flatMap(({ ids }) => ids.slice(1));
  const below_BC = cells.map((token) => at(below_V, token));
  const upTo_BC = cells.map((token, cell) => at(below_BC, cell) + at(p_V, token));
  const judged = (uniform_BC: readonly number[]) =>
    resultOf("sampled_as_said", {
      ...known(),
      lossInputs: async (pad) => {
        const inputs = await known().lossInputs?.(pad);
        const draws = { uniform_BC, below_BC, upTo_BC };
        return inputs && { ...inputs, distribution: { ...distributionOf(), draws } };
      },
    });
  const within = cells.map((_, cell) => (at(below_BC, cell) + at(upTo_BC, cell)) / 2);
  assertEquals((await judged(within)).verdict, "holds");
  // At the edge, where f32 rounds.
  assertEquals((await judged(upTo_BC.map((upTo) => upTo + 5e-6))).verdict, "holds");
  assertEquals((await judged(within.map(() => NaN))).verdict, "holds", "nobody knows them");
  const wrong = within.map((uniform, cell) => cell === 17 ? at(upTo_BC, cell) + 1e-3 : uniform);
  const { verdict, value } = await judged(wrong);
  assertEquals([verdict, value], ["violated", 1]);
});

Deno.test("promisedAdvantages() are the equations', by pairs instead of means", () => {
  const rewards_B = [1, 0, 0, 1, 0.5, 0.25, 0.3, 0.3, 0.3, 7];
  const group_B = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3];
  const close = (a: readonly (number | undefined)[], b: ArrayLike<number>) =>
    a.forEach((value, i) =>
      value === undefined || assert(Math.abs(value - at(b, i)) < 1e-12, `${i}: ${value} ${b[i]}`)
    );
  const nine = [rewards_B.slice(0, 9), group_B.slice(0, 9)] as const;
  close(promisedAdvantages(RULE, ...nine), groupStandardizedAdvantage(...nine));
  close(promisedAdvantages({ kind: "leave_one_out" }, ...nine), leaveOneOutAdvantage(...nine));
  const centred = promisedAdvantages({ kind: "group_centred" }, rewards_B, group_B);
  close(centred, groupCenteredAdvantage(rewards_B, group_B));
  assertEquals(centred.at(-1), undefined, "nothing to compare with");
});

Deno.test("advantage_of_episode sees every rule but the configured one, and advantages of other episodes", async () => {
  const right_B = advantagesOf(EPISODES);
  const rewards_B = rewardsOf(EPISODES);
  assert(new Set(right_B).size > 4, "groups of unequal success");
  const roll = (values: readonly number[]) => values.map((_, b) => at(values, (b + 1) % B));
  const center = mean(rewards_B);
  const wrong: Record<string, readonly number[]> = {
    uncentred: right_B.map((a, b) => a + (rewards_B[b] ? 0 : 0.2)),
    "divided by n": right_B.map((a) => a * Math.sqrt(GROUP / (GROUP - 1))),
    "of the batch": rewards_B.map((reward) => reward - center),
    positive: right_B.map((a) => Math.max(0, a)),
    "of the next episode": roll(right_B),
    "of another batch": advantagesOf(sample({ seed: 7 })),
    "no number": right_B.map(() => NaN),
  };
  for (const [what, advantage_B] of Object.entries(wrong)) {
    assertEquals(await brokenBy(known(EPISODES, { advantage_B })), ["advantage_of_episode"], what);
    // Right on the host, and wrong where the loss reads them.
    const minibatches = loaded(advantage_B);
    assertEquals(await brokenBy(known(EPISODES, { minibatches })), ["advantage_of_episode"], what);
  }
  const rounded = right_B.map(Math.fround);
  assertEquals(await brokenBy(known(EPISODES, { advantage_B: rounded })), []);
});

Deno.test("advantage_of_episode follows a moving baseline, and says where a batch cannot tell", async () => {
  const rewards_B = rewardsOf(EPISODES);
  const [before, decay] = [0.4, 0.9];
  const after = decay * before + (1 - decay) * mean(rewards_B);
  const baseline = (values: { readonly after?: number; readonly by?: number }) => ({
    ...known(EPISODES, { advantage_B: rewards_B.map((r) => r - before - (values.by ?? 0)) }),
    advantageRule: {
      kind: "moving_baseline",
      before,
      decay,
      after: values.after ?? after,
    } as const,
  });
  assertEquals(await brokenBy(baseline({})), []);
  assertEquals(await brokenBy(baseline({ after: before })), ["advantage_of_episode"]);
  assertEquals(await brokenBy(baseline({ by: 0.01 })), ["advantage_of_episode"]);
  const equal = known(EPISODES.map((episode) => ({ ...episode, reward: 1 })));
  const { verdict, lack } = await resultOf("advantage_of_episode", equal);
  assertEquals([verdict, lack], ["not-applicable", "batch"]);
});

Deno.test("reward_of_episode sees a single reward that the environment would not pay", async () => {
  const replayed = EPISODES.map((episode, b) =>
    b % 2 === 0 ? { ...episode, replayedReward: episode.reward } : episode
  );
  assertEquals((await resultOf("reward_of_episode", known(replayed))).verdict, "holds");
  for (const replayedReward of [0.5, NaN]) {
    const wrong = replayed.map((episode, b) => b === 4 ? { ...episode, replayedReward } : episode);
    assertEquals((await resultOf("reward_of_episode", known(wrong))).value, 1);
  }
});

Deno.test("all_data_once counts every trained token in every epoch", async () => {
  const right_B = advantagesOf(EPISODES);
  const order = right_B.map((_, b) => b);
  const once = loaded(right_B);
  const broken = (minibatches: readonly LoadedMinibatch[], epochs = 1) =>
    brokenBy(known(EPISODES, { minibatches, trainer: { epochs } }));
  assertEquals(await broken([...once, ...once], 2), []);
  assertEquals(await broken(once, 2), ["all_data_once"], "one epoch of two");
  assertEquals(await broken([...once, at(once, 0)]), ["all_data_once"], "an overlap");
  assertEquals(await broken(loaded(right_B, order.slice(0, -2))), ["all_data_once"], "the last");
  const twice = loaded(right_B, [...order.slice(0, -1), 0]);
  assertEquals(await broken(twice), ["all_data_once"], "one instead of another");
});

Deno.test("all_data_once tells copies from episodes that a sure policy writes twice", async () => {
  const data = (episodes: readonly CheckedEpisode[], trainer: KnownTrainer = {}) =>
    resultOf("all_data_once", known(episodes, { advantage_B: Array(B).fill(0), trainer }));
  const copied = EPISODES.map((episode, b) => b % 2 === 0 ? episode : at(EPISODES, b - 1));
  const { verdict, reason } = await data(copied);
  assertEquals(verdict, "violated");
  assert(reason.includes("copies"), reason);
  for (let seed = 0; seed < 40; seed++) {
    for (const logits of [LOGITS, [6, 0, 0, 0], [9, 0, 0, 0]]) {
      const evidence = repeatsWithin(sample({ seed, logits }));
      assert(evidence < 5, `${seed} ${logits}: ${evidence}`);
    }
  }
  const sure = sample({ logits: [7, 0, 0, 0] });
  assert(new Set(sure.map(({ ids }) => ids.join())).size < B / 2, "most episodes are alike");

  // The next step: another draw, the same random numbers, the same problems in the same order.
  const next = (step: number, shift: number) => () =>
    Promise.resolve(
      sample({ step }).map((episode) => ({ ...episode, problem: Number(episode.problem) + shift })),
    );
  assertEquals((await data(EPISODES, { nextEpisodes: next(1, 100) })).verdict, "holds");
  const sameNumbers = await data(EPISODES, { nextEpisodes: next(0, 100) });
  assertEquals(sameNumbers.verdict, "violated");
  assert(sameNumbers.reason.includes("random numbers"), sameNumbers.reason);
  const sameProblems = await data(EPISODES, { nextEpisodes: next(1, 0) });
  assertEquals(sameProblems.verdict, "violated");
  assert(sameProblems.reason.includes("problems"), sameProblems.reason);
  // Where there are no others to draw, the same ones say nothing.
  const draw = { groupSize: GROUP, problemCount: 8 };
  const all = await data(EPISODES, { nextEpisodes: next(1, 0), draw });
  assertEquals(all.verdict, "holds");
  const uneven = await data(EPISODES, { draw: { groupSize: GROUP / 2, problemCount: 20 } });
  assertEquals([uneven.verdict, uneven.value], ["violated", PROBLEMS]);
});
