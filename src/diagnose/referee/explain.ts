/** What explains the gap of a side: hypotheses are computed under the model, and the one that leaves next to nothing is named. */
import { LeastSquares } from "../../core/least_squares.ts";
import { type GapFigures, gapOf } from "./gap_figures.ts";
import { type ExplainContext, fitHypotheses, type GapExplanation } from "./hypotheses.ts";
import type { GapToken } from "./own_scores.ts";

/** Two f32 engines differ by less, also at tokens of e⁻⁸⁰. */
export const F32_NATS = 2e-4;
/** What f16 rounds stays below it on average, bf16 mostly above. */
const F16_NATS = 2.5e-3;
/** Two bf16 engines mostly stay below 0.02; with logits around 25 twice that was measured. */
const BF16_NATS = { usual: 0.03, most: 0.1 } as const;
/** Larger than that relative to the mean is no rounding: few tokens carry it. */
const NOISE_TAIL = { p99: 15, max: 100 } as const;
/** What the token's own logit loses explains so much of the gap where logits were rounded; other weights explain none. */
const ROUNDED_SHARE = 0.1;
/** Its weight is 1, as far as the logarithm of the sum lets it … */
const ROUNDED_WEIGHT = [0.6, 1.4] as const;
/** … and so many standard errors above 0. */
const SURE = 5;
/** A bias of rounding is at most this share of its mean size, where more tokens do not say it is none. */
const NOISE_BIAS = 0.25;

/** An explanation leaves at most this share of the gap … */
const LEFT_SHARE = 0.3;
/** … and at most so many nats, or a tenth of the gap where that is no more than the second. */
const LEFT_NATS = [0.05, 0.15] as const;
/** Another explanation that leaves less than twice as much leaves the question open. */
const MARGIN = 2;
/** Tokens on which hypotheses are computed. */
const MOST_TOKENS = 4096;

/** Other weights of the same model still agree so well about which tokens are likely … */
const LEAST_CORRELATION = 0.7;
/** … differ in most sequences … */
const LEAST_SEQUENCES = 0.9;
/** … and to both sides: a cut distribution or a missing part of the context differs to one. */
const LEAST_OF_EACH_SIGN = 0.1;

/** … and not by what the model says of the token: a distorted distribution is a function of that. */
const MOST_BY_LOGPROB = 0.5;
const LOGPROB_BINS = 12;

/** A cut that raises log-probs by less is none that can be told from rounding. */
const LEAST_CUT_NATS = 0.01;
/** What is left of a distribution still has its order. */
const LEAST_CUT_CORRELATION = 0.5;
/** Of the gap's size at most this share lowers log-probs where a distribution was cut: that is rounding. */
const MOST_LOST = 0.03;
/** A side that is sure of more tokens than that drew greedily, or gives fillers. */
const MOST_SURE = 0.9;

const isLittle = (left: number, gap: number) =>
  left <= LEFT_SHARE * gap && left <= Math.max(LEFT_NATS[0], Math.min(LEFT_NATS[1], gap / 10));

/** Tokens of whole sequences, spread over all of them. */
function subsample(tokens: readonly GapToken[]): readonly GapToken[] {
  if (tokens.length <= MOST_TOKENS) return tokens;
  const groups = [...Map.groupBy(tokens, ({ sequence }) => sequence).values()];
  const stride = Math.ceil(tokens.length / MOST_TOKENS);
  return groups.filter((_, i) => i % stride === 0).flat();
}

/** Pearson's correlation of the side's log-probs with the model's; 0 where one of them does not vary. */
function correlation(tokens: readonly GapToken[]): number {
  const n = tokens.length;
  const side = tokens.reduce((sum, token) => sum + token.side, 0) / n;
  const own = tokens.reduce((sum, token) => sum + token.own, 0) / n;
  let both = 0, sides = 0, owns = 0;
  for (const token of tokens) {
    both += (token.side - side) * (token.own - own);
    sides += (token.side - side) ** 2;
    owns += (token.own - own) ** 2;
  }
  return sides > 0 && owns > 0 ? both / Math.sqrt(sides * owns) : 0;
}

/** Share of the squared gaps that the mean gap of tokens of like log-prob explains, 0 to 1. */
function byLogProb(tokens: readonly GapToken[]): number {
  const sorted = tokens.toSorted((a, b) => a.own - b.own);
  let squares = 0, left = 0;
  for (let bin = 0; bin < LOGPROB_BINS; bin++) {
    const at = (share: number) => Math.floor(share * sorted.length / LOGPROB_BINS);
    const part = sorted.slice(at(bin), at(bin + 1)).map(({ side, own }) => side - own);
    const mean = part.reduce((sum, gap) => sum + gap, 0) / Math.max(1, part.length);
    squares += part.reduce((sum, gap) => sum + gap * gap, 0);
    left += part.reduce((sum, gap) => sum + (gap - mean) ** 2, 0);
  }
  return squares === 0 ? 0 : 1 - left / squares;
}

