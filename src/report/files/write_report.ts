/** Writes a report: the pages with the scripts that run in them, as one file. */
import { dirname } from "node:path";
import { UserError } from "../../core/errors.ts";
import type { MentionWords } from "../../core/mention.ts";
import { writeFileAtomic } from "../../files/atomic_file.ts";
import { asUserError } from "../../files/file_error.ts";
import { exists, infoOf } from "../../files/paths.ts";
import { GENERATOR, LIVE_GENERATOR } from "../document.ts";
import type { ReportContent } from "../report_content.ts";
import { renderReport } from "../report.ts";
import { CHART_JS_VERSION, readChartJs } from "./chart_js.ts";
import { pageScript } from "./page_script.ts";

/** Bytes of a report's beginning in which its generator stands. */
const HEAD_BYTES = 4096;

/** What stands in the head of a page, and what sentences call such a page. */
export interface PageKind {
  readonly generator: string;
  readonly name: string;
}

const REPORT: PageKind = { generator: GENERATOR, name: "a report of agentrl" };

/** A page that trains. */
export const LIVE_PAGE: PageKind = { generator: LIVE_GENERATOR, name: "a live page of agentrl" };

/** How such a page is called beside a report. */
export const LIVE_NAME = "live.html";

/** Whether a file is a page of a kind. @throws {UserError} When it cannot be read. */
function isPage(path: string, { generator }: PageKind): boolean {
  const bytes = new Uint8Array(HEAD_BYTES);
  let read = 0;
  try {
    using file = Deno.openSync(path);
    read = file.readSync(bytes) ?? 0;
  } catch (error) {
    throw asUserError(error, `Cannot replace ${path}`);
  }
  const head = new TextDecoder().decode(bytes.subarray(0, read));
  return head.includes(`<meta name="generator" content="${generator}">`);
}

/** The page that trains beside a report, as a link; nothing where there is none. */
function besideReport(path: string): Pick<ReportContent, "live"> {
  const live = `${dirname(path)}/${LIVE_NAME}`;
  try {
    return infoOf(live)?.isFile && isPage(live, LIVE_PAGE) ? { live: LIVE_NAME } : {};
  } catch (error) {
    if (error instanceof UserError) return {}; // What cannot be read is nothing to link to.
    throw error;
  }
}

/**
 * Refuses to replace a file that is not a page of the kind that is to be written.
 *
 * @param path Where a page should go.
 * @param kind Default: a report.
 * @returns True where an earlier one stands there.
 * @throws {UserError} When another file stands there, or it cannot be read.
 */
export function requireReportPlace(path: string, kind: PageKind = REPORT): boolean {
  if (!exists(path)) return false;
  if (isPage(path, kind)) return true;
  throw new UserError(
    `Cannot write ${path}: a file is there that is not ${kind.name}; choose another name or move it`,
  );
}

/**
 * Renders a report and writes it, whole or not at all; an earlier report is replaced. A page that trains is linked where it lies beside it.
 *
 * @param path The file.
 * @param content What it shows.
 * @param options.words Says the commands with which things are made again (default: plainly).
 * @returns Its size in bytes.
 * @throws {UserError} When it does not fit into a report, another file stands there, or the file cannot be written.
 */
export async function writeReport(
  path: string,
  content: ReportContent,
  { words }: { readonly words?: MentionWords | undefined } = {},
): Promise<number> {
  requireReportPlace(path);
  const scripts = {
    chartJs: readChartJs(),
    chartJsVersion: CHART_JS_VERSION,
    page: pageScript(),
  };
  const bytes = new TextEncoder().encode(
    await renderReport({ ...content, ...besideReport(path) }, scripts, { words }),
  );
  writeFileAtomic(path, bytes);
  return bytes.length;
}
