/** HTML as values: the one place where text is escaped. Whatever comes from a log passes through here. */

/** What markup needs from the document beside its place in it, such as the data of a chart. It is only handed on here. */
export interface Attachment {
  readonly kind: string;
  /** Id of the element that it belongs to. */
  readonly id: string;
}

/** Markup that is safe to be in the document, with what it needs there. */
export interface Html {
  readonly markup: string;
  readonly attachments: readonly Attachment[];
}

/** What a template may hold: text and numbers are escaped, markup is taken as it is. */
export type Content = Html | string | number | readonly Content[];

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as it may stand between tags and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

function isList(part: Content): part is readonly Content[] {
  return Array.isArray(part);
}

function join(parts: readonly Content[]): Html {
  const attachments: Attachment[] = [];
  const markup = parts.map((part): string => {
    if (typeof part === "string" || typeof part === "number") return escapeHtml(String(part));
    const inner = isList(part) ? join(part) : part;
    attachments.push(...inner.attachments);
    return inner.markup;
  }).join("");
  return { markup, attachments };
}

/**
 * A template of markup: `` html`<p>${text}</p>` ``.
 *
 * @param strings The markup that is in our own source.
 * @param parts Text and numbers, which are escaped; markup and lists of it, which are not. Attributes must be quoted.
 * @returns The markup, with the attachments of its parts.
 */
export function html(strings: TemplateStringsArray, ...parts: readonly Content[]): Html {
  const texts = strings.map((markup): Html => ({ markup, attachments: [] }));
  return join(texts.flatMap((text, i) => i < parts.length ? [text, parts[i]] : [text]));
}

/** No markup. */
export const NOTHING: Html = { markup: "", attachments: [] };

/**
 * A block of data for the page's script. Within a script element only `<` could end it, so none is left.
 *
 * @param id The element's id.
 * @param data JSON values.
 */
export function jsonBlock(id: string, data: unknown): Html {
  const text = JSON.stringify(data).replaceAll("<", "\\u003c");
  return {
    markup: `<script type="application/json" id="${escapeHtml(id)}">${text}</script>`,
    attachments: [],
  };
}

/**
 * A name as an element's id and a link's target: letters, digits and hyphens.
 *
 * @param words Joined by hyphens.
 */
export function idOf(...words: readonly (string | number)[]): string {
  return words.join("-").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "").toLowerCase();
}
