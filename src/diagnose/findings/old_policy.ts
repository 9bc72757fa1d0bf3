/** Rules about π against π_old: what is 0 by construction with one update per batch, and what may not be with several. */
import { sentence, setting } from "../../core/mention.ts";
import type { Finding } from "../finding.ts";
import type { Quantity } from "../../producers/definition.ts";
import { type Curve, middle, say } from "./curve.ts";
import { about, type Context, isExact, type Rule, SURE } from "./rule.ts";

const isZero = (value: number) => value === 0;

/** The clip fractions; where the whole is there its parts (sides, a second bound) say nothing more. */
function clipFractions(context: Context): readonly Curve[] {
  const all = context.curves("clip_fraction");
  const whole = all.filter(({ series: { part } }) => part === "");
  return whole.length > 0 ? whole : all;
}

/** The zero curves of the old policy: clip fraction and divergence. */
function zeroCurves(
  context: Context,
): { readonly zeros: readonly Curve[]; readonly others: readonly Curve[] } {
  const curves = [...clipFractions(context), ...context.curves("kl_old")]
    .filter(({ values }) => values.length >= 3);
  return {
    zeros: curves.filter(({ values }) => values.every(isZero)),
    others: curves.filter(({ values }) => !values.every(isZero)),
  };
}

function trivialRatios(context: Context): readonly Finding[] {
  const { zeros, others } = zeroCurves(context);
  const [first] = zeros;
  if (!first) return [];
  const keys = zeros.map(({ key }) => key).join(" and ");
  const is = zeros.length === 1 ? "is" : "are";
  const updates = context.setting("updatesPerBatch");
  const name = context.knob("updatesPerBatch", "updates per batch");
  const rows = `${keys} ${is} 0 in all ${say(first.values.length)} rows`;
  const common = { ...about(first), step: first.steps[0], value: 0, bound: 0 };
  if (updates === 1) {
    return [{
      ...common,
      id: "zero_clip_expected",
      class: "expected",
      sentence:
        `${rows}, as it must be: with one update per batch (${name}), the policy is still the one that sampled.`,
    }];
  }
  if (updates === undefined) {
    return [{
      ...common,
      id: "zero_clip_expected",
      class: "expected",
      sentence: `${rows}: by construction where each batch is used for one update (${name}). ` +
        "With more it would be suspect: old log-probs that are recomputed for each.",
      next: sentence`Where each batch is used more than once, say so with ${
        setting("updatesPerBatch")
      }.`,
    }];
  }
  // A divergence that is there shows that the old policy is kept; then the clip had nothing to do.
  if (others.length > 0) return [];
  if (first.values.length < 5) return [];
  const exact = zeros.find((curve) => isExact(context, curve));
  const hasKl = zeros.some(({ series }) => series.definition.metric === "kl_old");
  const learns = context.rewardChange !== undefined && context.rewardChange.z > 2 * SURE;
  return [{
    ...common,
    id: "ratio_always_one",
    class: exact && hasKl && learns ? "violated" : "suspect",
    boundFrom:
      `from the second of ${updates} updates on a batch the policy differs from the one that sampled`,
    sentence:
      `${rows} with ${updates} updates per batch: the old log-probs follow the policy, and the clip never acts.`,
    alternatives: [
      "steps too small to reach the clip: the divergence is then small, but not 0",
      ...(exact ? [] : ["a small value rounded to 0 in this log"]),
    ],
    next: "Compute the old log-probs once per batch, before its first update, and detach them.",
  }];
}

/** How far a mean ratio may be from 1 where policy and old policy have the same weights: other kernels, other batches. */
const RATIO_NOISE = 0.02;
/** Nats that the same difference makes in a divergence. */
const KL_NOISE = 0.01;
/** Share of clipped tokens that rounding could make. */
const CLIP_NOISE = 0.002;

const OLD_DIVERGENCES: readonly Quantity[] = ["k1", "k2", "k3", "full", "half_square"];

/** Each curve that shows the ratio, its distance from a ratio of 1, and what rounding explains of it. */
function ratioEvidence(context: Context) {
  const found: {
    readonly curve: Curve;
    readonly distance: number;
    readonly bound: number;
    readonly perfect: number;
  }[] = [];
  for (const curve of context.curves("ratio", { quantity: ["plain"] })) {
    found.push({ curve, distance: Math.abs(curve.values[0] - 1), bound: RATIO_NOISE, perfect: 1 });
  }
  for (const curve of context.curves("kl_old", { quantity: OLD_DIVERGENCES })) {
    found.push({ curve, distance: Math.abs(curve.values[0]), bound: KL_NOISE, perfect: 0 });
  }
  for (const curve of clipFractions(context)) {
    // The first row of a clip share is noisy where it is small: the first five speak.
    const level = middle(curve.values.subarray(0, 5));
    found.push({ curve, distance: level, bound: CLIP_NOISE, perfect: 0 });
  }
  return found.filter(({ distance, bound }) => distance > bound);
}

function ratioAtStart(context: Context): readonly Finding[] {
  const updates = context.setting("updatesPerBatch");
  if (updates !== undefined && updates > 1) return [];
  const evidence = ratioEvidence(context);
  const [worst] = evidence.toSorted((a, b) => b.distance / b.bound - a.distance / a.bound);
  if (!worst) return [];
  const { curve, bound, perfect } = worst;
  const isKnown = updates === 1;
  // Without the setting, several updates per batch explain it: only a mean ratio far off is worth a line.
  if (!isKnown && !(curve.series.definition.metric === "ratio" && worst.distance > 5 * bound)) {
    return [];
  }
  const value = curve.values[0];
  return [{
    id: "ratio_not_one_at_start",
    class: isKnown ? "suspect" : "note",
    ...about(curve),
    step: curve.steps[0],
    value,
    bound: perfect + bound,
    boundFrom: "the policy is the one that sampled, up to rounding, until the first update",
    sentence: `${curve.key} is ${say(value)} in the first row${
      isKnown ? " with one update per batch" : ""
    }, where policy and old policy have the same weights: their log-probs are not computed the same way.${
      isKnown ? "" : " With several updates per batch, a smaller difference would be right."
    }`,
    alternatives: [
      "the sampler's log-probs stand in for the old ones, at a different temperature or precision",
      "dropout, or a different mask, in one of the two passes",
      "gradient accumulation steps that do not divide a batch of rollouts",
    ],
    next: "Compute both log-probs of one batch before any update and compare them token by token.",
  }];
}

/** In the order in which they are tried. */
export const OLD_POLICY_RULES: readonly Rule[] = [
  { ids: ["ratio_not_one_at_start"], needs: [], judge: ratioAtStart },
  { ids: ["zero_clip_expected", "ratio_always_one"], needs: [], judge: trivialRatios },
];
