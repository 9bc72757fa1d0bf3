/** Base agents: TinyAgent behaviour-cloned on well-formed but unskilled play, the point from which reinforcement learning starts. */
import { largest } from "../core/statistics.ts";
import { randomSequence, STREAM } from "../core/rng.ts";
import type { Commands } from "../gpu/commands.ts";
import { CompiledEnvironment, type CompiledGym } from "../gym/compiled.ts";
import type { PresetName } from "../gym/bugfix.ts";
import {
  blindPolicy,
  oraclePolicy,
  randomPolicy,
  readerPolicy,
  scriptedEpisode,
  type ScriptedPolicy,
} from "../gym/scripted.ts";
import { makeTasks } from "../gym/tasks.ts";
import { OWNER } from "../core/owner.ts";
import { type ModelConfig, TINY_AGENT } from "../model/config.ts";
import { Learner } from "../model/learner.ts";
import { createParameters, initialValues, readParameters } from "../model/parameters.ts";
import { destroyParameters } from "../model/parameters.ts";
import { packEpisodes } from "../rollout/batch.ts";

/** A share of the demonstrations. */
export interface DemonstrationMix {
  /** Who plays. */
  readonly policy: "random" | "blind" | "reader" | "oracle";
  /** Episodes per training task. */
  readonly episodesPerTask: number;
  /** How often a reader edits as the observation asks; the others do not read it. */
  readonly rightProbability?: number;
}

/** Which demonstrations a kind of base agent imitates, and in which gym they were played. */
export interface BaseAgentKind {
  /** The gym of the demonstrations. */
  readonly preset: PresetName;
  /** Who plays how often; empty means initial values. */
  readonly mix: readonly DemonstrationMix[];
}

/** `plain`: the base agent of the policy-gradient experiments. `rl`: that of the debugging runs. `untrained`: initial values. */
export const BASE_AGENTS = {
  plain: {
    preset: "chapter6",
    mix: [{ policy: "random", episodesPerTask: 8 }, { policy: "blind", episodesPerTask: 8 }],
  },
  rl: {
    preset: "rl",
    mix: [
      { policy: "random", episodesPerTask: 8 },
      { policy: "blind", episodesPerTask: 10 },
      { policy: "reader", episodesPerTask: 4, rightProbability: 0.4 },
    ],
  },
  untrained: { preset: "chapter6", mix: [] },
} as const satisfies Record<string, BaseAgentKind>;

/** Seed of the `rl` agent that runs begin with where none is named: the same for all training seeds, so that runs compare. */
export const RL_BASE_SEED = 2;

/** Name of a kind of base agent. */
export type BaseAgentName = keyof typeof BASE_AGENTS;

/** How cloning trains: Adam without clipping on the cross-entropy of policy tokens. */
export const CLONING = { steps: 200, batchSize: 32, lr: 3e-3 } as const;

/** One demonstration: tokens and owners. */
export interface Demonstration {
  /** Token ids. */
  readonly ids: readonly number[];
  /** Owner of each token. */
  readonly owners: readonly number[];
}

function policyOf(mix: DemonstrationMix): ScriptedPolicy {
  switch (mix.policy) {
    case "random":
      return randomPolicy;
    case "blind":
      return blindPolicy;
    case "reader":
      return readerPolicy(mix.rightProbability ?? 1);
    case "oracle":
      return oraclePolicy;
    default:
      return mix.policy satisfies never;
  }
}

/** Plays the demonstrations of a mix on all training tasks; each policy has a random sequence of its own. */
export async function playDemonstrations(
  gym: CompiledGym,
  options: { readonly mix: readonly DemonstrationMix[]; readonly seed: number },
): Promise<Demonstration[]> {
  const demonstrations: Demonstration[] = [];
  const taskCount = makeTasks("train").length;
  for (const [step, part] of options.mix.entries()) {
    const { uniform } = randomSequence({
      seed: options.seed,
      stream: STREAM.demonstrations,
      step,
    });
    const environment = new CompiledEnvironment(gym);
    for (let task = 0; task < taskCount; task++) {
      for (let i = 0; i < part.episodesPerTask; i++) {
        demonstrations.push(await scriptedEpisode(policyOf(part), { environment, task, uniform }));
      }
    }
  }
  return demonstrations;
}

