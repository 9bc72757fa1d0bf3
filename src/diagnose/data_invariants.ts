/** Invariants of recorded data: tokens are drawn as said, advantages and rewards are of their episode, and all data counts once. */
import { at } from "../core/element.ts";
import { baselineError, promisedAdvantages } from "./advantage_rule.ts";
import { haveTokens, repeatsBetween, repeatsWithin } from "./copies.ts";
import type { CheckMaterial, Invariant, Measured } from "./invariant.ts";
import { F32_SUM_TOLERANCE, forEachCell, largest, ownGroups } from "./measurements.ts";

/** Standard errors of a mean: by chance alone, one honest batch in 16,000 exceeds them. */
const MAX_Z = 4;

/** A policy whose −log p varies by less, in nats² over the whole batch, is too sure of its tokens to be held to them. */
const MIN_VARIANCE = 1e-3;

/** Logarithm of an e-value that honest draws exceed once in 100,000 batches, at most, with each of three questions. */
const MAX_REPEAT = Math.log(3e5);

/** Variance of −log p of a coin with this entropy, in nats²: the least that a policy with a favourite token has. */
function coinVariance(entropy: number): number {
  if (!(entropy > 0 && entropy < Math.LN2)) return 0;
  let [low, high] = [0, 0.5];
  for (let i = 0; i < 40; i++) {
    const middle = (low + high) / 2;
    const own = -middle * Math.log(middle) - (1 - middle) * Math.log1p(-middle);
    if (own < entropy) low = middle;
    else high = middle;
  }
  return high * (1 - high) * Math.log((1 - high) / high) ** 2;
}

/**
 * Standard errors by which the surprise of the drawn tokens, −log p, is away from its mean under the policy, the entropy. Its
 * deviations add up to a martingale, whatever the episodes depend on. Of few rare tokens the upper tail is longer than the
 * normal one: there the error has Bernstein's width, √(variance + largest · sum / 3) (D. Freedman 1975).
 */
function measureSurprise(material: CheckMaterial): Measured {
  const { distribution, logp_BC } = material.inputs;
  const { entropy_BC, variance_BC } = distribution;
  let [sum, variance, squares, most, count] = [0, 0, 0, 0, 0];
  forEachCell(material, ({ index, owned }) => {
    const entropy = entropy_BC[index] ?? NaN;
    if (!owned || Number.isNaN(entropy)) return;
    const deviation = -(logp_BC[index] ?? NaN) - entropy;
    sum += deviation;
    squares += deviation ** 2;
    variance += variance_BC ? variance_BC[index] ?? NaN : coinVariance(entropy);
    most = Math.max(most, deviation);
    count++;
  });
  if (!variance_BC) variance = Math.max(variance, squares);
  if (count === 0 || variance < MIN_VARIANCE && Math.abs(sum) < MIN_VARIANCE) {
    return { notApplicable: "the policy is sure of every token", lack: "batch" };
  }
  return {
    value: Math.abs(sum) / Math.sqrt(variance + most * Math.max(0, sum) / 3),
    reason: `standard errors between the surprise of ${count} drawn tokens and their entropy ` +
      `(${(sum / count).toPrecision(2)} nats per token)`,
  };
}

/** Rounding of a cumulative f32 probability, with room: a sum over 60 tokens is within 4e-6. */
const DRAW_TOLERANCE = 1e-5;

/** How many drawn tokens the random numbers do not point to, or undefined where nobody knows these. */
function strayDraws(material: CheckMaterial): { count: number; known: number } | undefined {
  const { draws } = material.inputs.distribution;
  if (!draws) return undefined;
  const { uniform_BC, below_BC, upTo_BC } = draws;
  let [count, known] = [0, 0];
  forEachCell(material, ({ index, owned }) => {
    const [uniform = NaN, below = NaN, upTo = NaN] = [uniform_BC, below_BC, upTo_BC]
      .map((values_BC) => values_BC[index]);
    if (!owned || Number.isNaN(uniform)) return;
    known++;
    if (!(below - DRAW_TOLERANCE <= uniform && uniform <= upTo + DRAW_TOLERANCE)) count++;
  });
  return { count, known };
}

/** Tokens that are not those that their random numbers point to, or else not as surprising as the policy is uncertain. */
function measureSampling(material: CheckMaterial): Measured {
  const stray = strayDraws(material);
  if (stray === undefined || stray.count === 0) return measureSurprise(material);
  return {
    value: stray.count,
    bound: 0,
    reason:
      `of ${stray.known} drawn tokens, those that their random numbers do not select under the policy`,
  };
}

/** Advantages that the loss read, each with the episode that its token is of. */
function loadedAdvantages(
  { inputs, minibatches = [] }: CheckMaterial,
): [episode: number, value: number][] {
  if (minibatches.length === 0) return [];
  const { columnCount: C } = inputs;
  return minibatches.flatMap(({ cell_N, advantage_N, weight_N }) =>
    Array.from(cell_N, (cell, n): [number, number] => [Math.floor(cell / C), advantage_N[n] ?? NaN])
      .filter((_, n) => weight_N[n] !== 0)
  );
}

/** How far the advantages are from those that the rule promises for the recorded rewards. */
function measureAdvantages(material: CheckMaterial): Measured {
  const { trainer, inputs: { advantage_B } } = material;
  const { advantageRule: rule, episodes } = trainer;
  const rewards_B = episodes.map(({ reward }) => reward);
  const promised_B = promisedAdvantages(rule, rewards_B, ownGroups(trainer));
  const error = ([b, found]: readonly [number, number]) => {
    const promised = promised_B[b];
    return promised === undefined
      ? 0
      : Math.abs(found - promised) / Math.max(1, Math.abs(promised));
  };
  const prepared = promised_B.map((_, b) => [b, advantage_B[b] ?? NaN] as const);
  const value = largest([
    ...[...prepared, ...loadedAdvantages(material)].map(error),
    rule.kind === "moving_baseline" ? baselineError(rule, rewards_B) : 0,
  ]);
  if (value === 0 && new Set(promised_B).size < 2) {
    return {
      notApplicable: "all advantages are equal, whatever they are paired with",
      lack: "batch",
    };
  }
  return {
    value,
    reason: "largest |advantage − what the rule makes of the recorded rewards|, in units of it",
  };
}

