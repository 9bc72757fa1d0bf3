/** Decoders with random weights, made on the device without a file; a peer program makes the same values by the same rule. */
import type { Commands } from "../gpu/commands.ts";
import type { WeightStorage } from "../kernels/stored_weights.ts";
import { decoderLayout } from "../model/architectures.ts";
import type { DecoderConfig } from "../model/decoder_config.ts";
import {
  createDecoderWeights,
  type DecoderWeights,
  destroyDecoderWeights,
  writeMatrixRows,
} from "../model/decoder_weights.ts";
import { roundToBf16, widenBf16 } from "../model/weight_values.ts";

/** Values that are on the host at once. */
const CHUNK_VALUES = 2 ** 20;

/** How far gains reach to either side of 1, biases to either side of 0, and embeddings. */
const SPREAD = { gain: 0.2, bias: 0.3, embedding: 0.7 } as const;

/** 32 random bits of a counter: Wellons' lowbias32, which numpy computes as well. */
function randomBits(counter: number): number {
  let x = counter;
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return (x ^ (x >>> 16)) >>> 0;
}

/** FNV-1a of a name, so that a weight does not depend on those before it. */
function seedOf(name: string): number {
  let hash = 2166136261;
  for (const character of name) hash = Math.imul(hash ^ character.charCodeAt(0), 16777619);
  return hash;
}

/**
 * Values `begin` … `begin + count − 1` of a weight: uniform around `offset`, rounded to bf16.
 * @returns Their bf16 words.
 */
export function randomWords(
  name: string,
  range: {
    readonly begin: number;
    readonly count: number;
    readonly spread: number;
    readonly offset: number;
  },
): Uint16Array<ArrayBuffer> {
  const { begin, count, spread, offset } = range;
  const seed = seedOf(name);
  const values = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    values[i] = offset + spread * (randomBits((seed + begin + i) | 0) / 2 ** 31 - 1);
  }
  return roundToBf16(values);
}

/** Half the width of the uniform distribution of a product's weights: outputs are as large as inputs. */
function matrixSpread(inputWidth: number): number {
  return Math.sqrt(3) / Math.sqrt(inputWidth);
}

/**
 * A decoder on the device. Every value is exact in bf16, so that storages have the same values.
 * @throws {UserError} When the device has not the memory.
 */
export async function createRandomDecoder(
  commands: Commands,
  options: { readonly config: DecoderConfig; readonly storage: WeightStorage & ("f32" | "bf16") },
): Promise<DecoderWeights> {
  const { config, storage } = options;
  const storages = decoderLayout(config).matrices.map(() => storage);
  const weights = await createDecoderWeights(commands, config, { storages });
  const { matrices, vectors, table } = weights.layout;
  try {
    for (const { name, length, offset } of vectors) {
      const isBias = name.endsWith(".bias");
      const words = randomWords(name, {
        begin: 0,
        count: length,
        spread: isBias ? SPREAD.bias : SPREAD.gain,
        offset: isBias ? 0 : 1,
      });
      commands.write(weights.vectors, widenBf16(words), 4 * offset);
    }
    for (const [matrix, { sources, width }] of matrices.entries()) {
      const spread = matrix === table ? SPREAD.embedding : matrixSpread(width);
      const most = Math.max(1, Math.floor(CHUNK_VALUES / width));
      let firstRow = 0;
      for (const { name, rowCount } of sources) {
        for (let row = 0; row < rowCount; row += most) {
          const rows = Math.min(most, rowCount - row);
          const words = randomWords(name, {
            begin: row * width,
            count: rows * width,
            spread,
            offset: 0,
          });
          const { buffer } = storage === "bf16" ? words : widenBf16(words);
          const bytes = new Uint8Array(buffer);
          writeMatrixRows(commands, weights, { matrix, firstRow: firstRow + row, bytes });
          // What was written waits on the host for the next submit.
          commands.gpu.device.queue.submit([]);
        }
        firstRow += rowCount;
      }
      await commands.gpu.device.queue.onSubmittedWorkDone();
    }
  } catch (error) {
    destroyDecoderWeights(weights);
    throw error;
  }
  return weights;
}
