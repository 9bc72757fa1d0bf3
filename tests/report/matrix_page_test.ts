/** Tests of the matrix: where it is read from, and what its cells say. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { matrixOfLab, matrixPage } from "../../src/report/matrix_page.ts";

const check = (id: number, verdict: string, value: number | null) => ({
  id,
  name: `check number ${id}`,
  value,
  relation: "<=",
  bound: 1e-6,
  boundReason: "rounding",
  verdict,
  reason: "difference",
});

const DATA = {
  rows: [
    { fault: "none", checks: [check(6, "holds", 0)], caughtBy: [] },
    { fault: "accum_local", checks: [check(6, "violated", 0.5432109)], caughtBy: [6] },
    { fault: "lr_high", checks: [check(6, "not-applicable", null)], caughtBy: [] },
  ],
};

Deno.test("matrixOfLab() takes the tutorial's faults apart from the others", () => {
  const matrix = matrixOfLab(DATA);
  assertEquals(matrix?.rows.map(({ bug }) => bug), ["none", "accum_local"]);
  assertEquals(matrix?.further.map(({ bug }) => bug), ["lr_high"]);
  assertEquals(matrixOfLab({ rows: [] }), undefined);
  assertEquals(matrixOfLab({ other: 1 }), undefined);
});

Deno.test("matrixPage() shows sign and value, and has bound and reason at hand", () => {
  const matrix = matrixOfLab(DATA);
  assert(matrix);
  const { markup } = matrixPage(matrix).body;
  for (
    const part of [
      "✓<",
      "check number 6: 0, difference",
      "✗ 0.543<",
      "–<",
      "bound ≤ 10⁻⁶ (rounding)",
      ">no check<",
    ]
  ) {
    assertStringIncludes(markup, part);
  }
});
