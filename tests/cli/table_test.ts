/** Tests of cli/table.ts. */
import { assertEquals } from "@std/assert";
import { formatColumns } from "../../cli/table.ts";

Deno.test("formatColumns() aligns texts to the left and numbers to the right", () => {
  assertEquals(
    formatColumns(["name", " time", "unit"], [["a", "10.5", "s"], ["longer", "2.0", ""]]),
    ["name    time  unit", "a       10.5  s", "longer   2.0"],
  );
});
