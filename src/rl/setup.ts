/** What decides a training: one record, made once, that whoever trains, checks or replays hands on as it is. */
import type { Commands } from "../gpu/commands.ts";
import { compileGym } from "../gym/compiled.ts";
import type { EpisodeInfo } from "../gym/environment.ts";
import type { BugFixInfo } from "../gym/episode_info.ts";
import { openGym } from "../gym/gym.ts";
import { bugFixSource } from "../rollout/bugfix_source.ts";
import type { EpisodeSource } from "../rollout/episode_source.ts";
import type { TrainConfig } from "./config.ts";
import { HEALTHY_STAGES, type Stages } from "./stages.ts";

/** On which device, on which episodes, what and how to train. */
export interface TrainingSetup<Info extends EpisodeInfo = EpisodeInfo> {
  /** The recorder of the device. */
  readonly commands: Commands;
  /** What and how to train. */
  readonly config: TrainConfig;
  /** Where its episodes come from. */
  readonly source: EpisodeSource<Info>;
  /** The stages of an update; replaced ones make a fault. */
  readonly stages: Stages;
}

/**
 * A setup in the gym of its configuration, or in an environment.
 *
 * @param commands The recorder of the device.
 * @param options.config What and how to train.
 * @param options.stages Default: the healthy ones.
 * @param options.source Default: BugFix, as the configuration's preset, turns and reward say.
 */
export function trainingSetup(
  commands: Commands,
  options: { readonly config: TrainConfig; readonly stages?: Stages },
): TrainingSetup<BugFixInfo>;
/** A setup on the episodes of any source; undefined: BugFix, as the configuration says. */
export function trainingSetup(
  commands: Commands,
  options: {
    readonly config: TrainConfig;
    readonly stages?: Stages;
    readonly source?: EpisodeSource | undefined;
  },
): TrainingSetup;
/** As its signatures say. */
export function trainingSetup(
  commands: Commands,
  options: {
    readonly config: TrainConfig;
    readonly stages?: Stages;
    readonly source?: EpisodeSource | undefined;
  },
): TrainingSetup {
  const { config, stages = HEALTHY_STAGES, source = sourceOf(config) } = options;
  return { commands, config, source, stages };
}

/** BugFix as a configuration says. */
function sourceOf({ preset, maxTurns, reward }: TrainConfig): EpisodeSource<BugFixInfo> {
  return bugFixSource({ gym: compileGym(openGym(), preset), maxTurns, reward });
}
