/** Holds the kernels that read stored weights to src/reference/stored_weights.ts: rows of a table, products, log-probs. */
import type { Gpu } from "../../src/gpu/device.ts";
import { createWordOperand, destroy, TEXEL_BYTES, writeTexels } from "../../src/gpu/tensor.ts";
import { segmentCount } from "../../src/kernels/logprob.ts";
import {
  addStoredEmbeddingForward,
  addStoredLinearForward,
  addStoredLogprobForward,
  rowTexels,
  STORAGE_BYTES,
  type StoredMatrix,
  type WeightStorage,
} from "../../src/kernels/stored_weights.ts";
import {
  bf16Value,
  f16Value,
  storedEmbeddingForward,
  storedLinearForward,
  storedLogprobForward,
} from "../../src/reference/stored_weights.ts";
import { absolute, type Compare, randomF32, ROUNDOFF, roundoffs, withRun } from "./harness.ts";
import { sumError } from "./logprob.ts";

/** How a matrix is stored and cut: rows of each slice. */
export interface StoredCase {
  readonly storage: WeightStorage;
  readonly rowCount: number;
  readonly width: number;
  readonly sliceRows: readonly number[];
}

/** Bits of weights and what they are worth. Those of f16 have small numbers among them, which some hardware flushes. */
export function storedBits(count: number, storage: WeightStorage) {
  const random = randomF32(count, { seed: 11, scale: 1 });
  if (storage === "f32") return { bytes: new Uint8Array(random.buffer), values: random };
  const bits = Uint16Array.from(random, (value, i) => {
    const sign = value < 0 ? 0x8000 : 0;
    const fraction = Math.floor(Math.abs(value) * 1024);
    if (storage === "bf16") return sign | (0x3f00 + fraction % 128);
    return sign | (i % 5 === 0 ? fraction : 0x3800 + fraction);
  });
  const values = Float32Array.from(bits, storage === "bf16" ? bf16Value : f16Value);
  return { bytes: new Uint8Array(bits.buffer), values };
}

/** A matrix on the device, every slice in an operand of its own and away from its begin. */
async function withMatrix<T>(
  gpu: Gpu,
  { storage, width, sliceRows, bytes }: StoredCase & { readonly bytes: Uint8Array<ArrayBuffer> },
  use: (matrix: StoredMatrix) => Promise<T>,
): Promise<T> {
  const rowBytes = width * STORAGE_BYTES[storage];
  let firstRow = 0;
  const slices = sliceRows.map((rowCount, i) => {
    const texel = 3 + i;
    const part = bytes.subarray(firstRow * rowBytes, (firstRow + rowCount) * rowBytes);
    const words = createWordOperand(gpu.device, {
      label: "test weights",
      texelCount: texel + part.length / TEXEL_BYTES,
      memory: gpu.tuning.operandMemory,
    });
    writeTexels(gpu.device, words, { texel, bytes: part.slice() });
    firstRow += rowCount;
    return { words, texel, firstRow: firstRow - rowCount, rowCount };
  });
  try {
    return await use({ storage, width, slices });
  } finally {
    slices.forEach(({ words }) => destroy(words));
  }
}

function matrixOf(shape: StoredCase) {
  const rows = shape.sliceRows.reduce((a, b) => a + b);
  if (rowTexels(shape.width, shape.storage) % 1 !== 0) throw new RangeError("no whole texels");
  return { rows, ...storedBits(rows * shape.width, shape.storage) };
}

