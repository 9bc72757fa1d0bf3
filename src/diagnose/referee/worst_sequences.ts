/** The sequences with the largest gaps, token by token: what every side and the model say around the worst place. */
import { LOG_PROB_SIDES, type LogProbSide, type TokenSequence } from "../../tokens/token_batch.ts";
import type { RefereeReport } from "./referee.ts";

/** Tokens in a row of a sequence, and what is said of each. */
export interface WorstSequence {
  readonly file: string;
  readonly row: number;
  readonly sample?: string;
  /** Tokens of the whole sequence. */
  readonly length: number;
  /** Index of the first token that is listed. */
  readonly first: number;
  readonly tokens: {
    readonly id: number;
    /** Where a tokenizer is known. */
    readonly text?: string;
    /** Whether the sides are compared here. */
    readonly isCompared: boolean;
    /** The model's log-prob; null of the first token. */
    readonly model: number | null;
    /** Log-probs by side; null where the dump has no finite one. */
    readonly sides: Readonly<Partial<Record<LogProbSide, number | null>>>;
  }[];
}

/** Sequences that are listed, and tokens of each. */
const LISTED = 8;
const WINDOW = 32;

/** Where a sequence is: its file, row and sample. */
export function sequencePlace({ file, row, sample }: TokenSequence) {
  return { file, row, ...(sample !== undefined && { sample }) };
}

/** Sequences in turn of each side's largest gaps. */
function chosen({ sides }: RefereeReport): number[] {
  const found = new Set<number>();
  const most = Math.max(0, ...sides.map(({ figures }) => figures.bySequence.length));
  for (let n = 0; n < most && found.size < LISTED; n++) {
    for (const { figures: { bySequence } } of sides) {
      if (n < bySequence.length && found.size < LISTED) found.add(bySequence[n].sequence);
    }
  }
  return [...found];
}

const finite = (value: number | undefined) => Number.isFinite(value) ? value ?? null : null;

/**
 * The sequences of a report with the largest gaps.
 *
 * @param options.textOf The text of an id, where a tokenizer is known.
 */
export function worstSequences(
  report: RefereeReport,
  { textOf }: { readonly textOf?: ((id: number) => string | undefined) | undefined } = {},
): WorstSequence[] {
  const { sides, own_B } = report;
  return chosen(report).map((b) => {
    const { sequence, own } = own_B[b];
    const { ids, logProbs, offset } = sequence;
    const tokens = sides.flatMap((side) => side.tokens.filter((token) => token.sequence === b));
    const worst = tokens.reduce((most, token) =>
      Math.abs(token.side - token.own) > Math.abs(most.side - most.own) ? token : most
    );
    const compared = new Set(tokens.map(({ token }) => token));
    const first = Math.max(0, Math.min(worst.token - WINDOW / 2, ids.length - WINDOW));
    return {
      ...sequencePlace(sequence),
      length: ids.length,
      first: offset + first,
      tokens: Array.from(ids.subarray(first, first + WINDOW), (id, n) => {
        const text = textOf?.(id);
        return {
          id,
          ...(text !== undefined && { text }),
          isCompared: compared.has(first + n),
          model: finite(own.logp[first + n - 1]),
          sides: Object.fromEntries(
            LOG_PROB_SIDES.filter((side) => logProbs[side])
              .map((side) => [side, finite(logProbs[side]?.values[first + n])]),
          ),
        };
      }),
    };
  });
}
