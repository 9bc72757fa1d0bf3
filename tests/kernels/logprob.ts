/** Holds the log-prob kernels to src/reference/logprob.ts. */
import {
  addLogprobBackward,
  addLogprobForward,
  headPartialBytes,
  segmentCount,
  tileWidth,
} from "../../src/kernels/logprob.ts";
import { chunkStarts, ROW_CHUNKS } from "../../src/kernels/operands.ts";
import { linearBackward, linearForward } from "../../src/reference/linear.ts";
import {
  logprobBackward,
  logprobFromLogits,
  logprobFromLogitsBackward,
} from "../../src/reference/logprob.ts";
import {
  absolute,
  type Compare,
  DIVISION,
  expError,
  LOG,
  randomF32,
  ROUNDOFF,
  roundoffs,
  withRun,
} from "./harness.ts";

/** Rows, width, vocabulary, temperature, and what is added to every logit through the bias. */
export interface LogprobCase {
  readonly rowCount: number;
  readonly width: number;
  readonly vocabSize: number;
  readonly temperature: number;
  readonly offset?: number;
}

const OFFSET = 8;
/** Numbers below 2^-126 may be flushed to 0; some dozens of them add up to less than this. */
const UNDERFLOW = 2 ** -120;

/** Rows grow, so that some distributions are sharp and others flat; an offset of 100 overflows exp without a shift. */
function inputs({ rowCount: N, width: D, vocabSize: V, offset = 0 }: LogprobCase) {
  const w = randomF32(OFFSET + V * D + V, { seed: 2, scale: 2 / Math.sqrt(D) });
  const bias_V = w.subarray(OFFSET + V * D);
  bias_V.forEach((b, v) => bias_V[v] = b + offset);
  return {
    w,
    weight_VD: w.subarray(OFFSET, OFFSET + V * D),
    bias_V,
    h_ND: randomF32(N * D, { seed: 1 }).map((h, i) => h * (1 + Math.floor(i / D) % 3)),
    // The first and the last token of the vocabulary are targets as well.
    target_N: Uint32Array.from({ length: N }, (_, n) => n === 0 ? V - 1 : (n * n * 17) % V),
    dlogp_N: randomF32(N, { seed: 3 }),
    dentropy_N: randomF32(N, { seed: 4 }),
    shape: { width: D, vocabSize: V, weightOffset: OFFSET },
  };
}

/** Logits, their reference results, and how far a logit over the temperature may be off. */
function prepare(size: LogprobCase) {
  const { rowCount, width, vocabSize, temperature } = size;
  const given = inputs(size);
  const { h_ND, weight_VD, bias_V, target_N } = given;
  const sizes = { rowCount, inputWidth: width, outputWidth: vocabSize };
  const logits_NV = linearForward(h_ND, { ...sizes, weight_OI: weight_VD, bias_O: bias_V }).y_NO;
  const terms_NV = linearForward(absolute(h_ND), {
    ...sizes,
    weight_OI: absolute(weight_VD),
    bias_O: absolute(bias_V),
  }).y_NO;
  const options = { rowCount, vocabularySize: vocabSize, target_N, temperature };
  const results = logprobFromLogits(logits_NV, options);
  const largest = terms_NV.reduce((max, terms) => Math.max(max, terms), 0);
  // K products and the bias, then the temperature (rounded itself) and a product; a sharp row spans twice the largest.
  const logitError = roundoffs(width + 4) * largest / temperature;
  return { ...given, logits_NV, options, results, logitError, span: 2 * largest / temperature };
}

/**
 * Error of log Σ exp and of the entropy beyond that of the logits: V additions and, for each new maximum (their number grows
 * with the logarithm of V), a rescaling with exp. Terms far below the maximum carry exp's larger error with less weight:
 * e^-x·(3 + 2x) is at most 3, and e^-x·x·(3 + 2x) below 4.
 */
export function sumError(vocabSize: number): number {
  const maxima = 4 * Math.log(vocabSize) + 8;
  return roundoffs(vocabSize + 2 * maxima) + maxima * expError(0) + 4 * expError(0);
}

/** (log-prob, entropy, lse, 0) per row. */
export function compareLogprobForward(size: LogprobCase): Compare {
  const { rowCount, width, vocabSize, temperature } = size;
  const { w, h_ND, target_N, shape, results, logitError, span } = prepare(size);
  const { logp_N, entropy_N, lse_N } = results;
  const expected = Array.from(logp_N).flatMap((logp, n) => [logp, entropy_N[n]!, lse_N[n]!, 0]);
  const lse = logitError + sumError(vocabSize) + LOG + ROUNDOFF * span;
  // H = log Σ − moment/Σ: its derivative for a logit is p·(log p + H), whose sum over a row is at most 2·log V.
  const entropy = 2 * Math.log(vocabSize) * (logitError + sumError(vocabSize) + DIVISION) + LOG;
  const bound = expected.map((_, i) => [lse + logitError, entropy, lse, 0][i % 4]!);
  return (gpu) =>
    withRun(gpu, async (run) => {
      const result_N4 = run.empty(4 * rowCount);
      run.replay({ rowCount, temperature }, (commands, plan) =>
        addLogprobForward(commands, plan, {
          h_ND: run.rows(rowCount, width, h_ND),
          w: run.flat(w).w,
          target_N: run.tensor(target_N),
          segments: run.empty(4 * rowCount * segmentCount(vocabSize)),
          result_N4,
          shape,
        }));
      const actual = await run.read(result_N4, 4 * rowCount);
      return [{ name: "result_N4", actual, expected, bound }];
    });
}

