/** What decides a training: one record, made once, that whoever trains, checks or replays hands on as it is. */
import type { Commands } from "../gpu/commands.ts";
import { type CompiledGym, compileGym } from "../gym/compiled.ts";
import { openGym } from "../gym/gym.ts";
import type { TrainConfig } from "./config.ts";
import { HEALTHY_STAGES, type Stages } from "./stages.ts";

/** On which device, in which gym, what and how to train. */
export interface TrainingSetup {
  /** The recorder of the device. */
  readonly commands: Commands;
  /** What and how to train. */
  readonly config: TrainConfig;
  /** The gym, compiled for the config's preset. */
  readonly gym: CompiledGym;
  /** The stages of an update; replaced ones make a fault. */
  readonly stages: Stages;
}

/**
 * A setup whose gym is that of its configuration.
 *
 * @param commands The recorder of the device.
 * @param options.config What and how to train.
 * @param options.stages Default: the healthy ones.
 */
export function trainingSetup(
  commands: Commands,
  options: { readonly config: TrainConfig; readonly stages?: Stages },
): TrainingSetup {
  const { config, stages = HEALTHY_STAGES } = options;
  return { commands, config, gym: compileGym(openGym(), config.preset), stages };
}
