/** What stands around the numbers in a console log: colours, prefixes of Ray and torchrun, dicts over several lines. */
import { fieldsSoFar, type LogField, parseDict } from "./literal.ts";

// deno-lint-ignore no-control-regex
const ANSI = /\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])/g;

/** `(TaskRunner pid=1, ip=10.0.0.2) ` of Ray, `[rank0]: ` and `[default0]:` of torchrun. */
const PREFIX = /^\s*(?:\(([^()]{0,200})\)|\[(?:rank|default)\d+\]:) ?/;

/** What Ray adds where it folds equal lines of several processes into one. */
const REPEATED = /\s?\[repeated \d+x across cluster\].*$/;

/** A line without colours, taken apart. */
export interface ConsoleLine {
  /** Which process printed it, as its prefix says; empty without one. */
  readonly prefix: string;
  readonly body: string;
}

/** Takes a line of a console log apart. */
export function consoleLine(text: string): ConsoleLine {
  const plain = text.includes("\x1b") ? text.replace(ANSI, "") : text;
  const match = PREFIX.exec(plain);
  const prefix = match && (match[1]?.includes("pid=") ?? true) ? match[0] : "";
  const rest = prefix === "" ? plain : plain.slice(prefix.length);
  const body = rest.includes("[repeated ") ? rest.replace(REPEATED, "") : rest;
  return { prefix: prefix.trim(), body };
}

/** A dict longer than this is none of a trainer's. */
const MAX_DICT_LENGTH = 256 * 1024;
/** Closing braces after which a dict that is still open is none. */
const MAX_PARSES = 64;
/** Lines of other processes that may stand between the lines of a dict. */
const MAX_FOREIGN_LINES = 20;

/** A dict whose lines arrive one by one. */
export class OpenDict {
  #text: string;
  #foreignLines = 0;
  #parses = 0;
  #end = 0;

  /** Begins with the rest of a line from the opening brace (or, where that is lost, from the first key). */
  constructor(text: string) {
    this.#text = text;
  }

  /** @returns The fields where the dict is closed; `unclosed` where more must come; `malformed` where it is none. */
  parse(): readonly LogField[] | "unclosed" | "malformed" {
    if (this.#text.length > MAX_DICT_LENGTH) return "malformed";
    const dict = parseDict(this.#text);
    if (typeof dict === "string") return dict;
    this.#end = dict.end;
    return dict.fields;
  }

  /** The fields of a dict that is not closed, as far as they are whole. */
  get fieldsSoFar(): readonly LogField[] {
    return this.#text.length > MAX_DICT_LENGTH ? [] : fieldsSoFar(this.#text);
  }

  /** What follows the dict on its last line. */
  get rest(): string {
    return this.#text.slice(this.#end);
  }

  /**
   * Takes the next line.
   *
   * @returns As `parse`.
   */
  take(body: string): readonly LogField[] | "unclosed" | "malformed" {
    if (!/^\s*(?:['"}\])…]|[-+]?[\d.]|nan|inf|None|null|NaN|Infinity)/.test(body)) {
      return ++this.#foreignLines > MAX_FOREIGN_LINES ? "malformed" : "unclosed";
    }
    this.#text += `\n${body}`;
    if (!body.includes("}")) {
      return this.#text.length > MAX_DICT_LENGTH ? "malformed" : "unclosed";
    }
    return ++this.#parses > MAX_PARSES ? "malformed" : this.parse();
  }
}
