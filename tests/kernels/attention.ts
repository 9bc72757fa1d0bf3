/** Holds the attention kernels to src/reference/attention.ts, linear.ts and rotary.ts. */
import {
  addAttentionBackward,
  addAttentionDecode,
  addAttentionForward,
  addQkvForward,
  rotaryAngles,
} from "../../src/kernels/attention.ts";
import { attentionBackward, attentionForward } from "../../src/reference/attention.ts";
import { linearForward } from "../../src/reference/linear.ts";
import { rotaryForward } from "../../src/reference/rotary.ts";
import { packEpisodes } from "../../src/rollout/batch.ts";
import {
  absolute,
  type Compare,
  DIVISION,
  expError,
  randomF32,
  roundoffs,
  withRun,
} from "./harness.ts";

/** Lengths of the packed episodes, D and H, and what is added to every value. */
export interface AttentionCase {
  readonly lengths: readonly number[];
  readonly width: number;
  readonly headCount: number;
  readonly valueOffset?: number;
}

function packed({ lengths }: AttentionCase) {
  const ids_B = lengths.map((length) => new Array<number>(length).fill(0));
  const { token_N4, rowCount } = packEpisodes(ids_B, { vocabSize: 1 });
  const column = (i: number) => Array.from({ length: rowCount }, (_, n) => token_N4[4 * n + i]!);
  return { token_N4, rowCount, position_N: column(1), startOfEpisode_N: column(2) };
}

function inputs(size: AttentionCase) {
  const { width: D, headCount, valueOffset = 0 } = size;
  const { token_N4, rowCount, position_N, startOfEpisode_N } = packed(size);
  const options = { rowCount, headCount, headWidth: D / headCount, position_N, startOfEpisode_N };
  const qkv_N3D = randomF32(rowCount * 3 * D, { seed: 1 })
    .map((x, i) => i % (3 * D) < 2 * D ? 2 * x : x + valueOffset);
  return {
    token_N4,
    rowCount,
    options,
    qkv_N3D,
    do_ND: randomF32(rowCount * D, { seed: 2 }),
    angles_TK: rotaryAngles(D / headCount, Math.max(...size.lengths)),
    shape: { width: D, headCount },
  };
}

/** Rows [q | k | v] as the kernels store them: q and k turned, their pairs (p, p + K/2) side by side. */
function turned(qkv_N3D: ArrayLike<number>, size: AttentionCase): Float32Array<ArrayBuffer> {
  const { width: D, headCount: H } = size;
  const K = D / H;
  const { rowCount: N, position_N } = packed(size);
  const result = Float32Array.from(qkv_N3D);
  for (const part of [0, 1]) {
    const x_NHK = Float64Array.from(
      { length: N * D },
      (_, i) => qkv_N3D[Math.floor(i / D) * 3 * D + part * D + i % D]!,
    );
    const y_NHK = rotaryForward(x_NHK, { rowCount: N, headCount: H, headWidth: K, position_N });
    y_NHK.forEach((y, i) => {
      const n = Math.floor(i / D), head = Math.floor(i % D / K), e = i % K;
      const place = e < K / 2 ? 2 * e : 2 * (e - K / 2) + 1;
      result[n * 3 * D + part * D + head * K + place] = y;
    });
  }
  return result;
}

/** [q | k | v] = x Wᵀ with turned, interleaved queries and keys. */
export function compareQkvForward(size: AttentionCase): Compare {
  const { width: D, headCount } = size;
  const { token_N4, rowCount, angles_TK, shape } = inputs(size);
  const w = randomF32(8 + 3 * D * D, { seed: 3 });
  const x_ND = randomF32(rowCount * D, { seed: 4 });
  const sizes = { rowCount, inputWidth: D, outputWidth: 3 * D };
  const qkv_N3D = linearForward(x_ND, { ...sizes, weight_OI: w.subarray(8) }).y_NO;
  const terms = linearForward(absolute(x_ND), { ...sizes, weight_OI: absolute(w.subarray(8)) });
  const largest = terms.y_NO.reduce((max, sum) => Math.max(max, sum), 0);
  // D products; then a turn of two products with angles rounded to f32, and the reference's own rounding to f32.
  const bound = 2 * roundoffs(D + 4) * largest;
  return (gpu) =>
    withRun(gpu, async (run) => {
      const qkv = run.rows(rowCount, 3 * D);
      run.replay({ rowCount }, (commands, plan) =>
        addQkvForward(commands, plan, {
          x_ND: run.rows(rowCount, D, x_ND),
          w: run.flat(w).w,
          token_N4: run.tensor(token_N4),
          angles_TK: run.tensor(angles_TK),
          qkv_N3D: qkv,
          shape,
          weightOffset: 8,
        }));
      const actual = await run.readRows(qkv, rowCount, 3 * D);
      const expected = turned(qkv_N3D, { ...size, headCount });
      return [{ name: "qkv_N3D", actual, expected, bound }];
    });
}

