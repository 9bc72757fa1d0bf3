/** Replay: which steps are worth recording, and doing a recorded step again, bit for bit or with one stage changed. */
import { UserError } from "../core/errors.ts";
import { suggestName } from "../core/nearest.ts";
import { median } from "../core/statistics.ts";
import type { TrainConfig } from "../rl/config.ts";
import { HEALTHY_STAGES, recomputedOldLogp, type Stages } from "../rl/stages.ts";
import { collateEnded } from "../rl/ended_episodes.ts";
import type { TrainBatch } from "../rl/train_batch.ts";
import type { Trainer } from "../rl/trainer.ts";
import type { Trajectory } from "../rollout/trajectory.ts";
import type { Fault } from "./fault.ts";
import { FAULT_NAMES, type FaultName, FAULTS } from "./faults.ts";
import { type MetricName, type MetricsRow, metricsRow } from "../rl/metrics.ts";

/** Metrics whose jumps are worth a record: how far a step goes, and whether sampler and trainer agree. */
export const SPIKE_METRICS = [
  "grad_norm",
  "grad_norm_max",
  "approx_kl",
  "approx_kl_max",
  "ratio_max",
  "logp_gap",
] as const satisfies MetricName[];

/** Rows before a median means something. */
const MIN_HISTORY = 4;

/** True where a step may be recorded, so that the state before it has to be kept until its row is known. */
export function mayRecord(
  step: number,
  config: Pick<TrainConfig, "recordEvery" | "recordSpikeFactor">,
): boolean {
  return isDue(step, config.recordEvery) || config.recordSpikeFactor > 0;
}

function isDue(step: number, every: number): boolean {
  return every > 0 && step % every === 0;
}

/**
 * Why a step is to be recorded.
 *
 * @param row The step's metrics.
 * @param options.history The rows before it, of which the medians are taken.
 * @param options.config The recording rules.
 * @returns One phrase a reason; empty where the step need not be kept. A metric that is not a number is a reason.
 */
export function recordingReasons(
  row: MetricsRow,
  options: {
    readonly history: readonly MetricsRow[];
    readonly config: Pick<TrainConfig, "recordEvery" | "recordSpikeFactor">;
  },
): string[] {
  const { history, config: { recordEvery, recordSpikeFactor: factor } } = options;
  const reasons = isDue(row.step, recordEvery) ? [`every ${recordEvery} steps`] : [];
  if (factor === 0 || history.length < MIN_HISTORY) return reasons;
  for (const name of SPIKE_METRICS) {
    const middle = median(history.map((earlier) => earlier[name]));
    if (row[name] <= factor * middle) continue;
    reasons.push(`${name} ${row[name]} exceeds ${factor} times its running median ${middle}`);
  }
  return reasons;
}

/** The episodes and the row that a step left. */
export interface RecordedStep {
  readonly row: MetricsRow;
  /** Undefined where only the metrics were kept: the replay then samples afresh. */
  readonly episodes?: {
    readonly trajectories: readonly Trajectory[];
    readonly groupId_B: readonly number[];
  } | undefined;
}

/** A metric of the record beside the replay's; undefined where one of them lacks it. */
export interface MetricDifference {
  readonly metric: string;
  readonly recorded: number | undefined;
  readonly replayed: number | undefined;
}

/** A step redone. */
export interface Replay {
  readonly row: MetricsRow;
  /** Metrics whose bits differ; empty where the step is reproduced. */
  readonly differences: readonly MetricDifference[];
  /** Whether sampling again gave the recorded episodes, bit for bit; undefined where none were recorded. */
  readonly isSampledAlike: boolean | undefined;
}

/** True for the same bits; a record on disk has lost which number it was that is not finite, and is read as NaN. */
function isSameMetric(recorded: number | undefined, replayed: number | undefined): boolean {
  if (Number.isNaN(recorded)) return replayed !== undefined && !Number.isFinite(replayed);
  return Object.is(recorded, replayed);
}

/** The metrics in which two rows differ in any bit. */
export function compareRows(recorded: MetricsRow, replayed: MetricsRow): MetricDifference[] {
  const names = new Set([...Object.keys(recorded), ...Object.keys(replayed)] as MetricName[]);
  const different = [...names].filter((name) => !isSameMetric(recorded[name], replayed[name]));
  return different.map((metric) => ({
    metric,
    recorded: recorded[metric],
    replayed: replayed[metric],
  }));
}

function isSameArray(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  return a.length === b.length && Array.from(a).every((value, i) => Object.is(value, b[i]));
}

