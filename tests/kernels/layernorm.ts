/** Holds the layernorm kernels to src/reference/layernorm.ts. */
import { addGradientReduce } from "../../src/kernels/clip_adam.ts";
import { addLayernormBackward, addLayernormForward } from "../../src/kernels/layernorm.ts";
import { chunkStarts, ROW_CHUNKS } from "../../src/kernels/operands.ts";
import { layernormBackward, layernormForward } from "../../src/reference/layernorm.ts";
import { type Compare, DIVISION, randomF32, ROUNDOFF, roundoffs, withRun } from "./harness.ts";

/** Rows, width, and what is added to every input. */
export interface LayernormCase {
  readonly rowCount: number;
  readonly width: number;
  readonly offset: number;
  readonly hasResidual?: boolean;
}

function inputs({ rowCount: N, width: D, offset }: LayernormCase) {
  return {
    // Gain and bias do not start at 0, so that a forgotten offset shows.
    w: randomF32(8 + 2 * D, { seed: 2, scale: 2 }),
    x_ND: randomF32(N * D, { seed: 1, offset }),
    dy_ND: randomF32(N * D, { seed: 3 }),
    dresidual_ND: randomF32(N * D, { seed: 4 }),
  };
}

/**
 * What one row's moments may be off by: the mean by a sum of D/4 terms, two additions and a division; a centred value by
 * that and its own rounding; rstd, relatively, by the same of the squares (half of it, because of the root) and by division
 * and root.
 */
function momentErrors(rstd: number, { width: D, offset }: LayernormCase) {
  const largest = Math.abs(offset) + 1;
  const mean = roundoffs(D / 4 + 2) * largest + DIVISION * largest;
  const centred = mean + ROUNDOFF * largest;
  // Squares: each centred value is below 2 and off by `centred`; rstd goes with minus one half of the variance.
  const relativeRstd = rstd ** 2 * centred * 2 + roundoffs(D / 4 + 4) + 3 * DIVISION;
  return { mean, centred, relativeRstd };
}

/** y, mean and rstd. */
export function compareLayernormForward(shape: LayernormCase): Compare {
  const { rowCount, width } = shape;
  const { x_ND, w } = inputs(shape);
  const gain_D = w.subarray(8, 8 + width), bias_D = w.subarray(8 + width);
  const { y_ND, mean_N, rstd_N } = layernormForward(x_ND, { rowCount, width, gain_D, bias_D });
  const bound_ND = new Float64Array(y_ND.length);
  const bound_N2 = new Float64Array(2 * rowCount);
  const moments_N2 = new Float64Array(2 * rowCount);
  for (let n = 0; n < rowCount; n++) {
    const errors = momentErrors(rstd_N[n]!, shape);
    moments_N2.set([mean_N[n]!, rstd_N[n]!], 2 * n);
    bound_N2.set([errors.mean, errors.relativeRstd * rstd_N[n]!], 2 * n);
    for (let d = 0; d < width; d++) {
      const gain = Math.abs(gain_D[d]!);
      const normalized = Math.abs(x_ND[n * width + d]! - mean_N[n]!) * rstd_N[n]!;
      bound_ND[n * width + d] = gain * errors.centred * rstd_N[n]! +
        gain * normalized * (errors.relativeRstd + roundoffs(3)) + ROUNDOFF * Math.abs(bias_D[d]!);
    }
  }
  return (gpu) =>
    withRun(gpu, async (run) => {
      const y = run.rows(rowCount, width);
      const moments = run.empty(2 * rowCount);
      run.replay({ rowCount }, (commands, plan) =>
        addLayernormForward(commands, plan, {
          x_ND: run.tensor(x_ND),
          w: run.flat(w).w,
          y_ND: y,
          moments_N2: moments,
          width,
          gainOffset: 8,
        }));
      const actual = await run.readRows(y, rowCount, width);
      const found_N2 = await run.read(moments, 2 * rowCount);
      return [
        { name: "y_ND", actual, expected: y_ND, bound: bound_ND },
        { name: "moments_N2", actual: found_N2, expected: moments_N2, bound: bound_N2 },
      ];
    });
}

/** dx, and dgain and dbias through the reduction of chunks. */
export function compareLayernormBackward(shape: LayernormCase): Compare {
  const { rowCount, width, hasResidual = false } = shape;
  const { x_ND, w, dy_ND, dresidual_ND } = inputs(shape);
  const gain_D = w.subarray(8, 8 + width), bias_D = w.subarray(8 + width);
  const forward = layernormForward(x_ND, { rowCount, width, gain_D, bias_D });
  // The kernel takes the moments as f32; so does the reference.
  const moments_N2 = Float32Array.from(
    { length: 2 * rowCount },
    (_, i) => (i % 2 === 0 ? forward.mean_N : forward.rstd_N)[i >> 1]!,
  );
  const mean_N = moments_N2.filter((_, i) => i % 2 === 0);
  const rstd_N = moments_N2.filter((_, i) => i % 2 === 1);
  const expected = layernormBackward(dy_ND, { rowCount, width, x_ND, gain_D, mean_N, rstd_N });
  const dx_ND = expected.dx_ND.map((dx, i) => hasResidual ? dx + dresidual_ND[i]! : dx);
  // |dy| ≤ 1, |gain| ≤ 2 and |x̂| ≤ 2·rstd: the means are of products below 4·rstd, over sums of D/4 terms; then x̂·mean.
  const rstd = rstd_N.reduce((max, x) => Math.max(max, x), 0);
  const bound = roundoffs(width / 4 + 12) * rstd * (2 + 2 + 8 * rstd ** 2) + 2 * ROUNDOFF;
  return (gpu) =>
    withRun(gpu, async (run) => {
      const residual = run.rows(rowCount, width, dresidual_ND);
      const dx = run.rows(rowCount, width);
      const partials = run.empty(ROW_CHUNKS * (4 + 2 * width));
      const gradient = run.tensor(new Float32Array(8 + 2 * width));
      run.replay({ rowCount, accumulate: false }, (commands, plan) => {
        addLayernormBackward(commands, plan, {
          dy_ND: run.tensor(dy_ND),
          x_ND: run.tensor(x_ND),
          moments_N2: run.tensor(moments_N2),
          w: run.flat(w).w,
          dresidual_ND: hasResidual ? residual : undefined,
          spare_ND: residual,
          dx_ND: dx,
          chunkStart_9: run.tensor(chunkStarts(rowCount)),
          partials,
          width,
          gainOffset: 8,
          partialOffset: 4,
          chunkStride: 4 + 2 * width,
        });
        addGradientReduce(commands, plan, {
          partials,
          gradient,
          chunkStride: 4 + 2 * width,
          ranges: [{ length: 2 * width, partialOffset: 4, gradientOffset: 8 }],
        });
      });
      const actual = await run.readRows(dx, rowCount, width);
      const dparameters = (await run.read(gradient, 8 + 2 * width)).slice(8);
      // Sums over rows of products below 2·rstd, x̂ being rounded twice.
      const sums = roundoffs(rowCount + ROW_CHUNKS + 2) * rowCount * 2 * rstd;
      return [
        { name: "dx_ND", actual, expected: dx_ND, bound },
        {
          name: "dgain_D, dbias_D",
          actual: dparameters,
          expected: [...expected.dgain_D, ...expected.dbias_D],
          bound: sums,
        },
      ];
    });
}
