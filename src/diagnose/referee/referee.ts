/** The referee: which side of a dump left the model, where, and as noise or as bias. */
import type { Finding, FindingClass } from "../finding.ts";
import { placeOf } from "../tokens/token_check.ts";
import { countOf } from "../tokens/words.ts";
import { LOG_PROB_SIDES, type LogProbSide, type TokenSequence } from "../../tokens/token_batch.ts";
import { explainGap, F32_NATS } from "./explain.ts";
import { type GapFigures, gapFigures } from "./gap_figures.ts";
import { type ExplainContext, type GapExplanation, LEAST_TOKENS } from "./hypotheses.ts";
import { type GapToken, gapTokens, type ScoredSequence, type ScoreIds } from "./own_scores.ts";
import {
  capitalized,
  explained,
  isOpenReference,
  sayNats,
  SIDE_NAMES,
  sideClause,
} from "./referee_words.ts";
import { referenceFindings } from "./reference_side.ts";

/** A side of the dump beside the model. */
export interface RefereeSide {
  readonly side: LogProbSide;
  /** Which of the folders it was compared with. */
  readonly comparedWith: "model" | "reference";
  readonly figures: GapFigures;
  /** Tokens that the side gives as NaN or infinite. */
  readonly nonFinite: number;
  /** Null where the side agrees as f32 numbers do. */
  readonly explainedBy: GapExplanation | null;
  /** Its tokens, for what compares sides with one another. */
  readonly tokens: readonly GapToken[];
}

/** What the referee says. */
export interface RefereeReport {
  readonly sides: readonly RefereeSide[];
  /** One sentence. */
  readonly verdict: string;
  readonly findings: readonly Finding[];
  /** What the model says of each sequence, in their order; empty where none was scored. */
  readonly own_B: readonly ScoredSequence[];
}

/** What the referee is given. */
export interface RefereeInput {
  readonly sequences: readonly TokenSequence[];
  /** What of the dump could not be read. */
  readonly skipped?: readonly string[];
  /** Scores under the model. */
  readonly score: ScoreIds;
  /** Scores under the reference, where its folder is given. */
  readonly scoreReference?: ScoreIds | undefined;
  /** Divides the logits of the model (default 1). */
  readonly temperature?: number;
  /** Ids that padding may consist of, the likeliest first. */
  readonly padIds?: readonly number[];
  /** Ids that may begin a text. */
  readonly beginIds?: readonly number[];
}

const ID = {
  sampler: "sampler_off",
  old: "old_off",
  trainer: "trainer_off",
  reference: "reference_off",
} as const satisfies Record<LogProbSide, string>;

/** Rounding of engines: no side is off by it alone. */
export function isRounding(explanation: GapExplanation | null): boolean {
  return explanation === null || explanation.cause === "bf16_noise" ||
    explanation.cause === "f16_noise";
}

/** Two sides that differ by so small a share of their gaps agree with one another. */
const ALIKE_SHARE = 0.25;

/** A fitted temperature is so near to the one that was asked for. */
const STATED_SHARE = 0.03;

function notChecked(sentence: string, next: string): Finding {
  return { id: "sides_agree", class: "not-checkable", sentence: `Not checked: ${sentence}`, next };
}

async function judgeSide(
  side: LogProbSide,
  input: ExplainContext & { readonly comparedWith: RefereeSide["comparedWith"] },
): Promise<RefereeSide | undefined> {
  const { tokens, nonFinite } = gapTokens(input.scored_B, side);
  if (tokens.length === 0) return undefined;
  const figures = gapFigures(tokens);
  const found = tokens.length < LEAST_TOKENS && figures.meanNats > F32_NATS
    ? { cause: "unexplained" } as const
    : await explainGap(tokens, figures, input);
  const { comparedWith } = input;
  return { side, comparedWith, figures, nonFinite, explainedBy: found ?? null, tokens };
}

