/** One HTML file about what lies at some paths: reads, judges, renders and writes. */
import { judgeLog } from "../../diagnose/findings/judge_log.ts";
import { type FindingWords, sayFinding } from "../../diagnose/finding.ts";
import type { TokenSettings } from "../../diagnose/tokens/judge_tokens.ts";
import { type ReadLogOptions, readRunLog } from "../../files/log_source.ts";
import { interpret } from "../../producers/interpret.ts";
import type { RunView } from "../../producers/run_view.ts";
import { type ContentReading, readContent } from "./content.ts";
import { type TextOf, textsOf } from "./token_texts.ts";
import { readTokenData } from "./tokens.ts";
import { writeReport } from "./write_report.ts";

/** How logs are read and judged, and what is said about them. */
export interface LogReading {
  /** Reads a log and gives it its meaning (default: by what it tells of itself). */
  readonly readView?: (
    path: string,
    options: Pick<ReadLogOptions, "opened">,
  ) => Promise<RunView>;
  /** What token dumps do not tell. */
  readonly tokens?: TokenSettings;
  /** Texts of token ids (default: those of our own vocabulary in our own runs). */
  readonly textOf?: TextOf | undefined;
  /** A healthy run of the same user's. */
  readonly against?: RunView | undefined;
  /** How next steps and settings are said, for example as commands (default: plainly). */
  readonly words?: FindingWords;
}

/** The end of a path, for headings. */
function nameOf(path: string): string {
  if (path === "-") return "standard input";
  return path.replace(/\/+$/, "").split("/").at(-1) || path;
}

/** Bytes of a report that tokens may fill: episodes and charts want as much. */
const TOKEN_BYTES = 600_000;

async function readByItself(
  path: string,
  options: Pick<ReadLogOptions, "opened">,
): Promise<RunView> {
  return interpret(await readRunLog(path, options), { settings: {} });
}

/**
 * Writes a report in which logs of other trainers are read and judged as the caller says.
 *
 * @param reading How logs are read; see `reportOn` for the rest.
 */
export async function reportLogs(
  paths: readonly string[],
  out: string,
  reading: LogReading,
): Promise<number> {
  const { readView = readByItself, against, words, textOf, tokens: settings = {} } = reading;
  const readLog: ContentReading["readLog"] = async (path, { opened }) => {
    const view = await readView(path, { opened });
    const findings = judgeLog(view, { against }).map((found) => sayFinding(found, words));
    return { name: nameOf(path), view, findings, against };
  };
  const maxBytes = Math.floor(TOKEN_BYTES / paths.length);
  const readDump = (path: string, vocabulary?: readonly string[]) =>
    readTokenData(path, {
      name: nameOf(path),
      settings,
      textOf: textOf ?? (vocabulary && textsOf(vocabulary)),
      words,
      maxBytes,
    });
  const content = await readContent(paths, { readLog, readDump, ...(words && { words }) });
  return await writeReport(out, content, { words: words?.mention });
}

/**
 * Writes a report, whole or not at all.
 *
 * @param paths Folders of runs, of sweeps, of `faults` and of `lab`; JSON of `check --matrix` and `bench`; logs of any trainer.
 * @param out The file.
 * @returns Its size in bytes.
 * @throws {UserError} When a path cannot be read or is none of these, or the file cannot be written.
 * @example
 * ```ts ignore
 * import { reportOn } from "agentrl/report";
 * await reportOn(["runs/first", "checkpoint-120/trainer_state.json"], "first.html");
 * ```
 */
export function reportOn(paths: readonly string[], out: string): Promise<number> {
  return reportLogs(paths, out, {});
}