/** The cross-entropy of policy tokens as an objective: advantage 1, every policy token weighs the same. */
function cloningObjective(demonstrations: readonly Demonstration[]): Float32Array<ArrayBuffer> {
  const isTrained = demonstrations.flatMap(({ owners }) =>
    owners.map((_, t) => owners[t + 1] === OWNER.policy)
  );
  const weight = 1 / isTrained.filter(Boolean).length;
  const objective_N4 = new Float32Array(4 * isTrained.length);
  isTrained.forEach((trained, row) => objective_N4.set([1, trained ? weight : 0, 0, 0], 4 * row));
  return objective_N4;
}

/** Batches that are recorded before a submit. */
const QUEUE_LENGTH = 8;

/**
 * Clones demonstrations into a model with fresh initial values.
 * @returns The weights [W]. The same seed on the same adapter gives the same bits.
 * @throws {RangeError} When there is no demonstration; {Error} when a weight is not finite afterwards.
 */
export async function cloneBehaviour(
  commands: Commands,
  options: {
    readonly demonstrations: readonly Demonstration[];
    readonly seed: number;
    readonly steps?: number;
    /** Default: the model of the gym. */
    readonly model?: ModelConfig;
    /** Called after each recorded group of steps. */
    readonly onProgress?: (stepsDone: number) => void;
  },
): Promise<Float32Array<ArrayBuffer>> {
  const { demonstrations, seed, steps = CLONING.steps, model = TINY_AGENT, onProgress } = options;
  if (demonstrations.length === 0) throw new RangeError("Cannot clone: there is no demonstration");
  const longest = largest(demonstrations.map(({ ids }) => ids.length));
  const parameters = createParameters(commands, model, initialValues(model, seed));
  const learner = new Learner(commands, parameters, {
    capacity: longest * CLONING.batchSize,
    maxPositions: longest,
    queueLength: QUEUE_LENGTH,
  });
  const random = randomSequence({ seed, stream: STREAM.shuffle });
  const loss = {
    surrogate: "reinforce",
    clipLow: 0,
    clipHigh: 0,
    klKind: "k3",
    klCoef: 0,
    entropyCoef: 0,
  } as const;
  for (let step = 1; step <= steps; step++) {
    const chosen = Array.from(
      { length: CLONING.batchSize },
      () => demonstrations[random.integer(demonstrations.length)] ?? { ids: [], owners: [] },
    );
    const batch = packEpisodes(chosen.map(({ ids }) => ids), { vocabSize: model.vocabSize });
    const loaded = learner.load(batch, { objective_N4: cloningObjective(chosen) });
    loaded.forward().backward({ loss }).step(Infinity, {
      learningRate: CLONING.lr,
      beta1: 0.9,
      beta2: 0.999,
      epsilon: 1e-8,
      step,
    });
    if (learner.room === 0 || step === steps) {
      await learner.collect();
      onProgress?.(step);
    }
  }
  const weights_W = await readParameters(commands, parameters);
  learner.destroy();
  destroyParameters(parameters);
  const bad = weights_W.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) throw new Error(`Cloning diverged: weight ${bad} is ${weights_W[bad]}`);
  return weights_W;
}

/**
 * Makes a base agent.
 * @param options.gym Compiled for the kind's preset (see BASE_AGENTS).
 * @param options.mix Other demonstrations than the kind's.
 * @returns The weights [W].
 * @throws {RangeError} When the gym was compiled for another preset.
 */
export async function makeBaseAgent(
  commands: Commands,
  options: {
    readonly kind: BaseAgentName;
    readonly gym: CompiledGym;
    readonly seed: number;
    readonly mix?: readonly DemonstrationMix[];
    readonly onProgress?: (stepsDone: number) => void;
  },
): Promise<Float32Array<ArrayBuffer>> {
  const { kind, gym, seed, onProgress } = options;
  const { preset, mix: ownMix }: BaseAgentKind = BASE_AGENTS[kind];
  const mix = options.mix ?? ownMix;
  if (mix.length === 0) return initialValues(TINY_AGENT, seed);
  if (gym.preset !== preset) {
    throw new RangeError(
      `Cannot make the ${kind} base agent in the ${gym.preset} gym: its demonstrations are played in ${preset}`,
    );
  }
  const demonstrations = await playDemonstrations(gym, { mix, seed });
  return await cloneBehaviour(commands, {
    demonstrations,
    seed,
    ...(onProgress ? { onProgress } : {}),
  });
}
