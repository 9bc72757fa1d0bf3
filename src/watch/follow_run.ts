/** Follows one run, of ours or of anybody's: looks at its files, reads them again when they have changed, keeps what it was. */
import { UserError } from "../core/errors.ts";
import { inWords } from "../core/mention.ts";
import { type FindingWords, type SaidFinding, sayFinding } from "../diagnose/finding.ts";
import { isNews, newsKey } from "../diagnose/findings/news.ts";
import { readTail } from "../files/file_tail.ts";
import { findLog } from "../files/log_folder.ts";
import { isOwnRun } from "../files/own_run.ts";
import { infoOf, isFolder } from "../files/paths.ts";
import type { RunView } from "../producers/run_view.ts";
import { readRun } from "../report/files/run.ts";
import type { TextOf } from "../report/files/token_texts.ts";
import type { RunData } from "../report/run_data.ts";
import type { Notice, Pace, Sample, WatchedRun } from "../report/watch_data.ts";
import { runPaths } from "../run/run_directory.ts";
import { triageRun } from "../run/triage_run.ts";
import { areEqual, changesOf, type FileStates, lookAt } from "./file_states.ts";
import { latestEpisodes, latestSamples, newestDump } from "./latest.ts";
import { foreignPace, ownPace } from "./pace.ts";

/** How a run is read and judged. */
export interface RunReading {
  /** Reads a log and gives it its meaning. */
  readonly readView: (path: string) => Promise<RunView>;
  /** What is said about another trainer's log. */
  readonly judge: (view: RunView) => readonly SaidFinding[];
  readonly words: FindingWords;
  /** Texts of token ids of another trainer's dump. */
  readonly textOf: TextOf;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
}

/** Notices that are kept: a run that is set back every minute fills no memory. */
const NOTICES_KEPT = 40;

/** Steps whose moments are remembered, for the pace. */
const MOMENTS_KEPT = 32;

/** The end of a file in which a half-written last line is looked for. */
const LINE_BYTES = 2 ** 16;

/** What a reading of a run yields. */
interface Reading {
  readonly view: RunView;
  readonly own: RunData | undefined;
  readonly findings: readonly SaidFinding[];
}

/** The files that grow: those of the log, and those beside it that are shown. */
interface RunFiles {
  readonly log: readonly string[];
  readonly beside: readonly string[];
  readonly isOwn: boolean;
}

const lastOf = (steps: Float64Array) => steps[steps.length - 1];

