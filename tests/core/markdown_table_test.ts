/** Tests of src/core/markdown_table.ts. */
import { assertEquals } from "@std/assert";
import { markdownTable } from "../../src/core/markdown_table.ts";

Deno.test("markdownTable() keeps columns even, and ends those of numbers at their right edge", () => {
  const rows = [["mask_shift", "3"], ["x", "12"]];
  assertEquals(markdownTable(["fault", "runs"], rows, { numbers: ["runs"] }), [
    "| fault      | runs |",
    "| ---------- | ---: |",
    "| mask_shift |    3 |",
    "| x          |   12 |",
  ]);
  assertEquals(markdownTable(["fault"], []), ["| fault |", "| ----- |"]);
});