function areSameEpisodes(
  a: readonly Trajectory[],
  b: readonly Trajectory[],
): boolean {
  return a.length === b.length &&
    a.every(({ ids, owners, logps, reward }, i) =>
      isSameArray(ids, b[i].ids) && isSameArray(owners, b[i].owners) &&
      isSameArray(logps, b[i].logps) && reward === b[i].reward
    );
}

/**
 * Does a step again.
 *
 * @param trainer As it stood before the step: weights, moments and state. It is trained.
 * @param recorded What the step left.
 * @param options.isResampled True: the update sees what the trainer samples now, because the sampler was changed. Else it
 * sees the recorded episodes, whatever sampling now gives.
 * @returns The step's row, and how it compares.
 * @throws {DeviceLostError} When the device is gone.
 */
export async function replayStep(
  trainer: Trainer,
  recorded: RecordedStep,
  options: { readonly isResampled?: boolean } = {},
): Promise<Replay> {
  const { row: { step }, episodes } = recorded;
  const sampled = await trainer.sampleBatch();
  const { vocabSize } = trainer.learner.parameters.config;
  const batch: TrainBatch = episodes && !options.isResampled
    ? collateEnded(episodes.trajectories, { groupId_B: episodes.groupId_B, vocabSize })
    : sampled;
  const update = await trainer.update(batch);
  // The record says whether the step was evaluated: a run that was extended later has forgotten what its last step was.
  const evaluation = recorded.row.eval_pass !== undefined
    ? await trainer.evaluate({
      split: "heldout",
      episodesPerTask: trainer.config.evalEpisodesPerTask,
      step: step + 1, // The run evaluates when the step is done.
    })
    : undefined;
  const row = metricsRow({ step, batch, update }, { evaluation, rules: trainer.setup.source });
  return {
    row,
    differences: compareRows(recorded.row, row),
    isSampledAlike: episodes && areSameEpisodes(
      episodes.trajectories.filter(({ error }) => error === undefined),
      sampled.trajectories,
    ),
  };
}

const STAGE_NAMES = Object.keys(HEALTHY_STAGES) as (keyof Stages)[];

/** Asks for one stage of a fault, or for the healthy one. */
export interface StageReplacement {
  readonly stage: keyof Stages;
  readonly fault: FaultName | "healthy";
}

/**
 * Reads `STAGE=FAULT`.
 *
 * @param text For example `lossMask=mask_shift`, or `lossMask=healthy` for a run with a fault.
 * @returns The stage and the fault that has its own version of it.
 * @throws {UserError} When the stage or fault is unknown, or the fault does not touch the stage.
 */
export function parseReplacement(text: string): StageReplacement {
  const [stage = "", fault = ""] = text.split("=", 2);
  if (!STAGE_NAMES.includes(stage as keyof Stages)) {
    throw new UserError(
      `Cannot replace "${text}": it must be STAGE=FAULT, and "${stage}" is not a stage: ${
        suggestName(stage, STAGE_NAMES)
      }`,
    );
  }
  const known = [...FAULT_NAMES, "healthy"];
  if (!known.includes(fault)) {
    throw new UserError(
      `Cannot replace "${text}": "${fault}" is not a fault: ${suggestName(fault, known)}`,
    );
  }
  const replacement = { stage, fault } as StageReplacement;
  const touched = Object.keys(stagesOf(replacement.fault)).filter((name) =>
    STAGE_NAMES.includes(name as keyof Stages)
  );
  if (!touched.includes(stage)) {
    const instead = touched.length === 0
      ? "is a configuration and leaves every stage as it is"
      : `changes ${touched.join(" and ")}`;
    throw new UserError(`Cannot replace "${text}": ${fault} ${instead}`);
  }
  return replacement;
}

function stagesOf(fault: StageReplacement["fault"]): Partial<Stages> {
  if (fault === "healthy") return HEALTHY_STAGES;
  const { stages }: Fault = FAULTS[fault];
  return stages?.() ?? {};
}

/**
 * Stages with one of them replaced.
 *
 * @param stages The run's own.
 * @param replacement Which stage, and by whose.
 * @returns The stages; old log-probs are recomputed, because a sampler's record is right in healthy runs only.
 */
export function replaceStage(stages: Stages, { stage, fault }: StageReplacement): Stages {
  const isRecord = stages.oldLogp === HEALTHY_STAGES.oldLogp;
  const replaced = stagesOf(fault);
  const { weightsKept = 0 } = stage === "sample" ? replaced : stages;
  return {
    ...stages,
    oldLogp: isRecord ? recomputedOldLogp : stages.oldLogp,
    weightsKept,
    [stage]: replaced[stage],
  };
}
