/** Holds the kernel of heads to src/reference/head_rotary.ts. */
import { addHeadRotaryForward, type GroupedShape } from "../../src/kernels/head_rotary.ts";
import { headRotaryForward, type RotaryScaling } from "../../src/reference/head_rotary.ts";
import { ropeAngles } from "../../src/model/decoder_config.ts";
import { anyConfig } from "../model/any_config.ts";
import { type Compare, randomF32, roundoffs, withRun } from "./harness.ts";
import { rmsnormError } from "./rmsnorm.ts";

/** Heads, where their tokens stand, and what the model does to them. */
export interface HeadRotaryCase extends GroupedShape {
  readonly position_N: readonly number[];
  readonly hasNorm: boolean;
  readonly scaling: RotaryScaling;
}

const THETA = 5e5;
const EPSILON = 1e-5;

function inputs(shape: HeadRotaryCase) {
  const { headCount: H, groupCount: G, headWidth: K, position_N } = shape;
  const N = position_N.length, M = (H + 2 * G) * K;
  const qkv_NM = randomF32(N * M, { seed: 1, scale: 2 });
  const columns = (from: number, count: number) =>
    Float32Array.from(
      { length: N * count * K },
      (_, i) => qkv_NM[Math.floor(i / (count * K)) * M + from * K + i % (count * K)]!,
    );
  return {
    qkv_NM,
    vectors: randomF32(8 + 2 * K, { seed: 2, scale: 2 }),
    q: columns(0, H),
    k: columns(H, G),
    v: columns(H + G, G),
  };
}

export function compareHeadRotaryForward(shape: HeadRotaryCase): Compare {
  const { headCount, groupCount, headWidth, position_N, hasNorm, scaling } = shape;
  const rowCount = position_N.length;
  const { qkv_NM, vectors, q, k, v } = inputs(shape);
  const gain = (offset: number) => vectors.subarray(offset, offset + headWidth);
  const turned = (x: Float32Array, count: number, gain_K: Float32Array) =>
    headRotaryForward(x, {
      rowCount,
      headCount: count,
      headWidth,
      theta: THETA,
      scaling,
      position_N,
      norm: hasNorm ? { gain_K, epsilon: EPSILON } : undefined,
    });
  const positions = Math.max(...position_N) + 1;
  const config = anyConfig({ headWidth, theta: THETA, scaling });
  // Two products of numbers below 8 with rounded sines, one fma; the norm's relative error where there is one.
  const bound = 8 * (roundoffs(4) + (hasNorm ? rmsnormError(headWidth) : 0));
  return (gpu) =>
    withRun(gpu, async (run) => {
      const queries = run.rows(rowCount, headCount * headWidth);
      const width = groupCount * headWidth;
      const cache = () => run.rows(2 * rowCount, width);
      const caches = { key_cache: cache(), value_cache: cache() };
      run.replay({ rowCount }, (commands, plan) =>
        addHeadRotaryForward(commands, plan, {
          qkv_NM: run.tensor(qkv_NM),
          // Cache rows in reverse, so that a row that is taken for its cache row shows.
          token_N4: run.tensor(
            Uint32Array.from(position_N.flatMap((at, n) => [0, at, 0, 2 * rowCount - 1 - n])),
          ),
          angles: run.tensor(ropeAngles(config, positions)),
          vectors: run.tensor(vectors),
          q_NHK: queries,
          ...caches,
          shape,
          norm: hasNorm ? { queryGain: 8, keyGain: 8 + headWidth, epsilon: EPSILON } : undefined,
        }));
      const cached = async (name: "key_cache" | "value_cache") => {
        const rows = await run.readRows(caches[name], 2 * rowCount, width);
        return Float32Array.from({ length: rowCount * width }, (_, i) => {
          const row = 2 * rowCount - 1 - Math.floor(i / width);
          return rows[row * width + i % width]!;
        });
      };
      return [
        {
          name: "q_NHK",
          actual: await run.readRows(queries, rowCount, headCount * headWidth),
          expected: turned(q, headCount, gain(8)),
          bound,
        },
        {
          name: "key_cache",
          actual: await cached("key_cache"),
          expected: turned(k, groupCount, gain(8 + headWidth)),
          bound,
        },
        { name: "value_cache", actual: await cached("value_cache"), expected: v, bound: 0 },
      ];
    });
}
