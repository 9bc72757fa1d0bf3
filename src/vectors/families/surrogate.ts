/** The family `surrogate`: the term of every token, with its ratio and clip, before any aggregation. */
import {
  clippedTerm,
  clipRatio,
  reinforceTerm,
  type ValueAndDerivative,
} from "../../equations/policy_loss.ts";
import {
  clampedRatioTerm,
  dualClippedTerm,
  ratioTerm,
  sequenceLogRatio,
  stoppedWeightTerm,
} from "../../reference/surrogates.ts";
import { type Compute, type Dialect, type Family, setting, type VectorCase } from "../family.ts";
import { type Arrays, matrix } from "../values.ts";
import { gridRows } from "./grid.ts";
import { SURROGATE_CASES } from "./surrogate_cases.ts";
import { SURROGATE_MISTAKES } from "./surrogate_mistakes.ts";

/** A token, with what its row and the configuration say. */
export interface SurrogateToken {
  readonly logp: number;
  /** log π − log π_old. */
  readonly logRatio: number;
  /** The mean of them over the row's mask. */
  readonly sequenceLogRatio: number;
  readonly advantage: number;
  readonly clipLow: number;
  readonly clipHigh: number;
  readonly dualClip: number;
  readonly ratioCap: number;
}

/** The term of a token. */
export type TokenTerm = (token: SurrogateToken) => ValueAndDerivative;

const INPUTS = ["logp", "oldLogp", "advantage", "mask"] as const;

/** The term and the derivative of every token of the mask; 0 elsewhere. */
export function tokenTerms(vectorCase: VectorCase, term: TokenTerm): {
  readonly value: number[][];
  readonly derivative: number[][];
} {
  const clip = {
    clipLow: setting(vectorCase, "clipLow"),
    clipHigh: setting(vectorCase, "clipHigh"),
    dualClip: setting(vectorCase, "dualClip"),
    ratioCap: setting(vectorCase, "ratioCap"),
  };
  const terms = gridRows(vectorCase, INPUTS).map(({ logp, oldLogp, advantage, mask }) => {
    const logRatio = logp.map((value, t) => value - (oldLogp[t] ?? NaN));
    const ofSequence = sequenceLogRatio(logRatio, mask);
    return mask.map((isTrained, t) =>
      isTrained === 0 ? { value: 0, derivative: 0 } : term({
        logp: logp[t] ?? NaN,
        logRatio: logRatio[t] ?? NaN,
        sequenceLogRatio: ofSequence,
        advantage: advantage[t] ?? NaN,
        ...clip,
      })
    );
  });
  return {
    value: terms.map((row) => row.map(({ value }) => value)),
    derivative: terms.map((row) => row.map(({ derivative }) => derivative)),
  };
}

const byToken = (term: TokenTerm): Compute => (vectorCase): Arrays => {
  const { value, derivative } = tokenTerms(vectorCase, term);
  return { term: matrix(value), dlogp: matrix(derivative) };
};

/** The terms in use, by dialect. */
export const TOKEN_TERMS = {
  reinforce: ({ logp, advantage }) => reinforceTerm(logp, advantage),
  ratio: ({ logRatio, advantage }) => ratioTerm(Math.exp(logRatio), advantage),
  clip: (token) => clippedTerm(Math.exp(token.logRatio), token),
  clip_clamped_20: (token) =>
    clampedRatioTerm(token.logRatio, { limit: 20, term: (ratio) => clippedTerm(ratio, token) }),
  dual_clip: (token) => dualClippedTerm(Math.exp(token.logRatio), token),
  gspo: (token) => clippedTerm(Math.exp(token.sequenceLogRatio), token),
  gspo_clamped_10: (token) => {
    const { value, derivative } = clippedTerm(
      Math.exp(Math.min(token.sequenceLogRatio, 10)),
      token,
    );
    return { value, derivative: token.sequenceLogRatio > 10 ? 0 : derivative };
  },
  cispo: (token) =>
    stoppedWeightTerm(token.logp, {
      ...token,
      weight: clipRatio(Math.exp(token.logRatio), token),
    }),
  cispo_upper: (token) =>
    stoppedWeightTerm(token.logp, {
      ...token,
      weight: Math.min(Math.exp(token.logRatio), 1 + token.clipHigh),
    }),
  cispo_cap: (token) =>
    stoppedWeightTerm(token.logp, {
      ...token,
      weight: Math.min(Math.exp(token.logRatio), token.ratioCap),
    }),
} as const satisfies Readonly<Record<string, TokenTerm>>;

