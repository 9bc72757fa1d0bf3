/** Holds the linear kernels to src/reference/linear.ts and gelu.ts. */
import { addGradientReduce } from "../../src/kernels/clip_adam.ts";
import {
  addLinear,
  addLinearBackwardInput,
  addLinearBackwardWeight,
} from "../../src/kernels/linear.ts";
import { chunkStarts, ROW_CHUNKS } from "../../src/kernels/operands.ts";
import { gelu, geluDerivative } from "../../src/reference/gelu.ts";
import { linearBackward, linearForward } from "../../src/reference/linear.ts";
import {
  absolute,
  type Compare,
  DIVISION,
  expError,
  randomF32,
  ROUNDOFF,
  roundoffs,
  withRun,
} from "./harness.ts";

/** N, K and M of y [N, M] = x [N, K] Wᵀ + b. */
export interface LinearCase {
  readonly rowCount: number;
  readonly width: number;
  readonly columnCount: number;
}

/** Where the weight lies in the flat parameters: not at 0, so that a forgotten offset shows. */
const OFFSET = 8;
/** The slope of GELU is at most 1.13. */
const GELU_SLOPE = 1.13;

/** Rows differ in size and no two weights are alike, so that a wrong row or a transposed weight shows. */
function inputs({ rowCount: N, width: K, columnCount: M }: LinearCase) {
  const w = randomF32(OFFSET + M * K + M, { seed: 2, scale: 0.5 });
  return {
    w,
    weight_OI: w.subarray(OFFSET, OFFSET + M * K),
    bias_O: w.subarray(OFFSET + M * K),
    x_NI: randomF32(N * K, { seed: 1 }).map((x, i) => x * (1 + Math.floor(i / K) % 3)),
    dy_NO: randomF32(N * M, { seed: 3 }).map((dy, i) => dy * (1 + Math.floor(i / M) % 3)),
    residual_NO: randomF32(N * M, { seed: 4, offset: 1 }),
    sizes: { rowCount: N, inputWidth: K, outputWidth: M },
    shape: { width: K, columnCount: M, weightOffset: OFFSET },
  };
}

/** x Wᵀ + b and its bound: K products, then the bias, of the sum of absolute terms. */
function product(shape: LinearCase) {
  const { x_NI, weight_OI, bias_O, sizes } = inputs(shape);
  const pre_NO = linearForward(x_NI, { ...sizes, weight_OI, bias_O }).y_NO;
  const terms_NO = linearForward(absolute(x_NI), {
    ...sizes,
    weight_OI: absolute(weight_OI),
    bias_O: absolute(bias_O),
  }).y_NO;
  return { pre_NO, bound_NO: terms_NO.map((terms) => roundoffs(shape.width + 1) * terms) };
}

/** y = x Wᵀ + b. */
export function compareLinearForward(size: LinearCase): Compare {
  const { rowCount, columnCount, width } = size;
  const { w, x_NI, shape } = inputs(size);
  const { pre_NO, bound_NO } = product(size);
  return (gpu) =>
    withRun(gpu, async (run) => {
      const y_NM = run.empty(rowCount * columnCount);
      run.replay({ rowCount }, (commands, plan) =>
        addLinear(commands, plan, {
          product: "forward",
          tensors: { x_NK: run.rows(rowCount, width, x_NI), w: run.flat(w).w, y_NM },
          shape,
        }));
      const actual = await run.read(y_NM, rowCount * columnCount);
      return [{ name: "y_NM", actual, expected: pre_NO, bound: bound_NO }];
    });
}

/** y = residual + (x Wᵀ + b): one more addition. */
export function compareLinearResidualForward(size: LinearCase): Compare {
  const { rowCount, columnCount, width } = size;
  const { w, x_NI, residual_NO, shape } = inputs(size);
  const { pre_NO, bound_NO } = product(size);
  const expected = pre_NO.map((pre, i) => residual_NO[i]! + pre);
  return (gpu) =>
    withRun(gpu, async (run) => {
      const y_NM = run.empty(rowCount * columnCount);
      run.replay({ rowCount }, (commands, plan) =>
        addLinear(commands, plan, {
          product: "residual_forward",
          tensors: {
            x_NK: run.rows(rowCount, width, x_NI),
            w: run.flat(w).w,
            residual_NM: run.tensor(residual_NO),
            y_NM,
          },
          shape,
        }));
      const actual = await run.read(y_NM, rowCount * columnCount);
      const bound = bound_NO.map((b, i) => b + 2 * ROUNDOFF * Math.abs(expected[i]!));
      return [{ name: "y_NM", actual, expected, bound }];
    });
}

