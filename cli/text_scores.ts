/** `agentrl score --text`: the tokens of texts that a model finds least likely, as data and as a table. */
import type { Tokenizer } from "../src/files/tokenizer.ts";
import type { SequenceScores } from "../src/model/score_sequences.ts";
import type { TextBatch } from "../src/run/text_batch.ts";
import { formatColumns } from "./table.ts";

/** How many tokens are shown. */
const SHOWN = 10;

/** Tokens and characters before a token that show where it stands. */
const BEFORE_TOKENS = 12, BEFORE_CHARACTERS = 28;

/** A token in its text. */
interface UnlikelyToken {
  /** The line in the file, from 1, and the token's position among those of its text, from 0. */
  readonly line: number;
  readonly position: number;
  readonly id: number;
  readonly token: string;
  /** In nats. */
  readonly logp: number;
  readonly entropy: number;
  /** The end of the text before it. */
  readonly before: string;
}

/** The tokens with the lowest log-probs, the lowest first. */
export function leastLikely(
  { ids_B, line_B }: TextBatch,
  { scores_B, tokenizer }: {
    readonly scores_B: readonly SequenceScores[];
    readonly tokenizer: Tokenizer;
  },
): UnlikelyToken[] {
  let lowest: { readonly b: number; readonly t: number; readonly logp: number }[] = [];
  scores_B.forEach(({ logp }, b) => {
    logp.forEach((value, t) => {
      const last = lowest.at(-1);
      if (lowest.length === SHOWN && last !== undefined && value >= last.logp) return;
      lowest = [...lowest, { b, t, logp: value }]
        .sort((one, other) => one.logp - other.logp)
        .slice(0, SHOWN);
    });
  });
  return lowest.map(({ b, t, logp }) => {
    const ids = Array.from(ids_B[b] ?? []), position = t + 1, id = ids[position] ?? 0;
    return {
      line: line_B[b] ?? 0,
      position,
      id,
      token: tokenizer.textOf(id) ?? "",
      logp,
      entropy: scores_B[b]?.entropy[t] ?? 0,
      before: tokenizer.decode(ids.slice(Math.max(0, position - BEFORE_TOKENS), position)),
    };
  });
}

/** A text on one line, as JSON writes it between the quotes. */
const onOneLine = (text: string) => JSON.stringify(text).slice(1, -1);

/** The table: blanks at the ends of tokens show by their quotes. */
export function leastLikelyTable(tokens: readonly UnlikelyToken[]): string[] {
  const rows = tokens.map(({ line, position, token, logp, entropy, before }) => {
    const characters = [...before];
    const end = characters.slice(-BEFORE_CHARACTERS).join("");
    return [
      JSON.stringify(token),
      String(line),
      String(position),
      logp.toFixed(2),
      entropy.toFixed(2),
      `${end.length < before.length ? "…" : ""}${onOneLine(end)}`,
    ];
  });
  return [
    "",
    "least likely tokens, log-prob and entropy in nats",
    ...formatColumns(["token", " line", " position", " log-prob", " entropy", "after"], rows),
  ];
}