/** The mean |difference| of two sides over the tokens that both have; undefined where there is none. */
function between(one: RefereeSide, other: RefereeSide): number | undefined {
  const keyOf = ({ sequence, token }: GapToken) => `${sequence}:${token}`;
  const values = new Map(other.tokens.map((token) => [keyOf(token), token.side]));
  let sum = 0, count = 0;
  for (const token of one.tokens) {
    const value = values.get(keyOf(token));
    if (value === undefined) continue;
    sum += Math.abs(token.side - value);
    count++;
  }
  return count === 0 ? undefined : sum / count;
}

/** Of these causes two sides may share one that is neither's mistake. */
const SHARED: readonly unknown[] = [
  "temperature",
  "context",
  "other_folder",
  "cut_distribution",
  "other_weights_or_context",
  "unexplained",
];

/** True where several sides are off, and all in the same way. */
function areAlike(off: readonly RefereeSide[]): boolean {
  const [first, ...rest] = off;
  return rest.length > 0 && SHARED.includes(first.explainedBy?.cause) && rest.every((side) => {
    const gap = between(first, side);
    return side.explainedBy?.cause === first.explainedBy?.cause && gap !== undefined &&
      gap <= ALIKE_SHARE * first.figures.meanNats;
  });
}

/** Where no side agrees with the model and all are so far from it, it is another one: weights of a few steps differ by less. */
const ANOTHER_MODEL_NATS = 0.5;

/** True of a side that follows from the model, as it is or by what was computed: the folder is its model. */
function isConfirming({ explainedBy }: RefereeSide): boolean {
  return isRounding(explainedBy) || explainedBy?.cause === "cut_distribution" ||
    (explainedBy !== null && "leftNats" in explainedBy);
}

/** No side confirms that the folder is the dump's model: then it is the folder that is in question first. */
function unconfirmed(off: readonly RefereeSide[]): Finding {
  const names = off.map(({ side }) => SIDE_NAMES[side]).join(" and ");
  const verb = off.length === 1 ? "differs" : "differ";
  const least = Math.min(...off.map(({ figures }) => figures.meanNats));
  const far = `${names} ${verb} from it by ${sayNats(least)} nats per token${
    off.length === 1 ? "" : " or more"
  }`;
  return {
    id: "sides_agree",
    class: "not-checkable",
    metric: "gap",
    value: least,
    sentence: least >= ANOTHER_MODEL_NATS
      ? `Not checked: this is probably not the model that made the dump; ${far}.`
      : `Not checked: no side confirms that this is the model of the dump; ${far}, which may be its weights or those of the folder.`,
    alternatives: [
      "a checkpoint of another step, or an adapter that was not given",
      "ids of another tokenizer, or log-probs that stand at other tokens",
    ],
    next:
      "Give the folder whose weights drew the tokens: the dump's step, with its adapter where it has one.",
  };
}

/** How grave a side's gap is; what rounding is, others tell. */
function classOf({ explainedBy, figures }: RefereeSide): FindingClass {
  if (isRounding(explainedBy)) return "note";
  if (explainedBy?.cause === "shift") return "violated";
  // Without a pattern, and no more than two engines differ by.
  return explainedBy?.cause === "unexplained" && figures.meanNats <= 0.02 ? "note" : "suspect";
}

