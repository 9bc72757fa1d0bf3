/** What a batch and an update of this project's trainer leave for the checks: distributions, loaded rows, replayed rewards. */
import { at } from "../core/element.ts";
import { OWNER } from "../core/owner.ts";
import { sequenceKey, STREAM, threefry, toUniform } from "../core/rng.ts";
import { largest } from "../core/statistics.ts";
import type { AdvantageRule } from "../diagnose/advantage_rule.ts";
import type {
  BatchDraw,
  CheckedEpisode,
  LoadedMinibatch,
  TokenDistribution,
} from "../diagnose/invariant.ts";
import { ALGORITHMS } from "../rl/algorithms.ts";
import type { TrainConfig } from "../rl/config.ts";
import type { TrainBatch } from "../rl/train_batch.ts";
import type { Trainer } from "../rl/trainer.ts";
import type { RecordedPart, UpdateReport } from "../rl/update_report.ts";
import { forEachRow } from "../rollout/batch.ts";
import type { EpisodeSource } from "../rollout/episode_source.ts";
import { scoreEpisodes, splitEpisodes } from "../rollout/score.ts";
import type { Trajectory } from "../rollout/trajectory.ts";

/** Episodes of a batch that are replayed; more would tell no more. */
const MAX_REPLAYED = 64;

/** Logits that are read back at most, 16 MiB: of a large vocabulary those of some episodes. */
const MAX_LOGITS = 2 ** 22;

/** What a distribution says of the token that was drawn from it. */
function describeToken(
  logits_V: Float32Array,
  { token, temperature }: { readonly token: number; readonly temperature: number },
) {
  const most = largest(logits_V);
  const weight_V = new Float64Array(logits_V.length);
  let total = 0;
  for (let v = 0; v < weight_V.length; v++) {
    weight_V[v] = Math.exp(((logits_V[v] ?? NaN) - most) / temperature);
    total += weight_V[v] ?? NaN;
  }
  let [entropy, square, below] = [0, 0, 0];
  for (let v = 0; v < weight_V.length; v++) {
    const p = (weight_V[v] ?? NaN) / total;
    const surprise = p > 0 ? -Math.log(p) : 0;
    entropy += p * surprise;
    square += p * surprise ** 2;
    if (v < token) below += p;
  }
  const variance = Math.max(0, square - entropy ** 2);
  return { entropy, variance, below, upTo: below + at(weight_V, token) / total };
}

/** The random number with which a step draws a token: of its place in the episode, and of the episode's in the batch. */
function drawnUniforms({ config: { seed } }: Trainer, step: number) {
  const key = sequenceKey({ seed, stream: STREAM.sample, step });
  return (episode: number, position: number) => toUniform(threefry(key, [episode, position])[0]);
}

/**
 * The trainer's distribution of each token that the policy wrote, from its logits, in float64, and the random numbers that
 * the configuration draws them with. Of an episode that may have been sampled again only the distribution is known.
 *
 * @param step The step that the batch was sampled in.
 */
