/** Reads runs for a comparison over seeds: cells of sweeps, folders of our runs, logs of any trainer. */
import { UserError } from "../../core/errors.ts";
import { suggestName } from "../../core/nearest.ts";
import { DEFAULT_METRIC } from "../../compare/compare_groups.ts";
import type { CountedFinding, RunRecord, Settings } from "../../compare/run_record.ts";
import type { Curve } from "../../compare/sample_efficiency.ts";
import { judgeLog } from "../../diagnose/findings/judge_log.ts";
import { readRunLog } from "../../files/log_source.ts";
import { isOwnRun } from "../../files/own_run.ts";
import { exists, infoOf, isFolder, namesIn } from "../../files/paths.ts";
import { type LogSeries, seriesOf } from "../../logs/run_log.ts";
import { CANONICAL, type CanonicalMetric } from "../../producers/definition.ts";
import { interpret } from "../../producers/interpret.ts";
import type { MeasuredSeries, RunView } from "../../producers/run_view.ts";
import { episodesPerStep } from "../../rl/config.ts";
import { isKeyRead } from "../../rl/config_readers.ts";
import { runPaths } from "../../run/run_directory.ts";
import { baseName, readSettings, type RunSettings } from "../../run/run_settings.ts";
import { triageRun } from "../../run/triage_run.ts";
import { readOutcome } from "../../sweep/outcomes.ts";
import { readSweep, type Sweep } from "../../sweep/sweep_folder.ts";
import { isSweepFolder } from "../../sweep/sweep_paths.ts";

/** Settings of the environment: what a task is, not how it is learned. */
const ENVIRONMENT = ["preset", "maxTurns", "environment"] as const;

/** What a run writes and when it is evaluated: it changes nothing that is computed. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  "seed",
  "evalEvery",
  "checkpointEvery",
  "episodesEvery",
  "checkEvery",
  "recordEvery",
  "recordSpikeFactor",
]);

/** Curves that a page shows beside the metric that is compared. */
const SHOWN_METRICS: readonly CanonicalMetric[] = [
  "eval_score",
  "reward",
  "entropy",
  "kl_reference",
  "grad_norm",
  "length",
];

/** How runs are read. */
export interface RecordReading {
  /** The metric of the score (default: the held-out pass rate). */
  readonly metric?: string | undefined;
  /** Reads a log and gives it its meaning (default: by what it tells of itself). */
  readonly readView?: ((path: string) => Promise<RunView>) | undefined;
  /** True where triage is to judge each run. */
  readonly isJudged?: boolean;
  /** Told how many of a sweep's runs are read, and of how many. */
  readonly onRun?: ((done: number, total: number) => void) | undefined;
  /** Names of groups that logs were given, by path. */
  readonly groups?: ReadonlyMap<string, string>;
}

const isOfEnvironment = (name: string) => ENVIRONMENT.some((one) => one === name);

/** A setting as a comparison holds it. */
function plain(value: unknown): Settings[string] {
  if (value === null || value === undefined) return null;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
    return value;
  }
  return JSON.stringify(value);
}

function settingsFrom(entries: Iterable<readonly [string, unknown]>): Settings {
  return Object.fromEntries(Array.from(entries, ([name, value]) => [name, plain(value)]));
}

/** All settings of a run of ours that change what it computes in one list, its seed left out. */
export function ownSettings({ config, base, bug, environment }: RunSettings): Settings {
  const read = { ...config, environment: environment?.name };
  const entries = Object.entries(config).filter(([name]) =>
    !BOOKKEEPING.has(name) && isKeyRead(name, read)
  );
  // A plain agent's seed is the run's own.
  const kind = "kind" in base && base.kind !== "rl" ? base.kind : baseName(base);
  return settingsFrom([
    ...entries,
    ...(environment ? [["environment", environment.name] as const] : []),
    ["base", kind],
    ["bug", bug],
  ]);
}

function curveOf({ steps, values, isNull }: LogSeries): Curve {
  const present = Array.from(steps.keys()).filter((i) => isNull[i] === 0);
  return { steps: present.map((i) => steps[i]), values: present.map((i) => values[i]) };
}

function seriesFor(view: RunView, metric: string): LogSeries | undefined {
  if (view.log.columns.has(metric)) return seriesOf(view.log, metric);
  return measuredAs(view, metric);
}

/** The ends between which a metric lies by its definition. */
function rangeOf({ definition: { unit, signed } }: MeasuredSeries): readonly [number, number] {
  if (signed) return [-Infinity, Infinity];
  if (unit === "share" || unit === "probability") return [0, 1];
  return unit === "1" || unit === "reward" ? [-Infinity, Infinity] : [0, Infinity];
}

