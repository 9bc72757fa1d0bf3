/** Replaying a step of a run: from its record, or from the nearest checkpoint before it. */
import { UserError } from "../core/errors.ts";
import type { MetricsRow } from "../rl/metrics.ts";
import { asMetricsRow } from "./metrics_rows.ts";
import {
  type RecordedStep,
  replaceStage,
  type Replay,
  replayStep,
  type StageReplacement,
} from "../faults/replay.ts";
import type { Commands } from "../gpu/commands.ts";
import { destroyParameters } from "../model/parameters.ts";
import type { TrainingSetup } from "../rl/setup.ts";
import type { Trainer } from "../rl/trainer.ts";
import { snapshotTrainer } from "../rl/snapshot.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { rowsOf } from "../files/journal.ts";
import { checkpointPath, checkpointSteps, runPaths } from "./run_directory.ts";
import { readSettings, type RunSettings, setupOf } from "./run_settings.ts";
import type { EpisodeSource } from "../rollout/episode_source.ts";
import { requireSameEnvironment } from "./environment_record.ts";
import { readStepRecord } from "./recorded_step.ts";
import { readBaseAgent, readTrainerState, restoreTrainer } from "./trainer_file.ts";

/** A step redone. */
export interface ReplayedStep {
  readonly recorded: MetricsRow;
  /** With the run's own stages. */
  readonly replay: Replay;
  /** With one stage replaced; undefined where none was. */
  readonly changed: Replay | undefined;
  /** Where it began: the step's own record, or a checkpoint and how many steps were redone before it. */
  readonly from: { readonly path: string; readonly stepsBefore: number };
  readonly settings: RunSettings;
  /** False where a file that was read carries no SHA-256, as those of older versions. */
  readonly isVerified: boolean;
}

interface Start {
  readonly recorded: RecordedStep;
  readonly path: string;
  /** Steps behind the state at the path. */
  readonly step: number;
  /** False: a record of an older version, which carries no SHA-256. */
  readonly isVerified: boolean;
}

/** What is known of the step, and the nearest state before it. */
function findStart(path: string, step: number, { config, environment }: RunSettings): Start {
  const record = readStepRecord(path, { step, config, environment });
  if (record) {
    const { statePath, isVerified, ...recorded } = record;
    return { recorded, path: statePath, step, isVerified };
  }
  const { metrics } = runPaths(path);
  let rowCount = 0;
  let row: Readonly<Record<string, unknown>> | undefined;
  for (const candidate of rowsOf(metrics)) {
    rowCount++;
    if (candidate.step === step) row = candidate;
  }
  if (row === undefined) {
    throw new UserError(
      `Cannot replay step ${step} of ${path}: ${metrics} has ${rowCount} steps from 0 on`,
    );
  }
  return {
    recorded: { row: asMetricsRow(row, { source: metrics }) },
    ...checkpointBefore(path, { step, wanted: step }),
    isVerified: true,
  };
}

/** The nearest checkpoint at or before a wanted step. */
function checkpointBefore(
  path: string,
  { step, wanted }: { readonly step: number; readonly wanted: number },
): Pick<Start, "path" | "step"> {
  const nearest = checkpointSteps(path).findLast((done) => done <= wanted);
  if (nearest !== undefined) return { path: checkpointPath(path, nearest), step: nearest };
  throw new UserError(
    `Cannot replay step ${step} of ${path}: it holds no checkpoint of step ${wanted} or an earlier one`,
  );
}

/** Where to begin, and the state there: far enough back that a sampler that lags finds the weights that it asks for. */
function findState(
  path: string,
  options: { readonly step: number; readonly settings: RunSettings; readonly weightsKept: number },
): Start & { readonly state: Checkpoint } {
  const { step, settings, weightsKept } = options;
  const start = findStart(path, step, settings);
  const state = readTrainerState(start.path, start.step);
  const { earlierWeights = [] } = state;
  if (earlierWeights.length >= Math.min(weightsKept, start.step)) return { ...start, state };
  const earlier = checkpointBefore(path, { step, wanted: Math.max(0, step - weightsKept) });
  return { ...start, ...earlier, state: readTrainerState(earlier.path, earlier.step) };
}

/** Runs `work` on a trainer in a given state. */
async function withTrainer<T>(
  setup: TrainingSetup,
  from: Parameters<typeof restoreTrainer>[1],
  work: (trainer: Trainer) => Promise<T>,
): Promise<T> {
  const trainer = restoreTrainer(setup, from);
  try {
    return await work(trainer);
  } finally {
    trainer.destroy();
    destroyParameters(trainer.learner.parameters);
  }
}

/**
 * Does a step of a run again. Nothing of the run is changed.
 *
 * @param commands The device.
 * @param options.path The run's folder.
 * @param options.step The step. Where it was not recorded, the steps since the nearest checkpoint are redone as well.
 * @param options.replacement A stage that a second replay changes.
 * @param options.source The environment of the run; undefined: the gym that ships.
 * @returns The recorded row and the replays.
 * @throws {UserError} When the run lacks the step or a file, or a file cannot be read.
 * @throws {DeviceLostError} When the device is gone.
 */
export async function replayRun(
  commands: Commands,
  options: {
    readonly path: string;
    readonly step: number;
    readonly replacement?: StageReplacement | undefined;
    readonly source?: EpisodeSource | undefined;
  },
): Promise<ReplayedStep> {
  const { path, step, replacement, source } = options;
  const settings = readSettings(runPaths(path).config);
  requireSameEnvironment(settings.environment, {
    given: source,
    attempt: `Cannot replay step ${step} of ${path}`,
  });
  const own = setupOf(commands, settings, source);
  const replaced = replacement && replaceStage(own.stages, replacement);
  const weightsKept = Math.max(own.stages.weightsKept ?? 0, replaced?.weightsKept ?? 0);
  const start = findState(path, { step, settings, weightsKept });
  const { recorded, path: startPath, state } = start;
  const base = await readBaseAgent(checkpointPath(path, 0), settings);
  const setup = { ...own, stages: { ...own.stages, weightsKept } };
  const from = { checkpoint: state, reference_W: base.weights_W, path: startPath };
  const first = await withTrainer(setup, from, async (trainer) => {
    const stepsBefore = step - trainer.state.step;
    while (trainer.state.step < step) await trainer.step();
    const before = await snapshotTrainer(trainer);
    return { stepsBefore, before, replay: await replayStep(trainer, recorded) };
  });
  const changed = replaced && await withTrainer(
    { ...setup, stages: replaced },
    { ...from, checkpoint: first.before },
    (trainer) => replayStep(trainer, recorded, { isResampled: replacement?.stage === "sample" }),
  );
  return {
    recorded: recorded.row,
    replay: first.replay,
    changed,
    from: { path: startPath, stepsBefore: first.stepsBefore },
    isVerified: start.isVerified && state.isVerified === true && base.isVerified === true,
    settings,
  };
}