/** @param options.steps Numbers of the steps in the dump. */
function sideFinding(
  side: RefereeSide,
  { sequences, steps }: {
    readonly sequences: readonly TokenSequence[];
    readonly steps: readonly number[];
  },
): Finding {
  const { figures, explainedBy } = side;
  const { worst, meanNats, signedMeanNats, p50, p99, max } = figures;
  const { sentence, next, alternatives } = explained(side);
  const isStated = explainedBy?.cause === "temperature" &&
    sequences.every(({ temperature = NaN }) =>
      Math.abs(temperature / explainedBy.temperature - 1) < STATED_SHARE
    );
  const stated = isStated ? " It is the temperature that the dump says was asked for." : "";
  const isOpen = explainedBy?.cause === "other_weights_or_context" ||
    explainedBy?.cause === "unexplained";
  const several = isOpen && steps.length > 1
    ? ` The dump holds ${
      countOf(steps.length, "step")
    }, and a checkpoint is the weights of one: referee that step alone.`
    : "";
  const isLater = side.side === "trainer" && sequences.every(({ phase }) => phase === "post");
  const later = isOpen && isLater
    ? " These are the trainer's numbers after its update on this batch, when its weights had moved."
    : "";
  return {
    id: ID[side.side],
    class: isOpen && isLater ? "expected" : classOf(side),
    metric: "gap",
    value: meanNats,
    bound: F32_NATS,
    boundFrom: "f32 numbers of the same weights and ids differ by less",
    sentence: sentence + stated + several + later,
    ...(alternatives && { alternatives }),
    next,
    measures: { meanNats, signedMeanNats, p50, p99, max },
    at: placeOf(sequences[worst.sequence], worst.token),
  };
}

/** Findings about the sides that the model itself can be compared with. */
function policyFindings(
  sides: readonly RefereeSide[],
  context: { readonly sequences: readonly TokenSequence[]; readonly steps: readonly number[] },
): Finding[] {
  const few = sides.filter(({ explainedBy, figures }) =>
    figures.tokens < LEAST_TOKENS && explainedBy !== null
  );
  const judged = sides.filter((side) => !few.includes(side));
  const tooFew = few.map(({ side, figures }) =>
    notChecked(
      `${SIDE_NAMES[side]} differs by ${sayNats(figures.meanNats)} nats, but ${
        countOf(figures.tokens, "token")
      } are too few to tell why.`,
      `Dump at least ${LEAST_TOKENS} tokens of the policy.`,
    )
  );
  if (judged.length === 0) return tooFew;
  const off = judged.filter(({ explainedBy }) => !isRounding(explainedBy));
  const isExact = judged.some(({ explainedBy }) => explainedBy === null);
  // Beside a side that is exact, rounding tells the sides apart; where all round, they agree.
  const moved = off.length > 0 || isExact
    ? judged.filter(({ explainedBy }) => explainedBy !== null)
    : [];
  if (off.length === judged.length) {
    const isOpen = !judged.some(isConfirming) &&
      judged.every((side) => classOf(side) === "suspect");
    const least = Math.min(...off.map(({ figures }) => figures.meanNats));
    if (isOpen && least >= ANOTHER_MODEL_NATS) return [...tooFew, unconfirmed(off)];
    if (areAlike(off)) return [...tooFew, alike(off)];
    if (isOpen) return [...tooFew, unconfirmed(off)];
  }
  if (moved.length > 0) {
    return [
      ...tooFew,
      ...moved.filter((side) => off.includes(side) || isExact)
        .map((side) => sideFinding(side, context)),
    ];
  }
  return [...tooFew, {
    id: "sides_agree",
    class: "holds",
    sentence: capitalized(`${judged.map(sideClause).join("; ")}.`),
  }];
}

/** All sides are off in one way: by the temperature of their convention, or because the folder is not their model. */
function alike(off: readonly RefereeSide[]): Finding {
  const [{ explainedBy, figures }] = off;
  const names = off.map(({ side }) => SIDE_NAMES[side]).join(" and ");
  if (explainedBy?.cause === "temperature") {
    return {
      id: "sides_agree",
      class: "note",
      metric: "gap",
      value: explainedBy.leftNats,
      sentence: capitalized(
        `${names} agree, with the model at a temperature of ${
          sayNats(explainedBy.temperature)
        }, to ${sayNats(explainedBy.leftNats)} nats.`,
      ),
      measures: { temperature: explainedBy.temperature },
    };
  }
  return {
    id: "sides_agree",
    class: "not-checkable",
    metric: "gap",
    value: figures.meanNats,
    sentence:
      `Not checked: which side is right; ${names} agree with one another and differ from the model by ${
        sayNats(figures.meanNats)
      } nats: it is not the model that they come from, or both make the same mistake.`,
    next: "Give the checkpoint of the dump's step, with its adapter where it has one.",
  };
}

