/** Command lines for people to copy: words quoted for a POSIX shell, so that each arrives as it is. */

import { UserError } from "./errors.ts";

/** Characters that no shell reads anything into. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/** Characters that would leave the line, or that a terminal would obey. */
// deno-lint-ignore no-control-regex -- These are the characters that are looked for.
const CONTROL = /[\x00-\x1f\x7f]/;

function quoteWord(word: string): string {
  if (PLAIN.test(word)) return word;
  if (!CONTROL.test(word)) return `'${word.replaceAll("'", `'\\''`)}'`;
  const escaped = Array.from(word, (character) => {
    if (character === "'" || character === "\\") return `\\${character}`;
    if (!CONTROL.test(character)) return character;
    return `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`;
  });
  return `$'${escaped.join("")}'`;
}

/**
 * The line that a shell takes apart into these words again.
 *
 * @param words The program and its arguments.
 * @returns One line, quoted only where it must be.
 */
export function commandLine(words: readonly string[]): string {
  return words.map(quoteWord).join(" ");
}

/** What a shell would obey; nothing here does, so that it is refused where it is not quoted. */
const SHELL_CHARACTERS = /[|&;<>()$`*?\n]/;

/** What may follow a backslash between double quotes to be taken as it is. */
const ESCAPED_IN_QUOTES = /["\\$`]/;

/**
 * Takes a command line apart as a shell does where it only quotes: blanks separate words, `'…'`, `"…"` and backslashes keep
 * them together. Nothing is expanded.
 *
 * @param line For example `python3 'my env.py' 3`.
 * @returns At least one word.
 * @throws {UserError} When a quote is open, when there is no word, or when a character stands unquoted that only a shell obeys.
 */
export function splitWords(line: string): string[] {
  const refuse = (problem: string) =>
    new UserError(`Cannot run ${JSON.stringify(line)}: ${problem}`);
  const words: string[] = [];
  // Undefined between words: '' is a word.
  let word: string | undefined;
  let quote = "";
  const characters = Array.from(line);
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i];
    if (character === quote) quote = "";
    else if (quote === "'") word += character;
    else if (character === "\\") {
      const next = characters[++i];
      if (next === undefined) throw refuse("nothing follows its last backslash");
      word = (word ?? "") + (quote === "" || ESCAPED_IN_QUOTES.test(next) ? next : `\\${next}`);
    } else if (quote === "" && (character === "'" || character === '"')) {
      quote = character;
      word ??= "";
    } else if (quote === "" && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (
      quote === ""
        ? SHELL_CHARACTERS.test(character) || (character === "~" && word === undefined)
        : /[$`]/.test(character)
    ) {
      throw refuse(
        `it is not run by a shell, and ${
          JSON.stringify(character)
        } is a shell's; put it in single quotes, ` +
          "or call a shell yourself: sh -c '…'",
      );
    } else word = (word ?? "") + character;
  }
  if (quote !== "") throw refuse(`the quote ${quote} is not closed`);
  if (word !== undefined) words.push(word);
  if (words.length === 0) throw refuse("it names no program");
  return words;
}
