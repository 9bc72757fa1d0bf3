/** A model's weights in GPU memory: the flat buffer, its operand copy, initial values, checkpoints and hash. */
import { UserError } from "../core/errors.ts";
import { nearestName } from "../core/nearest.ts";
import { type RandomSequence, randomSequence, STREAM } from "../core/rng.ts";
import { sha256 } from "../core/sha256.ts";
import type { Commands } from "../gpu/commands.ts";
import {
  createFlatOperand,
  createTensor,
  destroy,
  FLAT_TEXTURE_WIDTH,
  type Operand,
  roundUp,
  type Tensor,
} from "../gpu/tensor.ts";
import {
  type ModelConfig,
  type ParameterLayout,
  parameterLayout,
  type ParameterRole,
} from "./config.ts";
import type { Tensor as FileTensor } from "./safetensors.ts";

/** Weights on the GPU. `operand` is what the kernels read; it is refreshed after every change of `flat`. */
export interface Parameters {
  /** The sizes. */
  readonly config: ModelConfig;
  /** Where each parameter lies. */
  readonly layout: ParameterLayout;
  /** All parameters, f32 [W]. */
  readonly flat: Tensor;
  /** Their copy for matrix products. */
  readonly operand: Operand;
}

/** A zeroed flat tensor of W floats, padded so that it can be copied to whole texture rows. */
export function createFlat(commands: Commands, label: string, parameterCount: number): Tensor {
  return createTensor(commands.gpu.device, {
    label,
    sizeBytes: roundUp(parameterCount * 4, FLAT_TEXTURE_WIDTH * 16),
  });
}

/**
 * Creates weights on the GPU.
 * @param values_W All parameters in the layout's order.
 * @throws {RangeError} When the count disagrees with the config or the config is not allowed.
 */
export function createParameters(
  commands: Commands,
  config: ModelConfig,
  values_W: Float32Array<ArrayBuffer>,
): Parameters {
  const layout = parameterLayout(config);
  const flat = createFlat(commands, "weights", layout.parameterCount);
  const operand = createFlatOperand(commands.gpu.device, {
    tensor: flat,
    memory: commands.gpu.tuning.operandMemory,
  });
  const parameters = { config, layout, flat, operand };
  writeParameters(commands, parameters, values_W);
  return parameters;
}

/**
 * Replaces all weights.
 * @throws {RangeError} When the count is not W.
 */
export function writeParameters(
  commands: Commands,
  parameters: Parameters,
  values_W: Float32Array<ArrayBuffer>,
): void {
  const { parameterCount } = parameters.layout;
  if (values_W.length !== parameterCount) {
    throw new RangeError(
      `Cannot write weights: found ${values_W.length} values, the model has ${parameterCount}`,
    );
  }
  commands.submit();
  commands.write(parameters.flat, values_W);
  commands.refreshOperand(parameters.operand, parameters.flat);
}

/** All weights, in the layout's order. */
export async function readParameters(
  commands: Commands,
  parameters: Parameters,
): Promise<Float32Array<ArrayBuffer>> {
  const sizeBytes = parameters.layout.parameterCount * 4;
  const [bytes] = await commands.read([{ tensor: parameters.flat, sizeBytes }]);
  return new Float32Array(bytes ?? new ArrayBuffer(0));
}

/** Frees the GPU memory. */
export function destroyParameters(parameters: Parameters): void {
  destroy(parameters.operand);
  destroy(parameters.flat);
}

/** How each value of a parameter begins, by its role. */
const INITIAL: Readonly<
  Record<ParameterRole, (random: RandomSequence, fanIn: number) => number>
> = {
  embedding: (random) => random.normal(),
  linear: (random, fanIn) => 1 / Math.sqrt(fanIn) * (2 * random.uniform() - 1),
  norm_gain: () => 1,
  norm_bias: () => 0,
};

/**
 * Initial values: token table ~ N(0, 1); linear weights and biases ~ U(−1/√fan_in, 1/√fan_in); LayerNorm 1 and 0 (the
 * defaults of PyTorch's Embedding, Linear and LayerNorm). Runs are unstable with others.
 */
