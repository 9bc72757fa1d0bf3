/** What a report is made of. */
import type { LabRecord } from "../lab/lab.ts";
import type { ComparisonData } from "./comparison_data.ts";
import type { FaultsData } from "./faults_data.ts";
import type { LogData } from "./log_data.ts";
import type { MatrixData } from "../diagnose/check_schema.ts";
import type { RefereeData } from "./referee_page.ts";
import type { RunData } from "./run_data.ts";
import type { BenchData } from "./speed_page.ts";
import type { TokenData } from "./token_data.ts";

/** What a report shows. Whatever is missing has no page. */
export interface ReportContent {
  /** Our own runs. */
  readonly runs: readonly RunData[];
  /** Runs of other trainers. */
  readonly logs: readonly LogData[];
  /** Token dumps of any trainer. */
  readonly tokens: readonly TokenData[];
  /** What referees found. */
  readonly referees: readonly RefereeData[];
  /** Runs compared with each other, for example those of a sweep. */
  readonly comparisons: readonly ComparisonData[];
  readonly faults: FaultsData | undefined;
  readonly matrix: MatrixData | undefined;
  readonly lab: readonly LabRecord[];
  readonly bench: readonly BenchData[];
  /** Where a page that trains lies beside the report; left out where there is none. */
  readonly live?: string;
}

/** A report of nothing. */
export const EMPTY_CONTENT: ReportContent = {
  runs: [],
  logs: [],
  tokens: [],
  referees: [],
  comparisons: [],
  faults: undefined,
  matrix: undefined,
  lab: [],
  bench: [],
};
