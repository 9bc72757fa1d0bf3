/** Tables of measurements: texts to the left, numbers to the right, under a header. */
import { escapeControls } from "../src/core/sentence.ts";
import { largest } from "../src/core/statistics.ts";

/**
 * Lays out columns.
 *
 * @param header One name a column. A column whose name begins with a space holds numbers, which end at its right edge.
 * @param rows One text a column.
 * @returns Lines, the header first; none ends in spaces.
 */
export function formatColumns(
  header: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  const lines = [header.map((name) => name.trim()), ...rows].map((line) =>
    line.map(escapeControls)
  );
  const widths = header.map((_, column) => largest(lines.map((line) => line[column].length)));
  return lines.map((line) =>
    line.map((text, column) =>
      header[column].startsWith(" ") ? text.padStart(widths[column]) : text.padEnd(widths[column])
    ).join("  ").trimEnd()
  );
}
