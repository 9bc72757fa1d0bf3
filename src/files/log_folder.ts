/** Finds the log in a run's folder by the names that trainers give; what was chosen and what lay beside it is told. */
import { basename, dirname } from "node:path";
import { UserError } from "../core/errors.ts";
import { command, sentence } from "../core/mention.ts";
import { filesBelow } from "./folder_walk.ts";
import { infoOf } from "./paths.ts";

/** The files of one log, in the order of the run, and the other logs that lie in the folder. */
export interface FoundLog {
  readonly files: readonly string[];
  readonly others: readonly string[];
}

/** Deeper than any trainer writes: OUTPUT/VERSION/runs/NAME/events…. */
const MAX_DEPTH = 5;

/** Holds no log of this run, and a lot else. */
const SKIPPED_FOLDERS = /^(?:\..*|node_modules|__pycache__|site-packages|rollouts|token_exports)$/;
/** JSONL beside the metrics: one row per episode or token sequence, or the times of our own steps. */
const DUMPS =
  /^(?:completions|episodes|timing|tokens(?:[-_.]?(?:step|rank)?[-_]?\d+)*|traces|rank_\d+|checkpoints|train_data_step\d+|val_data_step\d+|.*rollout_summaries|\d+)\.jsonl(?:\.gz)?$/;

/** Texts that lie in the folders of runs and models and are not logs. */
const OTHER_TEXTS =
  /^(?:requirements|merges|vocab|debug|readme|licen[cs]e|changelog)[\w.-]*\.(?:txt|md|log)$/i;

/** What trainers call their logs; earlier kinds hold more and are read more exactly than later ones. */
const KINDS = [
  { tier: 0, pattern: /trainer_state.*\.json(?:\.gz)?$/ },
  { tier: 0, pattern: /^logging\.jsonl$/ },
  { tier: 0, pattern: /^metrics\.jsonl(?:\.gz)?$/ },
  { tier: 1, pattern: /^run-.*\.wandb$/ },
  { tier: 1, pattern: /^events\.out\.tfevents\./ },
  { tier: 1, pattern: /\.jsonl(?:\.gz)?$/ },
  { tier: 1, pattern: /\.csv(?:\.gz)?$/ },
  { tier: 2, pattern: /\.(?:log|out|err)(?:\.gz)?$/ },
  { tier: 2, pattern: /\.(?:txt|md|ipynb)(?:\.gz)?$/ },
] as const;
const TRAINER_STATE = 0;
const WANDB = 3;
const EVENTS = 4;

/** The header of a W&B file; one without more was left by a crashed start. */
const WANDB_HEADER_BYTES = 7;

interface Candidate {
  /** Index into KINDS. */
  readonly kind: number;
  readonly files: readonly string[];
  /** Folders below the named one; a checkpoint counts as the folder that it lies in. */
  readonly depth: number;
  /** What makes one of two equal ones the newer: steps, or seconds. */
  readonly age: number;
}

interface FoundFile {
  readonly path: string;
  readonly depth: number;
  readonly kind: number;
}

const CHECKPOINT = /^checkpoint-(\d+)$/;

function kindOf(name: string): number {
  if (DUMPS.test(name) || OTHER_TEXTS.test(name)) return -1;
  return KINDS.findIndex(({ pattern }) => pattern.test(name));
}

function logFilesIn(root: string): FoundFile[] {
  const found: FoundFile[] = [];
  const options = { what: "a log", maxDepth: MAX_DEPTH, skipped: SKIPPED_FOLDERS };
  for (const { path, depth } of filesBelow(root, options)) {
    const kind = kindOf(basename(path));
    if (kind >= 0 && hasContent(path, kind)) {
      const isOfCheckpoint = CHECKPOINT.test(basename(dirname(path)));
      found.push({ path, kind, depth: isOfCheckpoint ? depth - 1 : depth });
    }
  }
  return found;
}

