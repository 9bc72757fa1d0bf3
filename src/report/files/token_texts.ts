/** The texts of token ids: of a Hugging Face tokenizer in a folder, or of our own vocabulary. */
import { UserError } from "../../core/errors.ts";
import { readJson } from "../../files/json.ts";
import { exists, isFolder } from "../../files/paths.ts";
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

/** What of tokenizer.json says how tokens become text. */
interface TokenizerJson {
  readonly decoder?: unknown;
}

/** `<0x0A>`: a byte that no token of the vocabulary stands for. */
const BYTE_TOKEN = /^<0x([0-9A-F]{2})>$/;

/** Marks of tokenizers that spell a blank so. */
const BLANK_MARK = "\u2581";

/** A token of a vocabulary that spells blanks with a mark and unknown bytes by their number. */
function markedText(token: string): string {
  const [, byte] = BYTE_TOKEN.exec(token) ?? [];
  const code = byte === undefined ? NaN : parseInt(byte, 16);
  // Bytes from 128 on are parts of characters.
  return code < 128 ? String.fromCharCode(code) : token.replaceAll(BLANK_MARK, " ");
}

/**
 * Reads a tokenizer.
 *
 * @param folder A folder with tokenizer.json, such as that of a checkpoint, or this file itself.
 * @returns The text of an id as it is in a sentence, with the blanks around it. A part of a character is shown as its token.
 * @throws {UserError} When there is no tokenizer.json, or it is none.
 */
export async function readTokenizer(folder: string): Promise<TextOf> {
  const file = isFolder(folder) ? `${folder}/tokenizer.json` : folder;
  if (!exists(file)) {
    throw new UserError(
      `Cannot read a tokenizer from ${folder}: it holds no tokenizer.json; name the folder of a model that has one`,
    );
  }
  const json = readJson(file);
  const { Tokenizer } = await import("@huggingface/tokenizers");
  const tokenizer = parseTokenizer(json, { file, Tokenizer });
  const isByteLevel = JSON.stringify((json as TokenizerJson).decoder ?? null)
    .includes('"ByteLevel"');
  const special = tokenizer.get_added_tokens_decoder();
  return (id) => {
    const token = tokenizer.id_to_token(id);
    if (token === undefined || special.has(id)) return token;
    if (!isByteLevel) return markedText(token);
    const text = tokenizer.decode([id], {
      skip_special_tokens: false,
      clean_up_tokenization_spaces: false,
    });
    return text.includes("\ufffd") ? token : text;
  };
}

type TokenizerClass = typeof import("@huggingface/tokenizers").Tokenizer;

function parseTokenizer(
  json: unknown,
  { file, Tokenizer }: { readonly file: string; readonly Tokenizer: TokenizerClass },
) {
  try {
    return new Tokenizer(json as object, {});
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UserError(
      `Cannot use ${file}: it is not a tokenizer of Hugging Face's tokenizers library (${why})`,
    );
  }
}
