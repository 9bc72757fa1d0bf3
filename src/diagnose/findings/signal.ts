/** Rules about the signal in the rewards: groups whose rewards are all equal teach nothing. */
import type { Finding } from "../finding.ts";
import { type Curve, holdsFrom, lastQuarter, middle, say, valuesAt } from "./curve.ts";
import { about, type Context, percent, type Rule, stepsText, SURE } from "./rule.ts";

/** A row of a curve of flatness by step: 1 where no group can teach anything. */
export interface Flatness {
  readonly curve: Curve;
  /** Share of flat groups of each value of the curve. */
  readonly shares: Float64Array;
  /** What the shares are: as logged, groups all solved and not at all, or whole steps in which no two rewards differ. */
  readonly by: "share" | "solved" | "spread";
  /** What shows it, for a sentence. */
  readonly shown: string;
}

/** How flat the groups are. Whatever a spread of rewards is taken over, at exactly 0 all rewards of the step are equal. */
export function flatnessOf(context: Context): Flatness | undefined {
  const share = context.curve("flat_groups");
  if (share) return { curve: share, shares: share.values, by: "share", shown: share.key };
  const solved = context.curve("all_solved"), none = context.curve("none_solved");
  if (solved && none) {
    const noneAt = valuesAt(none, solved);
    const shares = solved.values.map((value, i) => value + (noneAt[i] || 0));
    const key = `${solved.key} + ${none.key}`;
    return { curve: { ...solved, key }, shares, by: "solved", shown: key };
  }
  const spread = context.curve("reward_std");
  if (spread && spread.series.definition.window !== "mean_of_extremes") {
    const shares = spread.values.map((std) => std === 0 ? 1 : 0);
    return { curve: spread, shares, by: "spread", shown: `${spread.key} is exactly 0` };
  }
  const best = context.curve("reward_max"), worst = context.curve("reward_min");
  if (!best || !worst) return undefined;
  const worstAt = valuesAt(worst, best);
  return {
    curve: best,
    shares: best.values.map((value, i) => value === worstAt[i] ? 1 : 0),
    by: "spread",
    shown: `${best.key} equals ${worst.key}`,
  };
}

/** Whether groups that are not flat are known to differ: a spread over the whole batch is none within the groups. */
export function tellsOfGroups({ by, curve }: Flatness): boolean {
  return by !== "spread" || curve.series.definition.quantity === "group_std";
}

/** All but one in twenty groups. */
const ALL_BUT_FEW = 0.95;
/** From here on waste is worth a line. */
const WORTH_A_LINE = 0.3;

/** What says that a reward is at its top: all groups solved, or the highest value that it has had, after a rise. */
export function isAtTop(context: Context): boolean {
  const solved = context.curve("all_solved");
  if (solved) return middle(lastQuarter(solved).values) > 0.5;
  const { reward, rewardChange } = context;
  if (!reward) return false;
  const end = middle(lastQuarter(reward).values);
  const top = sortedEnds(reward.values)[1];
  const low = sortedEnds(reward.values)[0];
  // Rewards between 0 and 1 have their top at 1 by their definition; of others only a rise tells.
  if (low >= 0 && top <= 1 && end >= 0.9) return true;
  // On any scale: the best that any row has, in most rows of the end, where others had less.
  if (end === top && low < top) return true;
  const rose = rewardChange !== undefined && rewardChange.z > SURE;
  return rose && end - low >= 0.8 * (top - low);
}

/** The least and the largest value: of a million values they cannot be spread into arguments. */
function sortedEnds(values: Float64Array): [number, number] {
  const sorted = values.slice().sort();
  return [sorted[0], sorted[sorted.length - 1]];
}

/** One in a thousand: the chance that steps which are flat as often as before are all flat for so long. */
const CHANCE = 1e-3;
/** Rows that must be flat where all rows are, so that nothing tells how often they would be by chance. */
const LEAST_FLAT_ROWS = 10;

/** True where the flat rows at the end are more than a streak of luck. */
function isNoChance(shares: Float64Array): boolean {
  let start = shares.length;
  while (start > 0 && shares[start - 1] >= ALL_BUT_FEW) start--;
  const streak = shares.length - start;
  if (start === 0) return streak >= LEAST_FLAT_ROWS;
  const before = shares.subarray(0, start).reduce((sum, share) => sum + share, 0) / start;
  return streak >= 5 && before ** streak < CHANCE;
}

