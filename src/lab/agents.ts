/** Agents and episodes that several experiments look at, each made once in a lab. */
import { STREAM } from "../core/rng.ts";
import { type CompiledGym, compileGym } from "../gym/compiled.ts";
import { bugFixSpec, DEFAULT_MAX_TURNS, type PresetName } from "../gym/bugfix.ts";
import type { BugFixInfo } from "../gym/episode_info.ts";
import { openGym } from "../gym/gym.ts";
import type { Split } from "../gym/task.ts";
import { makeTasks } from "../gym/tasks.ts";
import { TINY_AGENT } from "../model/config.ts";
import { createParameters, destroyParameters } from "../model/parameters.ts";
import {
  type BaseAgentName,
  CLONING,
  type DemonstrationMix,
  makeBaseAgent,
} from "../rl/base_agent.ts";
import { collate, type TrainBatch } from "../rl/train_batch.ts";
import { Decoder } from "../rollout/decoder.ts";
import { rolloutResident } from "../rollout/resident.ts";
import type { Trajectory } from "../rollout/trajectory.ts";
import { DRAW, type LabContext, sizeOf } from "./experiment.ts";

/** Weights of a model, [W]. */
export type Weights = Float32Array<ArrayBuffer>;

/** An episode of BugFix. */
export type BugFixTrajectory = Trajectory<BugFixInfo>;

/** The compiled gym of a preset. */
export function compiledGym(context: LabContext, preset: PresetName): Promise<CompiledGym> {
  return context.shared(`gym ${preset}`, () => Promise.resolve(compileGym(openGym(), preset)));
}

/**
 * A base agent.
 * @param options.seed Default: the lab's.
 * @param options.mix Other demonstrations than the kind's, and what to call them.
 */
export function baseAgent(
  context: LabContext,
  kind: BaseAgentName,
  options: {
    readonly seed?: number;
    readonly mix?: { readonly name: string; readonly demonstrations: readonly DemonstrationMix[] };
  } = {},
): Promise<Weights> {
  const { commands, progress } = context;
  const { mix, seed = context.seed } = options;
  return context.shared(`base agent ${kind} ${mix?.name ?? ""} ${seed}`, async () => {
    const gym = await compiledGym(context, kind === "rl" ? "rl" : "chapter6");
    return await makeBaseAgent(commands, {
      kind,
      gym,
      seed,
      ...(mix ? { mix: mix.demonstrations } : {}),
      onProgress: (done) =>
        progress(`cloning: step ${done} of ${CLONING.steps}`, done / CLONING.steps),
    });
  });
}

/** Task numbers of a split, each `episodesPerTask` times in a row. */
function tasksOf(split: Split, episodesPerTask: number): number[] {
  const first = split === "train" ? 0 : makeTasks("train").length;
  return makeTasks(split).flatMap((_, task) => Array(episodesPerTask).fill(first + task));
}

/**
 * Episodes of every task of a split, under given weights, in the `chapter6` gym.
 * @param options.draw The step of STREAM.experiment.
 */
export async function sampleSplit(
  context: LabContext,
  weights_W: Weights,
  options: { readonly split: Split; readonly episodesPerTask: number; readonly draw: number },
): Promise<BugFixTrajectory[]> {
  const { commands, seed } = context;
  const { split, episodesPerTask, draw } = options;
  const gym = await compiledGym(context, "chapter6");
  const { maxEpisodeTokens } = bugFixSpec(gym.taskNames.length, DEFAULT_MAX_TURNS);
  const parameters = createParameters(commands, TINY_AGENT, weights_W);
  const decoder = new Decoder(commands, parameters, { maxPositions: maxEpisodeTokens });
  try {
    return await rolloutResident(decoder, {
      gym,
      tasks_B: tasksOf(split, episodesPerTask),
      maxTurns: DEFAULT_MAX_TURNS,
      reward: "hidden",
      random: { seed, stream: STREAM.experiment, step: draw },
    });
  } finally {
    decoder.destroy();
    destroyParameters(parameters);
  }
}

/** Episodes on the packed rows and the [B, C] grid; each is a group of its own. */
export function collateEpisodes(
  trajectories: readonly BugFixTrajectory[],
): TrainBatch<BugFixInfo> {
  return collate(trajectories, {
    groupId_B: trajectories.map((_, b) => b),
    vocabSize: TINY_AGENT.vocabSize,
  });
}

/** The base agent and the episodes of it, 12 a training task, whose gradients are looked at one by one. */
export interface Probe {
  readonly weights_W: Weights;
  readonly batch: TrainBatch<BugFixInfo>;
}

/** The probe of the lab's seed. */
export function probeEpisodes(context: LabContext): Promise<Probe> {
  return context.shared("probe", async () => {
    const weights_W = await baseAgent(context, "plain");
    const trajectories = await sampleSplit(context, weights_W, {
      split: "train",
      episodesPerTask: sizeOf(context, { full: 12, quick: 4 }),
      draw: DRAW.probe,
    });
    return { weights_W, batch: collateEpisodes(trajectories) };
  });
}

/** The most common sequences of calls, for example `edit fix_init > submit`, with how often they occur. */
export function commonCalls(
  trajectories: readonly BugFixTrajectory[],
  count: number,
): { readonly calls: string; readonly episodes: number }[] {
  const counts = new Map<string, number>();
  for (const { info } of trajectories) {
    const calls = info.calls.map((call) => call.replace(/^edit /, "").replace(/^<.*/, "malformed"));
    const key = calls.join(" > ");
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return sorted.slice(0, count).map(([calls, episodes]) => ({ calls, episodes }));
}