/** y = x Wᵀ + b, and added to what y held. */
export function compareStoredLinearForward(
  shape: StoredCase & { readonly accumulate: boolean },
): Compare {
  const { rowCount, width, accumulate } = shape;
  const { rows, bytes, values } = matrixOf(shape);
  const x_NK = randomF32(rowCount * width, { seed: 1 });
  const vectors = randomF32(8 + rows, { seed: 2 });
  const before = randomF32(rowCount * rows, { seed: 3 });
  const linear = (x: ArrayLike<number>, weight_MK: ArrayLike<number>, bias_M: ArrayLike<number>) =>
    storedLinearForward(x, { rowCount, inputWidth: width, outputWidth: rows, weight_MK, bias_M });
  const add = (y: Float64Array, held: ArrayLike<number>) =>
    accumulate ? y.map((value, i) => value + held[i]!) : y;
  const expected = add(linear(x_NK, values, vectors.subarray(8)), before);
  const sizes = linear(absolute(x_NK), absolute(values), absolute(vectors.subarray(8)));
  const bound = add(sizes, absolute(before)).map((size) => size * roundoffs(width + 2));
  return (gpu) =>
    withMatrix(gpu, { ...shape, bytes }, (matrix) =>
      withRun(gpu, async (run) => {
        const y_NM = accumulate ? run.tensor(before) : run.empty(before.length);
        run.replay({ rowCount }, (commands, plan) =>
          addStoredLinearForward(commands, plan, {
            x_NK: run.rows(rowCount, width, x_NK),
            matrix,
            vectors: run.tensor(vectors),
            y_NM,
            columnCount: rows,
            biasOffset: 8,
            accumulate,
          }));
        return [{ name: "y_NM", actual: await run.read(y_NM, before.length), expected, bound }];
      }));
}

/** Rows of a table, exactly. */
export function compareStoredEmbeddingForward(shape: StoredCase): Compare {
  const { rowCount, width } = shape;
  const { rows, bytes, values } = matrixOf(shape);
  const id_N = Array.from({ length: rowCount }, (_, n) => (n * 5 + rows - 1) % rows);
  const expected = storedEmbeddingForward(id_N, { width, vocabularySize: rows, weight_VD: values });
  return (gpu) =>
    withMatrix(gpu, { ...shape, bytes }, (matrix) =>
      withRun(gpu, async (run) => {
        const x_ND = run.empty(expected.length);
        run.replay({ rowCount }, (commands, plan) =>
          addStoredEmbeddingForward(commands, plan, {
            token_N4: run.tensor(Uint32Array.from(id_N.flatMap((id) => [id, 1, 2, 3]))),
            matrix,
            x_ND,
          }));
        const actual = await run.read(x_ND, expected.length);
        return [{ name: "x_ND", actual, expected, bound: 0 }];
      }));
}

/** Log-probs and entropies. */
export function compareStoredLogprobForward(
  shape: StoredCase & { readonly temperature: number },
): Compare {
  const { rowCount, width, temperature } = shape;
  const { rows, bytes, values } = matrixOf(shape);
  const h_ND = randomF32(rowCount * width, { seed: 1 });
  const target_N = Uint32Array.from({ length: rowCount }, (_, n) => (rows - 1) * n % rows);
  const { logp_N, entropy_N } = storedLogprobForward(h_ND, {
    rowCount,
    width,
    vocabularySize: rows,
    weight_VD: values,
    target_N,
    temperature,
  });
  const terms = storedLinearForward(absolute(h_ND), {
    rowCount,
    inputWidth: width,
    outputWidth: rows,
    weight_MK: absolute(values),
    bias_M: undefined,
  });
  const largest = terms.reduce((max, size) => Math.max(max, size), 0) / temperature;
  const logitError = roundoffs(width + 3) * largest;
  const span = 2 * largest;
  const bounds = {
    logp: 2 * logitError + sumError(rows) + ROUNDOFF * span,
    entropy: (2 * logitError + sumError(rows)) * (2 + Math.log(rows)),
  };
  return (gpu) =>
    withMatrix(gpu, { ...shape, bytes }, (matrix) =>
      withRun(gpu, async (run) => {
        const result_N4 = run.empty(4 * rowCount);
        run.replay({ rowCount, temperature }, (commands, plan) =>
          addStoredLogprobForward(commands, plan, {
            h_ND: run.rows(rowCount, width, h_ND),
            matrix,
            target_N: run.tensor(target_N),
            segments: run.empty(4 * rowCount * segmentCount(rows)),
            result_N4,
            vocabSize: rows,
          }));
        const found = await run.read(result_N4, 4 * rowCount);
        const column = (c: number) =>
          found.filter((_, i) => i % 4 === c);
        return [
          { name: "logp_N", actual: column(0), expected: logp_N, bound: bounds.logp },
          { name: "entropy_N", actual: column(1), expected: entropy_N, bound: bounds.entropy },
        ];
      }));
}