function flatGroups(context: Context): readonly Finding[] {
  const flatness = flatnessOf(context);
  if (!flatness || flatness.shares.length === 0) return [];
  const { curve, shares, by, shown } = flatness;
  const count = shares.length;
  const mean = shares.reduce((sum, share) => sum + share, 0) / count;
  const end = lastQuarter({ ...curve, values: shares });
  const late = end.values.reduce((sum, share) => sum + share, 0) / end.values.length;
  const all = shares.reduce((sum, share) => sum + (share >= 1 - 1e-9 ? 1 : 0), 0);
  const groupSize = context.setting("groupSize");
  const size = context.knob("groupSize", "the group size");
  const byHand =
    `Score ten answers by hand, then mix in easier or harder prompts, or raise ${size}.`;
  const counted = by === "spread"
    ? `In ${say(all)} of ${say(count)} ${
      count === 1 ? "row" : "rows"
    } all rewards are equal (${shown})`
    : `${percent(mean)} of the groups have equal rewards${
      all > 0 && count > 1 ? `, all of them in ${say(all)} of ${say(count)} rows` : ""
    }`;
  if (count >= 5 && late >= ALL_BUT_FEW && isNoChance(shares) && !isAtTop(context)) {
    const reward = context.reward && lastQuarter(context.reward);
    return [{
      id: "flat_groups",
      class: "suspect",
      ...about(curve),
      step: end.step,
      value: late,
      bound: ALL_BUT_FEW,
      boundFrom: "a group of equal rewards has no advantage and no gradient",
      sentence: `Nearly all groups have equal rewards in ${stepsText(end.step, end.lastStep)} (${
        percent(late)
      })${
        reward ? ` at a reward of ${say(middle(reward.values))}` : ""
      }: there is nothing to learn from.`,
      alternatives: [
        "the tasks are too hard for this policy, or solved already",
        "the reward function returns the same value for everything, for example after a parse error",
        "the policy has collapsed to one answer per prompt",
      ],
      next: byHand,
    }];
  }
  if (mean < WORTH_A_LINE || nothingLeft(context).length > 0) return [];
  const small = groupSize !== undefined && groupSize <= 4
    ? ` Groups of ${groupSize} are often flat by chance alone.`
    : "";
  return [{
    id: "flat_groups",
    class: "note",
    ...about(curve),
    step: curve.steps[count - 1],
    value: mean,
    bound: WORTH_A_LINE,
    boundFrom: "three tenths of the samples wasted",
    sentence: `${counted}: ${
      late >= ALL_BUT_FEW
        ? "there is nothing to learn from"
        : "their samples cost time and teach nothing"
    }.${small}${context.isLearning ? " The run learns anyway." : ""}`,
    next: late >= ALL_BUT_FEW && !isAtTop(context)
      ? byHand
      : `Drop prompts that are always or never solved, or raise ${size}${
        context.view.producer?.knobs.dynamicSampling
          ? `, or turn on ${context.view.producer.knobs.dynamicSampling}`
          : ""
      }.`,
  }];
}

/** From when on a run that has solved its tasks goes on for nothing. */
function nothingLeft(context: Context): readonly Finding[] {
  const { reward } = context;
  const flatness = flatnessOf(context);
  if (!reward || reward.values.length < 10 || !isAtTop(context)) return [];
  const [, top] = sortedEnds(reward.values);
  const from = flatness
    ? holdsFrom({ ...flatness.curve, values: flatness.shares }, (share) => share >= 0.9)
    : holdsFrom(reward, (value) => value === top);
  const watched = flatness?.curve ?? reward;
  if (!from || from.count < Math.max(5, 0.2 * watched.values.length)) return [];
  const lastStep = watched.steps[watched.steps.length - 1];
  const planned = context.setting("plannedSteps");
  return [{
    id: "nothing_left_to_learn",
    class: "note",
    ...about(watched),
    step: from.step,
    value: flatness ? middle(flatness.shares.slice(-from.count)) : top,
    bound: flatness ? 0.9 : top,
    boundFrom: flatness
      ? "nine of ten groups flat at the top of the reward"
      : "the run's own best, in nearly every row",
    sentence: `The tasks are solved from step ${say(from.step)} on (reward ${
      say(middle(lastQuarter(reward).values))
    }${
      flatness ? ", nearly all groups flat" : ", the same in nearly every row"
    }): the rest, up to step ${say(planned ?? lastStep)}, teaches nothing.`,
    next: `Stop there, keep the checkpoint from around step ${
      say(from.step)
    }, and continue with harder tasks.`,
  }];
}

function constantReward(context: Context, reward: Curve): readonly Finding[] {
  const { values, steps } = reward;
  if (values.length < LEAST_FLAT_ROWS || flatnessOf(context)) return [];
  if (!values.every((value) => value === values[0])) return [];
  const distils = [...context.view.log.columns.keys()].some((key) => DISTILLATION.test(key));
  if (values[0] === 0 && distils) return [];
  // A reward of 1 throughout is the top of many scales: solved rather than broken.
  if (values[0] === 1) return [];
  return [{
    id: "flat_groups",
    class: "suspect",
    ...about(reward),
    step: steps[0],
    value: values[0],
    bound: values[0],
    boundFrom: "a mean over samples is the same in every row only if the samples are",
    sentence: `The reward is exactly ${say(values[0])} in all ${
      say(values.length)
    } rows: every answer earns the same, and there is nothing to learn from.`,
    alternatives: [
      "distillation, where the signal is not the reward",
      "the reward function fails on every answer, for example on a format that it does not parse",
      "no task is ever solved",
    ],
    next: "Score ten answers by hand and compare with what the reward function says.",
  }];
}

/** Keys that show training towards a teacher. */
const DISTILLATION = /teacher|distill/i;

function zeroReward(context: Context, reward: Curve): readonly Finding[] {
  const teacher = [...context.view.log.columns.keys()].find((key) => DISTILLATION.test(key));
  if (teacher === undefined || reward.values.length < 3) return [];
  if (!reward.values.every((value) => value === 0)) return [];
  return [{
    id: "zero_reward_expected",
    class: "expected",
    ...about(reward),
    step: reward.steps[0],
    value: 0,
    sentence:
      `The reward is 0 in every row, as it is in distillation: the signal is ${teacher}, not a reward.`,
  }];
}

/** In the order in which they are tried. */
export const SIGNAL_RULES: readonly Rule[] = [
  { ids: ["flat_groups"], needs: [], judge: flatGroups },
  { ids: ["flat_groups"], needs: [{ metric: "reward" }], judge: constantReward },
  { ids: ["nothing_left_to_learn"], needs: [{ metric: "reward" }], judge: nothingLeft },
  { ids: ["zero_reward_expected"], needs: [{ metric: "reward" }], judge: zeroReward },
];
