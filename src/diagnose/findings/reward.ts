/** Rules about the outcome: components that never pay or work against each other, evaluation against reward, a peak that was lost. */
import { quantile } from "../../core/statistics.ts";
import type { Finding } from "../finding.ts";
import {
  type Change,
  changeOf,
  type Curve,
  inflation,
  middle,
  noiseOf,
  say,
  thinned,
  thinnedCurve,
} from "./curve.ts";
import { about, type Context, type Rule, stepsText, SURE } from "./rule.ts";

/** What enters the reward: a producer's other statistics of an environment count turns, tokens and the like. */
function componentsOf(context: Context): readonly Curve[] {
  return context.curves("reward_component").filter(({ series: { definition } }) =>
    definition.unit === "reward"
  );
}

function constantComponents(context: Context): readonly Finding[] {
  const components = componentsOf(context);
  return components.flatMap((component): Finding[] => {
    const { values, steps, key } = component;
    if (values.length < 10 || !values.every((value) => value === values[0])) return [];
    const never = values[0] === 0;
    return [{
      id: "constant_reward_component",
      class: "note",
      ...about(component),
      step: steps[values.length - 1],
      value: values[0],
      bound: values[0],
      boundFrom: "the same value in every row",
      sentence: `${key} is ${say(values[0])} in all ${say(values.length)} rows: it ${
        never ? "never pays" : "pays every answer alike"
      }, and so adds nothing to learn from.`,
      alternatives: never
        ? [
          "its pattern is stricter than what the prompt asks for",
          "it is switched off by a weight of 0",
        ]
        : ["every answer earns it already"],
      next: never
        ? "Score one answer that should earn it by hand."
        : "Leave it out, or make it harder to earn.",
    }];
  });
}

/** Names of what the task asks for. A style, a length or a number of steps may fall as the answers get better. */
const GOAL = /acc|correct|solv|succ|pass|answer|test|exact|verif|match|task|quality/i;

/** A component has fallen when it has lost half of what it paid. */
const HALF = 0.5;

function divergingComponents(context: Context, reward: Curve): readonly Finding[] {
  const total = changeOf(reward);
  const components = componentsOf(context);
  if (!total || !(total.z > SURE) || components.length < 2) return [];
  const trends = components.flatMap((curve) => {
    const change = changeOf(curve);
    return change ? [{ curve, change }] : [];
  });
  const rising = trends.filter(({ change }) => change.z > SURE)
    .sort((a, b) => (b.change.tail - b.change.head) - (a.change.tail - a.change.head))[0];
  return trends.flatMap(({ curve, change }): Finding[] => {
    const { head, tail, z } = change;
    if (!rising || !(z < -SURE) || head <= 0 || !(tail <= (1 - HALF) * head)) return [];
    return [{
      id: "reward_components_diverge",
      class: GOAL.test(curve.series.part) ? "suspect" : "note",
      ...about(curve),
      step: change.tailStep,
      value: tail,
      bound: (1 - HALF) * head,
      boundFrom: "half of what it paid in the run's own first fifth",
      sentence: `${curve.key} falls from ${say(head)} to ${say(tail)} while the reward rises from ${
        say(total.head)
      } to ${say(total.tail)}, carried by ${rising.curve.key}: the total rises at its expense.`,
      alternatives: [
        "harder prompts in the later part of the data",
        "a component that is meant to fade",
      ],
      next: `Read answers that ${rising.curve.key} pays and ${curve.key} does not; weigh them by ${
        context.knob("rewardWeights", "their weights")
      }.`,
    }];
  });
}

/** An evaluation has fallen when it has lost a fifth of its best. */
const FIFTH = 0.2;

/** Chance of so few or fewer rising pairs among values in random order (Mann and Kendall, normal approximation). */
function fallsByRank(values: ArrayLike<number>): boolean {
  const n = values.length;
  let score = 0;
  for (let i = 0; i < n; i++) {
    for (let j = i + 1; j < n; j++) score += Math.sign(values[j] - values[i]);
  }
  if (n === 4) return score === -6; // 1 of 24 orders.
  const deviation = Math.sqrt(n * (n - 1) * (2 * n + 5) / 18);
  return (score + 1) / deviation < -2.33; // One in a hundred.
}

function evalDown(context: Context, reward: Curve): readonly Finding[] {
  const total = changeOf(reward);
  const falls = context.curves("eval_score").flatMap((score) => fallOf(score, { reward, total }));
  // Where only some evaluations fall, the policy may forget what it is not trained on.
  const others = context.curves("eval_score").length - falls.length;
  return falls.slice(0, 1).map((fall) => others === 0 ? fall : { ...fall, class: "note" });
}

/** What is left of an evaluation that is all but lost. */
const A_THIRD = 1 / 3;

/** Few evaluations have no order to speak of; that all of the later half lie far below all of the earlier half needs none. */
function isAllButLost(scores: Float64Array): boolean {
  const half = scores.length >> 1;
  const [early, late] = [scores.slice(0, half), scores.slice(half)].map((part) => part.sort());
  return late[late.length - 1] < early[0] && middle(late) <= A_THIRD * middle(early);
}

