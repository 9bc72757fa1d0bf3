/** Tests of cli/table.ts. */
import { assert, assertEquals } from "@std/assert";
import { formatColumns } from "../../cli/table.ts";

Deno.test("formatColumns() aligns texts to the left and numbers to the right", () => {
  assertEquals(
    formatColumns(["name", " time", "unit"], [["a", "10.5", "s"], ["longer", "2.0", ""]]),
    ["name    time  unit", "a       10.5  s", "longer   2.0"],
  );
});

const WIDE = [
  ["a run that is named at length", "0.25", "mean of the first steps and the last"],
  ["b", "12.5", "once"],
] as const;

Deno.test("formatColumns() wraps texts within their columns where the line is full", () => {
  assertEquals(formatColumns(["run", " value", "what"], WIDE, { columns: 40, indent: 2 }), [
    "  run             value  what",
    "  a run that is    0.25  mean of the",
    "  named at               first steps and",
    "  length                 the last",
    "  b                12.5  once",
  ]);
});

Deno.test("formatColumns() makes a block of each row where the columns do not fit", () => {
  const header = ["run", " first", " second", " third"];
  const rows = [["a", "1.0000", "2.0000", "3.0000"], ["b", "4.0000", "", "6.0000"]];
  assertEquals(formatColumns(header, rows, { columns: 29 }), [
    "run   first  second   third",
    "a    1.0000  2.0000  3.0000",
    "b    4.0000          6.0000",
  ]);
  assertEquals(formatColumns(header, rows, { columns: 28, indent: 4 }), [
    " run   first  second   third",
    " a    1.0000  2.0000  3.0000",
    " b    4.0000          6.0000",
  ]);
  assertEquals(formatColumns(header, [...rows, ["", "7.0000", "8.0000", ""]], { columns: 26 }), [
    "a",
    "  first 1.0000",
    "  second 2.0000",
    "  third 3.0000",
    "b",
    "  first 4.0000",
    "  third 6.0000",
    "  first 7.0000",
    "  second 8.0000",
  ]);
  // The last cell takes one with it to its line.
  const more = ["run", " a", " b", " c", " d"];
  const numbers = ["x", "1.000000", "2.000000", "3.000000", "4.000000"];
  assertEquals(formatColumns(more, [numbers], { columns: 40 }), [
    "x",
    "  a 1.000000  b 2.000000",
    "  c 3.000000  d 4.000000",
  ]);
});

Deno.test("formatColumns() is never wider than it may be while words fit", () => {
  for (let columns = 20; columns <= 120; columns++) {
    const lines = formatColumns(["run", " value", "what"], WIDE, { columns });
    assert(lines.every((line) => line.length <= columns), lines.join("\n"));
    assert(lines.join(" ").includes("12.5"));
  }
});
