/** The two halves of the work that layouts are timed on, prepared under one layout: a rollout, and an update. */
import { BENCH_ROWS, benchDecoder, playEpisodes } from "./workload.ts";
import { Commands } from "../gpu/commands.ts";
import type { Gpu } from "../gpu/device.ts";
import { destroy } from "../gpu/tensor.ts";
import { type CompiledGym, compileGym } from "../gym/compiled.ts";
import { openGym } from "../gym/gym.ts";
import { TINY_AGENT } from "../model/config.ts";
import {
  createParameters,
  destroyParameters,
  hashWeights,
  initialValues,
  readParameters,
} from "../model/parameters.ts";
import { destroyWorkspace } from "../model/workspace.ts";
import { prepareUpdatePass } from "./update_pass.ts";

/** Episodes of the rollout that is timed: between those of a training step and those of an evaluation. */
export const PROBE_EPISODES = 256;

/** Updates in a row on a GPU, where one takes about a millisecond and reading its result back may take ten. */
const GPU_UPDATES = 16;

/** How much is timed. */
export interface ProbeSize {
  /** Episodes of the rollout (default {@linkcode PROBE_EPISODES}). */
  readonly episodeCount?: number;
  /** Tokens of the update (default those of a training step of 64 episodes). */
  readonly rowCount?: number;
}

/** One measurement. */
export interface Sample {
  /** Until the host has the result; of an update, by the update. */
  readonly ms: number;
  /** Of every number that was computed. */
  readonly hash: string;
}

/** Work that can be measured again and again; the same round has the same bits each time. */
export interface Measurement {
  readonly run: (round: number) => Promise<Sample>;
  readonly destroy: () => void;
}

/** What is timed. */
export type Part = "rollout" | "update";

/** The gym whose episodes are played. */
export function probeGym(): CompiledGym {
  return compileGym(openGym(), "chapter6");
}

/** An untrained agent: its episodes are as long as they may be, and it needs no cloning. */
function prepareRollout(
  gpu: Gpu,
  { gym, size: { episodeCount = PROBE_EPISODES } }: {
    readonly gym: CompiledGym;
    readonly size: ProbeSize;
  },
): Measurement {
  const commands = new Commands(gpu);
  const parameters = createParameters(commands, TINY_AGENT, initialValues(TINY_AGENT, 0));
  const decoder = benchDecoder(commands, { gym, parameters });
  return {
    run: async (round) => {
      const startMs = performance.now();
      const episodes = await playEpisodes(decoder, { gym, episodeCount, round });
      const ms = performance.now() - startMs;
      const played = episodes.flatMap(({ ids, logps }) => [...ids, ...logps]);
      return { ms, hash: await hashWeights(Float32Array.from(played)) };
    },
    destroy: () => {
      commands.destroy();
      decoder.destroy();
      destroyParameters(parameters);
    },
  };
}

/** The same update from the same weights each time. */
function prepareUpdate(gpu: Gpu, { rowCount = BENCH_ROWS }: ProbeSize): Measurement {
  const commands = new Commands(gpu);
  const pass = prepareUpdatePass(commands, { rowCount });
  const { plan, size, parameters, weights_W, workspace, gradients, logits, first, second } = pass;
  const updates = gpu.adapter.isSoftware ? 1 : GPU_UPDATES;
  const read = [{ tensor: gradients.clip_2, sizeBytes: gradients.clip_2.sizeBytes }];
  return {
    run: async () => {
      commands.write(parameters.flat, weights_W);
      [first, second].forEach((moment) => commands.clear(moment));
      commands.refreshOperand(parameters.operand, parameters.flat);
      await commands.read(read);
      const startMs = performance.now();
      for (let i = 0; i < updates; i++) {
        commands.replay(plan, size);
        commands.refreshOperand(parameters.operand, parameters.flat);
      }
      await commands.read(read);
      const ms = (performance.now() - startMs) / updates;
      return { ms, hash: await hashWeights(await readParameters(commands, parameters)) };
    },
    destroy: () => {
      commands.destroy();
      destroyParameters(parameters);
      destroyWorkspace(workspace);
      destroyWorkspace(gradients);
      [logits, first, second].forEach(destroy);
    },
  };
}

/**
 * Prepares a part of the work under the layout of a device.
 *
 * @throws {Error} When the device refuses it; its kernels are compiled when it first runs.
 */
export function prepareMeasurement(
  gpu: Gpu,
  options: { readonly part: Part; readonly gym: CompiledGym; readonly size: ProbeSize },
): Measurement {
  return options.part === "rollout"
    ? prepareRollout(gpu, options)
    : prepareUpdate(gpu, options.size);
}
