/** Invariants of an update: each term pulls its way with its share, ratio and clip are the equation's, the optimizer is Adam. */
import { at } from "../core/element.ts";
import { mean } from "../core/statistics.ts";
import { clippedTerm, klTerm, reinforceTerm } from "../equations/policy_loss.ts";
import { type AdamState, clipAdam } from "../reference/clip_adam.ts";
import type { CheckMaterial, Invariant, Measured } from "./invariant.ts";
import {
  episodeMoves,
  F32_SUM_TOLERANCE,
  GRADIENT_TOLERANCE,
  largest,
  norm,
  ownGroups,
  rightAdvantages,
} from "./measurements.ts";
import type { LossProbe, OptimizerProbe } from "./probe.ts";

/** A term that moves the wrong way by less, in nats, has not moved: f32 rounds a mean of log-probs so. */
const MOVE_TOLERANCE = 1e-6;

/** Standard deviations below what permuted advantages give, which one update in 700 that ignores them exceeds. */
const MAX_AGAINST = 3;

/** What one optimizer step in f32 may miss of a whole one: its gradient is 1e-6 off, and the second moment divides by it. */
const STEP_TOLERANCE = 1e-3;

/** Spacing of f32 numbers just above 1. */
const F32_SPACING = 2 ** -23;

const NO_TOKENS = { notApplicable: "no token is trained", lack: "batch" } as const;

/** Numbers of the trained tokens, each with its place. */
function tokenValues(probe: LossProbe, value: (n: number) => number): number[] {
  return Array.from({ length: probe.tokens.logp_N.length }, (_, n) => value(n));
}

/** What the weight of a token must be: in every mode it is the same for all tokens of an episode. */
function rightWeight({ aggregation, normConst, tokens_B }: LossProbe, episode: number): number {
  const counts = Array.from(tokens_B);
  switch (aggregation) {
    case "token_mean":
      return 1 / counts.reduce((sum, count) => sum + count, 0);
    case "seq_mean_token_sum":
      return 1 / counts.length;
    case "seq_mean_token_mean":
      return 1 / counts.length / at(counts, episode);
    case "constant":
      return 1 / normConst;
    default:
      return aggregation satisfies never;
  }
}

/** How far the shares of the terms are from the configured ones, each in units of its own largest value. */
function shareErrors(probe: LossProbe): [what: string, error: number][] {
  const { terms: { klKind, klCoef, entropyCoef }, tokens, tokens_B, found } = probe;
  const { episode_N, logp_N, refLogp_N, advantage_N } = tokens;
  const trained = Array.from(tokens_B).reduce((sum, count) => sum + count, 0);
  const weightOf_B = Array.from(tokens_B, (_, b) => rightWeight(probe, b));
  const farthest = (value: (n: number) => number) =>
    largest(tokenValues(probe, (n) => Math.abs(value(n))));
  const kl = (n: number) =>
    klCoef === 0 ? 0 : klCoef * klTerm(klKind, at(logp_N, n) - at(refLogp_N, n)).derivative;
  const klScale = farthest(kl) || 1;
  return [
    [
      "weight of a token in the surrogate",
      farthest((n) => at(found.weight_N, n) / at(weightOf_B, at(episode_N, n)) - 1),
    ],
    ["weight of a token in the means", farthest((n) => at(found.meanWeight_N, n) * trained - 1)],
    // Without an advantage nothing but the KL term acts on a log-prob.
    [
      "derivative of the KL term",
      farthest((n) =>
        at(advantage_N, n) === 0 ? (at(found.dlogp_N, n) * trained - kl(n)) / klScale : 0
      ),
    ],
    [
      "derivative of the entropy term",
      farthest((n) =>
        (at(found.dentropy_N, n) * trained + entropyCoef) / (Math.abs(entropyCoef) || 1)
      ),
    ],
  ];
}

/**
 * Standard deviations by which an update makes episodes with larger advantages likelier, more than it would if the advantages
 * were dealt out afresh within the groups: the exact mean and variance of that permutation (E. Pitman 1937).
 */
function permutationZ(
  move_B: readonly number[],
  advantage_B: ArrayLike<number>,
  group_B: readonly number[],
): number {
  let [sum, expected, variance] = [0, 0, 0];
  for (const group of new Set(group_B)) {
    const members = move_B.flatMap((_, b) => group_B[b] === group ? [b] : []);
    const [moves, advantages] = [move_B, advantage_B].map((values_B) =>
      members.map((b) => at(values_B, b))
    ) as [number[], number[]];
    const squares = (values: readonly number[]) => {
      const center = mean(values);
      return values.reduce((total, value) => total + (value - center) ** 2, 0);
    };
    sum += moves.reduce((total, move, i) => total + move * at(advantages, i), 0);
    expected += members.length * mean(moves) * mean(advantages);
    if (members.length > 1) variance += squares(moves) * squares(advantages) / (members.length - 1);
  }
  return (sum - expected) / Math.sqrt(variance);
}

