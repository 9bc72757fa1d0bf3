/** Two ways from hidden states to log-prob, entropy and their gradients, over the same inputs: fused, and through [N, V]. */
import type { Commands, Plan } from "../gpu/commands.ts";
import {
  createRowOperand,
  createTensor,
  destroy,
  OFFSET_ALIGNMENT_BYTES,
  type Operand,
  slice,
  type Tensor,
} from "../gpu/tensor.ts";
import {
  addLogprobBackward,
  addLogprobForward,
  headPartialBytes,
  type LogprobSize,
  segmentCount,
  tileWidth,
} from "../kernels/logprob.ts";
import { ROW_CHUNKS } from "../kernels/operands.ts";
import { createHidden, type LogprobTensors } from "./logprob_inputs.ts";
import { addUnfusedBackward, addUnfusedForward, paddedVocabulary } from "./unfused_logprob.ts";

/** One way, ready to be recorded. */
export interface LogprobPath {
  /** Records the forward over all rows. */
  readonly forward: () => void;
  /** Records the backward over all rows, after the forward. */
  readonly backward: () => void;
  /** Device memory beyond inputs and outputs, as it was allocated; not the uniforms (1 MiB) that all plans share. */
  readonly workspaceBytes: number;
  /** Frees it. */
  readonly free: () => void;
}

type Size = LogprobSize & { readonly accumulate: boolean };

/** Memory that is counted, and freed together. */
class Allocations {
  readonly #device: GPUDevice;
  readonly #all: (Tensor | Operand)[] = [];

  constructor(commands: Commands) {
    this.#device = commands.gpu.device;
  }

  keep<M extends Tensor | Operand>(memory: M): M {
    this.#all.push(memory);
    return memory;
  }

  floats(label: string, count: number): Tensor {
    return this.keep(createTensor(this.#device, { label, sizeBytes: 4 * count }));
  }

  get sizeBytes(): number {
    return this.#all.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  }

  free(): void {
    this.#all.forEach(destroy);
  }
}

/**
 * The project's own kernels: of [N, V] they store one tile of the gradient.
 * @throws {UserError} When a tensor exceeds the device's limits.
 */
export function fusedPath(commands: Commands, tensors: LogprobTensors): LogprobPath {
  const { rowCount, shape } = tensors;
  const { device, tuning: { operandMemory: memory } } = commands.gpu;
  const own = new Allocations(commands);
  const segments = own.floats("segments", 4 * rowCount * segmentCount(shape.vocabSize));
  const dz_NC = own.keep(createRowOperand(device, {
    label: "logit gradients of a tile",
    rowCount,
    width4: tileWidth(shape.vocabSize) / 4,
    memory,
  }));
  const partials = own.floats("partial sums of a tile", headPartialBytes(shape) / 4);
  const forward: Plan<Size> = commands.plan();
  const backward: Plan<Size> = commands.plan();
  addLogprobForward(commands, forward, { ...tensors, segments });
  addLogprobBackward(commands, backward, { ...tensors, dz_NC, partials });
  const size = { rowCount, temperature: 1, accumulate: false };
  return {
    forward: () => commands.replay(forward, size),
    backward: () => commands.replay(backward, size),
    workspaceBytes: own.sizeBytes,
    free: () => own.free(),
  };
}

/** Rows whose logits fit one binding, so that slices of every array of theirs start where bindings may. */
function sliceRows(bindingBytes: number, vocabSize: number): number {
  // The array of least bytes a row is target_N, with 4.
  const step = OFFSET_ALIGNMENT_BYTES / 4;
  const rows = bindingBytes / (4 * paddedVocabulary(vocabSize));
  return Math.max(step, Math.floor(rows / step) * step);
}

/** One slice of rows on the way through [N, V]. */
interface UnfusedSlice {
  readonly forward: Plan<Size>;
  readonly backward: Plan<Size>;
  readonly size: Size;
}

function planSlice(
  commands: Commands,
  tensors: LogprobTensors,
  options: {
    readonly first: number;
    readonly rowCount: number;
    readonly segments: Tensor;
    readonly partials: Tensor;
    readonly inputs: Allocations;
    readonly own: Allocations;
  },
): UnfusedSlice {
  const { first, rowCount, inputs, own, ...shared } = options;
  const { width: D, vocabSize: V } = tensors.shape;
  const { device, tuning: { operandMemory: memory } } = commands.gpu;
  const rows = (tensor: Tensor, floats: number) =>
    slice(tensor, 4 * first * floats, 4 * rowCount * floats);
  const values_ND = tensors.values_ND.subarray(first * D, (first + rowCount) * D);
  const part = {
    ...tensors,
    ...shared,
    h_ND: inputs.keep(createHidden(commands, values_ND, { rowCount })),
    target_N: rows(tensors.target_N, 1),
    dresult_N2: rows(tensors.dresult_N2, 2),
    result_N4: rows(tensors.result_N4, 4),
    dh_ND: rows(tensors.dh_ND, D),
    logits_NV: own.floats("logits", rowCount * V),
    dz_NC: own.keep(createRowOperand(device, {
      label: "logit gradients",
      rowCount,
      width4: paddedVocabulary(V) / 4,
      memory,
    })),
  };
  const forward: Plan<Size> = commands.plan();
  const backward: Plan<Size> = commands.plan();
  addUnfusedForward(commands, forward, part);
  addUnfusedBackward(commands, backward, part);
  return { forward, backward, size: { rowCount, temperature: 1, accumulate: first > 0 } };
}

/**
 * The way that stores logits and their gradient, both [N, V], in slices of rows that fit a binding.
 * @param options.bindingBytes What one binding may hold (default: the device's limit).
 * @throws {UserError} When a row or the partial sums of the head's gradient exceed the device's limits.
 */
export function unfusedPath(
  commands: Commands,
  tensors: LogprobTensors,
  { bindingBytes = commands.gpu.device.limits.maxStorageBufferBindingSize } = {},
): LogprobPath {
  const { rowCount: N, shape: { width, vocabSize } } = tensors;
  const rowsEach = sliceRows(bindingBytes, vocabSize);
  const own = new Allocations(commands);
  // Each slice reads a copy of its hidden states, which are inputs and not counted.
  const inputs = new Allocations(commands);
  const free = () => [own, inputs].forEach((memory) => memory.free());
  const slices: UnfusedSlice[] = [];
  try {
    const segments = own.floats(
      "segments",
      4 * Math.min(rowsEach, N) * segmentCount(vocabSize),
    );
    const partials = own.floats(
      "partial sums of the head's gradient",
      ROW_CHUNKS * paddedVocabulary(vocabSize) * (width + 1),
    );
    for (let first = 0; first < N; first += rowsEach) {
      const rowCount = Math.min(rowsEach, N - first);
      const options = { first, rowCount, segments, partials, inputs, own };
      slices.push(planSlice(commands, tensors, options));
    }
  } catch (error) {
    free();
    throw error;
  }
  return {
    forward: () => slices.forEach(({ forward, size }) => commands.replay(forward, size)),
    backward: () => slices.forEach(({ backward, size }) => commands.replay(backward, size)),
    workspaceBytes: own.sizeBytes,
    free,
  };
}
