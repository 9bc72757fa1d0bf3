/** How far a side is from the model: means, quantiles, and what they depend on. */
import { largest, quantile } from "../../core/statistics.ts";
import { ClusteredMean } from "../../core/streaming_statistics.ts";
import type { GapToken } from "./own_scores.ts";

/** A gap over some tokens, in nats; the side minus the model. */
export interface Gap {
  readonly tokens: number;
  /** Mean |difference|. */
  readonly meanNats: number;
  /** Mean difference: below 0 where the side's log-probs are lower. */
  readonly signedMeanNats: number;
}

/** A gap of tokens that have something in common. */
export interface GapPart extends Gap {
  readonly part: string;
}

/** A gap of one sequence. */
export interface SequenceGap extends Gap {
  /** Index of the sequence. */
  readonly sequence: number;
}

/** All figures of a side. */
export interface GapFigures extends Gap {
  /** Standard error of the signed mean; tokens of a sequence may resemble each other. */
  readonly signedErrorNats: number;
  /** Quantiles of |difference|. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** The token with the largest |difference|. */
  readonly worst: GapToken;
  /** Quarters of the policy's tokens of a sequence. */
  readonly byPosition: readonly GapPart[];
  /** By the model's probability of the token. */
  readonly byProbability: readonly GapPart[];
  /** First tokens of turns, and the others. */
  readonly byTurn: readonly GapPart[];
  /** The largest first. */
  readonly bySequence: readonly SequenceGap[];
}

const POSITIONS = ["first quarter", "second quarter", "third quarter", "last quarter"] as const;

/** Names of bins by the probabilities at their lower ends. */
const PROBABILITIES = [
  ["0.9 to 1", 0.9],
  ["0.5 to 0.9", 0.5],
  ["0.1 to 0.5", 0.1],
  ["0.01 to 0.1", 0.01],
  ["below 0.01", 0],
] as const;

/** The gap over tokens. @throws {RangeError} When there is none. */
export function gapOf(tokens: readonly GapToken[]): Gap {
  if (tokens.length === 0) throw new RangeError("Cannot take the gap of 0 tokens");
  let absolute = 0, signed = 0;
  for (const { side, own } of tokens) {
    absolute += Math.abs(side - own);
    signed += side - own;
  }
  const { length } = tokens;
  return { tokens: length, meanNats: absolute / length, signedMeanNats: signed / length };
}

function partsBy(
  tokens: readonly GapToken[],
  names: readonly string[],
  nameOf: (token: GapToken) => string,
): GapPart[] {
  const groups = Map.groupBy(tokens, nameOf);
  return names.flatMap((part) => {
    const own = groups.get(part);
    return own === undefined ? [] : [{ part, ...gapOf(own) }];
  });
}

/** Figures of tokens. @throws {RangeError} When there is none. */
export function gapFigures(tokens: readonly GapToken[]): GapFigures {
  const sizes = Float64Array.from(tokens, ({ side, own }) => Math.abs(side - own));
  const max = largest(sizes);
  const signed = new ClusteredMean();
  tokens.forEach(({ side, own, sequence }, n) => {
    if (n > 0 && tokens[n - 1].sequence !== sequence) signed.close();
    signed.add(side - own);
  });
  signed.close();
  const quarters: readonly string[] = POSITIONS;
  const bySequence = Array.from(
    Map.groupBy(tokens, ({ sequence }) => sequence),
    ([sequence, own]) => ({ sequence, ...gapOf(own) }),
  ).toSorted((a, b) => b.meanNats - a.meanNats || a.sequence - b.sequence);
  return {
    ...gapOf(tokens),
    signedErrorNats: signed.estimate.error,
    p50: quantile(sizes, 0.5),
    p99: quantile(sizes, 0.99),
    max,
    worst: tokens[sizes.indexOf(max)],
    byPosition: partsBy(
      tokens,
      quarters,
      ({ share }) => quarters[Math.min(3, Math.floor(4 * share))],
    ),
    byProbability: partsBy(
      tokens,
      PROBABILITIES.map(([name]) => name),
      ({ own }) => PROBABILITIES.find(([, least]) => Math.exp(own) >= least)?.[0] ?? "below 0.01",
    ),
    byTurn: partsBy(
      tokens,
      ["first token of a turn", "later tokens"],
      ({ inTurn }) => inTurn === 0 ? "first token of a turn" : "later tokens",
    ),
    bySequence,
  };
}
