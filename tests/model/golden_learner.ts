/** The golden model and batch on a GPU: what the tests of the model and of its learner start from. */
import { Commands } from "../../src/gpu/commands.ts";
import type { Gpu } from "../../src/gpu/device.ts";
import { TINY_AGENT } from "../../src/model/config.ts";
import { Learner } from "../../src/model/learner.ts";
import type { Gradient } from "../../src/model/learner_batch.ts";
import {
  createParameters,
  destroyParameters,
  type Parameters,
} from "../../src/model/parameters.ts";
import { type LossName, NAMED_LOSSES, namedLossTask } from "../../src/rl/named_losses.ts";
import type { GradientTask } from "../../src/rl/gradient.ts";
import { packEpisodes } from "../../src/rollout/batch.ts";
import { packGolden, readGolden, readGoldenScalars } from "../reference/golden.ts";

/** The golden batch as PyTorch wrote it. */
export const GOLDEN = readGolden("batch");
/** Where its rows lie. */
export const GOLDEN_ROWS = packGolden(GOLDEN);
/** Its scalars. */
export const GOLDEN_SCALARS = readGoldenScalars();

/** All parameters one after another, as f32; the file's order is the layout's. */
export function flatGolden(name: string): Float32Array<ArrayBuffer> {
  return Float32Array.from(Object.values(readGolden(name)).flatMap((values) => [...values]));
}

/** Token ids of the golden episodes. */
export function goldenEpisodes(): number[][] {
  const { ids_N } = GOLDEN_ROWS.tokens;
  const episodes = Array.from({ length: GOLDEN_ROWS.episodeCount }, (): number[] => []);
  GOLDEN_ROWS.episode_N.forEach((b, n) => episodes[b]!.push(ids_N[n]!));
  return episodes;
}

/** A loss over the golden batch. */
export function goldenTask(name: LossName): GradientTask {
  return namedLossTask(packEpisodes(goldenEpisodes(), { vocabSize: TINY_AGENT.vocabSize }), {
    loss: NAMED_LOSSES[name],
    grids: {
      actionMask_BC: GOLDEN.action_mask!,
      advantages_B: GOLDEN.advantages,
      oldLogp_BC: GOLDEN.old_logp,
      refLogp_BC: GOLDEN.ref_logp,
    },
    normConst: GOLDEN_SCALARS.stats.norm_const,
  });
}

/** Adam's settings of the golden steps. */
export const GOLDEN_ADAM = { learningRate: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };
/** The norm that the golden steps clip to. */
export const GOLDEN_MAX_NORM = 0.05;

/** Makes a learner with the golden weights, hands it to `use`, and frees it. */
export async function withLearner<T>(
  gpu: Gpu,
  options: { readonly capacity: number; readonly maxPositions: number },
  use: (learner: Learner, parameters: Parameters) => Promise<T>,
): Promise<T> {
  const commands = new Commands(gpu);
  const parameters = createParameters(commands, TINY_AGENT, flatGolden("model"));
  const learner = new Learner(commands, parameters, options);
  try {
    return await use(learner, parameters);
  } finally {
    learner.destroy();
    destroyParameters(parameters);
    commands.destroy();
  }
}

/** Sizes that the golden batch needs. */
export const GOLDEN_SIZES = {
  capacity: GOLDEN_ROWS.cell_N.length,
  maxPositions: GOLDEN_ROWS.columnCount,
};

/** Records one golden update: forward, loss and backward of `task`, which is added `onto` a gradient where one is given. */
export function recordGradient(learner: Learner, task: GradientTask, onto?: Gradient): Gradient {
  const loaded = learner.load(task.batch, { objective_N4: task.objective_N4 });
  if (task.refLogp_N) loaded.loadReference(task.refLogp_N);
  const scored = loaded.forward();
  scored.keepRows();
  return scored.backward({ loss: task.terms, onto });
}
