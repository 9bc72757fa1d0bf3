/** What the referee says of a side. */
import type { LogProbSide } from "../../tokens/token_batch.ts";
import { countOf, say } from "../tokens/words.ts";
import type { GapExplanation } from "./hypotheses.ts";
import type { GapFigures } from "./gap_figures.ts";

/** Nats in three digits; what is far below a rounding of bf16 as a power of ten. */
export function sayNats(value: number): string {
  const size = Math.abs(value);
  return size > 0 && size < 1e-3 ? value.toExponential(1) : say(value);
}

/** What of a side is said. */
interface SaidSide {
  readonly side: LogProbSide;
  readonly figures: GapFigures;
  readonly explainedBy: GapExplanation | null;
}

/** Sides as a sentence names them. */
export const SIDE_NAMES: Readonly<Record<LogProbSide, string>> = {
  sampler: "the sampler",
  old: "the old policy",
  trainer: "the trainer",
  reference: "the reference",
};

/** A sentence from its clauses. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A number with its sign, so that a bias is read as one. */
function signed(value: number): string {
  return value < 0 ? `−${sayNats(-value)}` : `+${sayNats(value)}`;
}

/** `off by −0.31 nats on average`, or to both sides. */
function offBy({ meanNats, signedMeanNats, signedErrorNats }: GapFigures): string {
  const isBias = Math.abs(signedMeanNats) > 3 * signedErrorNats &&
    Math.abs(signedMeanNats) > 0.4 * meanNats;
  return isBias
    ? `off by ${signed(signedMeanNats)} nats on average`
    : `off by ${sayNats(meanNats)} nats per token, to both sides`;
}

function places(offset: number): string {
  return `${countOf(Math.abs(offset), "token")} ${offset > 0 ? "too early" : "too late"}`;
}

/** One side in a verdict. */
export function sideClause({ side, figures, explainedBy }: SaidSide): string {
  const name = SIDE_NAMES[side];
  if (explainedBy === null) {
    return figures.max === 0
      ? `${name} agrees exactly`
      : `${name} agrees to ${sayNats(figures.meanNats)} nats`;
  }
  const off = `${name} is ${offBy(figures)}`;
  switch (explainedBy.cause) {
    case "temperature":
      return `${off}, which T ${sayNats(explainedBy.temperature)} explains`;
    case "shift":
      return `${off}, because its log-probs are ${places(explainedBy.offset)}`;
    case "padding":
      return `${off}, because it attends to its padding`;
    case "bf16_noise":
      return `${name} agrees to ${sayNats(figures.meanNats)} nats, as rounding to bf16 would`;
    case "f16_noise":
      return `${name} agrees to ${sayNats(figures.meanNats)} nats, as rounding to f16 would`;
    case "context":
      return explainedBy.beforeId === null
        ? `${off}, because it lacks the first token of each sequence`
        : `${off}, because it has the token ${explainedBy.beforeId} before each sequence`;
    case "other_folder":
      return side === "reference"
        ? `${off}, because its log-probs are the model's own`
        : `${off}, because its log-probs are those of the reference folder`;
    case "cut_distribution":
      return `${off}, and nowhere lower than the model, as where unlikely tokens are cut`;
    case "other_weights_or_context":
      return `${off}, as other weights of the same model or another context would be`;
    case "unexplained":
      return `${off}, which nothing that was tried explains`;
    default:
      return explainedBy satisfies never;
  }
}

/** An explanation as a document holds it. */
interface StatedCause {
  readonly cause: GapExplanation["cause"];
  readonly temperature?: number | undefined;
  readonly offset?: number | undefined;
  readonly padId?: number | undefined;
  readonly beforeId?: number | null | undefined;
}

/** A cause in a cell of a table. */
export function causeWords(explanation: StatedCause | null): string {
  if (explanation === null) return "agrees";
  switch (explanation.cause) {
    case "temperature":
      return `T ${sayNats(explanation.temperature ?? NaN)}`;
    case "shift":
      return `shift by ${explanation.offset}`;
    case "padding":
      return `padding with id ${explanation.padId}`;
    case "bf16_noise":
      return "bf16 rounding";
    case "f16_noise":
      return "f16 rounding";
    case "context":
      return explanation.beforeId === null
        ? "first token missing"
        : `token ${explanation.beforeId} before`;
    case "other_folder":
      return "other folder";
    case "cut_distribution":
      return "top-p or top-k";
    case "other_weights_or_context":
      return "other weights or context";
    case "unexplained":
      return "nothing found";
    default:
      return explanation.cause satisfies never;
  }
}

