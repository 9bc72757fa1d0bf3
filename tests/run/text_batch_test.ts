/** Tests of texts and chats as batches: the ids of both, and one sentence with its line for whatever cannot be scored. */
import { assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { openChatTemplate } from "../../src/files/chat_template.ts";
import { openTokenizer } from "../../src/files/tokenizer.ts";
import { readTextBatch } from "../../src/run/text_batch.ts";
import { idOf, TEMPLATE, writeTokenizer } from "../files/tiny_tokenizer.ts";
import { withFolder } from "../files/with_folder.ts";

async function read(
  folder: string,
  content: string | Uint8Array,
  { vocabSize = 40 }: { readonly vocabSize?: number } = {},
) {
  const path = `${folder}/texts.jsonl`;
  if (typeof content === "string") Deno.writeTextFileSync(path, content);
  else Deno.writeFileSync(path, content);
  const tokenizer = await openTokenizer(folder);
  const renderChat = await openChatTemplate(folder);
  return readTextBatch(path, { tokenizer, renderChat, vocabSize });
}

const ids = (...tokens: string[]) => Int32Array.from(tokens, idOf);

const chat = (...roles: string[]) =>
  JSON.stringify({ messages: roles.map((role) => ({ role, content: "the cat" })) });

const TURN = ["Ċ", "the", "Ġ", "c", "at", "<|im_end|>", "Ċ"];

Deno.test("readTextBatch() adds what begins a text, leaves that of a chat to its template, and composes accents", () =>
  withFolder(async (folder) => {
    writeTokenizer(folder);
    const lines = ['{"text": "at the e\\u0301"}', " \r", `${chat("user", "assistant")}\r`];
    const batch = await read(folder, lines.join("\n"));
    const text = ids("<s>", "at", "Ġthe", "Ġ", "Ã", "©");
    const turns = ids("<|im_start|>", "user", ...TURN, "<|im_start|>", "assistant", ...TURN);
    assertEquals(batch.ids_B, [text, turns]);
    assertEquals(batch.line_B, [1, 3]);
    assertEquals([batch.episodeCount, batch.columnCount], [2, 18]);
    assertEquals(batch.ids_BT, Int32Array.of(...text, ...new Array(12).fill(0), ...turns));
    assertEquals(Array.from(batch.owner_BT.subarray(0, 8)), [2, 2, 2, 2, 2, 2, 0, 0]);
    assertEquals(Array.from(batch.actionMask_BC.subarray(0, 7)), [1, 1, 1, 1, 1, 0, 0]);
  }));

Deno.test("readTextBatch() takes the template named default, and chat_template.jinja before any", () =>
  withFolder(async (folder) => {
    const other = { name: "tool_use", template: "x" };
    writeTokenizer(folder, { template: [other, { name: "default", template: TEMPLATE }] });
    const first = async () => (await read(folder, chat("user"))).ids_B[0];
    assertEquals(await first(), ids("<|im_start|>", "user", ...TURN));
    Deno.writeTextFileSync(`${folder}/chat_template.jinja`, "{{ messages[0].content }}");
    assertEquals(await first(), ids("the", "Ġ", "c", "at"));
    Deno.writeTextFileSync(`${folder}/chat_template.jinja`, "{% for %}");
    await assertRejects(first, UserError, "chat_template.jinja: its chat template is not valid (");
    Deno.removeSync(`${folder}/chat_template.jinja`);
    writeTokenizer(folder, { template: [other] });
    await assertRejects(first, UserError, 'a list with one named "default"');
  }));

Deno.test("readTextBatch() says in one sentence, with its line, what cannot be scored", () =>
  withFolder(async (folder) => {
    writeTokenizer(folder);
    const good = '{"text": "the"}\n';
    const cases: readonly (readonly [string | Uint8Array, string])[] = [
      ["", "it has no line"],
      [Uint8Array.of(123, 255), "it is not a text in UTF-8"],
      [`${good}{"text":`, "at line 2, it is not valid JSON ("],
      [`${good}[1]`, "at line 2, it is not an object"],
      [`${good}{"txt": "a"}`, 'at line 2, it has neither of "text" and "messages"'],
      ['{"text": "a", "messages": []}', 'it has both of "text" and "messages"'],
      ['{"text": 3}', 'its "text" must be a text'],
      [`${good}\n{"text": ""}`, "at line 3, its text is empty"],
      ['{"text": "a\\ud800"}', "half of a surrogate pair, such as \\ud800 alone"],
      ['{"messages": []}', "at least one message"],
      ['{"messages": [{"content": "a"}]}', 'message 0 has no "role"'],
      ['{"messages": [{"role": "user"}]}', 'message 0 has no "content"'],
      ['{"messages": [{"role": "user", "content": "a"}], "tools": 1}', '"tools" must be a list'],
      [chat("user", "king"), "at line 1, the model's chat template fails at it (no such role)"],
      ['{"text": "z"}', "no line has a second token"],
    ];
    for (const [content, sentence] of cases) {
      const error = await assertRejects(() => read(folder, content), UserError, sentence);
      assertEquals(error.message.split("\n").length, 1);
    }
    await assertRejects(
      () => read(folder, `${good}${chat("user")}`, { vocabSize: 16 }),
      UserError,
      'at line 2, its token at position 1, "user", has the id 17, but the model\'s vocabulary',
    );
    writeTokenizer(folder, { template: null });
    await assertRejects(() => read(folder, chat("user")), UserError, "has no chat template");
    writeTokenizer(folder, { template: "{{ '' }}" });
    await assertRejects(() => read(folder, chat("user")), UserError, "makes an empty text of it");
    writeTokenizer(folder, { template: "zz" });
    await assertRejects(() => read(folder, chat("user")), UserError, "its text has no tokens");
    Deno.removeSync(`${folder}/tokenizer.json`);
    await assertRejects(() => read(folder, good), UserError, "it holds no tokenizer.json");
  }));
