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

/**
 * Breaks a text at its spaces; a word that is wider than a line stands on one of its own.
 *
 * @param text One paragraph.
 * @returns Lines without line breaks, at least one.
 */
export function wrapText(
  text: string,
  { columns, indent = 0, hanging = indent }: WrapOptions,
): string[] {
  const lines: string[] = [];
  let line = " ".repeat(indent);
  let isEmpty = true;
  for (const word of text.split(" ")) {
    if (!isEmpty && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = " ".repeat(hanging);
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}