/** dh, and the head's dW and db, through all tiles of the vocabulary. */
export function compareLogprobBackward(
  size: LogprobCase & { readonly accumulate?: boolean },
): Compare {
  const { rowCount, width, vocabSize, temperature, accumulate = false } = size;
  const prepared = prepare(size);
  const { w, h_ND, weight_VD, bias_V, target_N, dlogp_N, dentropy_N, shape } = prepared;
  const gradients = { dlogp_N, dentropy_N };
  const options = { ...prepared.options, ...gradients, width, weight_VD, bias_V };
  const expected = logprobBackward(h_ND, options);
  // The kernel takes the forward's results as f32; so their rounding is one more error of a log-prob.
  const { logp_N, entropy_N, lse_N } = prepared.results;
  const result_N4 = Float32Array.from(
    Array.from(logp_N).flatMap((logp, n) => [logp, entropy_N[n]!, lse_N[n]!, 0]),
  );
  const logpError = prepared.logitError + ROUNDOFF * prepared.span;
  const { dx, dw, db } = backwardBounds(prepared, { ...size, logpError });
  const length = vocabSize * (width + 1);
  const held = randomF32(OFFSET + length, { seed: 5 });
  const start = (i: number) => accumulate ? held[OFFSET + i]! : 0;
  const dhead = Array.from([...expected.dweight_VD, ...expected.dbias_V], (g, i) => start(i) + g);
  const headBound = [...dw, ...db].map((b, i) =>
    b + roundoffs(ROW_CHUNKS + 1) * Math.abs(start(i))
  );
  return (gpu) =>
    withRun(gpu, async (run) => {
      const dh_ND = run.empty(rowCount * width);
      const gradient = run.flat(held).flat;
      run.replay({ rowCount, temperature, accumulate }, (commands, plan) =>
        addLogprobBackward(commands, plan, {
          h_ND: run.rows(rowCount, width, h_ND),
          w: run.flat(w).w,
          target_N: run.tensor(target_N),
          result_N4: run.tensor(result_N4),
          dresult_N2: run.tensor(
            Float32Array.from({ length: 2 * rowCount }, (_, i) =>
              (i % 2 ? dentropy_N : dlogp_N)[i >> 1]!),
          ),
          dz_NC: run.rows(rowCount, tileWidth(vocabSize)),
          chunkStart_9: run.tensor(chunkStarts(rowCount)),
          partials: run.empty(headPartialBytes(shape) / 4),
          dh_ND,
          gradient,
          shape,
        }));
      const dh = await run.read(dh_ND, rowCount * width);
      const found = (await run.read(gradient, OFFSET + length)).slice(OFFSET);
      return [
        { name: "dh_ND", actual: dh, expected: expected.dh_ND, bound: dx },
        { name: "dhead", actual: found, expected: dhead, bound: headBound },
      ];
    });
}

/** An entry's error from that of its log-prob, carried through both products together with their own. */
function backwardBounds(
  prepared: ReturnType<typeof prepare>,
  size: LogprobCase & { readonly logpError: number },
) {
  const { rowCount, width, vocabSize, temperature, logpError } = size;
  const { logits_NV, options, dlogp_N, dentropy_N, h_ND, weight_VD } = prepared;
  const dz_NV = logprobFromLogitsBackward(logits_NV, { ...options, dlogp_N, dentropy_N });
  const { lse_N, entropy_N } = prepared.results;
  const error_NV = dz_NV.map((dz, i) => {
    const n = Math.floor(i / vocabSize);
    const logp = logits_NV[i]! / temperature - lse_N[n]!;
    const p = Math.exp(logp);
    const terms = p * (Math.abs(dlogp_N[n]!) +
      Math.abs(dentropy_N[n]!) * (1 + Math.abs(logp) + entropy_N[n]!));
    return terms * (logpError + expError(logp) + roundoffs(5)) / temperature +
      roundoffs(4) * Math.abs(dz);
  });
  const sizes = { rowCount, inputWidth: width, outputWidth: vocabSize };
  const through = (dy_NO: ArrayLike<number>) =>
    linearBackward(dy_NO, { ...sizes, x_NI: absolute(h_ND), weight_OI: absolute(weight_VD) });
  const carried = through(error_NV), terms = through(absolute(dz_NV));
  const bound = (carriedError: Float64Array, sums: Float64Array, count: number) =>
    carriedError.map((error, i) => error + roundoffs(count) * sums[i]! + UNDERFLOW);
  return {
    dx: bound(carried.dx_NI, terms.dx_NI, vocabSize + 1),
    dw: bound(carried.dweight_OI, terms.dweight_OI, rowCount + 10),
    db: bound(carried.dbias_O, terms.dbias_O, rowCount + 10),
  };
}
