/** Texts broken into lines at their spaces. */

/** How a text is broken. */
export interface WrapOptions {
  /** Columns of a line. */
  readonly columns: number;
  /** Blanks before the first line (default 0). */
  readonly indent?: number;
  /** Blanks before the others (default: as the first). */
  readonly hanging?: number;
}

/** Words that are not left alone on the last line: the end of a range, a unit, a bracket. */
const SHORT_WORD = 3;

/**
 * Breaks a text at its spaces; a word that is wider than a line stands on one of its own.
 *
 * @param text One paragraph. A short last word takes the word before it along to the last line.
 * @returns Lines without line breaks, at least one.
 */
export function wrapText(
  text: string,
  { columns, indent = 0, hanging = indent }: WrapOptions,
): string[] {
  const lines: string[][] = [[]];
  let width = indent;
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? [];
    if (line.length > 0 && width + 1 + word.length > columns) {
      lines.push([word]);
      width = hanging + word.length;
    } else {
      width += word.length + (line.length > 0 ? 1 : 0);
      line.push(word);
    }
  }
  const [before = [], [last = "", ...others] = []] = lines.slice(-2);
  const isAlone = lines.length > 1 && others.length === 0 && last.length <= SHORT_WORD &&
    before.length > 2;
  const taken = before.at(-1) ?? "";
  if (isAlone && hanging + taken.length + 1 + last.length <= columns) {
    lines.splice(-2, 2, before.slice(0, -1), [taken, last]);
  }
  return lines.map((words, i) => " ".repeat(i === 0 ? indent : hanging) + words.join(" "));
}
