/** Whole steps, runs and rollouts as benchmark cases; the same cases that a peer program can be asked for. */
import type { Commands } from "../gpu/commands.ts";
import { bugFixSpec, DEFAULT_MAX_TURNS } from "../gym/bugfix.ts";
import { compileGym } from "../gym/compiled.ts";
import { openGym } from "../gym/gym.ts";
import { TINY_AGENT } from "../model/config.ts";
import { createParameters, type Parameters, writeParameters } from "../model/parameters.ts";
import { cloneBehaviour, CLONING, makeBaseAgent, playDemonstrations } from "../rl/base_agent.ts";
import { BASE_AGENTS } from "../rl/base_agent.ts";
import { resolveConfig } from "../rl/config.ts";
import { Trainer } from "../rl/trainer.ts";
import { Decoder } from "../rollout/decoder.ts";
import { rolloutResident } from "../rollout/resident.ts";

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
const TRAIN_TASKS = 20;
const HEALTHY_STEPS = 24;

async function timed(work: () => Promise<number>): Promise<CaseTiming> {
  const start = performance.now();
  const tokens = await work();
  return { ms: performance.now() - start, tokens };
}

interface Agent {
  readonly parameters: Parameters;
  readonly weights_W: Float32Array<ArrayBuffer>;
}

/** A trainer that can be set back to its base agent, with a fresh optimizer, outside the measured time. */
function resettable(commands: Commands, agent: Agent, trainer: Trainer) {
  return async () => {
    writeParameters(commands, agent.parameters, agent.weights_W);
    trainer.learner.clearMoments();
    await trainer.learner.readGradient();
  };
}

/**
 * Prepares every case: makes the base agents, compiles the kernels, and runs each once.
 * @returns The cases, and the cost of a REINFORCE step besides time on the device.
 */
export async function prepareStepBench(
  commands: Commands,
): Promise<{ readonly cases: readonly StepCase[]; readonly measureCost: () => Promise<StepCost> }> {
  const gym = await openGym();
  const shown = compileGym(gym, "chapter6");
  const hidden = compileGym(gym, "rl");
  const agentOf = async (kind: "plain" | "rl"): Promise<Agent> => {
    const table = kind === "rl" ? hidden : shown;
    const weights_W = await makeBaseAgent(commands, { kind, gym: table, seed: BASE_SEED });
    return { weights_W, parameters: createParameters(commands, TINY_AGENT, weights_W) };
  };
  const plain = await agentOf("plain");
  const rl = await agentOf("rl");
  const reinforceTrainer = new Trainer({
    commands,
    parameters: plain.parameters,
    gym: shown,
    config: resolveConfig({ flags: { algorithm: "reinforce" } }),
  });
  const grpoTrainer = new Trainer({
    commands,
    parameters: rl.parameters,
    gym: hidden,
    config: resolveConfig({ flags: { algorithm: "grpo" } }),
  });
  const resetReinforce = resettable(commands, plain, reinforceTrainer);
  const resetGrpo = resettable(commands, rl, grpoTrainer);
  const demonstrations = await playDemonstrations(shown, {
    mix: BASE_AGENTS.plain.mix,
    seed: BASE_SEED,
  });
  const maxPositions = bugFixSpec(shown.taskNames.length, DEFAULT_MAX_TURNS).maxEpisodeTokens;
  const decoder = new Decoder(commands, plain.parameters, { maxPositions });
  const rollout = (episodeCount: number, round: number) =>
    timed(async () => {
      const episodes = await rolloutResident(decoder, {
        gym: shown,
        tasks_B: Array.from({ length: episodeCount }, (_, i) => i % TRAIN_TASKS),
        maxTurns: DEFAULT_MAX_TURNS,
        reward: "hidden",
        random: { seed: round, stream: 1 },
      });
      return episodes.reduce((sum, { ids }) => sum + ids.length, 0);
    });
  const trainSteps = async (trainer: Trainer, reset: () => Promise<void>, steps: number) => {
    await reset();
    return await timed(async () => {
      for (let step = 0; step < steps; step++) await trainer.step();
      return 0;
    });
  };
  const cases: readonly StepCase[] = [
    {
      key: "reinforce",
      peerCase: "reinforce",
      title: "REINFORCE step, 64 episodes",
      isPerToken: false,
      run: () => trainSteps(reinforceTrainer, resetReinforce, 1),
    },
    {
      key: "grpo",
      peerCase: "grpo",
      title: "GRPO step, 8 × 8 episodes",
      isPerToken: false,
      run: () => trainSteps(grpoTrainer, resetGrpo, 1),
    },
    {
      key: "healthyRun",
      peerCase: "healthy",
      title: `GRPO run, ${HEALTHY_STEPS} steps`,
      isPerToken: false,
      run: () => trainSteps(grpoTrainer, resetGrpo, HEALTHY_STEPS),
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
    {
      key: "rollout256",
      peerCase: "rollout256",
      title: "rollout of 256, per token",
      isPerToken: true,
      run: async (round) => {
        await resetReinforce();
        return await rollout(256, round);
      },
    },
    {
      key: "rollout1024",
      peerCase: "rollout1024",
      title: "rollout of 1,024, per token",
      isPerToken: true,
      run: async (round) => {
        await resetReinforce();
        return await rollout(1024, round);
      },
    },
  ];
  const measureCost = async (): Promise<StepCost> => {
    await resetReinforce();
    const { counters } = commands.gpu;
    const before = { ...counters };
    const steps = 5;
    const { ms } = await timed(async () => {
      for (let step = 0; step < steps; step++) await reinforceTrainer.step();
      return 0;
    });
    return {
      submitsPerStep: (counters.submits - before.submits) / steps,
      readbacksPerStep: (counters.readbacks - before.readbacks) / steps,
      hostMs: (ms - (counters.waitMs - before.waitMs)) / steps,
    };
  };
  return { cases, measureCost };
}
