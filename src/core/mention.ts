/** Sentences that name a setting or another work of this program as data: whoever shows them has the words for it. */

/** A value of a setting; a list stands for the setting several times. */
export type SettingValue = string | number | boolean | readonly string[];

/** What is called otherwise in each place where a sentence is shown: a flag in a shell, an option in a program. */
export type Mention =
  /** A setting that the reader can give, in camelCase, and what to give it where that is told. */
  | { readonly kind: "setting"; readonly name: string; readonly value?: string }
  /** Another work of this program: what it works on, and the settings that it is to be given. */
  | {
    readonly kind: "command";
    readonly name: string;
    readonly subjects: readonly string[];
    readonly settings: Readonly<Record<string, SettingValue>>;
  };

/** A sentence, whole or in pieces with mentions between them. */
export type Sentence = string | readonly (string | Mention)[];

/** Says a mention. */
export type MentionWords = (mention: Mention) => string;

/** A setting, for a sentence. @param value What to give it, such as `COLUMN=step`. */
export function setting(name: string, value?: string | undefined): Mention {
  return { kind: "setting", name, ...(value !== undefined && { value }) };
}

/** Another work of this program, for a sentence. @param options.subjects What it works on. */
export function command(
  name: string,
  settings: Readonly<Record<string, SettingValue>> = {},
  { subjects = [] }: { readonly subjects?: readonly string[] } = {},
): Mention {
  return { kind: "command", name, subjects, settings };
}

/** How mentions are said where nobody has words of their own: settings by their names, as a caller of the library gives them. */
export function plainMention(mention: Mention): string {
  switch (mention.kind) {
    case "setting":
      return `\`${mention.name}\`${mention.value === undefined ? "" : ` ${mention.value}`}`;
    case "command": {
      const work = [mention.name, ...mention.subjects].join(" ");
      const settings = Object.entries(mention.settings).map(([name, value]) => `${name} ${value}`);
      return settings.length === 0 ? work : `${work} with ${settings.join(", ")}`;
    }
    default:
      return mention satisfies never;
  }
}

/** A sentence in pieces, written as a template: ``sentence`say which with ${setting("map", "COLUMN=step")}` ``. */
export function sentence(
  texts: TemplateStringsArray,
  ...values: readonly (string | number | Mention)[]
): Sentence {
  return texts.flatMap((text, i) => {
    const value = values[i - 1];
    const before = value === undefined ? [] : [typeof value === "object" ? value : String(value)];
    return text === "" ? before : [...before, text];
  });
}

/**
 * A sentence as a text.
 *
 * @param words Says what it mentions (default: {@linkcode plainMention}).
 */
export function inWords(said: Sentence, words: MentionWords = plainMention): string {
  if (typeof said === "string") return said;
  return said.map((piece) => typeof piece === "string" ? piece : words(piece)).join("");
}