/** How far a reference has moved from where it was made: largest difference of a trained token's log-prob, in nats. */
function referenceDrift({ inputs, update }: CheckMaterial): number | undefined {
  const { referenceLogp_BC, startLogp_BC } = update;
  if (!referenceLogp_BC || !startLogp_BC) return undefined;
  return largest(
    Array.from(
      inputs.mask_BC,
      (trained, cell) =>
        trained === 0 ? 0 : Math.abs((referenceLogp_BC[cell] ?? NaN) - (startLogp_BC[cell] ?? NaN)),
    ),
  );
}

/** The reference, where it is known what it was made of; then the terms, where they were probed. */
function measureTerms(material: CheckMaterial): Measured {
  const drift = Object.hasOwn(material, "update") ? referenceDrift(material) : undefined;
  const isAway = drift !== undefined && !(drift <= F32_SUM_TOLERANCE);
  if (drift === undefined || !isAway && Object.hasOwn(material, "termProbe")) {
    return measureProbe(material);
  }
  const reason = "nats by which the KL reference has moved from where it started";
  return { value: drift, bound: F32_SUM_TOLERANCE, reason };
}

function measureProbe(material: CheckMaterial): Measured {
  const { trainer, termProbe: { shares, moves, slope } } = material;
  if (shares.tokens.logp_N.length === 0) return NO_TOKENS;
  const errors = shareErrors(shares);
  const value = largest(errors.map(([, error]) => error));
  const worst = errors.find(([, error]) => Object.is(error, value));
  const share = { value, reason: `relative error of the ${worst?.[0] ?? "shares of the terms"}` };
  if (!(value <= GRADIENT_TOLERANCE)) return share;
  if (slope) {
    const { promised, found, tolerance } = slope;
    const error = Math.abs(found / promised - 1);
    const reason = "relative error of the slope of the loss that the gradient predicts";
    if (!(error <= tolerance)) return { value: error, bound: tolerance, reason };
  }
  for (const { term, before, after } of moves) {
    const wrongWay = term === "kl" ? after - before : before - after;
    if (wrongWay <= MOVE_TOLERANCE) continue;
    const reason = `nats by which ${
      term === "kl"
        ? "the KL term alone raises the KL to the reference"
        : "the entropy term alone lowers entropy"
    }`;
    return { value: wrongWay, bound: MOVE_TOLERANCE, reason };
  }
  const against = -permutationZ(
    episodeMoves(material),
    rightAdvantages(material),
    trainer.groupId_B ? ownGroups(trainer) : trainer.episodes.map(() => 0),
  );
  if (!(against > MAX_AGAINST)) return share;
  const reason =
    "how far the update goes against the advantages, in standard deviations of what permuted ones give";
  return { value: against, bound: MAX_AGAINST, reason };
}

/** Largest |log π_old| of a token in an optimizer step that is away from the one that the update began with. */
function oldLogpDrift({ minibatches, inputs }: CheckMaterial): number {
  return largest(
    (minibatches ?? []).flatMap(({ cell_N, oldLogp_N, weight_N }) =>
      Array.from(
        cell_N,
        (cell, n) =>
          weight_N[n] === 0 ? 0 : Math.abs(at(oldLogp_N, n) - (inputs.oldLogp_BC[cell] ?? NaN)),
      )
    ),
  );
}

/** How far ratios are from the equation's: in the surrogate's derivative, then in the old log-probs of the whole update. */
function measureRatio(material: CheckMaterial): Measured {
  const isProbed = Object.hasOwn(material, "lossProbe") || !material.minibatches;
  const measured = isProbed ? measureSurrogate(material) : undefined;
  const isRight = measured && "value" in measured && measured.value <= GRADIENT_TOLERANCE;
  if (measured && (!isRight || !material.minibatches)) return measured;
  const drift = oldLogpDrift(material);
  if (measured && drift <= F32_SUM_TOLERANCE) return measured;
  const reason =
    "nats between an optimizer step's old log-prob of a token and the one that the update began with";
  return { value: drift, bound: F32_SUM_TOLERANCE, reason };
}

