/** Reads JSON objects and Python dicts as trainers print them: single quotes, None, bare NaN, `np.float64(…)`. */

/** A key and its value in one row of a file. */
export interface LogField {
  /** Of nested objects with the outer keys before it: `data/loss`. */
  readonly key: string;
  /** Undefined where it is a list, or anything else that holds no number. */
  readonly value: number | string | boolean | null | undefined;
  /** As the file spells it, quotes included, where that is known. */
  readonly written?: string;
}

/** A dict that was read: its fields, and the index after its closing brace. */
export interface ParsedDict {
  readonly fields: readonly LogField[];
  readonly end: number;
}

/** Dicts within dicts that are flattened; deeper ones are skipped. */
const MAX_DEPTH = 8;

const NUMBER = /[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])/y;
const WORD = /[-+]?[A-Za-z_][\w.]*/y;
const ELLIPSIS = /\.\.\.|…/y;
/** What else a repr can print: skipped. */
const ANYTHING = /[^,{}[\]()'"\n]+/y;
const WORDS: ReadonlyMap<string, number | boolean | null> = new Map<
  string,
  number | boolean | null
>([
  ["null", null],
  ["None", null],
  ["true", true],
  ["True", true],
  ["false", false],
  ["False", false],
  ...["nan", "NaN", "-nan", "-NaN", "+nan"].map((word) => [word, NaN] as const),
  ...["inf", "+inf", "Infinity", "+Infinity", "Inf"].map((word) => [word, Infinity] as const),
  ...["-inf", "-Infinity", "-Inf"].map((word) => [word, -Infinity] as const),
]);

/** What wraps a single number in a repr: `np.float64(0.1)`, `tensor(0.1, device='cuda:0')`, `Array(0.1, dtype=float32)`. */
const WRAPPER = /^(?:\w+\.)*(?:float|int|uint|bfloat|longdouble|tensor|array|scalar)\w*$/i;

const NUMERIC_TEXT = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/;

/**
 * A number as text.
 *
 * @returns The number, NaN and ±Infinity for their names; undefined where the text is anything else.
 */
export function numberOf(text: string): number | undefined {
  if (NUMERIC_TEXT.test(text)) return Number(text);
  const word = WORDS.get(text);
  if (typeof word === "number") return word;
  const call = /^([\w.]+)\(([^(),]+)\)$/.exec(text);
  return call && WRAPPER.test(call[1]) ? numberOf(call[2]) : undefined;
}

/** Stops the parser; its only class of error, so that a mistake in the parser is not taken for bad text. */
class Stop extends Error {
  readonly reason: "unclosed" | "malformed";
  constructor(reason: "unclosed" | "malformed") {
    super(reason);
    this.reason = reason;
  }
}

class DictParser {
  readonly #text: string;
  #at: number;
  readonly fields: LogField[] = [];
  /** Fields that something follows, so that the end of the text has not cut their value. */
  whole = 0;

  constructor(text: string, start: number) {
    this.#text = text;
    this.#at = start;
  }

  get at(): number {
    return this.#at;
  }

  /** The fields behind an opening brace, to the closing one. */
  dict(prefix: string, depth: number): void {
    for (;;) {
      if (this.#peek() === "}") {
        this.#at++;
        return;
      }
      if (this.#skipEllipsis()) continue;
      const quote = this.#peek();
      if (quote !== "'" && quote !== '"') throw new Stop("malformed");
      const key = prefix + this.#quoted();
      if (this.#peek() !== ":") throw new Stop("malformed");
      this.#at++;
      this.#value(key, depth);
      const next = this.#peek();
      this.whole = this.fields.length;
      if (next === ",") this.#at++;
      else if (next !== "}") throw new Stop("malformed");
    }
  }

  /** Whoever shortens a dict for a text writes `…` for what is left out. */
  #skipEllipsis(): boolean {
    if (this.#match(ELLIPSIS) === undefined) return false;
    if (this.#peek() === ",") this.#at++;
    return true;
  }

  #value(key: string, depth: number): void {
    const first = this.#peek();
    const start = this.#at;
    if (first === "'" || first === '"') {
      const value = this.#quoted();
      this.fields.push({ key, value, written: this.#text.slice(start, this.#at) });
    } else if (first === "{" && depth < MAX_DEPTH) {
      this.#at++;
      this.dict(`${key}/`, depth + 1);
    } else if (first === "{" || first === "[" || first === "(") {
      this.#skipBrackets();
      this.fields.push({ key, value: undefined });
    } else {
      this.#bare(key);
    }
  }

  /** A number, a name such as None, or a call that wraps a number. */
  #bare(key: string): void {
    const number = this.#match(NUMBER);
    if (number !== undefined) {
      this.fields.push({ key, value: Number(number), written: number });
      return;
    }
    const word = this.#match(WORD);
    if (word === undefined) {
      if (this.#match(ANYTHING) === undefined) throw new Stop("malformed");
      this.fields.push({ key, value: undefined });
      return;
    }
    if (this.#text[this.#at] !== "(") {
      // A word that is cut off may be the beginning of another.
      if (this.#at === this.#text.length) throw new Stop("unclosed");
      this.fields.push({ key, value: WORDS.get(word), written: word });
      return;
    }
    const start = this.#at + 1;
    this.#skipBrackets();
    const [argument] = this.#text.slice(start, this.#at - 1).split(",", 1);
    const value = WRAPPER.test(word) ? numberOf(argument.trim()) : undefined;
    this.fields.push({ key, value, written: argument.trim() });
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text)?.[0];
    if (match !== undefined) this.#at += match.length;
    return match;
  }

  /** The next character that is not a blank. */
  #peek(): string {
    const text = this.#text;
    while (this.#at < text.length && " \t\n\r".includes(text[this.#at])) this.#at++;
    if (this.#at >= text.length) throw new Stop("unclosed");
    return text[this.#at];
  }

  /** The content of the quoted text that begins here. */
  #quoted(): string {
    const start = this.#at + 1;
    this.#skipQuoted();
    const content = this.#text.slice(start, this.#at - 1);
    return content.includes("\\") ? unescape(content) : content;
  }

  #skipQuoted(): void {
    const end = endOfQuoted(this.#text, this.#at);
    if (end < 0) throw new Stop("unclosed");
    this.#at = end + 1;
  }

  /** Passes over what is in brackets; without recursion, since a hostile file can nest a million of them. */
  #skipBrackets(): void {
    const text = this.#text;
    let depth = 0;
    for (; this.#at < text.length; this.#at++) {
      const c = text[this.#at];
      if (c === "'" || c === '"') {
        this.#skipQuoted();
        this.#at--;
      } else if (c === "{" || c === "[" || c === "(") {
        depth++;
      } else if (c === "}" || c === "]" || c === ")") {
        if (--depth === 0) {
          this.#at++;
          return;
        }
      }
    }
    throw new Stop("unclosed");
  }
}

/** True where an odd number of backslashes stands before an index. */
function isEscaped(text: string, index: number): boolean {
  let start = index;
  while (text[start - 1] === "\\") start--;
  return (index - start) % 2 === 1;
}

/** Index of the quote that closes the text that one at `start` opens; -1 where the text ends within it. */
export function endOfQuoted(text: string, start: number): number {
  let end = start;
  do {
    end = text.indexOf(text[start], end + 1);
  } while (end >= 0 && isEscaped(text, end));
  return end;
}

const ESCAPES: ReadonlyMap<string, string> = new Map([["n", "\n"], ["t", "\t"], ["r", "\r"]]);

function unescape(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\s\S]))/g,
    (_, u?: string, x?: string, one = "") =>
      u ?? x ? String.fromCharCode(parseInt(u ?? x ?? "", 16)) : ESCAPES.get(one) ?? one,
  );
}

/**
 * Reads a dict of Python or an object of JSON; dicts within it are flattened with "/".
 *
 * @param text The text.
 * @param start Index of its opening brace; where that is lost, of the first key.
 * @returns The dict; `unclosed` where the text ends within it; `malformed` where it is not a dict.
 */
export function parseDict(text: string, start = 0): ParsedDict | "unclosed" | "malformed" {
  const parser = new DictParser(text, text[start] === "{" ? start + 1 : start);
  try {
    parser.dict("", 0);
  } catch (error) {
    if (error instanceof Stop) return error.reason;
    throw error;
  }
  return { fields: parser.fields, end: parser.at };
}

/** The fields of a dict that the end of the text cuts off, without the one whose value it may have cut. */
export function fieldsSoFar(text: string): readonly LogField[] {
  const parser = new DictParser(text, text[0] === "{" ? 1 : 0);
  try {
    parser.dict("", 0);
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
  }
  return parser.fields.slice(0, parser.whole);
}
