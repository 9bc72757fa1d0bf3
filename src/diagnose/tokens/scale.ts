/** `advantage_scale`: what the difference from the baseline is divided by. */
import type { Finding } from "../finding.ts";
import type { GroupContext, GroupRule } from "./group_context.ts";
import { deviationOf, isCentred, isFlat, lineOf, meanOf } from "./lines.ts";
import { type Group, nameOf, sampleWitness } from "./samples.ts";
import { greatest, notCheckable, shownBy } from "./token_check.ts";
import { countOf, say } from "./words.ts";

const ID = "advantage_scale";

/** A group whose advantages are centred and follow its rewards. */
interface Scaled {
  readonly group: Group;
  readonly rewards: readonly number[];
  /** What reward − mean was divided by. */
  readonly divisor: number;
}

/** What it may be divided by. */
type Divisor = "group" | "none" | "leave-one-out" | "population" | "batch" | "centred batch";

const DIVISORS: readonly Divisor[] = [
  "group",
  "none",
  "leave-one-out",
  "population",
  "batch",
  "centred batch",
];

const WORDS: Readonly<Record<Divisor, string>> = {
  group: "the standard deviation of the group (n − 1)",
  none: "nothing",
  "leave-one-out": "nothing, with a baseline that leaves the sample itself out",
  population: "the standard deviation of the group with n instead of n − 1",
  batch: "the standard deviation of all rewards of the step",
  "centred batch": "the standard deviation of all centred rewards of the step",
};

/** Largest ε that is added to a standard deviation, as a share of it and absolutely; trainers use 1e-8 to 1e-4. */
const LARGEST_EPS = 2e-3;

/** So many centred groups must stand beside each that is not. */
const TIMES_AS_MANY = 4;

function scaledOf(groups: readonly Group[]): Scaled[] {
  return groups.flatMap((group): Scaled[] => {
    const { samples } = group;
    const isWhole = samples.length > 1 &&
      samples.every(({ advantage, reward }) =>
        Number.isFinite(advantage) && Number.isFinite(reward)
      );
    if (!isWhole || isFlat(samples) || !isCentred(samples)) return [];
    const line = lineOf(samples);
    const rewards = samples.map(({ reward }) => reward);
    return line ? [{ group, rewards, divisor: 1 / line.slope }] : [];
  });
}

/** What a divisor would be for a group. */
function expected(
  divisor: Divisor,
  { rewards }: Scaled,
  batch: readonly Scaled[],
): readonly number[] {
  const n = rewards.length;
  const all = () => batch.flatMap((other) => other.rewards);
  const centred = () =>
    batch.flatMap((other) => other.rewards.map((reward) => reward - meanOf(other.rewards)));
  switch (divisor) {
    case "group":
      return [deviationOf(rewards, 1)];
    case "none":
      return [1];
    case "leave-one-out":
      return [(n - 1) / n];
    case "population":
      return [deviationOf(rewards, 0)];
    case "batch":
      return [deviationOf(all(), 0), deviationOf(all(), 1)];
    case "centred batch":
      return [deviationOf(centred(), 0), deviationOf(centred(), 1)];
    default:
      return divisor satisfies never;
  }
}

/** True where the divisor is the expected one and a small ε. */
function fits(divisor: number, expected: number): boolean {
  return Math.abs(divisor - expected) <= 0.01 * expected + LARGEST_EPS;
}

/** The batch's standard deviation is over every group of a step, the flat ones included. */
function isBatchWide(divisor: Divisor): boolean {
  return divisor === "batch" || divisor === "centred batch";
}

interface StepScale {
  readonly scaled: readonly Scaled[];
  readonly divisor: Divisor | undefined;
}

function stepScale(groups: readonly Group[]): StepScale {
  const scaled = scaledOf(groups);
  const known = groups.filter(({ samples }) =>
    samples.every(({ reward }) => Number.isFinite(reward))
  );
  const all: Scaled[] = known.map((group) => ({
    group,
    rewards: group.samples.map(({ reward }) => reward),
    divisor: NaN,
  }));
  const divisor = DIVISORS.find((candidate) =>
    scaled.length > 0 && (!isBatchWide(candidate) || scaled.length > 1) &&
    scaled.every((one) => expected(candidate, one, all).some((value) => fits(one.divisor, value)))
  );
  return { scaled, divisor };
}

