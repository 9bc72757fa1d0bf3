/** The texts of token ids: of a Hugging Face tokenizer in a folder, or of our own vocabulary. */
import { openTokenizer } from "../../files/tokenizer.ts";
import { WORDS } from "../../gym/vocabulary.ts";

/** The text of a token id; undefined where it has none. */
export type TextOf = (id: number) => string | undefined;

/** Our own vocabulary: its words stand apart, as they do in transcripts. */
export const OWN_TEXTS: TextOf = textsOf(WORDS);

/** The texts of a vocabulary whose words stand apart. */
export function textsOf(words: readonly string[]): TextOf {
  return (id) => id < words.length ? `${words[id]} ` : undefined;
}

/** No token has a text. */
export const NO_TEXTS: TextOf = () => undefined;

/**
 * Reads a tokenizer.
 *
 * @param folder A folder with tokenizer.json, such as that of a checkpoint, or this file itself.
 * @returns The text of an id as it is in a sentence, with the blanks around it. A part of a character is shown as its token.
 * @throws {UserError} When there is no tokenizer.json, or it is none.
 */
export async function readTokenizer(folder: string): Promise<TextOf> {
  return (await openTokenizer(folder)).textOf;
}
