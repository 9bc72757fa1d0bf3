/** Files of texts and chats, a line each, as a batch under a model's tokenizer. */
import { isRecord } from "../core/record.ts";
import { errorText, UserError } from "../core/errors.ts";
import { OWNER } from "../core/owner.ts";
import { largest } from "../core/statistics.ts";
import type { Chat, RenderChat } from "../files/chat_template.ts";
import { MAX_JSON_BYTES, readBytes } from "../files/read_file.ts";
import type { Tokenizer } from "../files/tokenizer.ts";
import type { BatchFile } from "./batch_file.ts";

/** The largest grid of episodes and positions: a gigabyte of ids. */
const MAX_CELLS = 2 ** 28;

/** A batch, and where its episodes came from. */
export interface TextBatch extends BatchFile {
  /** The line of each episode in the file, from 1. */
  readonly line_B: readonly number[];
}

/** What turns lines into ids. */
interface Reader {
  readonly path: string;
  readonly tokenizer: Tokenizer;
  readonly renderChat: RenderChat | undefined;
  readonly vocabSize: number;
}

type Refuse = (reason: string) => UserError;

const ALLOWED = '{"text": "…"} or {"messages": [{"role": "…", "content": "…"}, …]}';

function readLines(path: string): string[] {
  const bytes = readBytes(path, { maxBytes: MAX_JSON_BYTES });
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes).split("\n");
  } catch {
    throw new UserError(`Cannot read ${path}: it is not a text in UTF-8`);
  }
}

function parseLine(line: string, refuse: Refuse): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    if (isRecord(value)) return value;
  } catch (error) {
    throw refuse(`it is not valid JSON (${errorText(error)}); a line is ${ALLOWED}`);
  }
  throw refuse(`it is not an object; a line is ${ALLOWED}`);
}

function parseChat(messages: unknown, tools: unknown, refuse: Refuse): Chat {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw refuse('its "messages" must be a list of at least one message');
  }
  messages.forEach((message: unknown, i) => {
    if (!isRecord(message) || typeof message.role !== "string") {
      throw refuse(`message ${i} has no "role"; a message is {"role": "…", "content": "…"}`);
    }
    const { content } = message;
    const isContent = typeof content === "string" || Array.isArray(content) ||
      ((content ?? null) === null && Array.isArray(message.tool_calls));
    if (!isContent) throw refuse(`message ${i} has no "content", which must be a text`);
  });
  if ((tools ?? null) !== null && !Array.isArray(tools)) {
    throw refuse('its "tools" must be a list');
  }
  return { messages, tools: Array.isArray(tools) ? tools : null };
}

/** The text of a line as the tokenizer gets it. A template writes all tokens itself, those that begin a text included. */
function textOfLine(
  line: string,
  { renderChat, refuse }: { renderChat: RenderChat | undefined; refuse: Refuse },
): { readonly text: string; readonly addsSpecial: boolean } {
  const { text, messages, tools } = parseLine(line, refuse);
  if ((text === undefined) === (messages === undefined)) {
    const found = text === undefined ? "neither" : "both";
    throw refuse(`it has ${found} of "text" and "messages"; a line is ${ALLOWED}`);
  }
  if (messages === undefined) {
    if (typeof text !== "string") throw refuse('its "text" must be a text');
    if (text === "") throw refuse("its text is empty, so that there is nothing to score");
    return { text, addsSpecial: true };
  }
  const chat = parseChat(messages, tools, refuse);
  if (renderChat === undefined) {
    throw refuse(
      "it is a chat, but the model's folder has no chat template: add chat_template.jinja, or give the texts themselves",
    );
  }
  const render = () => {
    try {
      return renderChat(chat);
    } catch (error) {
      throw refuse(`the model's chat template fails at it (${errorText(error)})`);
    }
  };
  const rendered = render();
  if (rendered === "") throw refuse("the model's chat template makes an empty text of it");
  return { text: rendered, addsSpecial: false };
}

function idsOfLine(line: string, { refuse, ...reader }: Reader & { refuse: Refuse }): Int32Array {
  const { tokenizer, vocabSize } = reader;
  const { text, addsSpecial } = textOfLine(line, { ...reader, refuse });
  if (!text.isWellFormed()) {
    throw refuse(
      "its text has half of a surrogate pair, such as \\ud800 alone, which is no character",
    );
  }
  const ids = tokenizer.encode(text, { addsSpecial });
  if (ids.length === 0) throw refuse("its text has no tokens, so that there is nothing to score");
  return Int32Array.from(ids, (id, t) => {
    if (id === undefined) {
      throw refuse(`the tokenizer has no token for a part of its text, at position ${t}`);
    }
    if (id < vocabSize) return id;
    throw refuse(
      `its token at position ${t}, ${JSON.stringify(tokenizer.textOf(id) ?? "")}, has the id ` +
        `${id}, but the model's vocabulary has ids from 0 to ${vocabSize - 1}: ` +
        "tokenizer.json is that of another model",
    );
  });
}

function toBatch(path: string, ids_B: readonly Int32Array[]): BatchFile {
  const B = ids_B.length, T = largest(ids_B.map(({ length }) => length));
  if (B * T > MAX_CELLS) {
    throw new UserError(
      `Cannot use ${path}: ${B} lines of up to ${T} tokens are too much for one file of scores; split it`,
    );
  }
  const ids_BT = new Int32Array(B * T), owner_BT = new Int32Array(B * T);
  const actionMask_BC = new Float32Array(B * (T - 1));
  ids_B.forEach((ids, b) => {
    ids_BT.set(ids, b * T);
    owner_BT.fill(OWNER.policy, b * T, b * T + ids.length);
    actionMask_BC.fill(1, b * (T - 1), b * (T - 1) + ids.length - 1);
  });
  return {
    path,
    isVerified: false,
    episodeCount: B,
    columnCount: T,
    ids_BT,
    owner_BT,
    ids_B,
    actionMask_BC,
    advantages_B: undefined,
    oldLogp_BC: undefined,
    refLogp_BC: undefined,
    sampleLogp_BC: undefined,
    rewards_B: undefined,
  };
}

/**
 * Reads texts and chats.
 *
 * @param path JSONL: `{"text": …}`, to which the tokenizer's own special tokens are added, or `{"messages": […]}`, with `tools`
 *   where there are any, of which the template makes the whole text. Blank lines are skipped.
 * @param options.renderChat Of the model's chat template; undefined where it has none.
 * @param options.vocabSize V of the model.
 * @returns An episode a line, all of whose tokens count as the policy's.
 * @throws {UserError} With the line, when one is not such an object, is empty, fails in the template, or has a token that the
 *   tokenizer or the model does not know; when no line has a second token; and when the file cannot be read.
 */
export function readTextBatch(path: string, options: Omit<Reader, "path">): TextBatch {
  const line_B: number[] = [], ids_B: Int32Array[] = [];
  readLines(path).forEach((line, i) => {
    if (line.trim() === "") return;
    const refuse = (reason: string) =>
      new UserError(`Cannot use ${path}: at line ${i + 1}, ${reason}`);
    ids_B.push(idsOfLine(line, { ...options, path, refuse }));
    line_B.push(i + 1);
  });
  if (ids_B.length === 0) {
    throw new UserError(`Cannot use ${path}: it has no line; one is ${ALLOWED}`);
  }
  if (ids_B.every(({ length }) => length < 2)) {
    throw new UserError(
      `Cannot use ${path}: no line has a second token, and a first one has no log-prob`,
    );
  }
  return { ...toBatch(path, ids_B), line_B };
}