export async function tokenDistribution(
  trainer: Trainer,
  { trajectories, packed: { columnCount: C }, lost = [] }: TrainBatch,
  step: number,
): Promise<TokenDistribution> {
  const { learner: { commands, parameters }, config: { temperature, resampleRounds } } = trainer;
  const { vocabSize } = parameters.config;
  const [ranges] = splitEpisodes(
    trajectories.map(({ ids }) => ids.length),
    Math.floor(MAX_LOGITS / vocabSize),
  );
  const scored = trajectories.slice(0, ranges?.end);
  const { logits_NV = new Float32Array() } = await scoreEpisodes(commands, parameters, {
    ids_B: scored.map(({ ids }) => ids),
    temperature,
    withLogits: true,
  });
  const grid = () => new Float64Array(trajectories.length * C).fill(NaN);
  const distribution = { entropy_BC: grid(), variance_BC: grid() };
  const draws = { uniform_BC: grid(), below_BC: grid(), upTo_BC: grid() };
  const uniform = drawnUniforms(trainer, step);
  // Where episodes were sampled again or lost, those of the batch have other numbers than their places.
  const isDrawKnown = resampleRounds === 0 && lost.length === 0;
  let row = 0;
  scored.forEach(({ ids, owners }, b) => {
    for (let t = 1; t < ids.length; t++, row++) {
      if (owners[t] !== OWNER.policy) continue;
      const logits_V = logits_NV.subarray(row * vocabSize, (row + 1) * vocabSize);
      const told = describeToken(logits_V, { token: at(ids, t), temperature });
      const cell = b * C + t - 1;
      distribution.entropy_BC[cell] = told.entropy;
      distribution.variance_BC[cell] = told.variance;
      draws.below_BC[cell] = told.below;
      draws.upTo_BC[cell] = told.upTo;
      if (isDrawKnown) draws.uniform_BC[cell] = uniform(b, t);
    }
    row++; // Nothing follows an episode's last token.
  });
  return { ...distribution, draws };
}

/** The rows of one part that have a weight in its loss. */
function loadedRows({ packed, objective_N4 }: RecordedPart): number[][] {
  const rows: number[][] = [];
  forEachRow(packed, (row, cell) => {
    const [advantage, weight, meanWeight, oldLogp] = objective_N4.subarray(4 * row, 4 * row + 4);
    if (weight !== 0 || meanWeight !== 0) {
      rows.push([cell, advantage ?? NaN, weight ?? NaN, meanWeight ?? NaN, oldLogp ?? NaN]);
    }
  });
  return rows;
}

/** The optimizer steps of an update, as the device was given them. */
export function loadedMinibatches({ minibatches, parts }: UpdateReport): LoadedMinibatch[] {
  return minibatches.map((_, minibatch) => {
    const rows = parts.filter((part) => part.minibatch === minibatch).flatMap(loadedRows);
    const column = (i: number) => Float64Array.from(rows, (row) => at(row, i));
    return {
      cell_N: column(0),
      advantage_N: column(1),
      weight_N: column(2),
      meanWeight_N: column(3),
      oldLogp_N: column(4),
    };
  });
}

/** Episodes as the checks see them. @param options.isReplayed Whether their environment replays a sample of them. */
export async function checkedEpisodes(
  trajectories: readonly Trajectory[],
  { source, isReplayed }: { readonly source: EpisodeSource; readonly isReplayed: boolean },
): Promise<CheckedEpisode[]> {
  const every = Math.ceil(trajectories.length / MAX_REPLAYED);
  const sample = isReplayed ? trajectories.filter((_, b) => b % every === 0) : [];
  const replayed = await source.replay(sample);
  return trajectories.map((trajectory, b) => {
    const replayedReward = b % every === 0 ? replayed[b / every] : undefined;
    return {
      ...trajectory,
      problem: source.problemOf(trajectory),
      ...(replayedReward !== undefined && { replayedReward }),
    };
  });
}

/** How a configuration draws its batches; of a batch that lost episodes the size of groups is not known. */
export function batchDraw(
  { algorithm, groupSize }: TrainConfig,
  { batch: { lost = [] }, source }: { readonly batch: TrainBatch; readonly source: EpisodeSource },
): BatchDraw {
  const isKnown = ALGORITHMS[algorithm].grouped && lost.length === 0;
  return { groupSize: isKnown ? groupSize : undefined, problemCount: source.tasks.train };
}

/** The rule of a configuration's advantages; undefined where its algorithm tells none. */
export function advantageRule(
  { algorithm, advantageEps, baselineDecay }: TrainConfig,
  baseline: { readonly before: number; readonly after: number },
): AdvantageRule | undefined {
  const { advantageRule: kind } = ALGORITHMS[algorithm];
  switch (kind) {
    case "group_standardized":
      return { kind, eps: advantageEps };
    case "moving_baseline":
      return { kind, decay: baselineDecay, ...baseline };
    default:
      return kind && { kind };
  }
}