const ABOUT: Readonly<
  Record<
    keyof typeof TOKEN_TERMS,
    { readonly sentence: string; readonly usedBy: readonly string[] }
  >
> = {
  reinforce: { sentence: "−A log π", usedBy: ["REINFORCE, RLOO", "agentrl reinforce"] },
  ratio: { sentence: "−ρA, never clipped", usedBy: ["importance-weighted policy gradient"] },
  clip: {
    sentence: "−min(ρA, clip(ρ, 1 − low, 1 + high) A)",
    usedBy: ["PPO", "TRL grpo, dapo, dr_grpo", "OpenRLHF", "slime", "NeMo-RL", "agentrl clipped"],
  },
  clip_clamped_20: {
    sentence: "clip, with the log-ratio clamped to ±20 before its exponential",
    usedBy: ["verl before the dual clip"],
  },
  dual_clip: {
    sentence: "clip, at most −cA where A < 0",
    usedBy: [
      "verl vanilla (c = 3; its clamp of the log-ratio to ±20 shows only where float32 overflows)",
      "TRL with delta, which is the same",
      "slime with eps_clip_c",
      "NeMo-RL ratio_clip_c",
      "OpenRLHF dual_clip",
    ],
  },
  gspo: {
    sentence: "clip of the sequence's ratio, the exponential of the mean log-ratio",
    usedBy: ["TRL importance_sampling_level=sequence", "GSPO's paper", "slime gspo"],
  },
  gspo_clamped_10: {
    sentence: "gspo, with the mean log-ratio clamped to at most 10",
    usedBy: ["verl gspo, gradient through the token only, which is the same"],
  },
  cispo: {
    sentence: "−stop(clip(ρ, 1 − low, 1 + high)) A log π",
    usedBy: ["verl cispo", "MiniMax's paper with both bounds"],
  },
  cispo_upper: {
    sentence: "−stop(min(ρ, 1 + high)) A log π",
    usedBy: ["MiniMax-M1, which sets no lower bound", "ScaleRL"],
  },
  cispo_cap: {
    sentence: "−stop(min(ρ, ratioCap)) A log π",
    usedBy: ["TRL cispo, whose epsilon_high is the cap itself"],
  },
};

const dialectOf = (name: keyof typeof TOKEN_TERMS): Dialect => ({
  name,
  ...ABOUT[name],
  compute: byToken(TOKEN_TERMS[name]),
});

/** The family. */
export const SURROGATE: Family = {
  name: "surrogate",
  sentence: "the policy term of every token, with its ratio and clip, before any aggregation",
  inputs: {
    logp: "log-prob under the policy in training [B, T]",
    oldLogp: "log-prob under the policy before the update [B, T]",
    advantage: "advantage, the same in all columns of a row [B, T]",
    mask: "1 where the loss trains on the token, else 0 [B, T]",
  },
  config: {
    clipLow: "the ratio is clipped from 1 − clipLow",
    clipHigh: "to 1 + clipHigh",
    dualClip: "c of the dual clip, and delta of TRL",
    ratioCap: "largest weight of TRL cispo",
  },
  outputs: {
    term: "the term of every token, 0 outside the mask [B, T]",
    dlogp: "gradient of the sum of the terms under the mask for each logp [B, T]",
  },
  tolerance: {
    relative: 2e-5,
    absolute: 2e-7,
    reason: "log-ratios of float32 of up to 8, so 1e-6, and an exponential of them",
  },
  cases: SURROGATE_CASES,
  dialects: Object.keys(TOKEN_TERMS).map((name) => dialectOf(name as keyof typeof TOKEN_TERMS)),
  mistakes: SURROGATE_MISTAKES,
};
