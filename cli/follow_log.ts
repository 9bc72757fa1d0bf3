/** A watchdog over a growing log: reads it again when it has grown, and says each finding once, when it first holds. */
import { UserError } from "../src/core/errors.ts";
import { oneSentence } from "../src/core/sentence.ts";
import { wait } from "../src/core/wait.ts";
import { wrapText } from "../src/core/wrap_text.ts";
import type { SaidFinding } from "../src/diagnose/finding.ts";
import { isNews, newsKey } from "../src/diagnose/findings/news.ts";
import { infoOf } from "../src/files/paths.ts";
import { remark, terminalColumns, writeText } from "../src/files/terminal.ts";
import type { Outcome } from "./command.ts";
import { findingLine } from "./findings_text.ts";
import { say } from "./words.ts";

/** A log as it was judged at one moment. */
export interface JudgedLog {
  readonly document: unknown;
  readonly findings: readonly SaidFinding[];
  /** The files that were read. */
  readonly files: readonly string[];
}

/** What is watched, and until when. */
export interface FollowOptions {
  readonly path: string;
  /** The class that ends the watch; undefined: only Ctrl-C does. */
  readonly until: "violated" | "suspect" | undefined;
  readonly json: boolean;
  /** Reads and judges the log as it is now. */
  readonly judge: () => Promise<JudgedLog>;
}

/** How often the file is looked at, and the least rest between two readings as a multiple of the time that one takes. */
const POLL_MS = 1000, REST_PER_READING = 5;

/** What tells that a file is another than before: it grew, was cut, or was replaced by a rotation. */
function stateOf(paths: readonly string[]): string {
  return paths.map((path) => {
    const { size, mtime, ino } = infoOf(path) ?? {};
    return `${size} ${mtime?.getTime()} ${ino}`;
  }).join();
}

const isEnd = (finding: SaidFinding, until: FollowOptions["until"]) =>
  until !== undefined && (finding.class === "violated" || finding.class === until);

/** A line as it is for programs, and wrapped on a terminal. */
function shownLine(line: string): string {
  if (!Deno.stdout.isTerminal()) return line;
  return wrapText(line, { columns: terminalColumns(), hanging: 4 }).join("\n");
}

/**
 * Watches a log.
 *
 * @returns Exit code 3 where `until` was met, 130 after Ctrl-C.
 */
export async function followLog({ path, until, json, judge }: FollowOptions): Promise<Outcome> {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  Deno.addSignalListener("SIGINT", onSignal);
  const said = new Set<string>();
  let seen = "", failure = "", document: unknown = null;
  let restMs = POLL_MS;
  let watched: readonly string[] = [path];
  try {
    while (!stop.signal.aborted) {
      const state = stateOf(watched);
      if (state !== seen) {
        seen = state;
        const startMs = performance.now();
        try {
          const judged = await judge();
          document = judged.document;
          watched = [path, ...judged.files];
          seen = stateOf(watched);
          failure = "";
          const fresh = judged.findings.filter((finding) =>
            isNews(finding) && !said.has(newsKey(finding))
          );
          for (const finding of fresh) {
            said.add(newsKey(finding));
            if (!json) writeText(Deno.stdout, `${shownLine(findingLine(finding))}\n`);
          }
          const end = judged.findings.find((finding) => isEnd(finding, until));
          if (end) return { document, text: `Ended: ${end.id} is ${end.class}.`, exitCode: 3 };
        } catch (error) {
          // A file that is being written, cut or replaced may not be readable just now; it is looked at again.
          if (!(error instanceof UserError)) throw error;
          const message = say(error.sentence);
          if (message !== failure) {
            remark(`agentrl triage: ${oneSentence(message)} (looking again)\n`);
          }
          failure = message;
        }
        restMs = Math.max(POLL_MS, REST_PER_READING * (performance.now() - startMs));
      }
      await wait(restMs, stop.signal);
    }
    return { document, text: `Stopped after ${said.size} findings.`, exitCode: 130 };
  } finally {
    Deno.removeSignalListener("SIGINT", onSignal);
  }
}
