/** A report: from what was read to one HTML file. */
import { UserError } from "../core/errors.ts";
import { type MentionWords, plainMention } from "../core/mention.ts";
import { comparisonPages } from "./comparison_pages.ts";
import { dashboardPage } from "./dashboard_page.ts";
import { buildDocument, type Section } from "./document.ts";
import type { PageScripts } from "./page_data.ts";
import { labPage } from "./lab_page.ts";
import { logPage } from "./log_page.ts";
import { matrixPage } from "./matrix_page.ts";
import { refereePage } from "./referee_page.ts";
import { reproducePage } from "./reproduce_page.ts";
import type { ReportContent } from "./report_content.ts";
import { runPage, runSummary } from "./run_page.ts";
import { speedPage } from "./speed_page.ts";
import { summaryPage } from "./summary_page.ts";
import { tokenPage } from "./token_page.ts";
import { triageData, triagePage } from "./triage_page.ts";

/** True where a report shows runs and nothing of ours around them: then they come first, without an introduction. */
function isAboutRuns({ faults, matrix, lab, bench }: ReportContent): boolean {
  return !faults && !matrix && lab.length === 0 && bench.length === 0;
}

/** True where nothing but timings is shown. */
function isAboutSpeed(
  { runs, logs, tokens, referees, comparisons, faults, matrix, lab, bench }: ReportContent,
): boolean {
  return bench.length > 0 && !faults && !matrix && lab.length === 0 &&
    runs.length + logs.length + tokens.length + referees.length + comparisons.length === 0;
}

function pages(
  content: ReportContent,
  { chartJsVersion, words }: { readonly chartJsVersion: string; readonly words: MentionWords },
): Section[] {
  const { runs, logs, tokens, referees, comparisons, faults, matrix, lab, bench } = content;
  const shown = [
    ...comparisons.flatMap(comparisonPages),
    ...referees.map(refereePage),
    ...logs.map(logPage),
    ...tokens.map(tokenPage),
    ...runs.map(runPage),
  ];
  const reproduce = reproducePage(content, { chartJsVersion, words });
  if (isAboutSpeed(content)) return [speedPage(bench)];
  if (isAboutRuns(content)) {
    const summary = logs.length + runs.length > 1 ? [summaryPage(content)] : [];
    // The map is about our own metrics and invariants.
    const ours = runs.length > 0 ? [triagePage(words), reproduce] : [];
    return [...summary, ...shown, ...ours];
  }
  return [
    summaryPage(content),
    ...(faults ? [dashboardPage(faults)] : []),
    ...(matrix ? [matrixPage(matrix)] : []),
    ...(lab.length > 0 ? [labPage(lab)] : []),
    ...shown,
    ...(bench.length > 0 ? [speedPage(bench)] : []),
    triagePage(words),
    reproduce,
  ];
}

/** What stands above the pages; `tab` is what the window's tab says where it is more than the title. */
interface Heading {
  readonly title: string;
  readonly subtitle: string;
  readonly tab?: string;
}

function headingOf(content: ReportContent): Heading {
  const { logs, runs, tokens, referees, comparisons } = content;
  const [comparison] = comparisons;
  const [judged] = referees;
  const others = logs.length + runs.length + tokens.length;
  if (isAboutRuns(content) && judged && others + comparisons.length === 0) {
    return {
      title: judged.name,
      subtitle:
        "Whose log-probs left the model: each side of a dump beside a third implementation.",
      tab: `Referee: ${judged.name}`,
    };
  }
  if (isAboutRuns(content) && comparison && others + referees.length === 0) {
    return {
      title: comparison.name,
      subtitle: comparison.comparison.kind === "seeds"
        ? "Methods compared over their seeds: which differ, and what cannot be claimed."
        : "Runs compared step by step: which metric parts first, and what cannot be compared.",
      tab: `Compared: ${comparison.name}`,
    };
  }
  const names = new Set([...logs, ...runs, ...tokens].map(({ name }) => name));
  if (isAboutRuns(content) && names.size === 1) {
    const parts = [
      ...(logs.length + runs.length > 0 ? ["its metrics"] : []),
      ...(tokens.length > 0 ? ["its tokens"] : []),
    ];
    const title = [...names].join();
    const [run] = runs;
    // Ours tell what they are and what they reached, also in the window's tab.
    if (run) return { title, subtitle: `${runSummary(run)}.`, tab: `${title}: ${runSummary(run)}` };
    return {
      title,
      subtitle: `A training run: what is said about it, and ${parts.join(" and ")}.`,
    };
  }
  if (isAboutSpeed(content)) {
    return { title: "agentrl bench", subtitle: "How fast kernels, rollouts and training run." };
  }
  return {
    title: "agentrl report",
    subtitle:
      "Reinforcement learning for a tool-using agent: what ran, what it shows, and how it can go wrong.",
  };
}

/**
 * Renders a report.
 *
 * @param content What it shows.
 * @param scripts What runs in it.
 * @param options.words Says the commands with which things are made again.
 * @returns The HTML.
 * @throws {UserError} When it does not fit into a report.
 */
export async function renderReport(
  content: ReportContent,
  scripts: PageScripts,
  { words = plainMention }: { readonly words?: MentionWords | undefined } = {},
): Promise<string> {
  try {
    return await buildDocument({
      ...headingOf(content),
      sections: pages(content, { chartJsVersion: scripts.chartJsVersion, words }),
      data: { triage: triageData() },
      scripts,
    });
  } catch (error) {
    if (error instanceof RangeError) throw new UserError(error.message);
    throw error;
  }
}
