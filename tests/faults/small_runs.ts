/** Small runs for the tests of src/debug: the golden agent in the rl gym, 16 episodes per step. */
import type { CompiledGym } from "../../src/gym/compiled.ts";
import { compileGym } from "../../src/gym/compiled.ts";
import { openGym } from "../../src/gym/gym.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { createParameters, destroyParameters } from "../../src/model/parameters.ts";
import { resolveConfig, type TrainConfig } from "../../src/rl/config.ts";
import type { Stages } from "../../src/rl/stages.ts";
import { trainingSetup } from "../../src/rl/setup.ts";
import { Trainer } from "../../src/rl/trainer.ts";
import { type Checkpoint, readCheckpoint } from "../../src/run/checkpoint.ts";
import { golden } from "../e2e/command_line.ts";
import { testGpu } from "../gpu/gpu_test_device.ts";

/** What a test trains with. */
export interface Bench {
  readonly commands: Commands;
  readonly gym: CompiledGym;
  /** A trained base agent: mostly valid calls, little skill. */
  readonly agent: Checkpoint;
}

/** Opens the device, the gym and the agent. */
export async function openBench(): Promise<Bench> {
  return {
    commands: new Commands(await testGpu()),
    gym: compileGym(openGym(), "rl"),
    agent: readCheckpoint(golden("model.safetensors")),
  };
}

/** Two problems of eight episodes, no evaluation, with a KL term. */
export function smallConfig(values: Partial<TrainConfig> = {}): TrainConfig {
  return resolveConfig({
    flags: { problems: 2, steps: 2, evalEvery: 0, klCoef: 0.1, ...values },
  });
}

/** Lends a trainer on a copy of the agent. */
export async function withTrainer<T>(
  bench: Bench,
  options: { readonly config: TrainConfig; readonly stages?: Stages },
  work: (trainer: Trainer) => Promise<T>,
): Promise<T> {
  const { commands, agent } = bench;
  const parameters = createParameters(commands, agent.config, agent.weights_W);
  const trainer = new Trainer(trainingSetup(commands, options), { parameters });
  try {
    return await work(trainer);
  } finally {
    trainer.destroy();
    destroyParameters(parameters);
  }
}
