/** The measured part of docs/fault_library.md, from observations. */
import type { CorrectRuns, FaultRuns } from "./observation.ts";
import {
  calibrationTable,
  correctSentence,
  correctTable,
  faultTable,
  summaryTable,
} from "./tables.ts";

/** What the page is made of. */
export interface LibraryResults {
  readonly faults: readonly FaultRuns[];
  readonly correct: readonly CorrectRuns[];
  /** The commit whose checks and triage answered. */
  readonly commit: string;
  /** Steps between two checks of a run; 0: none after the first. */
  readonly checkEvery: number;
}

/** The measured part of the page. */
export function resultLines(results: LibraryResults): string[] {
  const { faults, correct, commit, checkEvery } = results;
  const half = (name: "development" | "held-out") => faults.filter((fault) => fault.half === name);
  return [
    `Measured on ${commit}, ${
      checkEvery === 0 ? "without checks after the first step" : `with checkEvery=${checkEvery}`
    }: ${faults.length} faults, ${faults.reduce((sum, { runs }) => sum + runs.length, 0)} runs.`,
    "",
    ...summaryTable(faults),
    "",
    "### Belief and share of right answers, held-out half",
    "",
    ...calibrationTable(half("held-out")),
    "",
    "### Belief and share of right answers, development half",
    "",
    ...calibrationTable(half("development")),
    "",
    "### The right trainer",
    "",
    correctSentence(correct),
    "",
    ...correctTable(correct),
    "",
    "### Faults of the development half",
    "",
    ...faultTable(half("development")),
    "",
    "### Faults of the held-out half",
    "",
    ...faultTable(half("held-out")),
  ];
}

const BEGIN = "<!-- measured -->";
const END = "<!-- end of measured -->";

/**
 * A page with other results in place of those that it has.
 *
 * @throws {Error} When the page does not say where they stand.
 */
export function withResults(page: string, lines: readonly string[]): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`Cannot write results: no ${BEGIN} before ${END}`);
  return [page.slice(0, begin + BEGIN.length), "", ...lines, "", page.slice(end)].join("\n");
}
