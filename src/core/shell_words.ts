/** Command lines for people to copy: words quoted for a POSIX shell, so that each arrives as it is. */

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
