/** A token dump as the report shows it: what it is, what is said about it, and what is kept of its sequences. */
import { escapeControls } from "../core/sentence.ts";
import type { SaidFinding } from "../diagnose/finding.ts";
import type { TokenSource } from "../tokens/token_batch.ts";
import type { TokenDigest } from "./token_digest.ts";

/** A dump, judged. */
export interface TokenData {
  /** For headings: the end of its path. */
  readonly name: string;
  readonly source: TokenSource;
  /** In the order in which they are to be read. */
  readonly findings: readonly SaidFinding[];
  readonly digest: TokenDigest;
  /** Texts of ids; empty where nobody knows them. */
  readonly words: ReadonlyMap<number, string>;
}

/** Characters of a token's text that are shown: a longer one is not a word. */
const MAX_WORD = 80;

/** A token's text: control characters are spelled out but line feeds and tabs, which the page marks. */
export function shownWord(text: string): string {
  const short = text.length > MAX_WORD ? `${text.slice(0, MAX_WORD)}…` : text;
  const parts = short.split(/([\n\t])/);
  return parts.map((part) => /^[\n\t]$/.test(part) ? part : escapeControls(part)).join("")
    .toWellFormed();
}

/**
 * The texts of the tokens that are kept.
 *
 * @param digest The dump.
 * @param textOf The text of an id; undefined where it has none.
 */
export function wordsOf(
  { kept }: TokenDigest,
  textOf: (id: number) => string | undefined,
): Map<number, string> {
  const ids = new Set(kept.flatMap(({ tokens }) => [...tokens.ids]));
  return new Map(
    [...ids].flatMap((id) => {
      const text = textOf(id);
      return text === undefined ? [] : [[id, shownWord(text)] as const];
    }),
  );
}