/** A JSON object is whole where it can be parsed, also without its line feed. */
function isWhole(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** That the last line of a JSONL file is half-written; undefined: it is not, or the file is none. */
function pendingLine(path: string | undefined): string | undefined {
  if (path === undefined || !path.endsWith(".jsonl") || infoOf(path) === undefined) {
    return undefined;
  }
  const { rest } = readTail(path, { maxBytes: LINE_BYTES });
  if (rest === "" || isWhole(rest)) return undefined;
  return `the last line of ${path} is half-written (${rest.length} characters so far); it counts once it is whole`;
}

/** Where the log of a run goes back, in sentences. */
function setBacks(before: RunView, after: RunView): string[] {
  const known = before.log.seams.length;
  const seams = after.log.seams.slice(known).filter(({ axis }) => axis === 0);
  if (after.log.seams.length > known && seams.length > 0) {
    return seams.map(({ lastStep, nextStep }) =>
      `the run was set back from step ${lastStep} to step ${nextStep}: the newer values take the place of the earlier ones`
    );
  }
  const [was, is] = [lastOf(before.steps), lastOf(after.steps)];
  return is < was
    ? [
      `the log goes back from step ${was} to step ${is}: the curves are those of what it holds now`,
    ]
    : [];
}

/** One run that is followed. */
export class FollowedRun {
  readonly #path: string;
  readonly #name: string;
  readonly #reading: RunReading;
  #states: FileStates | undefined;
  #logStates: FileStates = new Map();
  #last: Reading | undefined;
  #problem: string | undefined;
  #pending: string | undefined;
  #wasThere = false;
  #said = new Map<string, SaidFinding>();
  #notices: readonly Notice[] = [];
  #seen: readonly { step: number; atMs: number }[] = [];
  #samples: readonly Sample[] = [];
  #pace: Pace = {};

  /** @param name What the run is called beside the others. */
  constructor(
    path: string,
    { name, ...reading }: RunReading & { readonly name: string },
  ) {
    this.#path = path;
    this.#name = name;
    this.#reading = reading;
  }

  /** The run as it was when it was last looked at. */
  get state(): WatchedRun {
    return {
      name: this.#name,
      path: this.#path,
      view: this.#last?.view,
      own: this.#last?.own,
      findings: this.#last?.findings ?? [],
      problem: this.#problem,
      pending: this.#pending,
      notices: this.#notices,
      pace: this.#pace,
      samples: this.#samples,
    };
  }

  /**
   * Looks at the files, and reads them again where they have changed.
   *
   * @returns True where the state is another than before.
   */
  async look(): Promise<boolean> {
    const problem = this.#problem;
    const noticeCount = this.#notices.at(-1);
    try {
      const isRead = await this.#readChanges();
      return isRead || problem !== this.#problem || noticeCount !== this.#notices.at(-1);
    } catch (error) {
      // A file that is being written, cut or replaced may not be readable just now; it is looked at again.
      if (!(error instanceof UserError)) throw error;
      this.#problem = inWords(error.sentence, this.#reading.words.mention);
      return problem !== this.#problem || noticeCount !== this.#notices.at(-1);
    }
  }

  async #readChanges(): Promise<boolean> {
    if (infoOf(this.#path) === undefined) {
      this.#miss();
      return false;
    }
    if (!this.#wasThere && this.#problem !== undefined) this.#note(`${this.#path} is there now`);
    this.#wasThere = true;
    const files = this.#files();
    const states = lookAt([...files.log, ...files.beside]);
    if (this.#states && areEqual(this.#states, states)) return false;
    // Before it is read: what is written meanwhile is read again.
    this.#states = states;
    for (const text of changesOf(this.#logStates, lookAt([...this.#logStates.keys()]))) {
      if (!this.#isReplacedWhole()) this.#note(text);
    }
    this.#logStates = lookAt(files.log);
    this.#pending = pendingLine(files.log.at(-1));
    await this.#read(files);
    return true;
  }

  /** Nothing is at the path: not yet, or no more. */
  #miss(): void {
    if (this.#wasThere) this.#note(`${this.#path} was deleted; what it held last is still shown`);
    this.#wasThere = false;
    this.#states = undefined;
    this.#logStates = new Map();
    this.#pending = undefined;
    this.#problem = this.#last
      ? `there is nothing at ${this.#path} any more; it is looked for again and again`
      : `there is nothing at ${this.#path} yet; it is looked for again and again`;
  }

  /** A document such as trainer_state.json is written afresh each time: nothing has happened to it. */
  #isReplacedWhole(): boolean {
    return this.#last?.view.log.source.form === "trainer_state";
  }

  #files(): RunFiles {
    if (isOwnRun(this.#path)) {
      if (!isFolder(this.#path)) return { log: [this.#path], beside: [], isOwn: true };
      const { metrics, config, checks, laterChecks, episodes, timing } = runPaths(this.#path);
      return {
        log: [metrics],
        beside: [config, checks, laterChecks, episodes, timing],
        isOwn: true,
      };
    }
    const dump = newestDump(this.#path);
    return {
      log: isFolder(this.#path) ? findLog(this.#path).files : [this.#path],
      beside: dump === undefined ? [] : [dump],
      isOwn: false,
    };
  }

  async #read({ log, beside, isOwn }: RunFiles): Promise<void> {
    const { readView, judge, textOf } = this.#reading;
    if (isOwn && infoOf(log[0]) === undefined) {
      throw new UserError(`the run has begun, and ${log[0]} holds no step yet`);
    }
    const view = await readView(isOwn ? log[0] : this.#path);
    if (isOwn) this.#take({ view, ...this.#readOwn() });
    else {
      this.#take({ view, own: undefined, findings: judge(view) });
      this.#pace = foreignPace(view, this.#seen);
      this.#samples = beside.length === 0 ? [] : await latestSamples(beside[0], textOf);
    }
    this.#problem = undefined;
  }

  #readOwn(): Omit<Reading, "view"> {
    const { words } = this.#reading;
    const path = this.#path;
    const paths = runPaths(path);
    const run = readRun(path, { episodeSteps: 0 });
    this.#pace = ownPace(paths.timing, {
      doneSteps: run.stepCount,
      plannedSteps: run.settings?.config.steps,
    });
    const own = { ...run, episodes: latestEpisodes(paths.episodes) };
    try {
      const { report, findings: found } = triageRun(path);
      const findings = found.map((finding) => sayFinding(finding, words));
      return { own: { ...own, triage: { report, findings } }, findings };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const problem = inWords(error.sentence, words.mention);
      return { own: { ...own, triage: { problem } }, findings: [] };
    }
  }

  /** Compares a reading with the one before, and keeps it. */
  #take(reading: Reading): void {
    const { view, findings } = reading;
    const backs = this.#last ? setBacks(this.#last.view, view) : [];
    backs.forEach((text) => this.#note(text));
    const step = lastOf(view.steps);
    const current = new Map(findings.filter(isNews).map((found) => [newsKey(found), found]));
    if (backs.length > 0) {
      this.#seen = [];
      // What the run did before it was set back is no news about what it does now.
      for (const key of this.#said.keys()) if (!current.has(key)) this.#said.delete(key);
    }
    for (const [key, finding] of current) {
      if (this.#said.has(key)) continue;
      this.#said.set(key, finding);
      const more = finding.sentence;
      this.#note(`step ${step}: ${finding.id} (${finding.class})`, { more });
    }
    if (this.#seen.at(-1)?.step !== step) {
      const moment = { step, atMs: this.#reading.nowMs() };
      this.#seen = [...this.#seen, moment].slice(-MOMENTS_KEPT);
    }
    this.#last = reading;
  }

  #note(text: string, more: Pick<Notice, "more"> = {}): void {
    const notice = { atMs: this.#reading.nowMs(), text, ...more };
    this.#notices = [...this.#notices, notice].slice(-NOTICES_KEPT);
  }
}
