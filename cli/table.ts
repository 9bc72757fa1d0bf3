/** Tables of measurements: texts to the left, numbers to the right, under a header, in the columns that there are. */
import { escapeControls } from "../src/core/sentence.ts";
import { largest } from "../src/core/statistics.ts";
import { wrapText } from "../src/core/wrap_text.ts";
import { terminalColumns } from "../src/files/terminal.ts";

/** Blanks between two columns. */
const GAP = 2;

interface ColumnOptions {
  /** Columns to write for (default: those of the terminal, 80 elsewhere). */
  readonly columns?: number;
  /** Blanks before each line (default 0); fewer where the table needs the whole line. */
  readonly indent?: number;
}

/** Columns of the table as wide as they fit: texts give way, the widest first, down to their longest word. */
function fittingWidths(
  lines: readonly (readonly string[])[],
  { isText, room }: { readonly isText: readonly boolean[]; readonly room: number },
): number[] | undefined {
  const of = (column: number, widthOf: (cell: string) => number) =>
    largest(lines.map((line) => widthOf(line[column] ?? "")));
  const widths = isText.map((_, column) => of(column, ({ length }) => length));
  const least = isText.map((wraps, column) =>
    wraps ? of(column, (cell) => largest(cell.split(" ").map(({ length }) => length))) : Infinity
  );
  let excess = widths.reduce((sum, width) => sum + width + GAP, -GAP) - room;
  for (; excess > 0; excess--) {
    const open = widths.map((width, column) => width > (least[column] ?? 0) ? width : 0);
    const widest = open.indexOf(largest(open));
    if ((open[widest] ?? 0) === 0) return undefined;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  return widths;
}

/** A row under its first cell, each other cell after the name of its column: for terminals that the table does not fit. */
function stackedRow(
  names: readonly string[],
  [first = "", ...rest]: readonly string[],
  columns: number,
): string[] {
  const join = (pairs: readonly string[]) => `  ${pairs.join(" ".repeat(GAP))}`;
  const lines: string[][] = [];
  for (const [i, cell] of rest.entries()) {
    if (cell === "") continue;
    const pair = `${names[i + 1]} ${cell}`;
    const last = lines.at(-1);
    if (last !== undefined && join([...last, pair]).length <= columns) last.push(pair);
    else lines.push([pair]);
  }
  const [before, last] = lines.slice(-2);
  // No cell is left alone on the last line.
  if (before && last?.length === 1 && before.length > 2) last.unshift(...before.splice(-1));
  return [
    ...(first === "" ? [] : [first]),
    ...lines.flatMap((pairs) => wrapText(join(pairs), { columns, hanging: 4 })),
  ];
}

/**
 * Lays out columns. Where they do not fit, texts wrap within theirs; where that is not enough, each row becomes a block of lines.
 *
 * @param header One name a column. A column whose name begins with a space holds numbers, which end at its right edge.
 * @param rows One text a column.
 * @returns Lines, the header first; none ends in spaces.
 */
export function formatColumns(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  { columns = terminalColumns(), indent = 0 }: ColumnOptions = {},
): string[] {
  const names = header.map((name) => name.trim());
  const lines = [names, ...rows].map((line) => line.map(escapeControls));
  const isText = header.map((name) => !name.startsWith(" "));
  const natural = isText.reduce(
    (sum, _, column) => sum + GAP + largest(lines.map((line) => line[column]?.length ?? 0)),
    -GAP,
  );
  // A table that is as wide as the line stands at its beginning.
  const blanks = natural <= columns ? Math.min(indent, columns - natural) : indent;
  const room = columns - blanks;
  const widths = fittingWidths(lines, { isText, room });
  const shown = widths === undefined
    ? lines.slice(1).flatMap((row) => stackedRow(names, row, room))
    : lines.flatMap((line) => {
      const cells = line.map((text, column) => wrapText(text, { columns: widths[column] ?? 0 }));
      return Array.from(
        { length: largest(cells.map(({ length }) => length)) },
        (_, i) =>
          cells.map((parts, column) => {
            const [text, width] = [parts[i] ?? "", widths[column] ?? 0];
            return isText[column] ? text.padEnd(width) : text.padStart(width);
          }).join(" ".repeat(GAP)).trimEnd(),
      );
    });
  return shown.map((line) => " ".repeat(blanks) + line);
}
