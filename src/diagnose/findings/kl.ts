/** Rules about the divergence from the reference: where it begins, whether it is there at all, and whether it runs away. */
import { sentence, setting } from "../../core/mention.ts";
import type { Finding } from "../finding.ts";
import type { Over, Quantity } from "../../producers/definition.ts";
import { changeOf, type Curve, intervalOf, middle, partOf, say } from "./curve.ts";
import { about, type Context, isExact, type Rule, stepsText, SURE } from "./rule.ts";

/** Divergences per token: a sum over an answer is another thing. */
const PER_TOKEN: readonly Quantity[] = [
  "k1",
  "k2",
  "k3",
  "full",
  "half_square",
  "chosen_at_runtime",
];

/** Where nothing tells over what it is taken, it can be a sum. */
const KNOWN_OVER: readonly Over[] = ["tokens", "sequences", "minibatches", "step"];

/** The reference is the start by definition: then the first row is rounding. This is many times the noise of bf16 (0.02²/2 nats). */
const FIRST_ROW = 0.05;
/** Where the first row is a mean over several steps, they have moved the policy by some. */
const FIRST_WINDOW = 0.3;

function referenceIsNotStart(context: Context, kl: Curve): readonly Finding[] {
  const { steps, values } = kl;
  const interval = intervalOf(steps);
  if (!(steps[0] <= Math.max(1, interval)) || !context.hasStart) return [];
  // Rows that are only counted can be of anywhere, unless several of them say by their epochs that they are not.
  const isShort = values.length < 3;
  if (isShort && context.view.log.axes[kl.series.axis] === "row") return [];
  // One row of one step, or the mean over the steps since the start.
  const isFirstStep = interval <= 1 || kl.series.definition.window !== "mean" || steps[0] <= 1;
  const bound = isFirstStep ? FIRST_ROW : FIRST_WINDOW;
  const first = values[0];
  const later = middle(values.subarray(1, 6));
  // A divergence that grows from nothing is far below its later self in the first row.
  // One row alone can be a batch with an odd token.
  if (!(first >= bound && middle(values.subarray(0, 3)) >= bound)) return [];
  if (first < 0.2 * later) return [];
  return [{
    id: "reference_is_not_start",
    class: isShort ? "note" : "suspect",
    ...about(kl),
    step: steps[0],
    value: first,
    bound,
    boundFrom: isFirstStep
      ? "before the first update, policy and reference are the same model, up to rounding"
      : `the first row is a mean over ${interval} steps, which start at 0`,
    sentence: `${kl.key} is ${say(first)} already in the first row (step ${
      say(steps[0])
    }), where it should be about 0: the run starts from a different model than its reference.`,
    alternatives: [
      "training continues from an adapter or a checkpoint, while the reference is the base model",
      "policy and reference see different prompts (chat template), or compute in different precision",
      "the log begins after a restart",
    ],
    next:
      "Load the starting weights as the reference too (merge the adapter first), or log the divergence between the two on one batch before the first update.",
  }];
}

/** Nats per token: the geometric mean of what the two models give a token differs by e. */
const ANOTHER_MODEL = 1;
/** Times its own level in the first half. */
const TIMES_OWN_PAST = 10;

function klRunaway(context: Context, kl: Curve): readonly Finding[] {
  const { values, steps } = kl;
  if (values.length < 10) return [];
  const past = middle(partOf(kl, 0.1, 0.5).values);
  const width = Math.max(3, Math.floor(values.length / 10));
  const end = middle(values.subarray(-width));
  if (!(end >= ANOTHER_MODEL && end >= TIMES_OWN_PAST * past)) return [];
  const from =
    steps[values.findIndex((value) => value >= Math.max(ANOTHER_MODEL, TIMES_OWN_PAST * past))];
  return [{
    id: "kl_runaway",
    class: "suspect",
    ...about(kl),
    step: from,
    value: end,
    bound: Math.max(ANOTHER_MODEL, TIMES_OWN_PAST * past),
    boundFrom: TIMES_OWN_PAST * past > ANOTHER_MODEL
      ? "ten times its median in the run's own first half"
      : "1 nat per token: every token e times more or less likely than under the reference",
    sentence: `${kl.key} runs away: ${say(past)} in the first half, ${say(end)} in ${
      stepsText(steps[values.length - width], steps[values.length - 1])
    }; it passes the bound at step ${say(from)}.`,
    alternatives: [
      "the updates are too large",
      "the penalty is too weak to hold the policy",
      "a few tokens that the reference finds all but impossible (k3 grows with their ratio)",
    ],
    next: `Go back to a checkpoint before step ${say(from)}; halve ${
      context.knob("learningRate", "the learning rate")
    } or raise ${context.knob("klCoef", "the KL coefficient")}.`,
  }];
}

