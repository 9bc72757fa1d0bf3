/** A small training run in a folder: few episodes and steps, from the golden base agent, in this process. */
import type { Commands } from "../../src/gpu/commands.ts";
import { hashWeights } from "../../src/model/parameters.ts";
import { resolveConfig } from "../../src/rl/config.ts";
import { readCheckpoint, writeCheckpoint } from "../../src/run/checkpoint.ts";
import { checkpointPath, openRunDirectory, runPaths } from "../../src/run/run_directory.ts";
import {
  readSettings,
  resumeSettings,
  type RunSettings,
  writeSettings,
} from "../../src/run/run_settings.ts";
import {
  runTraining,
  type TrainingOptions,
  type TrainingResult,
} from "../../src/run/training_run.ts";
import { golden } from "../e2e/command_line.ts";

/** GRPO with a KL term, so that a resumed run also needs the weights of its start. */
export const SMALL_SETS = [
  "problems=2",
  "groupSize=4",
  "maxTurns=3",
  "klCoef=0.1",
  "checkpointEvery=2",
  "evalEvery=3",
  "evalEpisodesPerTask=1",
];

/** Settings of the small run, with `sets` on top. */
export function smallSettings(steps: number, sets: readonly string[] = []): RunSettings {
  return {
    config: resolveConfig({ flags: { steps }, sets: [...SMALL_SETS, ...sets] }),
    base: { file: golden("model.safetensors") },
    bug: null,
    baseHash: null,
    starts: [],
    adapter: null,
  };
}

type Rest = Partial<Omit<TrainingOptions, "commands" | "directory" | "settings">>;

/** Starts a run and trains it as far as its settings say. */
export async function startRun(
  commands: Commands,
  options: { readonly path: string; readonly settings: RunSettings } & Rest,
): Promise<TrainingResult> {
  const { path, settings, ...rest } = options;
  using directory = openRunDirectory(path, { resume: false });
  writeSettings(directory.config, settings);
  return await runTraining({ commands, directory, settings, ...rest });
}

/**
 * Writes a run from the golden agent as it stands before its first step, its checks aside, and computes nothing. A process that
 * takes it up begins with its first step at once.
 */
export async function writeBegunRun(path: string, settings: RunSettings): Promise<void> {
  const { config, weights_W } = readCheckpoint(golden("model.safetensors"));
  Deno.mkdirSync(`${path}/checkpoints`, { recursive: true });
  writeSettings(runPaths(path).config, { ...settings, baseHash: await hashWeights(weights_W) });
  const zeros = () => new Float32Array(weights_W.length);
  writeCheckpoint(checkpointPath(path, 0), {
    config,
    weights_W,
    step: 0,
    moments: [zeros(), zeros()],
    state: { step: 0, adamStep: 0, baseline: 0 },
  });
}

/** Takes a run up where it stands. */
export async function resumeRun(
  commands: Commands,
  options: { readonly path: string; readonly steps?: number } & Rest,
): Promise<TrainingResult> {
  const { path, steps, ...rest } = options;
  using directory = openRunDirectory(path, { resume: true });
  const settings = resumeSettings(readSettings(directory.config), {
    sources: { flags: { steps } },
    base: undefined,
    bug: undefined,
    path,
  });
  return await runTraining({ commands, directory, settings, ...rest });
}