/** True of a regular file with something in it; a link that leads nowhere is none. */
function hasContent(path: string, kind: number): boolean {
  const info = infoOf(path);
  return info?.isFile === true && info.size > (kind === WANDB ? WANDB_HEADER_BYTES : 0);
}

const secondsOf = (path: string) => (Deno.statSync(path).mtime?.getTime() ?? 0) / 1000;

/** Bytes of a trainer_state.json in which its own `global_step` stands: its keys are sorted. */
const STATE_HEAD_BYTES = 4096;

/** The step of a state: of its checkpoint's name, else as the file says. */
function stepOfState(path: string): number {
  const [, named] = CHECKPOINT.exec(basename(dirname(path))) ?? [];
  if (named !== undefined) return Number(named);
  using file = Deno.openSync(path);
  const head = new Uint8Array(STATE_HEAD_BYTES);
  const count = file.readSync(head) ?? 0;
  const text = new TextDecoder().decode(head.subarray(0, count));
  const [, step] = /"global_step"\s*:\s*(\d+)/.exec(text) ?? [];
  // At the end of the training it is written beside the checkpoints.
  return step === undefined ? Infinity : Number(step);
}

/** Seconds and number in the name of an event file. */
function orderOfEvents(path: string): readonly [number, string] {
  const [, seconds = "0", rest = ""] = /tfevents\.(\d+)(.*)$/.exec(basename(path)) ?? [];
  return [Number(seconds), rest];
}

function sortEvents(paths: readonly string[]): string[] {
  return paths.toSorted((a, b) => {
    const [aSeconds, aRest] = orderOfEvents(a);
    const [bSeconds, bRest] = orderOfEvents(b);
    return aSeconds - bSeconds || aRest.localeCompare(bRest, "en", { numeric: true });
  });
}

/** Files that are one log together: event files of one folder, W&B's files of one run that was resumed. */
function groupKey({ kind, path }: FoundFile): string {
  if (kind === EVENTS) return dirname(path);
  if (kind === WANDB) return `${dirname(dirname(path))}/*/${basename(path)}`;
  return path;
}

function candidatesOf(found: readonly FoundFile[]): Candidate[] {
  const groups = Map.groupBy(found, (file) => `${file.kind} ${groupKey(file)}`);
  return Array.from(groups.values(), (files) => {
    const [{ kind, depth }] = files;
    const paths = files.map(({ path }) => path);
    // The folders of W&B's runs carry date and time.
    const sorted = kind === EVENTS ? sortEvents(paths) : paths.toSorted();
    const last = sorted[sorted.length - 1];
    const age = kind === TRAINER_STATE
      ? stepOfState(last)
      : kind === EVENTS
      ? orderOfEvents(last)[0]
      : secondsOf(last);
    return { kind, files: sorted, depth, age };
  });
}

/** Best first: exact forms before prose, then the nearest, then by kind, then the newest. */
function compare(a: Candidate, b: Candidate): number {
  return KINDS[a.kind].tier - KINDS[b.kind].tier || a.depth - b.depth || a.kind - b.kind ||
    // Not by subtraction: two states at the end are both at infinity.
    Number(b.age > a.age) - Number(b.age < a.age) ||
    b.files[0].localeCompare(a.files[0], "en", { numeric: true });
}

/**
 * Finds the log in a folder. Of checkpoints the latest is taken, of equally good files the newest; the others are listed.
 *
 * @param folder The folder of a run or of a checkpoint.
 * @returns The files of one log, and the others that are there.
 * @throws {UserError} When the folder cannot be read or holds nothing that is called like a log.
 */
export function findLog(folder: string): FoundLog {
  const [best, ...others] = candidatesOf(logFilesIn(folder)).sort(compare);
  if (best === undefined) {
    throw new UserError(
      sentence`Cannot find a log in ${folder}: it holds no trainer_state.json, *.jsonl, *.csv, event file of TensorBoard, run-*.wandb, *.log or *.txt; name the file (${
        command("formats")
      } lists what is read)`,
    );
  }
  return { files: best.files, others: others.flatMap(({ files }) => files) };
}
