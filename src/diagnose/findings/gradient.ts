/** Rules about the update: gradients of 0 or out of nowhere, spikes, a learning rate of 0. */
import { sentence, setting } from "../../core/mention.ts";
import { quantile } from "../../core/statistics.ts";
import type { Finding } from "../finding.ts";
import { changeOf, type Curve, intervalOf, middle, say, spikesOf, valuesAt } from "./curve.ts";
import { about, type Context, isExact, percent, type Rule, stepsText } from "./rule.ts";
import { flatnessOf, tellsOfGroups } from "./signal.ts";

/** Rows in a row from which chance and an offset between metrics are out of the question. */
const LEAST_ROWS = 5;

/** The longest stretch of indices that fulfil a condition: its first, its last, and their number. */
function longestRun(count: number, holds: (index: number) => boolean) {
  let best = { first: 0, last: -1, length: 0 };
  let first = 0;
  for (let i = 0; i <= count; i++) {
    if (i < count && holds(i)) continue;
    if (i - first > best.length) best = { first, last: i - 1, length: i - first };
    first = i + 1;
  }
  return best;
}

/** Chance below which flat steps are not why rows show no gradient: of the longest stretch of many rows, and of all that there are. */
const CHANCE = { ofStretch: 1e-6, ofAll: 1e-3 } as const;

/**
 * How likely it is that flat steps explain gradients of 0. Where a row is a step it is none: some of that step's groups differ. A norm
 * that is the last of several steps may be a flat one's in each row.
 */
function chanceOfFlat(
  { view }: Context,
  { gradient, shares }: { readonly gradient: Curve; readonly shares: readonly number[] },
): number {
  const { steps, series } = gradient;
  const isEachStep = steps.length > 1 ? intervalOf(steps) <= 1 : steps[0] === 1;
  if (series.definition.window !== "last" || (isEachStep && view.log.axes[0] !== "row")) return 0;
  return shares.reduce((chance, share) => chance * share, 1);
}

function zeroGradient(context: Context, gradient: Curve): readonly Finding[] {
  const flatness = flatnessOf(context);
  if (!flatness || !tellsOfGroups(flatness) || !isExact(context, gradient)) return [];
  const flat = valuesAt({ ...flatness.curve, values: flatness.shares }, gradient);
  // Rows between two batches (several updates on one) tell nothing of groups.
  const told = Array.from(gradient.steps.keys()).filter((i) => !Number.isNaN(flat[i]));
  const steps = told.map((i) => gradient.steps[i]);
  const isZero = (index: number) => gradient.values[told[index]] === 0;
  const run = longestRun(told.length, (i) => isZero(i) && flat[told[i]] < 1);
  const shares = told.slice(run.first, run.last + 1).map((i) => flat[i]);
  const isAll = gradient.values.every((value) => value === 0);
  const isLong = run.length >= LEAST_ROWS && middle(shares) <= 0.5;
  // A few rows are enough where there are no others, and no flat step can be behind them.
  const isWhole = isAll && run.length > 0 && run.length === told.length;
  const most = isWhole ? CHANCE.ofAll : isLong ? CHANCE.ofStretch : -1;
  if (chanceOfFlat(context, { gradient, shares }) > most) return [];
  const range = stepsText(steps[run.first], steps[run.last]);
  if (isAll && context.isLearning) {
    return [{
      id: "metrics_contradict",
      class: "suspect",
      ...about(gradient),
      step: steps[run.first],
      value: 0,
      bound: 0,
      boundFrom: "a reward that rises needs a gradient",
      sentence:
        `${gradient.key} is 0 in every row while the reward rises: it does not measure the gradient that trains.`,
      alternatives: [
        "the norm is taken before the gradients are gathered, or after they were cleared",
      ],
      next: "Do not rely on it; read the norm where the optimizer clips it.",
    }];
  }
  return [{
    id: "gradient_zero_with_signal",
    class: "suspect",
    ...about(gradient),
    step: steps[run.first],
    value: 0,
    bound: 0,
    boundFrom: "groups whose rewards differ have advantages, and advantages a gradient",
    sentence: `${gradient.key} is exactly 0 in ${range} (${run.length} ${
      run.length === 1 ? "row" : "rows"
    }), although ${
      middle(shares) <= 0.5 ? "at least half" : percent(1 - middle(shares))
    } of the groups have rewards that differ.`,
    alternatives: [
      "all tokens are masked out: cut answers that are left out, or a mask that misses the completion",
      "the gradient does not reach the trained weights (frozen or detached adapter)",
      "the norm is logged after the gradients are cleared",
    ],
    next:
      "Count the tokens that enter the loss in one batch, then the parameters that have a gradient.",
  }];
}

