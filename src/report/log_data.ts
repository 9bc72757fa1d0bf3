/** Another trainer's run as the report shows it: its log with its meaning, and what is said about it. */
import type { SaidFinding } from "../diagnose/finding.ts";
import type { MeasuredSeries, RunView } from "../producers/run_view.ts";
import type { LogSeries } from "../logs/run_log.ts";

/** A log, judged. */
export interface LogData {
  /** For headings: the end of its path. */
  readonly name: string;
  readonly view: RunView;
  /** In the order in which they are to be read: causes before consequences. */
  readonly findings: readonly SaidFinding[];
  /** A healthy run of the user's to compare with. */
  readonly against?: RunView | undefined;
}

/** A column that has a meaning, or one that is nobody's. */
export type ShownSeries = MeasuredSeries | (LogSeries & { readonly definition?: undefined });
