/** The pages of a comparison: one over seeds, or one for each pair of runs. */
import { comparePage } from "./compare_page.ts";
import { compareStepsPage } from "./compare_steps_page.ts";
import type { ComparisonData } from "./comparison_data.ts";
import type { Section } from "./document.ts";
import { idOf } from "./html.ts";

/**
 * The pages.
 *
 * @param data The comparison.
 * @param index Its number in the report.
 */
export function comparisonPages(
  { name, comparison, runs }: ComparisonData,
  index: number,
): Section[] {
  if (comparison.kind === "seeds") return [comparePage(comparison, { name, index })];
  return comparison.pairs.map((pair, i) =>
    compareStepsPage(pair, { runs: [runs[0], runs[i + 1]], id: idOf("compare", index, "pair", i) })
  );
}