/** The largest of what bounds are made of, over all pairs of a query and a key that it sees, and over heads. */
interface Measures {
  /** |score|, and the sum of its absolute terms, both with the scale. */
  score: number;
  scoreTerms: number;
  /** Probabilities that one key gets from all queries together. */
  reach: number;
  /** Σ |do|·|v|, and the same without the values' offset, which cancels in do·v − δ. */
  valueTerms: number;
  valueSpread: number;
}

function measure(size: AttentionCase): Measures {
  const { width: D, headCount: H, valueOffset = 0 } = size;
  const K = D / H;
  const { qkv_N3D, do_ND, rowCount: N, options } = inputs(size);
  const rows = turned(qkv_N3D, size);
  const found = { score: 0, scoreTerms: 0, reach: 0, valueTerms: 0, valueSpread: 0 };
  const reach_NH = new Float64Array(N * H);
  for (let n = 0; n < N; n++) {
    for (let h = 0; h < H; h++) {
      const first = options.startOfEpisode_N[n]!;
      const weights: number[] = [];
      for (let m = first; m <= n; m++) {
        let score = 0, scoreTerms = 0, valueTerms = 0, valueSpread = 0;
        for (let i = h * K; i < (h + 1) * K; i++) {
          const term = rows[n * 3 * D + i]! * rows[m * 3 * D + D + i]! / Math.sqrt(K);
          const value = rows[m * 3 * D + 2 * D + i]!;
          score += term;
          scoreTerms += Math.abs(term);
          valueTerms += Math.abs(do_ND[n * D + i]! * value);
          valueSpread += Math.abs(do_ND[n * D + i]! * (value - valueOffset));
        }
        weights.push(Math.exp(score));
        found.score = Math.max(found.score, Math.abs(score));
        found.scoreTerms = Math.max(found.scoreTerms, scoreTerms);
        found.valueTerms = Math.max(found.valueTerms, valueTerms);
        found.valueSpread = Math.max(found.valueSpread, valueSpread);
      }
      const sum = weights.reduce((a, b) => a + b, 0);
      weights.forEach((weight, j) => reach_NH[(first + j) * H + h]! += weight / sum);
    }
  }
  found.reach = reach_NH.reduce((max, reach) => Math.max(max, reach), 0);
  return found;
}

/**
 * Relative error of one attention probability: a score sums K products of numbers that were rounded once, in four partial
 * sums; exp is as WGSL allows it for differences of scores, for the key, for the sum, and while the maximum rises; every
 * key adds two roundings to the sums.
 */
function probabilityError(size: AttentionCase, { score, scoreTerms }: Measures): number {
  const headWidth = size.width / size.headCount;
  const longest = Math.max(...size.lengths);
  return 2 * roundoffs(headWidth / 4 + 6) * scoreTerms + 3 * expError(2 * score) +
    roundoffs(2 * longest) + DIVISION;
}

/** The output: a mean of values, off by the probabilities' error times the largest value. */
export function compareAttentionForward(size: AttentionCase): Compare {
  const { width, headCount, valueOffset = 0 } = size;
  const { qkv_N3D, token_N4, rowCount, options, shape } = inputs(size);
  const maxPositions = Math.max(...size.lengths);
  const expected = attentionForward(qkv_N3D, options);
  const bound = probabilityError(size, measure(size)) * (1 + valueOffset);
  return (gpu) =>
    withRun(gpu, async (run) => {
      const o_ND = run.rows(rowCount, width);
      run.replay({ rowCount }, (commands, plan) =>
        addAttentionForward(commands, plan, {
          qkv_N3D: run.rows(rowCount, 3 * width, turned(qkv_N3D, size)),
          token_N4: run.tensor(token_N4),
          o_ND,
          lse_NH: run.empty(rowCount * headCount),
          shape,
          maxPositions,
        }));
      const actual = await run.readRows(o_ND, rowCount, width);
      return [{ name: "o_ND", actual, expected, bound }];
    });
}

