/** Reads what is to be compared, and compares it: over seeds, or two runs step by step. */
import { UserError } from "../../core/errors.ts";
import { compareGroups, type GroupQuestion } from "../../compare/compare_groups.ts";
import { type ComparedRun, compareRuns } from "../../compare/compare_runs.ts";
import { readRunLog } from "../../files/log_source.ts";
import { isOwnRun } from "../../files/own_run.ts";
import { exists, isFolder } from "../../files/paths.ts";
import { interpret } from "../../producers/interpret.ts";
import type { RunView } from "../../producers/run_view.ts";
import { runPaths } from "../../run/run_directory.ts";
import { readSettings } from "../../run/run_settings.ts";
import { isSweepFolder, sweepPaths } from "../../sweep/sweep_paths.ts";
import type { ComparisonData } from "../comparison_data.ts";
import { isAboutSeeds, ownSettings, readRunRecords } from "./runs_to_compare.ts";

/** What is compared, and how. */
export interface ComparisonRequest extends GroupQuestion {
  /** Over seeds or step by step (default: over seeds where some runs differ in nothing but the seed). */
  readonly by?: "seeds" | "steps" | undefined;
  /** Names of groups by the paths of their logs. */
  readonly groups?: ReadonlyMap<string, string>;
  /** Told how many of a sweep's runs are read, and of how many. */
  readonly onRun?: ((done: number, total: number) => void) | undefined;
  /** Reads a log and gives it its meaning (default: by what it tells of itself). */
  readonly readView?: ((path: string) => Promise<RunView>) | undefined;
}

/** The end of a path, for headings. */
function nameOf(path: string): string {
  return path.replace(/\/+$/, "").split("/").at(-1) || path;
}

async function readByItself(path: string): Promise<RunView> {
  return interpret(await readRunLog(path), { settings: {} });
}

async function readRun(path: string, readView: (path: string) => Promise<RunView>) {
  const isOwn = isOwnRun(path) && isFolder(path) && exists(runPaths(path).config);
  const view = await readView(path);
  if (isOwn) {
    const settings = readSettings(runPaths(path).config);
    const { seed } = settings.config;
    const { adapter } = settings;
    const trainer = view.producer?.title ?? "agentrl";
    return { path, view, isOwn, settings: { trainer, seed, ...ownSettings(settings), adapter } };
  }
  const known = Object.entries(view.settings).map(([name, { value }]) => [name, value] as const);
  const settings = {
    trainer: view.producer?.title ?? "unknown",
    ...(view.era && { version: view.era.title }),
    ...Object.fromEntries(known),
  };
  return { path, view, isOwn, settings } satisfies ComparedRun;
}

async function compareSteps(
  paths: readonly string[],
  readView: (path: string) => Promise<RunView>,
): Promise<ComparisonData> {
  const sweep = paths.find(isSweepFolder);
  if (sweep !== undefined) {
    throw new UserError(
      `Cannot compare ${sweep} step by step: it is a sweep; name two of the runs in ${
        sweepPaths(sweep).runs
      }`,
    );
  }
  const runs: ComparedRun[] = [];
  for (const path of paths) runs.push(await readRun(path, readView));
  const [first, ...others] = runs;
  if (others.length === 0) {
    throw new UserError(
      `Cannot compare ${first.path}: it is one run; name a second one, or a sweep`,
    );
  }
  return {
    name: paths.map(nameOf).join(" and "),
    comparison: { kind: "steps", pairs: others.map((other) => compareRuns(first, other)) },
    runs,
  };
}

/**
 * Compares runs.
 *
 * @param paths Folders of sweeps and of runs, folders that hold runs of ours, logs of any trainer.
 * @param request How.
 * @returns The comparison, with the runs where a page shows their curves.
 * @throws {UserError} When a path cannot be read, or nothing there can be compared.
 */
export async function readComparison(
  paths: readonly string[],
  request: ComparisonRequest = {},
): Promise<ComparisonData> {
  const { by, groups = new Map(), readView, onRun, ...question } = request;
  const mode = by ?? (groups.size > 0 || isAboutSeeds(paths) ? "seeds" : "steps");
  if (mode === "steps") return await compareSteps(paths, readView ?? readByItself);
  const runs = await readRunRecords(paths, {
    metric: question.metric,
    groups,
    readView,
    onRun,
    isJudged: true,
  });
  return {
    name: paths.map(nameOf).join(", "),
    comparison: { kind: "seeds", ...compareGroups(runs, question) },
    runs: [],
  };
}
