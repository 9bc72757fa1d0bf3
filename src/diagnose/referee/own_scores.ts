/** What a third implementation says of the tokens of a dump, and where both are laid side by side. */
import type { LogProbSide, TokenSequence } from "../../tokens/token_batch.ts";
import { viewOf } from "../tokens/token_check.ts";

/** Numbers of a sequence of T tokens, T − 1 of each; entry t is about token t + 1. */
export interface OwnScores {
  /** log π(token), in nats. */
  readonly logp: ArrayLike<number>;
  /** Entropy of the distribution that it came from, in nats. */
  readonly entropy: ArrayLike<number>;
  /** ln Σ exp of the logits that the temperature has divided. */
  readonly logSumExp: ArrayLike<number>;
}

/** Scores sequences of ids under a model; the temperature divides its logits. */
export type ScoreIds = (
  ids_B: readonly ArrayLike<number>[],
  temperature: number,
) => Promise<readonly OwnScores[]>;

/** A sequence and what the model says of it. */
export interface ScoredSequence {
  readonly sequence: TokenSequence;
  readonly own: OwnScores;
}

/** One token of which a side and the model both give the log-prob. */
export interface GapToken {
  /** Index of its sequence. */
  readonly sequence: number;
  /** Its index in the sequence, 1 or more. */
  readonly token: number;
  readonly side: number;
  readonly own: number;
  readonly entropy: number;
  /** The model's logit of the token, divided by the temperature. */
  readonly logit: number;
  /** Its index in its turn: 0 of the first token. */
  readonly inTurn: number;
  /** How much of the sequence's compared tokens stands before it, 0 to 1. */
  readonly share: number;
}

/** Flags of the tokens to compare: the policy's, or all where the dump tells of none which are. */
function comparedTokens(sequence: TokenSequence): Uint8Array {
  const { mask, sampled, roles, logProbs, ids } = sequence;
  if (mask || sampled || roles || logProbs.sampler) return viewOf(sequence).scored;
  return new Uint8Array(ids.length).fill(1, 1);
}

/**
 * The tokens of which a side and the model both give a finite log-prob.
 *
 * @param scored_B Sequences in their order.
 * @returns They and how many more the side gives as NaN or infinite.
 */
export function gapTokens(
  scored_B: readonly ScoredSequence[],
  side: LogProbSide,
): { readonly tokens: readonly GapToken[]; readonly nonFinite: number } {
  const tokens: GapToken[] = [];
  let nonFinite = 0;
  scored_B.forEach(({ sequence, own }, b) => {
    const given = sequence.logProbs[side];
    if (given === undefined) return;
    const flags = comparedTokens(sequence);
    nonFinite += given.nonFinite.filter((i) => flags[i] === 1).length;
    const total = flags.reduce((sum, flag) => sum + flag, 0);
    let before = 0, turn = 0;
    for (let i = 1; i < flags.length; i++) {
      if (flags[i] !== 1) continue;
      if (flags[i - 1] !== 1) turn = i;
      const share = before++ / total;
      const found = {
        side: given.values[i],
        own: own.logp[i - 1],
        entropy: own.entropy[i - 1],
        logit: own.logp[i - 1] + own.logSumExp[i - 1],
      };
      if (!Number.isFinite(found.side - found.own)) continue;
      tokens.push({ ...found, sequence: b, token: i, inTurn: i - turn, share });
    }
  });
  return { tokens, nonFinite };
}
