/** What is in a document beside its markup: the data that the page's script reads, and the scripts. */
import type { ChartData } from "./chart.ts";
import type { TokenPayload } from "./token_payload.ts";

/** A rule as the page's script needs it. */
export interface TriageMapRule {
  readonly tests: readonly string[];
  readonly causes: readonly string[];
  readonly answer: string;
}

/** What the page's script reads. */
export interface PageData {
  readonly charts: readonly ChartData[];
  readonly tokens: readonly TokenPayload[];
  readonly triage: readonly TriageMapRule[];
}

/** The scripts of a document. Nothing but them runs in it. */
export interface PageScripts {
  /** The published build of Chart.js. */
  readonly chartJs: string;
  readonly chartJsVersion: string;
  /** The page's own. */
  readonly page: string;
}
