/** The gap as courses: along the sequence, along a turn, and by how likely the model thinks the token is. */
import { gapOf } from "./gap_figures.ts";
import type { GapToken } from "./own_scores.ts";

/** Tokens that share a point of a curve, and their gap in nats; the side minus the model. */
export interface GapPoint {
  /** Where on the axis: the mean of its tokens. */
  readonly at: number;
  readonly tokens: number;
  readonly meanNats: number;
  readonly signedMeanNats: number;
  readonly max: number;
}

/** The gap over three axes, each in ascending order. */
export interface GapCurves {
  /** Index of the token in its sequence. */
  readonly byToken: GapPoint[];
  /** Index of the token in its turn: 0 for the first of each. */
  readonly byTurnToken: GapPoint[];
  /** The model's log-prob of the token, in nats. */
  readonly byLogProb: GapPoint[];
}

/** Positions below this have a point of their own; from there on eight share each doubling. */
const SINGLE_POSITIONS = 16;
const BINS_PER_DOUBLING = 8;
/** Points of a curve by log-prob, of as many tokens each. */
const LOGPROB_POINTS = 24;

function pointOf(
  tokens: readonly GapToken[],
  axis: (token: GapToken) => number,
): GapPoint {
  const max = tokens.reduce((most, { side, own }) => Math.max(most, Math.abs(side - own)), 0);
  const at = tokens.reduce((sum, token) => sum + axis(token), 0) / tokens.length;
  return { at, ...gapOf(tokens), max };
}

function binOf(position: number): number {
  if (position < SINGLE_POSITIONS) return position;
  return SINGLE_POSITIONS + Math.floor(BINS_PER_DOUBLING * Math.log2(position / SINGLE_POSITIONS));
}

function byPlace(
  tokens: readonly GapToken[],
  axis: (token: GapToken) => number,
): GapPoint[] {
  const bins = Map.groupBy(tokens, (token) => binOf(axis(token)));
  return Array.from(bins).toSorted(([a], [b]) => a - b).map(([, own]) => pointOf(own, axis));
}

/** The courses of a side's gap. @param tokens At least one. */
export function gapCurves(tokens: readonly GapToken[]): GapCurves {
  const sorted = tokens.toSorted((a, b) => a.own - b.own);
  const points = Math.min(LOGPROB_POINTS, sorted.length);
  const cut = (n: number) => Math.floor(n * sorted.length / points);
  return {
    byToken: byPlace(tokens, ({ token }) => token),
    byTurnToken: byPlace(tokens, ({ inTurn }) => inTurn),
    byLogProb: Array.from(
      { length: points },
      (_, n) => pointOf(sorted.slice(cut(n), cut(n + 1)), ({ own }) => own),
    ),
  };
}