/**
 * What an engine in bf16 may be off by: 0.03 nats, or more where logits are large. A logit is off by its last bits, and so is the
 * logarithm of the sum, of which a token of probability p has the part p.
 */
function bf16Nats(tokens: readonly GapToken[]): number {
  const sum = tokens.reduce(
    (all, { own, logit }) => all - Math.expm1(own) * Math.hypot(logit, logit - own),
    0,
  );
  return Math.min(BF16_NATS.most, Math.max(BF16_NATS.usual, sum / tokens.length / 2 ** 8));
}

function isNoise(
  { meanNats, signedMeanNats, signedErrorNats, p99, max }: GapFigures,
  mostNats: number,
): boolean {
  return meanNats <= mostNats && p99 <= NOISE_TAIL.p99 * meanNats &&
    max <= NOISE_TAIL.max * meanNats &&
    Math.abs(signedMeanNats) <= Math.max(3 * signedErrorNats, NOISE_BIAS * meanNats);
}

/** A number rounded to so many bits behind the leading one. */
function rounded(value: number, bits: number): number {
  if (value === 0) return 0;
  const unit = 2 ** (Math.floor(Math.log2(Math.abs(value))) - bits);
  return Math.round(value / unit) * unit;
}

/**
 * Whether the logits were rounded: the gap of a token is then what its own logit loses, less what the logarithm of the sum
 * does, of which the token has a part p.
 */
function roundedLogits(
  tokens: readonly GapToken[],
  temperature: number,
): GapExplanation | undefined {
  const found = ([["bf16_noise", 7], ["f16_noise", 10]] as const).flatMap(([cause, bits]) => {
    const sums = new LeastSquares(1);
    for (const { side, own, logit } of tokens) {
      const lost = rounded(logit * temperature, bits) / temperature - logit;
      sums.add([-Math.expm1(own) * lost], side - own);
    }
    const { weights: [weight], errors: [error], explained } = sums.fit();
    const isSo = explained >= ROUNDED_SHARE && weight > SURE * error &&
      weight > ROUNDED_WEIGHT[0] && weight < ROUNDED_WEIGHT[1];
    return isSo ? [{ cause, explained }] : [];
  });
  const best = found.toSorted((a, b) => b.explained - a.explained).at(0);
  return best && { cause: best.cause };
}

/** Whether log-probs are those of fewer tokens: what is left of the distribution gains, and no token loses. */
function isCut(tokens: readonly GapToken[], { meanNats, signedMeanNats }: GapFigures): boolean {
  const lost = (meanNats - signedMeanNats) / 2;
  const isSure = tokens.filter(({ side }) => side > -1e-6).length > MOST_SURE * tokens.length;
  return meanNats > LEAST_CUT_NATS && lost <= MOST_LOST * meanNats && !isSure &&
    correlation(tokens) >= LEAST_CUT_CORRELATION;
}

function otherWeights(
  tokens: readonly GapToken[],
  figures: GapFigures,
  mostNats: number,
): GapExplanation {
  const { meanNats, bySequence } = figures;
  const above = tokens.filter(({ side, own }) => side > own).length / tokens.length;
  const differing = bySequence.filter((gap) => gap.meanNats > meanNats / 10).length;
  const found = correlation(tokens);
  const isOne = found >= LEAST_CORRELATION && meanNats > mostNats &&
    byLogProb(tokens) <= MOST_BY_LOGPROB && Math.min(above, 1 - above) >= LEAST_OF_EACH_SIGN &&
    differing >= LEAST_SEQUENCES * bySequence.length;
  return isOne
    ? { cause: "other_weights_or_context", correlation: found }
    : { cause: "unexplained" };
}

/**
 * Explains the gap of a side.
 *
 * @param tokens Tokens of the side, as `gapTokens` gives them: at least {@linkcode LEAST_TOKENS}.
 * @param figures Their figures.
 * @returns Undefined where there is nothing to explain: f32 numbers of the same weights.
 */
export async function explainGap(
  tokens: readonly GapToken[],
  figures: GapFigures,
  context: ExplainContext,
): Promise<GapExplanation | undefined> {
  if (figures.meanNats <= F32_NATS) return undefined;
  const some = subsample(tokens);
  const gap = gapOf(some).meanNats;
  const [best, next] = await fitHypotheses(some, context);
  if (best !== undefined && isLittle(best.leftNats, gap)) {
    const isClear = next === undefined || next.leftNats > MARGIN * best.leftNats;
    return isClear ? best : { cause: "unexplained" };
  }
  const rounding = roundedLogits(tokens, context.temperature);
  if (rounding !== undefined) return rounding;
  const mostNats = bf16Nats(tokens);
  if (isNoise(figures, mostNats)) {
    return { cause: figures.meanNats < F16_NATS ? "f16_noise" : "bf16_noise" };
  }
  if (isCut(tokens, figures)) return { cause: "cut_distribution" };
  return otherWeights(tokens, figures, mostNats);
}
