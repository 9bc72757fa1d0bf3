/** Tests of the texts of token ids: two kinds of Hugging Face tokenizers, our own vocabulary, and folders without any. */
import { assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { OWN_TEXTS, readTokenizer } from "../../src/report/files/token_texts.ts";
import { withFolder } from "../files/with_folder.ts";

/** An added token as tokenizer.json has it. */
const special = (id: number, content: string) => ({
  id,
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
});

function tokenizerJson(
  tokens: readonly string[],
  changes: Readonly<Record<string, unknown>>,
): string {
  return JSON.stringify({
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: [special(tokens.length, "<|im_end|>")],
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: null,
    model: {
      type: "BPE",
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: [],
      byte_fallback: true,
    },
    ...changes,
  });
}

Deno.test("readTokenizer() gives texts as they are in a sentence: bytes of Qwen and Llama 3, blanks around them", () =>
  withFolder(async (folder) => {
    const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: false };
    // Ġ is a blank, Ċ a line feed; Ã© are the two bytes of é, and Ã alone the first of them.
    const tokens = ["Ġthe", "fix", "Ċ", "Ã©", "Ã", "Ġ"];
    Deno.writeTextFileSync(
      `${folder}/tokenizer.json`,
      tokenizerJson(tokens, { decoder: byteLevel, pre_tokenizer: byteLevel }),
    );
    const textOf = await readTokenizer(folder);
    assertEquals([0, 1, 2, 3, 4, 5, 6, 7].map(textOf), [
      " the",
      "fix",
      "\n",
      "é",
      "Ã",
      " ",
      "<|im_end|>",
      undefined,
    ]);
  }));

Deno.test("readTokenizer() gives texts of Llama 2 and Gemma, with bytes by their number", () =>
  withFolder(async (folder) => {
    const decoder = {
      type: "Sequence",
      decoders: [
        { type: "Replace", pattern: { String: "▁" }, content: " " },
        { type: "ByteFallback" },
        { type: "Fuse" },
      ],
    };
    const file = `${folder}/tokenizer.json`;
    Deno.writeTextFileSync(file, tokenizerJson(["▁the", "fix", "<0x0A>", "<0xE2>"], { decoder }));
    const textOf = await readTokenizer(file);
    assertEquals([0, 1, 2, 3, 4].map(textOf), [" the", "fix", "\n", "<0xE2>", "<|im_end|>"]);
  }));

Deno.test("readTokenizer() says in a sentence what is missing or no tokenizer", () =>
  withFolder(async (folder) => {
    await assertRejects(() => readTokenizer(folder), UserError, "holds no tokenizer.json");
    for (const text of ["[1]", '{"a": 1}', "null", '{"model": {"type": "Huge"}}']) {
      Deno.writeTextFileSync(`${folder}/tokenizer.json`, text);
      await assertRejects(() => readTokenizer(folder), UserError, "is not a tokenizer");
    }
    Deno.writeTextFileSync(`${folder}/tokenizer.json`, "{");
    await assertRejects(() => readTokenizer(folder), UserError, "not valid JSON");
  }));

Deno.test("OWN_TEXTS knows the words of the gym and no others", () => {
  assertEquals([OWN_TEXTS(1), OWN_TEXTS(6), OWN_TEXTS(60)], ["<task> ", "read ", undefined]);
});