/** Largest error of the surrogate's derivative at a token, in units of its advantage. */
function measureSurrogate({ lossProbe }: CheckMaterial): Measured {
  const { terms, tokens: { logp_N, oldLogp_N, advantage_N }, found } = lossProbe;
  if (logp_N.length === 0) return NO_TOKENS;
  const errors = tokenValues(lossProbe, (n) => {
    const advantage = at(advantage_N, n);
    const ratio = Math.exp(at(logp_N, n) - at(oldLogp_N, n));
    const { derivative } = terms.surrogate === "reinforce"
      ? reinforceTerm(at(logp_N, n), advantage)
      : clippedTerm(ratio, { ...terms, advantage });
    const scale = Math.max(1, ratio) * Math.max(1, Math.abs(advantage));
    return Math.abs(at(found.dlogp_N, n) / at(found.weight_N, n) - derivative) / scale;
  });
  return {
    value: largest(errors),
    reason:
      `largest error of the surrogate's derivative at one of ${errors.length} tokens inside and outside of the clip`,
  };
}

/** ‖found − right‖ over what it may be: a share of the whole way from `start`, and f32 rounding of what is stored. */
function wayError(
  found_W: ArrayLike<number>,
  right_W: ArrayLike<number>,
  { start_W, steps }: { readonly start_W: ArrayLike<number>; readonly steps: number },
): number {
  let [error, way, rounding] = [0, 0, 0];
  for (let w = 0; w < right_W.length; w++) {
    const right = at(right_W, w);
    error += ((found_W[w] ?? NaN) - right) ** 2;
    way += (right - at(start_W, w)) ** 2;
    rounding += (F32_SPACING * right) ** 2;
  }
  return Math.sqrt(error) / (STEP_TOLERANCE * Math.sqrt(way) + steps * Math.sqrt(rounding));
}

/** Tensors without a gradient in any of the steps. */
function stillTensors({ gradients, tensors = [] }: OptimizerProbe): string[] {
  const isStill = (offset: number, length: number) =>
    gradients.every((gradient_W) =>
      norm(Array.from({ length }, (_, i) => gradient_W[offset + i] ?? NaN)) === 0
    );
  return tensors.filter(({ offset, length }) => isStill(offset, length)).map(({ name }) => name);
}

/** How far weights and moments are from where Adam would have brought them. */
function measureOptimizer({ optimizerProbe: probe }: CheckMaterial): Measured {
  const { gradients, before, after, maxNorm, learningRate, betas, eps, firstStep } = probe;
  if (gradients.every((gradient_W) => norm(gradient_W) === 0)) {
    return { notApplicable: "the batch has no gradient", lack: "batch" };
  }
  const still = stillTensors(probe);
  if (still.length > 0) {
    const reason = `tensors without a gradient: ${still.slice(0, 4).join(", ")}`;
    return { value: still.length, bound: 0, reason };
  }
  const right = gradients.reduce<AdamState>(
    (state, gradient_W, i) =>
      clipAdam(state, {
        gradient_W,
        stepNumber: firstStep + i,
        learningRate,
        maxNorm,
        betas,
        eps,
      }),
    before,
  );
  const steps = gradients.length;
  const errors =
    ([["weight_W", "weights"], ["m_W", "first moment"], ["v_W", "second moment"]] as const)
      .map(([part, name]) =>
        [name, wayError(after[part], right[part], { start_W: before[part], steps })] as const
      );
  const value = largest(errors.map(([, error]) => error));
  const worst = errors.find(([, error]) => Object.is(error, value));
  return {
    value,
    reason: `distance of the ${worst?.[0] ?? "state"} from where Adam's steps ${firstStep} to ${
      firstStep + steps - 1
    } lead, in units of what f32 may lose`,
  };
}

/** The invariants, with the numbers that the others leave. */
export const UPDATE_INVARIANTS: readonly Invariant[] = [
  {
    id: 15,
    key: "term_directions",
    name: "each term pulls its way, by its share",
    relation: "<=",
    bound: () => GRADIENT_TOLERANCE,
    boundReason: "rounding of f32 derivatives",
    measure: measureTerms,
  },
  {
    id: 16,
    key: "ratio_and_clip",
    name: "ratio and clip as in the equation",
    relation: "<=",
    bound: () => GRADIENT_TOLERANCE,
    boundReason: "rounding of f32 ratios",
    measure: measureRatio,
  },
  {
    id: 17,
    key: "optimizer_step",
    name: "optimizer steps are Adam's",
    relation: "<=",
    bound: () => 1,
    boundReason: "a thousandth of the way, and the rounding of what f32 stores",
    measure: measureOptimizer,
  },
];
