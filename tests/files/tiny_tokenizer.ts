/** A tokenizer of some dozen tokens and a chat template, as the files of a Hugging Face folder. */

const BYTE_LEVEL = { type: "ByteLevel", add_prefix_space: false, trim_offsets: false };

/** Ġ is a blank, Ċ a line feed; Ã© are the two bytes of é. */
const TOKENS = [..."acehtx", "Ġ", "Ċ", "Ã", "©", "th", "the", "Ġthe", "at"];
const SPECIAL = ["<s>", "<|im_start|>", "<|im_end|>", "user", "assistant"];

/** The id of a token. */
export function idOf(token: string): number {
  return [...TOKENS, ...SPECIAL].indexOf(token);
}

/** What apply_chat_template of the frameworks is given: `<|im_start|>user⏎the cat<|im_end|>⏎`. */
export const TEMPLATE = "{%- for m in messages %}" +
  "{%- if m.role not in ['user', 'assistant'] %}{{ raise_exception('no such role') }}{% endif %}" +
  "<|im_start|>{{ m.role }}\n{{ m.content }}{{ eos_token }}\n{% endfor %}";

/** Writes tokenizer.json and tokenizer_config.json. Every text begins with `<s>`, which chats leave to their template. */
export function writeTokenizer(
  folder: string,
  { template = TEMPLATE }: { readonly template?: unknown } = {},
): void {
  const bos = { SpecialToken: { id: "<s>", type_id: 0 } };
  const tokenizer = {
    version: "1.0",
    added_tokens: SPECIAL.map((content, i) => ({
      id: TOKENS.length + i,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: { type: "NFC" },
    pre_tokenizer: { ...BYTE_LEVEL, use_regex: true },
    post_processor: {
      type: "TemplateProcessing",
      single: [bos, { Sequence: { id: "A", type_id: 0 } }],
      pair: [],
      special_tokens: { "<s>": { id: "<s>", ids: [idOf("<s>")], tokens: ["<s>"] } },
    },
    decoder: BYTE_LEVEL,
    model: {
      type: "BPE",
      vocab: Object.fromEntries(TOKENS.map((token, id) => [token, id])),
      merges: [["t", "h"], ["th", "e"], ["Ġ", "the"], ["a", "t"]],
    },
  };
  Deno.writeTextFileSync(`${folder}/tokenizer.json`, JSON.stringify(tokenizer));
  const config = { eos_token: { content: "<|im_end|>" }, chat_template: template };
  Deno.writeTextFileSync(`${folder}/tokenizer_config.json`, JSON.stringify(config));
}
