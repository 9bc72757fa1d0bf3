/** What the benchmark of log-probs takes: numbers on the host, and the same on the device beside room for results. */
import { randomSequence, STREAM } from "../core/rng.ts";
import type { Commands } from "../gpu/commands.ts";
import {
  createFlatOperand,
  createRowOperand,
  createTensor,
  destroy,
  type Operand,
  type Tensor,
} from "../gpu/tensor.ts";
import type { HeadShape } from "../kernels/logprob.ts";
import { chunkStarts, ROW_CHUNKS } from "../kernels/operands.ts";
import { createFlat } from "../model/parameters.ts";

/** N, D and V. */
export interface LogprobSizes {
  /** N, at most 8,192. */
  readonly rowCount: number;
  /** D, a multiple of 16. */
  readonly width: number;
  readonly vocabSize: number;
}

/** Inputs on the host. */
export interface LogprobInputs {
  readonly h_ND: Float32Array<ArrayBuffer>;
  /** Weight [V, D], then bias [V]. */
  readonly head: Float32Array<ArrayBuffer>;
  readonly target_N: Uint32Array<ArrayBuffer>;
  readonly dresult_N2: Float32Array<ArrayBuffer>;
}

/** A prime number of random numbers is drawn and repeated: no two rows of the head are the same, and it takes no time. */
const DRAWN = 200_003;

/** Hidden states of variance 1, as a LayerNorm leaves them; logits of a standard deviation of about 1. */
export function createLogprobInputs({ rowCount, width, vocabSize }: LogprobSizes): LogprobInputs {
  const random = randomSequence({ seed: 0, stream: STREAM.experiment });
  const drawn = Float64Array.from({ length: DRAWN }, () => 2 * random.uniform() - 1);
  const fill = (length: number, scale: number) =>
    new Float32Array(length).map((_, i) => scale * drawn[i % DRAWN]);
  return {
    h_ND: fill(rowCount * width, Math.sqrt(3)),
    head: fill(vocabSize * (width + 1), 2 / Math.sqrt(width)),
    // The vocabulary's last entry is a target as well.
    target_N: Uint32Array.from(
      { length: rowCount },
      (_, n) => n === 0 ? vocabSize - 1 : random.integer(vocabSize),
    ),
    dresult_N2: fill(2 * rowCount, 1),
  };
}

/** What both ways take and fill, on the device. */
export interface LogprobTensors {
  readonly rowCount: number;
  readonly shape: HeadShape;
  /** Hidden states as the host has them. */
  readonly values_ND: Float32Array<ArrayBuffer>;
  /** Inputs. */
  readonly h_ND: Operand;
  readonly w: Operand;
  readonly target_N: Tensor;
  readonly chunkStart_9: Tensor;
  readonly dresult_N2: Tensor;
  /** Outputs. */
  readonly result_N4: Tensor;
  readonly dh_ND: Tensor;
  readonly gradient: Tensor;
  /** Frees all of them. */
  readonly free: () => void;
}

/** Hidden states [rowCount, D] as an operand. At most 8,192 rows: one strip of a texture. */
export function createHidden(
  commands: Commands,
  values_ND: Float32Array<ArrayBuffer>,
  { rowCount }: { readonly rowCount: number },
): Operand {
  const { device, tuning: { operandMemory: memory } } = commands.gpu;
  const width4 = values_ND.length / rowCount / 4;
  const operand = createRowOperand(device, { label: "hidden states", rowCount, width4, memory });
  if (operand.tensor) commands.write(operand.tensor, values_ND);
  if (operand.texture) {
    device.queue.writeTexture(
      { texture: operand.texture },
      values_ND,
      { bytesPerRow: width4 * 16 },
      [width4, rowCount],
    );
  }
  return operand;
}

/**
 * Uploads the inputs, without the gradients of log-prob and entropy, and allocates the outputs.
 * @throws {UserError} When a tensor exceeds the device's limits.
 */
export function uploadLogprob(
  commands: Commands,
  sizes: LogprobSizes,
  inputs: LogprobInputs,
): LogprobTensors {
  const { rowCount, width, vocabSize } = sizes;
  const { device, tuning: { operandMemory } } = commands.gpu;
  const weights = createFlat(commands, "head", inputs.head.length);
  const floats = (label: string, count: number) =>
    createTensor(device, { label, sizeBytes: 4 * count });
  const tensors = {
    h_ND: createHidden(commands, inputs.h_ND, { rowCount }),
    w: createFlatOperand(device, { tensor: weights, memory: operandMemory }),
    target_N: floats("targets", rowCount),
    chunkStart_9: floats("starts of chunks", ROW_CHUNKS + 1),
    dresult_N2: floats("gradients of log-prob and entropy", 2 * rowCount),
    result_N4: floats("log-probs", 4 * rowCount),
    dh_ND: floats("gradient of hidden states", rowCount * width),
    gradient: createFlat(commands, "gradient of the head", inputs.head.length),
  };
  commands.write(weights, inputs.head);
  commands.refreshOperand(tensors.w, weights);
  commands.write(tensors.target_N, inputs.target_N);
  commands.write(tensors.chunkStart_9, chunkStarts(rowCount));
  commands.submit();
  return {
    ...tensors,
    rowCount,
    values_ND: inputs.h_ND,
    shape: { width, vocabSize, weightOffset: 0 },
    free: () => [weights, ...Object.values(tensors)].forEach(destroy),
  };
}
