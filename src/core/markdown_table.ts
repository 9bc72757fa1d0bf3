/** Tables in Markdown, with columns that are even in the source as well. */
import { largest } from "./statistics.ts";

/**
 * Lays out a table.
 *
 * @param header The names of the columns.
 * @param rows As many cells each; a cell with a bar or a line break would be two, so it must have none.
 * @param options.numbers Columns of numbers, by name: these end at their right edge.
 * @returns Lines, each ending without a line break.
 */
export function markdownTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  { numbers = [] }: { readonly numbers?: readonly string[] } = {},
): string[] {
  const isNumber = header.map((name) => numbers.includes(name));
  const widths = header.map((_, column) =>
    largest([header, ...rows].map((row) => row[column].length))
  );
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const [first = "", ...body] = [header, ...rows].map((row) =>
    line(
      row.map((text, column) =>
        isNumber[column] ? text.padStart(widths[column]) : text.padEnd(widths[column])
      ),
    )
  );
  const rule = widths.map((width, column) =>
    isNumber[column] ? `${"-".repeat(width - 1)}:` : "-".repeat(width)
  );
  return [first, line(rule), ...body];
}