export function initialValues(config: ModelConfig, seed: number): Float32Array<ArrayBuffer> {
  const layout = parameterLayout(config);
  const values = new Float32Array(layout.parameterCount);
  const random = randomSequence({ seed, stream: STREAM.initialize });
  for (const { role, fanIn, offset, length } of layout.ranges) {
    const draw = INITIAL[role];
    for (let i = offset; i < offset + length; i++) values[i] = draw(random, fanIn);
  }
  return values;
}

/** The parameters by name as safetensors arrays, for a checkpoint; `prefix` stands before every name. */
export function toTensors(
  config: ModelConfig,
  values_W: Float32Array<ArrayBuffer>,
  prefix = "",
): Map<string, FileTensor> {
  return new Map(
    parameterLayout(config).ranges.map(({ name, shape, offset, length }) => [
      prefix + name,
      { dtype: "F32", shape, data: values_W.subarray(offset, offset + length) },
    ]),
  );
}

/**
 * Reads the parameters out of safetensors arrays. Names that do not start with `prefix` are ignored.
 * @throws {UserError} When a parameter is missing, unknown, of another shape, or not finite.
 */
export function fromTensors(
  config: ModelConfig,
  tensors: ReadonlyMap<string, FileTensor>,
  prefix = "",
): Float32Array<ArrayBuffer> {
  const layout = parameterLayout(config);
  const values = new Float32Array(layout.parameterCount);
  const known = new Set(layout.ranges.map(({ name }) => prefix + name));
  for (const name of tensors.keys()) {
    if (name.startsWith(prefix) && !known.has(name)) {
      // The whole list of names would bury the sentence.
      const nearest = nearestName(name, [...known]);
      const hint = nearest === undefined ? "is it a TinyAgent?" : `did you mean "${nearest}"?`;
      throw new UserError(`Found an unknown parameter "${name}" in the checkpoint; ${hint}`);
    }
  }
  for (const { name, shape, offset } of layout.ranges) {
    const tensor = tensors.get(prefix + name);
    if (!tensor) {
      throw new UserError(`The checkpoint has no parameter "${prefix + name}"; is it a TinyAgent?`);
    }
    if (tensor.dtype !== "F32" || tensor.shape.join() !== shape.join()) {
      throw new UserError(
        `Parameter "${name}" is ${tensor.dtype} [${tensor.shape}] in the checkpoint, but the model needs F32 [${shape}]`,
      );
    }
    const bad = tensor.data.findIndex((value) => !Number.isFinite(value));
    if (bad >= 0) {
      throw new UserError(
        `Parameter "${name}" holds ${tensor.data[bad]} at entry ${bad}; all weights must be finite`,
        1,
      );
    }
    values.set(tensor.data, offset);
  }
  return values;
}

/**
 * The config that the shapes in a checkpoint imply, with `headCount` heads (the one size that no shape shows).
 * @throws {UserError} When the arrays are not those of a TinyAgent.
 */
export function inferConfig(
  tensors: ReadonlyMap<string, FileTensor>,
  headCount = 4,
): ModelConfig {
  const [vocabSize, width] = tensors.get("tok_emb.weight")?.shape ?? [];
  const [feedForwardWidth] = tensors.get("blocks.0.fc.weight")?.shape ?? [];
  if (!vocabSize || !width || !feedForwardWidth) {
    throw new UserError(
      'The checkpoint has no "tok_emb.weight" [V, D] and "blocks.0.fc.weight" [F, D]; is it a TinyAgent?',
    );
  }
  let layerCount = 0;
  while (tensors.has(`blocks.${layerCount}.ln1.weight`)) layerCount++;
  return { vocabSize, width, headCount, feedForwardWidth, layerCount };
}

/** SHA-256 over the little-endian f32 values, as hexadecimal: equal hashes mean equal bits. */
export async function hashWeights(values_W: Float32Array<ArrayBuffer>): Promise<string> {
  return await sha256(values_W);
}