function judgeSteps(steps: readonly StepScale[], { isPartial }: GroupContext): Finding[] {
  const used = steps.filter(({ scaled }) => scaled.length > 0);
  const count = used.reduce((sum, { scaled }) => sum + scaled.length, 0);
  const divisors = new Set(used.map(({ divisor }) => divisor));
  const odd = used.find(({ divisor }) => divisor === undefined) ??
    used.find(({ divisor }) => divisor !== undefined && isBatchWide(divisor)) ?? used[0];
  const { divisor, scaled: [first] } = odd;
  const worst = greatest(
    first.group.samples.map((sample) => sampleWitness(sample, Math.abs(sample.advantage))),
  );
  const common = { id: ID, metric: "advantage_std", value: first.divisor, ...shownBy(worst) };
  const own = deviationOf(first.rewards, 1);
  if (divisor === undefined) {
    // Of one group alone a constant explains every divisor.
    if (count < 2 || isPartial) return [];
    const all = used.flatMap(({ scaled }) => scaled.map((one) => one.divisor));
    const isConstant = all.every((one) => Math.abs(one / all[0] - 1) < 0.01);
    return [{
      ...common,
      class: isConstant ? "note" : "suspect",
      bound: own,
      boundFrom: "standard deviation of the group",
      sentence: isConstant
        ? `Advantages are rewards minus their group's mean, divided by ${
          say(first.divisor)
        } everywhere.`
        : `In ${nameOf(first.group)} the difference from the mean is divided by ${
          say(first.divisor)
        }, which is neither 1 nor a standard deviation of the group (${say(own)}) or of the step.`,
      ...(isConstant ? {} : {
        alternatives: [
          "weights of single samples",
          "rewards that were clipped or scaled after the dump",
        ],
      }),
    }];
  }
  if (isBatchWide(divisor)) {
    return [{
      ...common,
      class: "suspect",
      bound: own,
      boundFrom: "standard deviation of the group",
      sentence: `Advantages are centred in each group but divided by ${WORDS[divisor]}: in ${
        nameOf(first.group)
      } by ${say(first.divisor)}, where the group's own is ${say(own)}.`,
      alternatives: ['intended, as with TRL\'s scale_rewards="batch"'],
      next: "Divide by the standard deviation of the group, or do not divide.",
    }];
  }
  const differ = divisors.size > 1
    ? ` Steps differ: ${[...divisors].flatMap((one) => one ? [WORDS[one]] : []).join("; ")}.`
    : "";
  return [{
    ...common,
    class: divisors.size > 1 || divisor === "population" ? "note" : "holds",
    sentence: `Advantages are rewards minus their group's mean, divided by ${WORDS[divisor]} in ${
      countOf(count, "group")
    }.${differ}`,
  }];
}

/** Scale of advantages. */
export const SCALE: GroupRule = {
  ids: [ID],
  judge(context) {
    const steps = context.batches.map(stepScale);
    const what = "what advantages are divided by";
    if (steps.every(({ scaled }) => scaled.length === 0)) {
      const isEmpty = context.groups.length === 0;
      return isEmpty
        ? [notCheckable(ID, what, "groups")]
        : [notCheckable(ID, what, "group with rewards that differ and centred advantages")];
    }
    // Parts of groups are centred by chance alone, and their rewards are not those that the divisor was computed from.
    const scaled = steps.reduce((sum, one) => sum + one.scaled.length, 0);
    const uncentred = context.groups.filter(({ samples }) =>
      samples.length > 1 && samples.every(({ advantage }) => Number.isFinite(advantage)) &&
      !isCentred(samples)
    );
    if (uncentred.length * TIMES_AS_MANY > scaled) {
      return [notCheckable(ID, what, "centred advantages in most groups")];
    }
    return judgeSteps(steps, context);
  },
};