/** A gradient beside the usual one that cannot be rounding. */
const NOT_ROUNDING = 0.1;

function gradientWithoutSignal(context: Context, gradient: Curve): readonly Finding[] {
  const flatness = flatnessOf(context);
  if (!flatness) return [];
  const flat = valuesAt({ ...flatness.curve, values: flatness.shares }, gradient);
  const { steps, values } = gradient;
  const usual = middle(values.filter((value, i) => value > 0 && flat[i] < 1));
  if (!(usual > 0)) return [];
  // The norm may belong to the batch before: the first and the last row of a flat stretch do not count.
  const run = longestRun(steps.length, (i) => flat[i] === 1);
  if (run.length < LEAST_ROWS + 2) return [];
  const inner = values.subarray(run.first + 1, run.last);
  if (!(middle(inner) >= NOT_ROUNDING * usual)) return [];
  const klCoef = context.setting("klCoef");
  const hasBonus = context.view.log.columns.has("entropy_coef");
  if ((klCoef ?? 0) > 0 || hasBonus) return [];
  const range = stepsText(steps[run.first + 1], steps[run.last - 1]);
  const isKnown = klCoef === 0;
  return [{
    id: "gradient_without_signal",
    class: isKnown ? "suspect" : "note",
    ...about(gradient),
    step: steps[run.first + 1],
    value: middle(inner),
    bound: NOT_ROUNDING * usual,
    boundFrom: "a tenth of its median where rewards differ",
    sentence: `${gradient.key} is ${
      say(middle(inner))
    } in ${range} although all groups have equal rewards${
      isKnown ? " and no KL penalty is on" : ""
    }: something other than the advantages trains the policy.${
      isKnown ? "" : " With a KL penalty or an entropy bonus this is expected."
    }`,
    alternatives: [
      "an entropy bonus, or another auxiliary loss",
      "advantages that are not centred in their own group",
    ],
    next: isKnown
      ? `Set ${context.knob("entropyCoef", "the entropy bonus")} to 0 for ten steps and look again.`
      : sentence`Say whether there is a penalty with ${setting("klCoef")}.`,
  }];
}

/** Times the median around it: gradient norms of healthy runs vary by less than this from step to step. */
const SPIKE = 8;
/** What spikes together with a gradient in an update that did harm. */
const COMPANIONS = ["kl_reference", "kl_old", "entropy", "gap", "loss"] as const;

/** Whether the reward is lastingly lower after a step: medians of ten rows on both sides. */
function harmAt({ reward }: Context, step: number) {
  if (!reward) return undefined;
  const at = reward.steps.findIndex((one) => one >= step);
  const before = reward.values.subarray(Math.max(0, at - 10), at);
  const after = reward.values.subarray(at + 1, at + 11);
  if (at < 5 || before.length < 5 || after.length < 5) return undefined;
  // The worst of ten rows before is still better than nearly all after it.
  const isHarm = quantile(after, 0.8) < quantile(before, 0.1) &&
    middle(after) < 0.75 * middle(before);
  return isHarm ? { before: middle(before), after: middle(after) } : undefined;
}

function spikes(context: Context, gradient: Curve): readonly Finding[] {
  const found = spikesOf(gradient, SPIKE);
  if (found.length === 0) return [];
  const worst = found.reduce((best, spike) => spike.value > best.value ? spike : best);
  const companions = COMPANIONS.flatMap((metric) => {
    const curve = context.curve(metric);
    const own = curve &&
      spikesOf(curve, 4).find(({ step }) => Math.abs(step - worst.step) <= context.interval);
    return curve && own ? [{ curve, own }] : [];
  });
  const harm = context.reward?.series.axis === gradient.series.axis
    ? harmAt(context, worst.step)
    : undefined;
  const common = {
    ...about(gradient),
    step: worst.step,
    value: worst.value,
    bound: SPIKE * worst.around,
    boundFrom: `${SPIKE} times the median of the rows around it (${say(worst.around)})`,
  };
  const next = `Look at the batch of step ${
    say(worst.step)
  }: its longest answers and its largest ratios; ${
    context.knob("gradientClip", "the gradient clip")
  } bounds what such a batch can do.`;
  if (companions.length > 0) {
    const joined = companions.map(({ curve, own }) => `${curve.key} (${say(own.value)})`).join(
      ", ",
    );
    return [{
      ...common,
      id: "joint_spike",
      class: harm ? "suspect" : "note",
      sentence: `${gradient.key} and ${joined} spike together at step ${say(worst.step)} (${
        say(worst.value)
      } against ${say(worst.around)})${
        harm
          ? `, and the reward stays down afterwards: ${say(harm.before)} before, ${
            say(harm.after)
          } after`
          : "; the reward suffers no lasting harm"
      }.`,
      ...(harm
        ? {
          alternatives: [
            "one batch with extreme advantages or ratios",
            "a restart or a change of data at that step",
          ],
        }
        : {}),
      ...(harm ? { next } : {}),
    }];
  }
  return [{
    ...common,
    id: "gradient_spike",
    class: "note",
    sentence: `${gradient.key} spikes to ${say(worst.value)} at step ${say(worst.step)} against ${
      say(worst.around)
    } around it${
      found.length === 1
        ? ": a lone spike, not a fault"
        : `, the highest of ${found.length} spikes: single batches, which alone are not a fault`
    }.`,
  }];
}

