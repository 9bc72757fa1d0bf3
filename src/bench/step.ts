/** Whole steps, runs and rollouts as benchmark cases; the same cases that a peer program can be asked for. */
import { benchDecoder, playEpisodes } from "../tuning/workload.ts";
import type { Commands } from "../gpu/commands.ts";
import { type CompiledGym, compileGym } from "../gym/compiled.ts";
import { openGym } from "../gym/gym.ts";
import { TINY_AGENT } from "../model/config.ts";
import { createParameters, writeParameters } from "../model/parameters.ts";
import {
  BASE_AGENTS,
  type BaseAgentName,
  cloneBehaviour,
  CLONING,
  makeBaseAgent,
  playDemonstrations,
} from "../rl/base_agent.ts";
import type { AlgorithmName } from "../rl/algorithms.ts";
import { resolveConfig } from "../rl/config.ts";
import { trainingSetup } from "../rl/setup.ts";
import { HEALTHY_STAGES, type Stages } from "../rl/stages.ts";
import { Trainer } from "../rl/trainer.ts";
import type { Decoder } from "../rollout/decoder.ts";

/** One measurement. */
export interface CaseTiming {
  readonly ms: number;
  /** Tokens that were sampled or forced; 0 where they are not counted. */
  readonly tokens: number;
}

/** A case: what it does once, timed without its preparation. */
export interface StepCase {
  /** Key in the JSON document. */
  readonly key: "reinforce" | "grpo" | "healthyRun" | "cloning" | "rollout256" | "rollout1024";
  /** What a peer program is asked for. */
  readonly peerCase: string;
  /** What one measurement is, for people. */
  readonly title: string;
  /** True compares time per token, because episodes differ in length. */
  readonly isPerToken: boolean;
  /** Runs it once; `round` chooses other random numbers. */
  readonly run: (round: number) => Promise<CaseTiming>;
}

/** What one training step costs besides time on the device. */
export interface StepCost {
  readonly submitsPerStep: number;
  readonly readbacksPerStep: number;
  /** Time outside waits for results. */
  readonly hostMs: number;
}

/** Seed of the base agents; times depend on how long their episodes are, a little. */
const BASE_SEED = 0;
const HEALTHY_STEPS = 24;

/** Wall time of some work that returns the tokens it handled. */
export async function timed(work: () => Promise<number>): Promise<CaseTiming> {
  const start = performance.now();
  const tokens = await work();
  return { ms: performance.now() - start, tokens };
}

/** A base agent, and a trainer of it that can be set back to the start. */
export interface Bench {
  readonly trainer: Trainer;
  /** The gym of its configuration. */
  readonly gym: CompiledGym;
  /** Base weights, a fresh optimizer, and nothing left to do on the device. */
  readonly reset: () => Promise<void>;
}

/**
 * Makes a base agent and its trainer.
 *
 * @param options.settings Keys of the configuration that differ from the algorithm's defaults.
 * @param options.stages Stages that also note when they run (default the healthy ones).
 */
export async function prepareBench(
  commands: Commands,
  options: {
    readonly kind: BaseAgentName;
    readonly algorithm: AlgorithmName;
    readonly settings?: Readonly<Record<string, unknown>>;
    readonly stages?: Stages;
  },
): Promise<Bench> {
  const { kind, algorithm, settings = {}, stages = HEALTHY_STAGES } = options;
  const config = resolveConfig({ flags: { algorithm, ...settings } });
  const setup = trainingSetup(commands, { config, stages });
  const gym = compileGym(openGym(), config.preset);
  const weights_W = await makeBaseAgent(commands, { kind, gym, seed: BASE_SEED });
  const parameters = createParameters(commands, TINY_AGENT, weights_W);
  const trainer = new Trainer(setup, { parameters });
  const reset = async () => {
    writeParameters(commands, parameters, weights_W);
    trainer.learner.clearMoments();
    await trainer.learner.readGradient();
  };
  return { trainer, gym, reset };
}