/** What shows that the weights moved: a policy that differs from its past, or learns. */
function movementOf(context: Context): string | undefined {
  for (const metric of ["kl_old", "clip_fraction"] as const) {
    const curve = context.curve(metric);
    if (curve?.values.some((value) => value !== 0)) return `${curve.key} is not 0`;
  }
  const { reward, rewardChange } = context;
  if (reward && rewardChange && rewardChange.z > 2 * SURE) return `${reward.key} rises`;
  const entropy = context.curve("entropy");
  const change = entropy && changeOf(entropy);
  if (entropy && change && Math.abs(change.z) > 2 * SURE) return `${entropy.key} moves`;
  return undefined;
}

function zeroKl(context: Context, kl: Curve): readonly Finding[] {
  const { values, steps } = kl;
  if (values.length < 5 || !values.every((value) => value === 0)) return [];
  const coefficient = context.setting("klCoef");
  const name = context.knob("klCoef", "the KL coefficient");
  const common = { ...about(kl), step: steps[values.length - 1], value: 0, bound: 0 };
  const always = `${kl.key} is 0 in all ${say(values.length)} rows`;
  if (coefficient === 0) {
    return [{
      ...common,
      id: "zero_kl_expected",
      class: "expected",
      sentence: `${always}: ${name} is 0, so there is no reference to compare with.`,
    }];
  }
  if (!isExact(context, kl)) {
    return [{
      ...common,
      id: "kl_exactly_zero",
      class: "not-checkable",
      sentence: `${always}, but the log is rounded: a small divergence looks the same.`,
      next: "Look at it in a tracker, or print it in full precision.",
    }];
  }
  const moved = movementOf(context);
  const fault = "the reference is the policy itself, or the policy does not move";
  const alternatives = [
    "the reference shares its weights with the policy and is updated with it",
    "the weights do not move: a learning rate of 0, or updates too small for bf16 weights",
  ];
  const next = "Compare the two models' log-probs of one batch after a few updates; " +
    "they must differ wherever the policy was trained.";
  const { onlyWith, maybeOff, zero } = kl.series.definition;
  if (maybeOff && coefficient === undefined) {
    return [{
      ...common,
      id: "zero_kl_expected",
      class: "expected",
      sentence: `${always}. ${zero ?? "A setting can switch it off."}`,
      next: sentence`Where it is on, say so with ${setting("klCoef")}.`,
    }];
  }
  if (coefficient === undefined && onlyWith !== "klCoef") {
    return [{
      ...common,
      id: "kl_exactly_zero",
      class: "note",
      sentence: `${always}. With ${name} at 0 that is by construction; otherwise ${fault}.`,
      alternatives,
      next: sentence`Say which it is with ${setting("klCoef")}.`,
    }];
  }
  return [{
    ...common,
    id: "kl_exactly_zero",
    // Known from what is logged alone, or where the log cannot show that it is switched off, it is not certain.
    class: moved === undefined || coefficient === undefined || maybeOff ? "suspect" : "violated",
    boundFrom: "a policy that has moved differs from a reference that has not",
    sentence: `${always} with ${name} ${
      coefficient === undefined ? "above 0 (or it would not be logged)" : `at ${say(coefficient)}`
    }${moved === undefined ? "" : `, although ${moved}`}: ${fault}.`,
    alternatives,
    next,
  }];
}

function absentKl(context: Context): readonly Finding[] {
  if (context.setting("klCoef") !== 0 || context.view.all("kl_reference").length > 0) return [];
  return [{
    id: "zero_kl_expected",
    class: "expected",
    metric: "kl_reference",
    sentence: `The log has no divergence from a reference, which is right where ${
      context.knob("klCoef", "the KL coefficient")
    } is 0 or the penalty is off: none is computed then.`,
  }];
}

/** In the order in which they are tried. */
export const KL_RULES: readonly Rule[] = [
  {
    ids: ["reference_is_not_start"],
    needs: [{ metric: "kl_reference", quantity: PER_TOKEN, over: KNOWN_OVER }],
    judge: referenceIsNotStart,
  },
  {
    ids: ["kl_runaway"],
    needs: [{ metric: "kl_reference", quantity: PER_TOKEN, over: KNOWN_OVER }],
    judge: klRunaway,
  },
  {
    ids: ["kl_exactly_zero", "zero_kl_expected"],
    needs: [{ metric: "kl_reference" }],
    judge: zeroKl,
  },
  { ids: ["zero_kl_expected"], needs: [], judge: absentKl },
];
