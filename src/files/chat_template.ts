/** Chat templates of Hugging Face folders: the text that a model is given for a list of messages. */
import { isRecord } from "../core/record.ts";
import { errorText, UserError } from "../core/errors.ts";
import { readJson } from "./json.ts";
import { exists } from "./paths.ts";
import { MAX_JSON_BYTES, readText } from "./read_file.ts";

/** A chat: messages with a role each, and whatever else the template looks at. */
export interface Chat {
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  /** Tools that the template describes to the model; null where the chat has none. */
  readonly tools: readonly unknown[] | null;
}

/** The text of a chat. Whatever goes wrong in the template is thrown as an Error with its reason. */
export type RenderChat = (chat: Chat) => string;

type Settings = Readonly<Record<string, unknown>>;

/** The template named `default` where there are several. */
function chooseTemplate(template: unknown, file: string): string | undefined {
  if (template === undefined || template === null) return undefined;
  if (typeof template === "string") return template;
  const named = Array.isArray(template) ? template.filter(isRecord) : [];
  const { template: chosen } = named.find(({ name }) => name === "default") ?? {};
  if (typeof chosen === "string") return chosen;
  throw new UserError(
    `Cannot use ${file}: its chat_template must be a text, or a list with one named "default"`,
  );
}

/** Tokens by what they are for, such as `bos_token`, which templates write out. */
function specialTokens(settings: Settings): Record<string, string> {
  const tokens: Record<string, string> = {};
  for (const [name, value] of Object.entries(settings)) {
    const token = isRecord(value) ? value.content : value;
    if (name.endsWith("_token") && typeof token === "string") tokens[name] = token;
  }
  return tokens;
}

/**
 * Reads the chat template of a model: of chat_template.jinja, else of tokenizer_config.json.
 *
 * @param folder The model's folder.
 * @returns Renders a chat without a prompt for a further answer; undefined where the folder has no template.
 * @throws {UserError} When a file cannot be read, or the template is not one.
 */
export async function openChatTemplate(folder: string): Promise<RenderChat | undefined> {
  const configFile = `${folder}/tokenizer_config.json`, file = `${folder}/chat_template.jinja`;
  const found = exists(configFile) ? readJson(configFile) : {};
  if (!isRecord(found)) throw new UserError(`Cannot use ${configFile}: it is not a JSON object`);
  const isAlone = exists(file);
  const text = isAlone
    ? readText(file, { maxBytes: MAX_JSON_BYTES })
    : chooseTemplate(found.chat_template, configFile);
  if (text === undefined) return undefined;
  const { Template } = await import("@huggingface/jinja");
  const parse = () => {
    try {
      return new Template(text);
    } catch (error) {
      throw new UserError(
        `Cannot use ${isAlone ? file : configFile}: its chat template is not valid (${
          errorText(error)
        })`,
      );
    }
  };
  const template = parse(), tokens = specialTokens(found);
  return ({ messages, tools }) =>
    template.render({
      ...tokens,
      messages,
      tools,
      documents: null,
      add_generation_prompt: false,
    });
}
