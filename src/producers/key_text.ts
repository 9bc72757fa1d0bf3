/** Patterns of keys as people write them: `rewards/NAME/mean` for `rewards\/(?<part>.+)\/mean`. */
import type { MetricDefinition } from "./definition.ts";

/** What stands between a group's parentheses, and where the group ends. */
function groupAt(source: string, start: number): { readonly inner: string; readonly end: number } {
  let depth = 0;
  for (let at = start; at < source.length; at++) {
    if (source[at] === "\\") at++;
    else if (source[at] === "(") depth++;
    else if (source[at] === ")" && --depth === 0) {
      return { inner: source.slice(start + 1, at), end: at + 1 };
    }
  }
  throw new SyntaxError(`A group is not closed in ${source}`);
}

/** Pieces that stand for any text of a kind. */
const ANY: readonly (readonly [RegExp, string])[] = [
  [/^\\d[+*]/, "N"],
  [/^(?:\[\^[^\]]*\]|\.|\\w)[+*]\??/, "*"],
  [/^\\([/.()])/, "$1"],
];

function patternText(source: string): string {
  let text = "";
  for (let at = 0; at < source.length;) {
    const rest = source.slice(at);
    if (rest.startsWith("(")) {
      const { inner, end } = groupAt(source, at);
      at = end;
      if (/^\?<?[!=]/.test(inner)) continue; // What may not stand there goes without saying.
      const body = inner.replace(/^\?(?::|<\w+>)/, "");
      const isName = inner.startsWith("?<part>") && !/^[\w|]+$/.test(body);
      const written = isName ? "NAME" : patternText(body);
      if (source[at] === "?") {
        text += `[${written}]`;
        at++;
      } else text += written.includes("|") ? `(${written})` : written;
      continue;
    }
    const kind = ANY.find(([piece]) => piece.test(rest));
    const [piece = rest[0]] = kind ? kind[0].exec(rest) ?? [] : [];
    text += kind ? piece.replace(kind[0], kind[1]) : piece;
    at += piece.length;
  }
  return text;
}

/**
 * A key for people: brackets around what may be missing, bars between what may stand instead, `NAME` for the part, `N` for a
 * number, `*` for anything else.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * assertEquals(keyText(/rewards\/(?<part>.+)\/mean/), "rewards/NAME/mean");
 * ```
 */
export function keyText(key: MetricDefinition["key"]): string {
  return typeof key === "string" ? key : patternText(key.source);
}