/** Episodes whose reward is another than the environment pays for their calls. */
function measureRewards({ trainer: { episodes } }: CheckMaterial): Measured {
  const replayed = episodes.filter(({ replayedReward }) => replayedReward !== undefined);
  if (replayed.length === 0) return { notTold: "episodes.replayedReward" };
  const wrong = replayed.filter(({ reward, replayedReward = NaN }) =>
    !(Math.abs(reward - replayedReward) <= F32_SUM_TOLERANCE * Math.max(1, Math.abs(reward)))
  );
  return {
    value: wrong.length,
    reason:
      `of ${replayed.length} replayed episodes, those that the environment answers or rewards differently`,
  };
}

/** Trained tokens that do not count once an epoch, or more often than others where nobody tells the epochs. */
function unevenTokens({ trainer, inputs, minibatches = [] }: CheckMaterial): number {
  const count_BC = new Map<number, number>();
  for (const { cell_N, weight_N } of minibatches) {
    for (let n = 0; n < cell_N.length; n++) {
      const cell = at(cell_N, n);
      if (weight_N[n] !== 0) count_BC.set(cell, (count_BC.get(cell) ?? 0) + 1);
    }
  }
  const { epochs = largest(count_BC.values()) } = trainer;
  return Array.from(inputs.mask_BC).filter((trained, cell) =>
    (count_BC.get(cell) ?? 0) !== (trained > 0 ? Math.max(1, epochs) : 0)
  ).length;
}

/** Problems that have more or fewer episodes than a group. */
function unevenProblems({ trainer: { episodes, draw } }: CheckMaterial): number {
  if (draw?.groupSize === undefined) return 0;
  const counts = new Map<string | number, number>();
  episodes.forEach(({ problem }) => counts.set(problem, (counts.get(problem) ?? 0) + 1));
  return [...counts.values()].filter((count) => count !== draw.groupSize).length;
}

/** How surprising it is that two steps draw the same problems: −log of its probability; 0 where they do not. */
function sameProblems({ trainer: { episodes, draw }, next = [] }: CheckMaterial): number {
  if (!draw || next.length === 0) return 0;
  const { groupSize, problemCount } = draw;
  const drawn = (batch: CheckMaterial["trainer"]["episodes"]) => {
    const problems = batch.map(({ problem }) => problem);
    return groupSize === undefined ? problems : [...new Set(problems)];
  };
  const [own, later] = [drawn(episodes), drawn(next)];
  const count = Math.min(own.length, later.length);
  let surprise = 0;
  for (let i = 0; i < count; i++) {
    if (own[i] !== later[i]) return 0;
    // Groups have different problems, so each leaves one fewer to draw from.
    surprise += Math.log(Math.max(1, groupSize === undefined ? problemCount : problemCount - i));
  }
  return surprise;
}

/** What does not count once: tokens, then problems, then what speaks for episodes and draws that are copies of others. */
function measureData(material: CheckMaterial): Measured {
  const { trainer: { episodes }, next, minibatches } = material;
  if (!minibatches) return { notTold: "update().minibatches" };
  const tokens = unevenTokens(material);
  const problems = unevenProblems(material);
  if (tokens > 0 || problems > 0) {
    return tokens > 0
      ? { value: tokens, reason: "trained tokens that do not count exactly once in each epoch" }
      : { value: problems, reason: "problems with more or fewer episodes than a group has" };
  }
  const counted = "every trained token counts once in each epoch";
  if (!haveTokens(episodes)) return { value: 0, reason: counted };
  const repeats = [
    repeatsWithin(episodes),
    next && haveTokens(next) ? repeatsBetween(episodes, next) : 0,
    sameProblems(material),
  ];
  const value = Math.max(0, ...repeats);
  const [inBatch = 0, ofNumbers = 0] = repeats;
  const what = value === inBatch
    ? "episodes of a problem that are copies"
    : value === ofNumbers
    ? "random numbers that the next step draws again"
    : "problems that the next step draws again";
  return value <= MAX_REPEAT
    ? { value: 0, reason: counted }
    : { value, bound: MAX_REPEAT, reason: `evidence for ${what}, in nats` };
}

/** The invariants, with the numbers that the others leave. */
export const DATA_INVARIANTS: readonly Invariant[] = [
  {
    id: 12,
    key: "sampled_as_said",
    name: "tokens drawn from the policy's probabilities",
    relation: "<=",
    bound: () => MAX_Z,
    boundReason: "standard errors that one honest batch in 16,000 exceeds",
    measure: measureSampling,
  },
  {
    id: 13,
    key: "advantage_of_episode",
    name: "advantage = rule of the episode's rewards",
    relation: "<=",
    bound: () => F32_SUM_TOLERANCE,
    boundReason: "rounding of f32 advantages",
    measure: measureAdvantages,
  },
  {
    id: 14,
    key: "reward_of_episode",
    name: "reward = what its calls earn again",
    relation: "<=",
    bound: () => 0,
    boundReason: "the environment is deterministic",
    measure: measureRewards,
  },
  {
    id: 18,
    key: "all_data_once",
    name: "all data counts, and once",
    relation: "<=",
    bound: () => 0,
    boundReason: "a token counts or it does not",
    measure: measureData,
  },
];