async function trainSteps({ trainer, reset }: Bench, stepCount: number): Promise<CaseTiming> {
  await reset();
  return await timed(async () => {
    for (let step = 0; step < stepCount; step++) await trainer.step();
    return 0;
  });
}

/** The cases of one training step, one run, and cloning. */
async function trainingCases(
  commands: Commands,
  benches: { readonly reinforce: Bench; readonly grpo: Bench },
): Promise<StepCase[]> {
  const { reinforce, grpo } = benches;
  const demonstrations = await playDemonstrations(reinforce.gym, {
    mix: BASE_AGENTS.plain.mix,
    seed: BASE_SEED,
  });
  return [
    {
      key: "reinforce",
      peerCase: "reinforce",
      title: "REINFORCE step, 64 episodes",
      isPerToken: false,
      run: () => trainSteps(reinforce, 1),
    },
    {
      key: "grpo",
      peerCase: "grpo",
      title: "GRPO step, 8 × 8 episodes",
      isPerToken: false,
      run: () => trainSteps(grpo, 1),
    },
    {
      key: "healthyRun",
      peerCase: "healthy",
      title: `GRPO run, ${HEALTHY_STEPS} steps`,
      isPerToken: false,
      run: () => trainSteps(grpo, HEALTHY_STEPS),
    },
    {
      key: "cloning",
      peerCase: "clone",
      title: `cloning, ${CLONING.steps} steps of ${CLONING.batchSize}`,
      isPerToken: false,
      run: (round) =>
        timed(async () => {
          await cloneBehaviour(commands, { demonstrations, seed: round });
          return 0;
        }),
    },
  ];
}

/** The case of one rollout, per token. */
function rolloutCase(
  bench: Bench,
  options: { readonly decoder: Decoder; readonly episodeCount: 256 | 1024 },
): StepCase {
  const { decoder, episodeCount } = options;
  const { gym, reset } = bench;
  return {
    key: `rollout${episodeCount}`,
    peerCase: `rollout${episodeCount}`,
    title: `rollout of ${episodeCount.toLocaleString("en")}, per token`,
    isPerToken: true,
    run: async (round) => {
      await reset();
      return await timed(async () => {
        const episodes = await playEpisodes(decoder, { gym, episodeCount, round });
        return episodes.reduce((sum, { ids }) => sum + ids.length, 0);
      });
    },
  };
}

/** Steps over which the cost of one is averaged. */
const COST_STEPS = 5;

async function stepCost(commands: Commands, { trainer, reset }: Bench): Promise<StepCost> {
  await reset();
  const { counters } = commands.gpu;
  const before = { ...counters };
  const { ms } = await timed(async () => {
    for (let step = 0; step < COST_STEPS; step++) await trainer.step();
    return 0;
  });
  return {
    submitsPerStep: (counters.submits - before.submits) / COST_STEPS,
    readbacksPerStep: (counters.readbacks - before.readbacks) / COST_STEPS,
    hostMs: (ms - (counters.waitMs - before.waitMs)) / COST_STEPS,
  };
}

/**
 * Prepares every case: makes the base agents and compiles the kernels that they need.
 * @returns The cases, and how to measure what a REINFORCE step costs besides time on the device.
 */
export async function prepareStepBench(
  commands: Commands,
): Promise<{ readonly cases: readonly StepCase[]; readonly measureCost: () => Promise<StepCost> }> {
  const reinforce = await prepareBench(commands, { kind: "plain", algorithm: "reinforce" });
  const grpo = await prepareBench(commands, { kind: "rl", algorithm: "grpo" });
  const { gym, trainer: { learner: { parameters } } } = reinforce;
  const decoder = benchDecoder(commands, { gym, parameters });
  return {
    cases: [
      ...await trainingCases(commands, { reinforce, grpo }),
      rolloutCase(reinforce, { decoder, episodeCount: 256 }),
      rolloutCase(reinforce, { decoder, episodeCount: 1024 }),
    ],
    measureCost: () => stepCost(commands, reinforce),
  };
}
