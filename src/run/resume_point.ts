/** Where a run can be taken up: the latest checkpoint with every row before it. What is lost behind it is redone. */
import { UserError } from "../core/errors.ts";
import { type PlacedRow, rowsWhileReadable } from "../files/journal.ts";
import { exists } from "../files/paths.ts";
import { episodesPerStep, type TrainConfig } from "../rl/config.ts";
import { checkpointSteps, type RunDirectory } from "./run_directory.ts";

/** A place to continue from. */
export interface ResumePoint {
  /** The checkpoint's steps. */
  readonly step: number;
  /** Bytes of the journals that stay. */
  readonly metricsBytes: number;
  readonly episodesBytes: number;
  /** Why an earlier checkpoint than the latest is taken; undefined where the latest is. */
  readonly loss: string | undefined;
}

/** The rows of a journal that are as a run writes them, from its beginning on. */
interface IntactRows {
  /** The first step that is not whole. */
  readonly until: number;
  /** Bytes before the first row of a step or a later one. */
  readonly bytesBefore: (step: number) => number;
}

/** A row of metrics that later steps and people can use: whatever else it holds is a number, or null for one that was not finite. */
function isMetricsRow({ row }: PlacedRow, step: number): boolean {
  return row.step === step && Number.isFinite(row.reward) && Number.isFinite(row.pass_rate) &&
    Object.values(row).every((value) => Number.isFinite(value) || value === null);
}

function intactMetrics(path: string): IntactRows {
  const begins = [0];
  if (exists(path)) {
    for (const placed of rowsWhileReadable(path)) {
      if (!isMetricsRow(placed, begins.length - 1)) break;
      begins.push(placed.end);
    }
  }
  return {
    until: begins.length - 1,
    bytesBefore: (step) => begins[Math.min(step, begins.length - 1)],
  };
}

/** The first steps may lack their episodes: somebody may have removed them to make room. */
function intactEpisodes(
  path: string,
  config: Pick<TrainConfig, "episodesEvery" | "algorithm" | "episodes" | "problems" | "groupSize">,
): IntactRows {
  const { episodesEvery } = config;
  if (episodesEvery === 0) return { until: Infinity, bytesBefore: () => Infinity };
  const perStep = episodesPerStep(config);
  const begins: { readonly step: number; readonly begin: number }[] = [];
  let [step, episode, end, isEmpty] = [0, 0, 0, true];
  if (exists(path)) {
    for (const { row, begin, end: rowEnd } of rowsWhileReadable(path)) {
      if (begins.length === 0 && Number.isInteger(row.step)) step = Math.max(0, Number(row.step));
      isEmpty = false;
      if (row.step !== step || row.episode !== episode || step % episodesEvery !== 0) break;
      if (episode === 0) begins.push({ step, begin });
      episode = (episode + 1) % perStep;
      if (episode === 0) [step, end] = [step + episodesEvery, rowEnd];
    }
  }
  return {
    until: isEmpty ? Infinity : begins.length === 0 ? 0 : step,
    bytesBefore: (wanted) =>
      begins.find((known) => known.step >= wanted && known.begin <= end)?.begin ?? end,
  };
}

/**
 * Finds where a run continues.
 *
 * @param directory The run's folder.
 * @param config The run's configuration.
 * @returns The place; undefined where the run has not begun: neither a checkpoint nor a row is there.
 * @throws {UserError} When rows are lost and no checkpoint is left from which they could be redone.
 */
export function findResumePoint(
  directory: Pick<RunDirectory, "path" | "metrics" | "episodes">,
  config: TrainConfig,
): ResumePoint | undefined {
  const { path } = directory;
  const checkpoints = checkpointSteps(path);
  const latest = checkpoints.at(-1);
  const metrics = intactMetrics(directory.metrics);
  if (latest === undefined) {
    const hasRows = [directory.metrics, directory.episodes].some((journal) =>
      exists(journal) && Deno.statSync(journal).size > 0
    );
    if (!hasRows) return undefined;
    throw new UserError(
      `Cannot resume ${path}: it has rows of metrics or episodes but no checkpoint to continue from; ` +
        "restore its checkpoints, or start a run in another folder",
    );
  }
  const episodes = intactEpisodes(directory.episodes, config);
  const until = Math.min(metrics.until, episodes.until);
  const step = checkpoints.findLast((done) => done <= until);
  const lost = `${
    metrics.until <= episodes.until ? "metrics.jsonl" : "episodes.jsonl"
  } lacks step ${until} or holds something else there`;
  if (step === undefined) {
    throw new UserError(
      `Cannot resume ${path}: ${lost}, and no checkpoint is left to redo that step from; ` +
        "restore the file, or start a run in another folder",
    );
  }
  return {
    step,
    metricsBytes: metrics.bytesBefore(step),
    episodesBytes: episodes.bytesBefore(step),
    loss: step === latest
      ? undefined
      : `${lost}, so the run continues from step ${step} and redoes the later steps`,
  };
}
