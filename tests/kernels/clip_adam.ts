/** Holds gradient norm, clip and Adam to src/reference/clip_adam.ts. */
import {
  addClipAdam,
  addGradientNorm,
  firstNotFinite,
  normBlockCount,
} from "../../src/kernels/clip_adam.ts";
import { clipAdam, clipFactor } from "../../src/reference/clip_adam.ts";
import { type Compare, DIVISION, randomF32, ROUNDOFF, roundoffs, withRun } from "./harness.ts";

/** W, the clip and the step's number. */
export interface ClipAdamCase {
  readonly parameterCount: number;
  readonly maxNorm: number;
  readonly step: number;
}

const ADAM = { learningRate: 1e-2, beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };

/** Gradients of very different sizes; moments as some steps would have left them. */
function inputs(W: number) {
  return {
    gradient_W: randomF32(W, { seed: 1 }).map((g, w) => g * 10 ** (-(w % 5))),
    weight_W: randomF32(W, { seed: 2 }),
    m_W: randomF32(W, { seed: 3, scale: 0.1 }),
    v_W: randomF32(W, { seed: 4, scale: 0.01, offset: 0.011 }),
  };
}

/** Norm, clip factor, weights and moments after one step. */
export function compareClipAdam({ parameterCount: W, maxNorm, step }: ClipAdamCase): Compare {
  const state = inputs(W);
  const { gradient_W } = state;
  const { learningRate } = ADAM;
  const expected = clipAdam(state, { gradient_W, stepNumber: step, learningRate, maxNorm });
  const factor = clipFactor(expected.gradNorm, maxNorm);
  // A block's lanes add 1,024 squares each, then 3 additions and all blocks; the root halves that.
  const normError = roundoffs(1024 + 3 + normBlockCount(W)) / 2 + 2 * DIVISION;
  const factorError = normError + DIVISION + ROUNDOFF;
  const stepSize = learningRate / (1 - ADAM.beta1 ** step);
  const bounds = Array.from(gradient_W, (gradient, w) => {
    const g = Math.abs(factor * gradient);
    const m = roundoffs(4) * (Math.abs(state.m_W[w]!) + g) + factorError * g;
    const v = (roundoffs(5) + 2 * factorError) * expected.v_W[w]!;
    const denominator = Math.sqrt(expected.v_W[w]! / (1 - ADAM.beta2 ** step)) + ADAM.epsilon;
    const ratio = Math.abs(expected.m_W[w]!) / denominator;
    // The root halves v's error; root and division are as WGSL allows; step size and correction are rounded to f32.
    const update = m / denominator +
      ratio * (roundoffs(5) / 2 + factorError + 3 * DIVISION + roundoffs(4));
    const weight = stepSize * update + ROUNDOFF * Math.abs(expected.weight_W[w]!);
    return { m, v, weight };
  });
  return (gpu) =>
    withRun(gpu, async (run) => {
      const gradient = run.flat(gradient_W).flat;
      const first = run.flat(state.m_W).flat, second = run.flat(state.v_W).flat;
      const weights = run.flat(state.weight_W).flat;
      const clip_2 = run.empty(2);
      run.replay({ maxNorm, adam: { ...ADAM, step } }, (commands, plan) => {
        const block_squares = run.empty(normBlockCount(W));
        addGradientNorm(commands, plan, { gradient, block_squares, clip_2, parameterCount: W });
        addClipAdam(commands, plan, {
          gradient,
          clip_2,
          first,
          second,
          weights,
          refused: run.tensor(new Uint32Array(Math.ceil(W / 4))),
          parameterCount: W,
        });
      });
      const { weight_W, m_W, v_W, gradNorm } = expected;
      return [
        {
          name: "clip_2",
          actual: await run.read(clip_2, 2),
          expected: [gradNorm, factor],
          bound: [normError * gradNorm, factorError * factor],
        },
        {
          name: "first",
          actual: await run.read(first, W),
          expected: m_W,
          bound: bounds.map(({ m }) => m),
        },
        {
          name: "second",
          actual: await run.read(second, W),
          expected: v_W,
          bound: bounds.map(({ v }) => v),
        },
        {
          name: "weights",
          actual: await run.read(weights, W),
          expected: weight_W,
          bound: bounds.map(({ weight }) => weight),
        },
      ];
    });
}

/** What the kernels do with a gradient norm that is not finite: norm, factor, and what they leave as it was. */
export async function stepWithGradient(
  gpu: Parameters<Compare>[0],
  gradient_W: Float32Array<ArrayBuffer>,
) {
  const W = gradient_W.length;
  const before = { ...inputs(W), gradient_W };
  return await withRun(gpu, async (run) => {
    const gradient = run.flat(gradient_W).flat;
    const first = run.flat(before.m_W).flat, second = run.flat(before.v_W).flat;
    const weights = run.flat(before.weight_W).flat;
    const clip_2 = run.empty(2);
    const refused = run.tensor(new Uint32Array(Math.ceil(W / 4)));
    run.replay({ maxNorm: 1, adam: { ...ADAM, step: 1 } }, (commands, plan) => {
      const block_squares = run.empty(normBlockCount(W));
      addGradientNorm(commands, plan, { gradient, block_squares, clip_2, parameterCount: W });
      const tensors = { gradient, clip_2, first, second, weights, refused };
      addClipAdam(commands, plan, { ...tensors, parameterCount: W });
    });
    const [norm, factor] = await run.read(clip_2, 2);
    const after = {
      m_W: await run.read(first, W),
      v_W: await run.read(second, W),
      weight_W: await run.read(weights, W),
    };
    const words = new Uint32Array((await run.read(refused, Math.ceil(W / 4))).buffer);
    return { norm, factor, before, after, notFinite: firstNotFinite(words) };
  });
}
