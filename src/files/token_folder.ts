/** Finds the token dump in a folder by the names that trainers give; what was chosen and what lay beside it is told. */
import { basename, dirname } from "node:path";
import { filesBelow } from "./folder_walk.ts";
import { infoOf } from "./paths.ts";

/** Deeper than any trainer writes: OUTPUT/rollouts/step_N/train/effective/traces.jsonl. */
const MAX_DEPTH = 6;
const SKIPPED_FOLDERS = /^(?:\..*|node_modules|__pycache__|site-packages|checkpoints)$/;

/** What trainers call their dumps; earlier kinds hold more than later ones. */
const KINDS = {
  exports: /^rank_\d+\.jsonl(?:\.gz)?$/,
  nemo: /^train_data_step\d+\.jsonl(?:\.gz)?$/,
  common: /^tokens(?:[-_.]?(?:step|rank)?[-_]?\d+)*\.jsonl(?:\.gz)?$/,
  traces: /^traces\.jsonl(?:\.gz)?$/,
  episodes: /^episodes\.jsonl(?:\.gz)?$/,
  completions: /^completions_\d+\.parquet$/,
  rollouts: /^\d+\.jsonl(?:\.gz)?$/,
  summaries: /rollout_summaries\.jsonl(?:\.gz)?$/,
} as const;

/** A kind of dump by the name of its files. */
export type DumpKind = keyof typeof KINDS;

/**
 * Traces of one rollout are in up to four files: what was trained on is in train/effective, and the others repeat it or
 * belong to no training.
 */
const TRACES_FIRST = ["train/effective", "train/all"];

/** The episodes of whole runs before those of their recorded steps, which may repeat them. */
function runsFirst(paths: readonly string[]): readonly string[] {
  const isOfStep = (path: string) => /\/steps\/\d+$/.test(dirname(path));
  return [...paths.filter((path) => !isOfStep(path)), ...paths.filter(isOfStep)];
}

/** Kinds of which not all files are read, or not in the order of their names. */
const ORDERS: { readonly [kind in DumpKind]?: (paths: readonly string[]) => readonly string[] } = {
  traces: bestTraces,
  episodes: runsFirst,
};

/** The files of each kind of dump in a folder, in the order of the run; kinds without a file are left out, the fullest is first. */
export type FoundDumps = ReadonlyMap<DumpKind, readonly string[]>;

const isFile = (path: string) => infoOf(path)?.isFile === true;

function bestTraces(paths: readonly string[]): readonly string[] {
  for (const folder of TRACES_FIRST) {
    const found = paths.filter((path) => dirname(path).endsWith(folder));
    if (found.length > 0) return found;
  }
  return paths;
}

/**
 * The dumps in a folder.
 *
 * @throws {UserError} When the folder cannot be read, or holds too many files.
 */
export function findDumps(folder: string): FoundDumps {
  const options = { what: "a token dump", maxDepth: MAX_DEPTH, skipped: SKIPPED_FOLDERS };
  const paths = filesBelow(folder, options).map(({ path }) => path)
    .sort(new Intl.Collator("en", { numeric: true }).compare);
  const found = new Map<DumpKind, readonly string[]>();
  for (const kind of Object.keys(KINDS) as DumpKind[]) {
    const named = paths.filter((path) => KINDS[kind].test(basename(path)) && isFile(path));
    if (named.length > 0) found.set(kind, ORDERS[kind]?.(named) ?? named);
  }
  return found;
}

/** Folders of exports whose writer has not said that it was done. */
export function unfinishedFolders(files: readonly string[]): string[] {
  const folders = [...new Set(files.map((path) => dirname(path)))];
  return folders.filter((folder) => !isFile(`${folder}/STABLE`));
}