/**
 * Relative error of σ(2u) at z: exp at 2u, whose argument carries five roundings, then an addition and a division. In σ and
 * in 1 − σ the error of exp is damped, never amplified.
 */
function gateError(z: number): number {
  const argument = 2 * Math.sqrt(2 / Math.PI) * Math.abs(z + 0.044715 * z ** 3);
  return expError(argument) + argument * roundoffs(6) + ROUNDOFF + DIVISION;
}

/** z = x Wᵀ + b and y = gelu(z). */
export function compareLinearGeluForward(size: LinearCase): Compare {
  const { rowCount, columnCount, width } = size;
  const { w, x_NI, shape } = inputs(size);
  const { pre_NO, bound_NO } = product(size);
  return (gpu) =>
    withRun(gpu, async (run) => {
      const z_NM = run.empty(rowCount * columnCount);
      const y_NM = run.rows(rowCount, columnCount);
      run.replay({ rowCount }, (commands, plan) =>
        addLinear(commands, plan, {
          product: "gelu_forward",
          tensors: { x_NK: run.rows(rowCount, width, x_NI), w: run.flat(w).w, z_NM, y_NM },
          shape,
        }));
      const y_NO = pre_NO.map(gelu);
      const bound = y_NO.map((y, i) =>
        GELU_SLOPE * bound_NO[i]! + Math.abs(y) * (gateError(pre_NO[i]!) + ROUNDOFF)
      );
      const z = await run.read(z_NM, rowCount * columnCount);
      const y = await run.readRows(y_NM, rowCount, columnCount);
      return [
        { name: "z_NM", actual: z, expected: pre_NO, bound: bound_NO },
        { name: "y_NM", actual: y, expected: y_NO, bound },
      ];
    });
}

/** What the backward of a product may be off by: the sums of absolute terms times their number. */
function backward(size: LinearCase) {
  const { x_NI, dy_NO, weight_OI, sizes } = inputs(size);
  const gradient = linearBackward(dy_NO, { ...sizes, x_NI, weight_OI });
  const terms = linearBackward(absolute(dy_NO), {
    ...sizes,
    x_NI: absolute(x_NI),
    weight_OI: absolute(weight_OI),
  });
  return { gradient, terms };
}

/** Pads rows of `columnCount` to `paddedCount` with zeros. */
function padded(rows: Float32Array, columnCount: number, paddedCount: number) {
  const rowCount = rows.length / columnCount;
  const result = new Float32Array(rowCount * paddedCount);
  for (let n = 0; n < rowCount; n++) {
    result.set(rows.subarray(n * columnCount, (n + 1) * columnCount), n * paddedCount);
  }
  return result;
}

/** dx = dy W, or what dx holds + dy W; dy's rows may be padded. */
export function compareLinearBackwardInput(
  size: LinearCase & { readonly accumulate?: boolean },
): Compare {
  const { rowCount, columnCount, width, accumulate = false } = size;
  const { w, dy_NO, shape } = inputs(size);
  const { gradient, terms } = backward(size);
  const held_NI = randomF32(rowCount * width, { seed: 5 });
  const expected = gradient.dx_NI.map((dx, i) => accumulate ? held_NI[i]! + dx : dx);
  const bound = terms.dx_NI.map((sum) => roundoffs(columnCount + 1) * (sum + 1));
  const dyWidth = 4 * Math.ceil(columnCount / 4) + 8;
  return (gpu) =>
    withRun(gpu, async (run) => {
      const dx_NK = run.tensor(held_NI);
      run.replay({ rowCount }, (commands, plan) =>
        addLinearBackwardInput(commands, plan, {
          dy_NM: run.rows(rowCount, dyWidth, padded(dy_NO, columnCount, dyWidth)),
          w: run.flat(w).w,
          dx_NK,
          shape,
          dyWidth,
          accumulate,
        }));
      const actual = await run.read(dx_NK, rowCount * width);
      return [{ name: "dx_NK", actual, expected, bound }];
    });
}

