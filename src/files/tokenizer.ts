/** Tokenizers of Hugging Face folders: text to ids by tokenizer.json, and each id to its text. */
import { errorText, UserError } from "../core/errors.ts";
import { readJson } from "./json.ts";
import { exists, isFolder } from "./paths.ts";

/** A tokenizer that was read. */
export interface Tokenizer {
  /** Its tokenizer.json. */
  readonly file: string;
  /**
   * The ids of a text.
   *
   * @param options.addsSpecial Whether its post-processor adds tokens, such as the one that begins a text.
   * @returns Ids, not held to any vocabulary; undefined where the tokenizer has no token for a part.
   * @throws {UserError} When the tokenizer cannot work on the text.
   */
  readonly encode: (
    text: string,
    options: { readonly addsSpecial: boolean },
  ) => readonly (number | undefined)[];
  /** An id's text as it is in a sentence, with the blanks around it; a part of a character is shown as its token. */
  readonly textOf: (id: number) => string | undefined;
  /** The text of ids that follow each other; where characters are cut, U+FFFD stands for their parts. */
  readonly decode: (ids: readonly number[]) => string;
}

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

type TokenizerClass = typeof import("@huggingface/tokenizers").Tokenizer;

function parseTokenizer(
  json: unknown,
  { file, Tokenizer }: { readonly file: string; readonly Tokenizer: TokenizerClass },
) {
  try {
    return new Tokenizer(json as object, {});
  } catch (error) {
    throw new UserError(
      `Cannot use ${file}: it is not a tokenizer of Hugging Face's tokenizers library (${
        errorText(error)
      })`,
    );
  }
}

/**
 * Reads a tokenizer.
 *
 * @param folder A folder with tokenizer.json, such as that of a checkpoint, or this file itself.
 * @throws {UserError} When there is no tokenizer.json, or it is none.
 */
export async function openTokenizer(folder: string): Promise<Tokenizer> {
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
  const decode = (ids: readonly number[]) =>
    tokenizer.decode([...ids], { skip_special_tokens: false, clean_up_tokenization_spaces: false });
  return {
    file,
    encode: (text, { addsSpecial }) => {
      try {
        return tokenizer.encode(text, { add_special_tokens: addsSpecial }).ids;
      } catch (error) {
        throw new UserError(`Cannot use ${file}: it fails at a text (${errorText(error)})`);
      }
    },
    textOf: (id) => {
      const token = tokenizer.id_to_token(id);
      if (token === undefined || special.has(id)) return token;
      if (!isByteLevel) return markedText(token);
      const text = decode([id]);
      return text.includes("\ufffd") ? token : text;
    },
    decode,
  };
}