/** The ranges of metrics and keys by their names, as far as anything is known of them. */
function rangesOf(view: RunView, names: Iterable<string>): Map<string, readonly [number, number]> {
  const all = (Object.keys(CANONICAL) as CanonicalMetric[]).flatMap((name) => view.all(name));
  return new Map(
    Array.from(names).flatMap((name) => {
      const series = measuredAs(view, name) ?? all.find(({ key }) => key === name);
      return series ? [[name, rangeOf(series)] as const] : [];
    }),
  );
}

function measuredAs(view: RunView, metric: string) {
  return Object.hasOwn(CANONICAL, metric) ? view.measured(metric as CanonicalMetric) : undefined;
}

function curvesOf(view: RunView, metric: string): Map<string, Curve> {
  const names = [...new Set([metric, ...SHOWN_METRICS])];
  return new Map(names.flatMap((name) => {
    const series = seriesFor(view, name);
    return series ? [[name, curveOf(series)] as const] : [];
  }));
}

function curvesIn(view: RunView, metric: string): Pick<RunRecord, "curves" | "ranges"> {
  const curves = curvesOf(view, metric);
  return { curves, ranges: rangesOf(view, curves.keys()) };
}

/** What triage says against a run; undefined where it cannot judge it. */
function judged(judge: () => readonly CountedFinding[]): readonly CountedFinding[] | undefined {
  try {
    return judge();
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

function counted(
  findings: readonly { readonly id: string; readonly class: string }[],
): CountedFinding[] {
  return findings.flatMap(({ id, class: kind }) =>
    kind === "violated" || kind === "suspect" ? [{ id, class: kind }] : []
  );
}

async function readByItself(path: string): Promise<RunView> {
  return interpret(await readRunLog(path), { settings: {} });
}

/** What is known of a run of a sweep, or of one that lies alone. */
interface OwnRun {
  readonly path: string;
  readonly axes: readonly string[];
  readonly condition: string | null;
}

async function readOwn(
  { path, axes, condition }: OwnRun,
  { metric = DEFAULT_METRIC, isJudged = false, groups }: RecordReading,
): Promise<RunRecord> {
  const settings = readSettings(runPaths(path).config);
  const { config } = settings;
  const all = ownSettings(settings);
  const entries = Object.entries(all);
  const known = {
    path,
    seed: config.seed,
    method: settingsFrom([
      ...entries.filter(([name]) => !isOfEnvironment(name)),
      ...condition === null ? [] : [["condition", condition] as const],
    ]),
    environment: settingsFrom(entries.filter(([name]) => isOfEnvironment(name))),
    axes: [...axes, ...condition === null ? [] : ["condition"]],
    group: groups?.get(path),
    episodesPerStep: episodesPerStep(config),
  };
  const metrics = infoOf(runPaths(path).metrics);
  // The file is there before its first row.
  if (metrics === undefined || metrics.size === 0) {
    return { ...known, curves: new Map(), leftOut: "it has made no step" };
  }
  const view = await readByItself(path);
  const done = (view.steps.at(-1) ?? -1) + 1;
  return {
    ...known,
    ...curvesIn(view, metric),
    ...(done < config.steps && {
      leftOut: `it is not finished: ${done} of ${config.steps} steps`,
    }),
    ...(isJudged && { findings: judged(() => counted(triageRun(path).findings)) }),
  };
}

async function readForeign(
  path: string,
  { metric = DEFAULT_METRIC, isJudged = false, groups, readView = readByItself }: RecordReading,
): Promise<RunRecord> {
  const view = await readView(path);
  const settings = Object.entries(view.settings).map(([name, known]) =>
    [name, known.value] as const
  );
  return {
    path,
    seed: undefined,
    method: settingsFrom([
      ["trainer", view.producer?.title ?? "unknown"],
      ...settings,
      // Logs tell too little of their settings to be one group by them.
      ...groups?.has(path) ? [] : [["log", path] as const],
    ]),
    environment: {},
    axes: ["log"],
    group: groups?.get(path),
    ...curvesIn(view, metric),
    ...(isJudged && { findings: counted(judgeLog(view)) }),
  };
}

/** A cell of whose run nothing is known but what the plan says. */
function planned(sweep: Sweep, cell: Sweep["cells"][number], leftOut: string): RunRecord {
  const { settings, seed, condition, folder } = cell;
  const entries = Object.entries(settings);
  return {
    path: folder,
    seed,
    method: settingsFrom(entries.filter(([name]) => !isOfEnvironment(name))),
    environment: settingsFrom(entries.filter(([name]) => isOfEnvironment(name))),
    axes: [...sweep.axes, ...condition === null ? [] : ["condition"]],
    curves: new Map(),
    leftOut,
    isPlanOnly: true,
  };
}

async function readSweepRuns(path: string, reading: RecordReading): Promise<RunRecord[]> {
  const sweep = readSweep(path);
  if (sweep.command !== "train") {
    throw new UserError(
      `Cannot compare ${path}: its cells are runs of ${sweep.command}, and only those of train have a curve and a score; ` +
        "name a sweep that trains",
    );
  }
  const runs: RunRecord[] = [];
  for (const cell of sweep.cells) {
    const run = await readCell(sweep, cell, reading);
    const problem = run.leftOut === undefined ? undefined : readOutcome(path, cell.id)?.problem;
    reading.onRun?.(runs.length + 1, sweep.cells.length);
    runs.push(problem ? { ...run, leftOut: `${run.leftOut}; it failed: ${problem}` } : run);
  }
  return likeRead(runs);
}

/** The run of a cell; one that cannot be read is left out with the reason, for the sake of the others. */
async function readCell(
  sweep: Sweep,
  cell: Sweep["cells"][number],
  reading: RecordReading,
): Promise<RunRecord> {
  const { folder, condition } = cell;
  if (!exists(runPaths(folder).config)) return planned(sweep, cell, "it has not begun");
  const axes = sweep.axes.filter((name) => !isOfEnvironment(name));
  try {
    return await readOwn({ path: folder, axes, condition }, reading);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return planned(sweep, cell, `it cannot be read: ${error.message}`);
  }
}

/** Runs of which only the plan is known join the group whose runs share the settings that the plan gives them. */
function likeRead(runs: readonly RunRecord[]): RunRecord[] {
  const read = runs.filter(({ isPlanOnly }) => !isPlanOnly);
  return runs.map((run) => {
    if (!run.isPlanOnly) return run;
    const alike = read.find(({ method }) =>
      Object.entries(run.method).every(([name, value]) => (method[nameOf(name)] ?? null) === value)
    );
    return alike ? { ...run, method: alike.method } : run;
  });
}

/** The key of the configuration that a flag of the command sets. */
function nameOf(name: string): string {
  return name === "algo" ? "algorithm" : name;
}

function isSweep(path: string): boolean {
  return path !== "-" && isSweepFolder(path);
}

/** The runs of ours that lie in a folder which is itself none; none of a file or of what is not there. */
export function ownRunsIn(path: string): string[] {
  if (path === "-" || !isFolder(path) || isOwnRun(path)) return [];
  return namesIn(path).map((name) => `${path}/${name}`)
    .filter((inside) => isFolder(inside) && isOwnRun(inside) && exists(runPaths(inside).config));
}

/** True where a comparison of paths is one over seeds: a sweep, a folder of runs, runs that share settings but the seed. */
export function isAboutSeeds(paths: readonly string[]): boolean {
  if (paths.some((path) => isSweep(path) || ownRunsIn(path).length > 0)) {
    return true;
  }
  if (paths.length < 3) return false;
  const keys = paths.filter((path) => isOwnRun(path) && exists(runPaths(path).config))
    .map((path) => JSON.stringify(ownSettings(readSettings(runPaths(path).config))));
  return new Set(keys).size < keys.length;
}

async function refuseUnknownMetric(
  runs: readonly RunRecord[],
  { metric = DEFAULT_METRIC, readView = readByItself }: RecordReading,
): Promise<void> {
  if (runs.some(({ curves }) => curves.has(metric))) return;
  const read = runs.find(({ curves }) => curves.size > 0);
  if (!read) return;
  const view = await readView(read.path);
  const known = (Object.keys(CANONICAL) as CanonicalMetric[]).filter((name) => view.measured(name));
  const names = [...new Set([...known, ...view.log.columns.keys()])];
  throw new UserError(
    `Cannot compare by ${metric}: ${
      runs.length === 1 ? "the run does not have it" : `none of the ${runs.length} runs has it`
    }; ${suggestName(metric, names)}`,
  );
}

/**
 * Reads runs.
 *
 * @param paths Folders of sweeps, folders of our runs and those that hold some, logs of any trainer.
 * @returns A record for each run, those without a score with the reason.
 * @throws {UserError} When a path cannot be read, or no run has the metric.
 */
export async function readRunRecords(
  paths: readonly string[],
  reading: RecordReading = {},
): Promise<RunRecord[]> {
  const runs: RunRecord[] = [];
  for (const path of paths) {
    if (isSweep(path)) runs.push(...await readSweepRuns(path, reading));
    else if (isOwnRun(path) && isFolder(path) && exists(runPaths(path).config)) {
      runs.push(await readOwn({ path, axes: [], condition: null }, reading));
    } else {
      const inside = ownRunsIn(path);
      for (const run of inside) {
        runs.push(await readOwn({ path: run, axes: [], condition: null }, reading));
      }
      if (inside.length === 0) runs.push(await readForeign(path, reading));
    }
  }
  await refuseUnknownMetric(runs, reading);
  return runs;
}