function fallOf(
  score: Curve,
  { reward, total }: { readonly reward: Curve; readonly total: Change | undefined },
): readonly Finding[] {
  const scores = thinned(score.values, 100);
  if (!total || !(total.z > SURE) || scores.length < 4) return [];
  const noise = scores.length >= 6 ? noiseOf(scores) : 0;
  const [first, last] = [scores[0], scores[scores.length - 1]];
  const lost = first - last;
  const falls = first > 0 && lost >= FIFTH * first && lost > 3 * noise && fallsByRank(scores);
  if (!falls && !(total.z > 2 * SURE && isAllButLost(scores))) return [];
  return [{
    id: "reward_up_eval_down",
    class: "suspect",
    ...about(score),
    step: score.steps[score.steps.length - 1],
    value: last,
    bound: (1 - FIFTH) * first,
    boundFrom: "a fifth below its own first evaluation",
    sentence: `${score.key} falls from ${say(first)} to ${
      say(last)
    } while ${reward.key} rises from ${say(total.head)} to ${
      say(total.tail)
    }: what is trained is no longer what is wanted.`,
    alternatives: [
      "reward hacking: answers that earn reward without solving the task",
      "the training tasks are memorized",
      "the evaluation uses a different prompt, length limit or temperature",
    ],
    next:
      "Read ten training answers with a high reward, and take the checkpoint with the best evaluation.",
  }];
}

/** Rows in each window that a peak and an end are averaged over. */
function windowOf(count: number): number {
  return Math.max(5, Math.floor(count / 10));
}

/** Best window of a curve, its first and its last, and how far it fell and came back before the best. */
function peakOf({ steps, values }: Curve) {
  const width = windowOf(values.length);
  const means: number[] = [];
  let sum = 0;
  values.forEach((value, i) => {
    sum += value - (i >= width ? values[i - width] : 0);
    if (i >= width - 1) means.push(sum / width);
  });
  let at = 0;
  means.forEach((value, i) => {
    if (value > means[at]) at = i;
  });
  let highest = means[0], swing = 0;
  for (const value of means.slice(0, at)) {
    highest = Math.max(highest, value);
    swing = Math.max(swing, highest - value);
  }
  return {
    width,
    best: means[at],
    bestStep: steps[at + width - 1],
    /** The largest fall before the best, which the run recovered from. */
    swing,
    first: means[0],
    last: means[means.length - 1],
    /** The better of the last two windows that do not overlap. */
    lately: Math.max(...means.slice(-1 - width).filter((_, i) => i % width === 0)),
    windowsSince: (means.length - 1 - at) / width,
    lastFrom: steps[values.length - width],
  };
}

/** Errors of the mean that a fall from the best of many windows must exceed: the best is picked for its luck as well. */
const SURE_OF_PEAK = 7;
/** A run that has fallen this deep, as a share of its last fall, and recovered before is one that swings. */
const SWINGS = 0.4;

/** A fall that is small beside how far single rows range is one that the run may make again and undo. */
const OF_ITS_RANGE = 0.8;

function bestThenWorse(context: Context, whole: Curve): readonly Finding[] {
  const reward = thinnedCurve(whole, 5000);
  const { values, steps } = reward;
  if (values.length < 20) return [];
  const { width, best, bestStep, swing, first, last, lately, windowsSince, lastFrom } = peakOf(
    reward,
  );
  const error = localError(values, width);
  const gain = best - first, lost = best - last;
  if (!(lost > SURE_OF_PEAK * error) || error === 0 || windowsSince < 2) return [];
  // Without a gain to lose it is compared with the best itself.
  const scale = gain > SURE_OF_PEAK * error ? gain : Math.abs(best);
  if (!(lost >= scale / 3)) return [];
  const range = quantile(values, 0.9) - quantile(values, 0.1);
  const isMost = best - lately >= 2 / 3 * scale && swing < SWINGS * lost &&
    lost >= OF_ITS_RANGE * range;
  return [{
    id: "best_then_worse",
    class: isMost ? "suspect" : "note",
    ...about(reward),
    step: bestStep,
    value: last,
    bound: best - scale * (isMost ? 2 / 3 : 1 / 3),
    boundFrom: `${isMost ? "two thirds" : "a third"} of what it had ${
      scale === gain ? "gained" : "at its best"
    }, means of ${width} rows`,
    sentence: `${reward.key} was best around step ${say(bestStep)} (${say(best)}) and is ${
      say(last)
    } in ${stepsText(lastFrom, steps[steps.length - 1])}; it began at ${say(first)}.`,
    alternatives: [
      "the updates became too large: look at the KL, the gradient and the sampler's gap before that step",
      "harder prompts, or a different mix of data, after it",
    ],
    next: `Take the checkpoint from around step ${say(bestStep)}; from there, ${
      context.knob("learningRate", "the learning rate")
    } at half.`,
  }];
}

/** Standard error of the mean of a window: noise, and no less than what blocks of it bend: a steady rise or fall does not bend. */
function localError(values: Float64Array, width: number): number {
  const noise = noiseOf(values) * inflation(values) / Math.sqrt(width);
  const blocks: number[] = [];
  for (let i = 0; i + width <= values.length; i += width) {
    blocks.push(values.subarray(i, i + width).reduce((sum, value) => sum + value, 0) / width);
  }
  const bends = blocks.slice(2).map((value, i) => Math.abs(value - 2 * blocks[i + 1] + blocks[i]));
  // The second difference of independent values has √6 times their deviation; 1.48 makes a median a deviation.
  return Math.max(noise, bends.length >= 4 ? 1.48 * middle(bends) / Math.sqrt(6) : 0);
}

/** In the order in which they are tried. */
export const REWARD_RULES: readonly Rule[] = [
  {
    ids: ["reward_up_eval_down"],
    needs: [{ metric: "reward" }, { metric: "eval_score" }],
    without: {
      need: "eval_score",
      sentence:
        "whether the reward still measures what you want: there is no evaluation in the log",
    },
    judge: evalDown,
  },
  { ids: ["reward_components_diverge"], needs: [{ metric: "reward" }], judge: divergingComponents },
  { ids: ["best_then_worse"], needs: [{ metric: "reward" }], judge: bestThenWorse },
  {
    ids: ["constant_reward_component"],
    needs: [{ metric: "reward_component" }],
    judge: constantComponents,
  },
];