/** True of a reference that is not the model and whose own folder is not given: it moved, as it should, or it did not. */
export function isOpenReference(
  { side, comparedWith, explainedBy }: {
    readonly side: LogProbSide;
    readonly comparedWith: "model" | "reference";
    readonly explainedBy: { readonly cause: string } | null;
  },
): boolean {
  return side === "reference" && comparedWith === "model" && explainedBy !== null &&
    !explainedBy.cause.endsWith("_noise");
}

/** What there is to do about an explanation. */
function nextFor({ side, explainedBy }: SaidSide): string {
  switch (explainedBy?.cause) {
    case "temperature":
      return "Divide the logits by the same temperature on every side, or ask for log-probs before it.";
    case "shift":
      return "The logits at index i predict token i + 1: cut both arrays by the same indices.";
    case "padding":
      return "Give the model an attention mask that leaves the padding out.";
    case "context":
      return "Compare the ids that side is given with those of the dump: a tokenizer adds the token that begins a text on one of them.";
    case "other_folder":
      return side === "reference"
        ? "Score the KL term with the frozen weights that training began with."
        : "That side has the weights from before training, or leaves the adapter out: look at how it gets its weights.";
    case "cut_distribution":
      return "Ask the engine for log-probs before top-p, top-k and masks (in vLLM logprobs_mode raw_logprobs).";
    case "other_weights_or_context":
      return "Compare a checksum of one layer on that side with the checkpoint's, then the ids and positions that it is given.";
    case "unexplained":
      return "Look at the tokens with the largest gaps: their context on that side may be another.";
    default:
      return "Nothing, where that side computes in less than f32.";
  }
}

/** Whether the gap depends on the token, where it clearly does. */
function whereItIs({ byPosition, byProbability, byTurn }: GapFigures): string {
  const said = [byTurn, byPosition, byProbability].flatMap((parts) => {
    const known = parts.filter(({ tokens }) => tokens >= 10);
    const order = known.toSorted((a, b) => b.meanNats - a.meanNats);
    const [most, least] = [order.at(0), order.at(-1)];
    if (!most || !least || !(most.meanNats > 2 * least.meanNats)) return [];
    const label = parts === byProbability ? "probability " : "";
    return [
      `${label}${most.part}: ${sayNats(most.meanNats)} against ${
        sayNats(least.meanNats)
      } (${least.part})`,
    ];
  });
  return said.length === 0 ? "" : ` It depends on the token: ${said.join("; ")}.`;
}

/** A side's finding in words. */
export function explained(side: SaidSide): {
  readonly sentence: string;
  readonly next: string;
  readonly alternatives?: readonly string[];
} {
  const { figures: { tokens, p50, p99, max }, explainedBy } = side;
  const left = explainedBy !== null && "leftNats" in explainedBy
    ? ` That leaves ${sayNats(explainedBy.leftNats)} nats per token.`
    : "";
  const sentence = `${capitalized(sideClause(side))} (${countOf(tokens, "token")}: median ${
    sayNats(p50)
  }, 99 % below ${sayNats(p99)}, largest ${sayNats(max)}).${left}${whereItIs(side.figures)}`;
  const alternatives = explainedBy?.cause === "other_weights_or_context"
    ? [
      "weights that are quantised on that side",
      "a checkpoint of another step, or an adapter that was not given",
      "another prompt or template, or positions that jump",
    ]
    : explainedBy?.cause === "cut_distribution"
    ? ["a mask of allowed tokens", "a lower temperature beside the cut"]
    : explainedBy?.cause === "bf16_noise" || explainedBy?.cause === "f16_noise"
    ? ["weights that differ a little, whose gap has the same look"]
    : explainedBy?.cause === "unexplained"
    ? [
      "weights of several steps among its tokens, as in asynchronous training",
      "another context: template, truncation, packing",
    ]
    : undefined;
  return { sentence, next: nextFor(side), ...(alternatives && { alternatives }) };
}