/** The gradients of queries, keys and values, after the forward's own run. */
export function compareAttentionBackward(size: AttentionCase): Compare {
  const { width: D, headCount: H } = size;
  const { qkv_N3D, do_ND, token_N4, rowCount: N, angles_TK, options, shape } = inputs(size);
  const expected = attentionBackward(do_ND, { ...options, qkv_N3D });
  const longest = Math.max(...size.lengths);
  const K = D / H;
  const measures = measure(size);
  const { valueTerms, valueSpread, reach } = measures;
  const p = probabilityError(size, measures);
  // do·v − δ is rounded at the size of its terms (δ also by what the output's sums were); p multiplies what is left.
  const dscore = (p * 2 * valueSpread + roundoffs(K / 4 + 2 * longest + 10) * valueTerms) /
    Math.sqrt(K);
  // A query's gradient is a mean of keys, a key's and a value's are sums with weights `reach`; both are below 2√2, and |do| below 1.
  const bounds = [dscore * Math.sqrt(8), dscore * Math.sqrt(8) * reach, p * reach];
  const bound = expected.map((_, i) => bounds[Math.floor(i % (3 * D) / D)]!);
  return (gpu) =>
    withRun(gpu, async (run) => {
      const qkv = run.rows(N, 3 * D, turned(qkv_N3D, size));
      const token = run.tensor(token_N4);
      const o_ND = run.rows(N, D), dqkv_N3D = run.rows(N, 3 * D);
      const lse_NH = run.empty(N * H), delta_NH = run.empty(N * H);
      const sizes = { shape, maxPositions: longest };
      const forward = { qkv_N3D: qkv, token_N4: token, o_ND, lse_NH, ...sizes };
      run.replay({ rowCount: N }, (commands, plan) => {
        addAttentionForward(commands, plan, forward);
        addAttentionBackward(commands, plan, {
          ...forward,
          do_ND: run.tensor(do_ND),
          delta_NH,
          angles_TK: run.tensor(angles_TK),
          dqkv_N3D,
        });
      });
      const actual = await run.readRows(dqkv_N3D, N, 3 * D);
      return [{ name: "dqkv_N3D", actual, expected, bound }];
    });
}

/** Decoding token by token against a cache; episodes must have one length. Expected are the bits of the packed forward. */
export function compareAttentionDecode(size: AttentionCase): Compare {
  const { width: D, headCount, lengths } = size;
  const length = lengths[0]!, B = lengths.length;
  const { qkv_N3D, token_N4, rowCount, shape } = inputs(size);
  const rows = turned(qkv_N3D, size);
  return (gpu) =>
    withRun(gpu, async (run) => {
      const packed_ND = run.rows(rowCount, D);
      run.replay({ rowCount }, (commands, plan) =>
        addAttentionForward(commands, plan, {
          qkv_N3D: run.rows(rowCount, 3 * D, rows),
          token_N4: run.tensor(token_N4),
          o_ND: packed_ND,
          lse_NH: run.empty(rowCount * headCount),
          shape,
          maxPositions: length,
        }));
      const expected = await run.readRows(packed_ND, rowCount, D);
      const cache = run.empty(B * (length + 1) * 2 * D);
      const actual = new Float32Array(rowCount * D);
      for (let t = 0; t < length; t++) {
        const step = Array.from({ length: B }, (_, b) => b * length + t);
        const qkv_B3D = Float32Array.from(
          step.flatMap((n) => [...rows.subarray(n * 3 * D, (n + 1) * 3 * D)]),
        );
        const o_BD = run.rows(B, D);
        run.replay({ rowCount: B }, (commands, plan) =>
          addAttentionDecode(commands, plan, {
            qkv_B3D: run.rows(B, 3 * D, qkv_B3D),
            token_B4: run.tensor(Uint32Array.from(step.flatMap(() => [0, t, 0, 0]))),
            cache,
            o_BD,
            shape,
            maxPositions: length + 1,
          }));
        const found = await run.readRows(o_BD, B, D);
        step.forEach((n, b) => actual.set(found.subarray(b * D, (b + 1) * D), n * D));
      }
      return [{ name: "o_BD", actual, expected, bound: 0 }];
    });
}
