/** One whole update of TinyAgent as a single list of dispatches over a synthetic batch: what the kernel benchmark measures. */
import { randomSequence, STREAM } from "../core/rng.ts";
import type { Commands, Plan } from "../gpu/commands.ts";
import { createTensor, type Tensor } from "../gpu/tensor.ts";
import { type AdamArguments, addClipAdam, addGradientNorm } from "../kernels/clip_adam.ts";
import { addLinear } from "../kernels/linear.ts";
import { addPolicyLoss, type LossArguments } from "../kernels/policy_loss.ts";
import { TINY_AGENT } from "../model/config.ts";
import {
  createFlat,
  createParameters,
  initialValues,
  type Parameters,
} from "../model/parameters.ts";
import { allRows, writeBatch } from "../model/batch_inputs.ts";
import { forwardPlan } from "../model/tiny_agent.ts";
import { backwardPlan, type BackwardSize } from "../model/tiny_agent_backward.ts";
import {
  createGradientWorkspace,
  createWorkspace,
  type GradientWorkspace,
  type Workspace,
} from "../model/workspace.ts";
import { ADAM_BETA1, ADAM_BETA2, ADAM_EPS } from "../equations/adam.ts";
import { objectiveRows } from "../rl/objective.ts";
import { type PackedBatch, packEpisodes } from "../rollout/batch.ts";

/** Episodes are as long as those of the gym: 16 to 40 tokens. */
const LENGTHS = { shortest: 16, longest: 40 } as const;

/** Log-prob of the reference model at every token: near that of an untrained model, −log 60. */
const REFERENCE_LOGP = -4;

/** Everything that a replay of an update needs. */
export type UpdateArguments = BackwardSize & LossArguments & AdamArguments & {
  readonly maxNorm: number;
};

/** An update that can be replayed, with the numbers it starts from. */
export interface UpdatePass {
  readonly commands: Commands;
  readonly plan: Plan<UpdateArguments>;
  readonly size: UpdateArguments;
  readonly batch: PackedBatch;
  /** Episodes on which the loss has weight: the first, one in the middle, the last. */
  readonly weightedEpisodes: readonly number[];
  readonly objective_N4: Float32Array<ArrayBuffer>;
  readonly refLogp: number;
  readonly weights_W: Float32Array<ArrayBuffer>;
  readonly parameters: Parameters;
  readonly workspace: Workspace;
  readonly gradients: GradientWorkspace;
  /** f32 [N, V]. */
  readonly logits: Tensor;
  /** Adam's moments. */
  readonly first: Tensor;
  readonly second: Tensor;
}

function syntheticEpisodes(rowCount: number): Uint32Array[] {
  const random = randomSequence({ seed: 0, stream: STREAM.experiment });
  const { shortest, longest } = LENGTHS;
  const ids_B: Uint32Array[] = [];
  for (let left = rowCount; left > 0;) {
    const length = Math.min(left, shortest + random.integer(longest - shortest + 1));
    ids_B.push(Uint32Array.from({ length }, () => random.integer(TINY_AGENT.vocabSize)));
    left -= length;
  }
  return ids_B;
}

/** Weight on few episodes leaves the work as it is and spares the reference the other ones. */
function syntheticObjective(batch: PackedBatch, weightedEpisodes: readonly number[]) {
  const { episodeCount, columnCount } = batch;
  const weight_BC = new Float32Array(episodeCount * columnCount);
  const tokens = weightedEpisodes.reduce((sum, b) => sum + batch.length_B[b] - 1, 0);
  for (const b of weightedEpisodes) {
    const first = b * columnCount;
    weight_BC.fill(1 / tokens, first, first + batch.length_B[b] - 1);
  }
  const advantage_B = Float32Array.from({ length: episodeCount }, (_, b) => b % 2 === 0 ? 1 : -0.5);
  return objectiveRows(batch, { advantage_B, weight_BC, meanWeight_BC: weight_BC });
}

