/** Hypotheses about a gap that can be computed: what of it is left if the model did what a side may have done. */
import type { TokenSequence } from "../../tokens/token_batch.ts";
import { gapOf } from "./gap_figures.ts";
import type { GapToken, ScoredSequence, ScoreIds } from "./own_scores.ts";

/** What a gap is explained by. */
export type GapExplanation =
  /** The side divides its logits by another temperature. */
  | { readonly cause: "temperature"; readonly temperature: number; readonly leftNats: number }
  /** Its value i is the one of token i + offset. */
  | { readonly cause: "shift"; readonly offset: number; readonly leftNats: number }
  /** It attended to padding on the left of the sequence, of this id. */
  | { readonly cause: "padding"; readonly padId: number; readonly leftNats: number }
  /** Before the sequence stood another token, of this id; or, where that is null, its first token was missing. */
  | { readonly cause: "context"; readonly beforeId: number | null; readonly leftNats: number }
  /** They are those of the other folder: the reference's, or of a reference the model's. */
  | { readonly cause: "other_folder"; readonly leftNats: number }
  /** Unlikely tokens were left out before the softmax: nothing is lower than the model says. */
  | { readonly cause: "cut_distribution" }
  /** Rounding, by its size and because it has no bias. */
  | { readonly cause: "bf16_noise" | "f16_noise" }
  /** Log-probs that follow the model's everywhere and are equal nowhere: a part of the context may be another, too. */
  | { readonly cause: "other_weights_or_context"; readonly correlation: number }
  | { readonly cause: "unexplained" };

/** Fewer tokens fit anything. */
export const LEAST_TOKENS = 20;
/** A temperature nearer to the one that was scored at is rounding of another kind. */
const LEAST_CHANGE = 0.02;
/** Nobody samples beyond; a model that must be flattened or sharpened more is another one. */
const TEMPERATURES = [0.05, 5] as const;
/** Newton's method doubles the digits each time. */
const MOST_STEPS = 8;

/** Tokens on which a hypothesis is tried first, and the share of their gap that it must not leave. */
const FEW_TOKENS = 128;
const MOST_LEFT_OF_FEW = 0.6;

/** What is needed to compute hypotheses. */
export interface ExplainContext {
  readonly scored_B: readonly ScoredSequence[];
  readonly score: ScoreIds;
  /** The temperature at which the model was scored. */
  readonly temperature: number;
  /** Ids that padding may consist of, the likeliest first. */
  readonly padIds: readonly number[];
  /** Ids that may begin a text, and that a side may have put before it once more. */
  readonly beginIds: readonly number[];
  /** Scores under the other folder, which a side may be of: the reference's, or for the reference the model's. */
  readonly scoreOther: ScoreIds | undefined;
}

/** What a hypothesis leaves of the gap is what it is judged by. */
export type Hypothesis = Extract<GapExplanation, { readonly leftNats: number }>;

/** Scores again those sequences that the tokens are of. @param change What is put before their ids. */
async function rescored(
  tokens: readonly GapToken[],
  { scored_B, score: own }: ExplainContext,
  { temperature, score = own, change = ({ ids }) => Array.from(ids) }: {
    readonly temperature: number;
    readonly score?: ScoreIds;
    readonly change?: (sequence: TokenSequence) => readonly number[];
  },
): Promise<GapToken[]> {
  const indices = [...new Set(tokens.map(({ sequence }) => sequence))];
  const ids_B = indices.map((b) => change(scored_B[b].sequence));
  const scores_B = await score(ids_B, temperature);
  const places = new Map(indices.map((b, i) => [b, i]));
  return tokens.flatMap((token) => {
    const i = places.get(token.sequence) ?? 0;
    const before = ids_B[i].length - scored_B[token.sequence].sequence.ids.length;
    const at = before + token.token - 1;
    // A token that has lost what stood before it has no log-prob any more.
    if (at < 0) return [];
    return [{ ...token, own: scores_B[i].logp[at], entropy: scores_B[i].entropy[at] }];
  });
}

/** Newton's method on ln(1/T): the derivative of a log-prob by it is log p + H. */
async function fitTemperature(
  tokens: readonly GapToken[],
  context: ExplainContext,
): Promise<Hypothesis | undefined> {
  let { temperature } = context;
  let current = tokens;
  for (let step = 0; step < MOST_STEPS; step++) {
    let products = 0, squares = 0, gaps = 0;
    for (const { side, own, entropy } of current) {
      const slope = own + entropy;
      products += slope * (side - own);
      squares += slope * slope;
      gaps += (side - own) ** 2;
    }
    if (!(squares > 0)) return undefined;
    // What another temperature does not even begin to explain is not computed further.
    if (step === 0 && products * products < 0.1 * squares * gaps) return undefined;
    const change = Math.max(-0.7, Math.min(0.7, products / squares));
    temperature *= Math.exp(-change);
    if (!(temperature > TEMPERATURES[0] && temperature < TEMPERATURES[1])) return undefined;
    current = await rescored(tokens, context, { temperature });
    if (Math.abs(change) < 1e-4) break;
  }
  if (Math.abs(Math.log(temperature / context.temperature)) < LEAST_CHANGE) return undefined;
  return { cause: "temperature", temperature, leftNats: gapOf(current).meanNats };
}

