/** A comparison as a page shows it. */
import type { GroupComparison } from "../compare/compare_groups.ts";
import type { ComparedRun, RunComparison } from "../compare/compare_runs.ts";

/** A comparison over seeds, or of runs step by step: the first with each of the others. */
export type Comparison =
  | GroupComparison & { readonly kind: "seeds" }
  | { readonly kind: "steps"; readonly pairs: readonly RunComparison[] };

/** A comparison with what its charts are drawn from. */
export interface ComparisonData {
  /** For headings. */
  readonly name: string;
  readonly comparison: Comparison;
  /** The runs of a comparison step by step, in its order; empty of one over seeds. */
  readonly runs: readonly ComparedRun[];
}