/** dz = (dy W) ⊙ gelu'(z), through y = gelu(z) Wᵀ + b. */
export function compareLinearGeluBackwardInput(size: LinearCase): Compare {
  const { rowCount, columnCount, width } = size;
  const { w, dy_NO, shape } = inputs(size);
  const { gradient, terms } = backward(size);
  const z_NI = randomF32(rowCount * width, { seed: 6, scale: 4 });
  const expected = gradient.dx_NI.map((dx, i) => dx * geluDerivative(z_NI[i]!));
  const bound = expected.map((dz, i) => {
    const z = Math.abs(z_NI[i]!);
    const slope = 2 * Math.sqrt(2 / Math.PI) * (1 + 3 * 0.044715 * z ** 2);
    // gelu' = σ + z·σ·(1 − σ)·slope, each factor rounded; σ and 1 − σ carry the error of the gate.
    const derivativeError = (gateError(z) + roundoffs(6)) * (1 + z * slope / 4);
    return GELU_SLOPE * roundoffs(columnCount) * terms.dx_NI[i]! +
      Math.abs(gradient.dx_NI[i]!) * derivativeError + ROUNDOFF * Math.abs(dz);
  });
  return (gpu) =>
    withRun(gpu, async (run) => {
      const dz_NK = run.rows(rowCount, width);
      run.replay({ rowCount }, (commands, plan) =>
        addLinear(commands, plan, {
          product: "gelu_backward_input",
          tensors: {
            dy_NM: run.rows(rowCount, columnCount, dy_NO),
            w: run.flat(w).w,
            z_NK: run.tensor(z_NI),
            dz_NK,
          },
          shape,
        }));
      const actual = await run.readRows(dz_NK, rowCount, width);
      return [{ name: "dz_NK", actual, expected, bound }];
    });
}

/** dW and db through the reduction of chunks. */
export function compareLinearBackwardWeight(size: LinearCase): Compare {
  const { rowCount, columnCount, width } = size;
  const { x_NI, dy_NO, shape } = inputs(size);
  const { gradient, terms } = backward(size);
  const length = columnCount * (width + 1);
  const chunkStride = 4 + 4 * Math.ceil(length / 4);
  const dyWidth = 4 * Math.ceil(columnCount / 4);
  const flatten = ({ dweight_OI, dbias_O }: typeof gradient) => [...dweight_OI, ...dbias_O];
  const bound = flatten(terms).map((sum) => roundoffs(rowCount + ROW_CHUNKS) * sum);
  return (gpu) =>
    withRun(gpu, async (run) => {
      const partials = run.empty(ROW_CHUNKS * chunkStride);
      const after = new Float32Array(8).fill(7);
      const held = run.tensor(Float32Array.from([...new Float32Array(OFFSET + length), ...after]));
      run.replay({ rowCount, accumulate: false }, (commands, plan) => {
        addLinearBackwardWeight(commands, plan, {
          dy_NM: run.rows(rowCount, dyWidth, padded(dy_NO, columnCount, dyWidth)),
          x_NK: run.rows(rowCount, width, x_NI),
          chunkStart_9: run.tensor(chunkStarts(rowCount)),
          partials,
          shape,
          dyWidth,
          hasBias: true,
          partialOffset: 4,
          chunkStride,
        });
        addGradientReduce(commands, plan, {
          partials,
          gradient: held,
          chunkStride,
          ranges: [{ length, partialOffset: 4, gradientOffset: OFFSET }],
        });
      });
      const found = await run.read(held, OFFSET + length + after.length);
      return [
        {
          name: "dW_MK, db_M",
          actual: found.slice(OFFSET, OFFSET + length),
          expected: flatten(gradient),
          bound,
        },
        {
          name: "what lies behind",
          actual: found.slice(OFFSET + length),
          expected: after,
          bound: 0,
        },
      ];
    });
}
