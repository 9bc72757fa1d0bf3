/** The 60 words of the BugFix gym, in the order in which weights and batches are exchanged, and the owners of tokens. */

/** Every word; a token id is the index of its word here. The order is part of the checkpoint format. */
export const WORDS = [
  ...["<pad>", "<task>", "<call>", "</call>", "<obs>", "</obs>"] as const,
  ...["read", "test", "edit", "submit"] as const,
  ...["fix_init", "fix_comparison", "add_zero_guard", "swap_minmax", "fix_range_end"] as const,
  ...["hardcode_tests"] as const,
  ...["acc", "0", "1", "<", "<=", "/", "guard", "min", "max", "range"] as const,
  ...["pass", "fail", "ok", "same"] as const,
  // Names of the training tasks, four per family in the order of the five operations.
  ...["total", "count", "sum_sq", "tally"] as const,
  ...["is_adult", "at_most", "fits", "in_budget"] as const,
  ...["mean", "ratio", "percent", "rate"] as const,
  ...["clamp", "bound", "limit", "clip"] as const,
  ...["prefix", "indices", "squares", "repeat"] as const,
  // Names of the held-out tasks, two per family.
  ...["energy", "score", "passes", "allowed", "density", "speed"] as const,
  ...["saturate", "fence", "steps", "evens"] as const,
] as const;

/** A word of the vocabulary. */
export type Word = typeof WORDS[number];

/** The token id of each word, for example `TOKEN["</call>"]`. */
export const TOKEN: Readonly<Record<Word, number>> = Object.freeze(
  Object.fromEntries(WORDS.map((word, id) => [word, id])) as Record<Word, number>,
);

/**
 * Token ids of a text of words separated by spaces.
 *
 * @param text Words of the vocabulary; the empty text has no tokens.
 * @returns One id per word, 0 to 59.
 * @throws {SyntaxError} When a word is not in the vocabulary.
 * @example
 * ```ts
 * import { encode } from "./vocabulary.ts";
 * encode("<call> edit fix_init </call>"); // [2, 8, 10, 3]
 * ```
 */
export function encode(text: string): number[] {
  return text.split(" ").filter((word) => word !== "").map((word) => {
    if (!Object.hasOwn(TOKEN, word)) {
      throw new SyntaxError(
        `Cannot encode "${text}": "${word}" is not one of the ${WORDS.length} words of the vocabulary`,
      );
    }
    return TOKEN[word as Word];
  });
}

/**
 * The text of token ids, words separated by spaces; the inverse of `encode`.
 *
 * @param ids Token ids, 0 to 59.
 * @throws {RangeError} When an id is not a token.
 */
export function decode(ids: Iterable<number>): string {
  return Array.from(ids, (id) => {
    const word = WORDS[id];
    if (word === undefined) {
      throw new RangeError(
        `Cannot decode token ${id}: ids of the vocabulary are 0 to ${WORDS.length - 1}`,
      );
    }
    return word;
  }).join(" ");
}