function zeroLearningRate(context: Context, rate: Curve): readonly Finding[] {
  const { values, steps } = rate;
  const last = values.length - 1;
  if (values.length < LEAST_ROWS || !isExact(context, rate)) return [];
  const name = context.knob("learningRate", "the learning rate");
  const common = { id: "learning_rate_zero", ...about(rate), value: 0, bound: 0 };
  if (values.every((value) => value === 0)) {
    const kl = context.curve("kl_reference"), moved = kl && changeOf(kl);
    const isMoving = context.isLearning ||
      (moved !== undefined && moved.isApart && moved.tail > 2 * moved.head);
    return [{
      ...common,
      class: isMoving ? "suspect" : "violated",
      step: steps[0],
      boundFrom: "a learning rate of 0 changes no weight",
      sentence: `${rate.key} is 0 in all ${say(values.length)} rows (${
        stepsText(steps[0], steps[last])
      }): nothing is trained.`,
      alternatives: [
        ...(isMoving
          ? ["the key shows another parameter group: other metrics move, so something is trained"]
          : []),
        `a warm-up (${context.knob("warmup", "warm-up steps")}) that is longer than the run`,
      ],
      next: `Set ${name}, and look at the schedule and its planned number of steps.`,
    }];
  }
  // A schedule that ends at 0 touches it in its last row; one that stays there has ended too early.
  let first = values.length;
  while (first > 0 && values[first - 1] === 0) first--;
  const rows = values.length - first;
  if (rows < LEAST_ROWS || rows < 0.05 * values.length) return [];
  return [{
    ...common,
    class: "suspect",
    step: steps[first],
    boundFrom: "a learning rate of 0 changes no weight",
    sentence: `${rate.key} is 0 from step ${
      say(steps[first])
    } to the end (${rows} rows): the schedule ended before the run did.`,
    alternatives: ["the run was extended, and the schedule kept its old number of steps"],
    next: `Give the schedule as many steps as the run takes (${
      context.knob("plannedSteps", "the planned steps")
    }), or stop at step ${say(steps[first])}.`,
  }];
}

function zeroLoss(context: Context, loss: Curve): readonly Finding[] {
  const { values, steps } = loss;
  if (values.length < 3) return [];
  const zeros = values.filter((value) => Math.abs(value) < 5e-4).length;
  if (zeros < 0.9 * values.length) return [];
  const updates = context.setting("updatesPerBatch");
  const coefficient = context.setting("klCoef");
  const gradient = context.curve("grad_norm");
  if (gradient && gradient.values.every((value) => value === 0)) return [];
  if (updates !== undefined && updates > 1) return [];
  const name = context.knob("updatesPerBatch", "updates per batch");
  return [{
    id: "zero_loss_expected",
    class: "expected",
    ...about(loss),
    step: steps[0],
    value: middle(values),
    sentence: `${loss.key} stays at about 0, as it ${
      updates === 1 ? "must" : "does"
    } with one update per batch (${name}): advantages sum to 0 before the first update${
      coefficient ? ", and what is left is the KL penalty" : ""
    }. It says nothing about progress; the reward does.`,
  }];
}

/** In the order in which they are tried. */
export const GRADIENT_RULES: readonly Rule[] = [
  { ids: ["learning_rate_zero"], needs: [{ metric: "learning_rate" }], judge: zeroLearningRate },
  {
    ids: ["gradient_zero_with_signal", "metrics_contradict"],
    needs: [{ metric: "grad_norm" }],
    judge: zeroGradient,
  },
  {
    ids: ["gradient_without_signal"],
    needs: [{ metric: "grad_norm" }],
    judge: gradientWithoutSignal,
  },
  { ids: ["gradient_spike", "joint_spike"], needs: [{ metric: "grad_norm" }], judge: spikes },
  { ids: ["zero_loss_expected"], needs: [{ metric: "loss" }], judge: zeroLoss },
];