function verdictOf(sides: readonly RefereeSide[], findings: readonly Finding[]): string {
  const shared = findings.find((finding) =>
    finding.id === "sides_agree" && finding.class !== "holds"
  );
  const clauses = sides.filter((side) => !isOpenReference(side)).map(sideClause);
  const isNamed = findings.some((finding) =>
    finding.class === "violated" || finding.class === "suspect"
  );
  if (clauses.length === 0 || (shared !== undefined && !isNamed)) {
    return (shared ?? findings.at(0))?.sentence ?? "Not checked: there is nothing to compare.";
  }
  return capitalized(`${clauses.join("; ")}.`);
}

/** What lacks of a dump before anything can be scored; undefined where nothing does. */
function whatLacks({ sequences, skipped = [] }: RefereeInput): Finding | undefined {
  if (sequences.length === 0) {
    const why = skipped.length === 0 ? "" : `; skipped: ${skipped.join(", ")}`;
    return notChecked(
      `the dump holds no whole sequence${why}.`,
      "Look whether the dump was written to its end.",
    );
  }
  if (sequences.every(({ ids }) => ids.length < 2)) {
    return notChecked(
      "the dump holds texts, but no token ids.",
      "Switch on the dump of token ids: a text can be cut into tokens in several ways.",
    );
  }
  if (sequences.every(({ logProbs }) => LOG_PROB_SIDES.every((side) => !logProbs[side]))) {
    return notChecked(
      "the dump holds no log-probs.",
      "Switch on log-probs: of the engine that samples (lp_sampler), and of the trainer before its update (lp_old).",
    );
  }
  return undefined;
}

async function scoreAll(
  sequences: readonly TokenSequence[],
  score: ScoreIds,
  temperature: number,
): Promise<ScoredSequence[]> {
  const scores_B = await score(sequences.map(({ ids }) => ids), temperature);
  return sequences.map((sequence, b) => ({ sequence, own: scores_B[b] }));
}

/**
 * Compares every side of a dump with a model.
 *
 * @returns The sides that the dump has, one verdict, and findings: `sampler_off`, `old_off`, `trainer_off`, `reference_off`,
 *   `sides_agree`, and with a reference `reference_is_not_start`.
 */
export async function referee(input: RefereeInput): Promise<RefereeReport> {
  const { sequences, score, scoreReference, temperature = 1, padIds = [0], beginIds = [] } = input;
  const lacking = whatLacks(input);
  if (lacking) {
    return { sides: [], verdict: verdictOf([], [lacking]), findings: [lacking], own_B: [] };
  }
  const own = await scoreAll(sequences, score, temperature);
  const sides: RefereeSide[] = [];
  for (const side of LOG_PROB_SIDES) {
    const isReference = side === "reference" && scoreReference !== undefined;
    const scorer = isReference ? scoreReference : score;
    const given = await judgeSide(side, {
      scored_B: isReference ? await scoreAll(sequences, scorer, temperature) : own,
      score: scorer,
      temperature,
      padIds,
      beginIds,
      scoreOther: scoreReference && (isReference ? score : scoreReference),
      comparedWith: isReference ? "reference" : "model",
    });
    if (given) sides.push(given);
  }
  if (sides.length === 0) {
    const lacks = notChecked(
      "no log-prob of a token of the policy is finite.",
      "Look at how the dump is made: its log-probs are fillers, NaN or infinite.",
    );
    return { sides, verdict: verdictOf([], [lacks]), findings: [lacks], own_B: own };
  }
  const steps = [...new Set(sequences.flatMap(({ step }) => step === undefined ? [] : [step]))];
  const context = { sequences, steps };
  const findings = [
    ...policyFindings(sides.filter(({ side }) => side !== "reference"), context),
    ...referenceFindings(sides.find(({ side }) => side === "reference"), {
      own,
      finding: (side) => sideFinding(side, context),
    }),
  ];
  return { sides, verdict: verdictOf(sides, findings), findings, own_B: own };
}