function updateSize(rowCount: number): UpdateArguments {
  return {
    rowCount,
    scoredCount: rowCount,
    temperature: 1,
    accumulate: false,
    loss: {
      surrogate: "reinforce",
      clipLow: 0.2,
      clipHigh: 0.2,
      klKind: "k3",
      klCoef: 0.1,
      entropyCoef: 0.01,
    },
    maxNorm: 0.1,
    adam: {
      learningRate: 1e-3,
      beta1: ADAM_BETA1,
      beta2: ADAM_BETA2,
      epsilon: ADAM_EPS,
      step: 1,
    },
  };
}

type Memory = Pick<
  UpdatePass,
  "parameters" | "workspace" | "gradients" | "logits" | "first" | "second"
>;

function allocate(
  commands: Commands,
  batch: PackedBatch,
  weights_W: Float32Array<ArrayBuffer>,
): Memory {
  const parameters = createParameters(commands, TINY_AGENT, weights_W);
  const { parameterCount } = parameters.layout;
  const capacity = batch.rowCount;
  return {
    parameters,
    workspace: createWorkspace(commands, TINY_AGENT, {
      capacity,
      maxPositions: LENGTHS.longest,
      isTraining: true,
    }),
    gradients: createGradientWorkspace(commands, TINY_AGENT, capacity),
    logits: createTensor(commands.gpu.device, {
      label: "logits",
      sizeBytes: capacity * TINY_AGENT.vocabSize * 4,
    }),
    first: createFlat(commands, "first moment", parameterCount),
    second: createFlat(commands, "second moment", parameterCount),
  };
}

/** Forward, logits, loss, backward, norm, Adam. */
function planUpdate(commands: Commands, memory: Memory): Plan<UpdateArguments> {
  const { parameters, workspace, gradients, logits, first, second } = memory;
  const { layout: { head, parameterCount }, operand: w, flat: weights } = parameters;
  const { gradient, block_squares, clip_2, refused, dresult_R2 } = gradients;
  const { result_R4, reference_R4, inputs: { objective_R4 } } = workspace;
  const plan = forwardPlan<UpdateArguments>(commands, { parameters, workspace });
  addLinear(commands, plan, {
    product: "forward",
    tensors: { x_NK: workspace.hidden_RD, w, y_NM: logits },
    shape: { width: TINY_AGENT.width, columnCount: TINY_AGENT.vocabSize, weightOffset: head },
  });
  addPolicyLoss(commands, plan, {
    result_N4: result_R4,
    reference_N4: reference_R4,
    objective_N4: objective_R4,
    dresult_N2: dresult_R2,
  });
  plan.steps.push(
    ...backwardPlan<UpdateArguments>(commands, { parameters, workspace, gradients }).steps,
  );
  addGradientNorm(commands, plan, { gradient, block_squares, clip_2, parameterCount });
  addClipAdam(commands, plan, {
    gradient,
    clip_2,
    refused,
    first,
    second,
    weights,
    parameterCount,
  });
  return plan;
}

/**
 * Prepares an update.
 *
 * @param commands The recorder.
 * @param options.rowCount N.
 * @returns The update; nothing has run yet.
 * @throws {RangeError} When a tensor exceeds the device's limits.
 */
export function prepareUpdatePass(
  commands: Commands,
  { rowCount }: { rowCount: number },
): UpdatePass {
  const batch = packEpisodes(syntheticEpisodes(rowCount), TINY_AGENT);
  const last = batch.episodeCount - 1;
  const weightedEpisodes = [...new Set([0, Math.floor(last / 2), last])];
  const objective_N4 = syntheticObjective(batch, weightedEpisodes);
  const weights_W = initialValues(TINY_AGENT, 0);
  const memory = allocate(commands, batch, weights_W);
  const { inputs, reference_R4 } = memory.workspace;
  writeBatch(commands, inputs, { batch, row_R: allRows(rowCount), objective_N4 });
  commands.write(reference_R4, new Float32Array(4 * rowCount).fill(REFERENCE_LOGP));
  return {
    commands,
    plan: planUpdate(commands, memory),
    size: updateSize(rowCount),
    batch,
    weightedEpisodes,
    objective_N4,
    refLogp: REFERENCE_LOGP,
    weights_W,
    ...memory,
  };
}