function fitShift(
  tokens: readonly GapToken[],
  { scored_B }: ExplainContext,
): Hypothesis | undefined {
  const found = [-2, -1, 1, 2].flatMap((offset): Hypothesis[] => {
    const moved = tokens.flatMap((token) => {
      const own = scored_B[token.sequence].own.logp[token.token - 1 + offset];
      return own === undefined ? [] : [{ ...token, own }];
    });
    if (moved.length < LEAST_TOKENS || 2 * moved.length < tokens.length) return [];
    return [{ cause: "shift", offset, leftNats: gapOf(moved).meanNats }];
  });
  return found.toSorted((a, b) => a.leftNats - b.leftNats).at(0);
}

async function fitPadding(
  tokens: readonly GapToken[],
  context: ExplainContext,
): Promise<Hypothesis | undefined> {
  const { scored_B, padIds, temperature } = context;
  const leftOf = ({ padding }: TokenSequence) => padding?.left ?? 0;
  if (!tokens.some(({ sequence }) => leftOf(scored_B[sequence].sequence) > 0)) return undefined;
  const found: Hypothesis[] = [];
  for (const padId of padIds) {
    const leftNats = await leftBy(tokens, context, {
      temperature,
      change: (sequence) => [
        ...new Array<number>(leftOf(sequence)).fill(padId),
        ...sequence.ids,
      ],
    });
    if (leftNats !== undefined) found.push({ cause: "padding", padId, leftNats });
  }
  return found.toSorted((a, b) => a.leftNats - b.leftNats).at(0);
}

/** A few sequences: what explains nothing of them is not computed for thousands. */
function firstOf(tokens: readonly GapToken[]): readonly GapToken[] {
  const groups = [...Map.groupBy(tokens, ({ sequence }) => sequence).values()];
  let count = 0;
  return groups.filter((group) => (count += group.length) <= FEW_TOKENS || count === group.length)
    .flat();
}

/** The gap that is left with the model scored otherwise; undefined where a few sequences say that it explains nothing. */
async function leftBy(
  tokens: readonly GapToken[],
  context: ExplainContext,
  options: Parameters<typeof rescored>[2],
): Promise<number | undefined> {
  const few = firstOf(tokens);
  const some = await rescored(few, context, options);
  if (some.length < LEAST_TOKENS / 2 || 2 * some.length < few.length) return undefined;
  const left = gapOf(some).meanNats;
  if (few.length === tokens.length) return left;
  if (left > MOST_LEFT_OF_FEW * gapOf(few).meanNats) return undefined;
  return gapOf(await rescored(tokens, context, options)).meanNats;
}

/** Another token before the sequence, such as one that begins texts; or its first token missing. */
async function fitContext(
  tokens: readonly GapToken[],
  context: ExplainContext,
): Promise<Hypothesis | undefined> {
  const { beginIds, temperature } = context;
  const found: Hypothesis[] = [];
  for (const beforeId of [...beginIds, null]) {
    const leftNats = await leftBy(tokens, context, {
      temperature,
      change: ({ ids }) => beforeId === null ? Array.from(ids.subarray(1)) : [beforeId, ...ids],
    });
    if (leftNats !== undefined) found.push({ cause: "context", beforeId, leftNats });
  }
  return found.toSorted((a, b) => a.leftNats - b.leftNats).at(0);
}

async function fitOtherFolder(
  tokens: readonly GapToken[],
  context: ExplainContext,
): Promise<Hypothesis | undefined> {
  const { scoreOther: score, temperature } = context;
  if (score === undefined) return undefined;
  const leftNats = await leftBy(tokens, context, { temperature, score });
  return leftNats === undefined ? undefined : { cause: "other_folder", leftNats };
}

/** What each hypothesis leaves of a gap, the least first. */
export async function fitHypotheses(
  tokens: readonly GapToken[],
  context: ExplainContext,
): Promise<Hypothesis[]> {
  const fits = [
    fitShift(tokens, context),
    await fitPadding(tokens, context),
    await fitContext(tokens, context),
    await fitOtherFolder(tokens, context),
    await fitTemperature(tokens, context),
  ];
  return fits.flatMap((fit) => fit === undefined ? [] : [fit])
    .toSorted((a, b) => a.leftNats - b.leftNats);
}
