/** A model of Qwen3's shape with random weights, a vocabulary in bf16 and the rest in f32: every kernel of decoders. */
import type { Commands } from "../../src/gpu/commands.ts";
import { decoderLayout } from "../../src/model/architectures.ts";
import {
  createDecoderWeights,
  destroyDecoderWeights,
  writeMatrixRows,
} from "../../src/model/decoder_weights.ts";
import { scoreSequences } from "../../src/model/score_sequences.ts";
import { anyConfig } from "../model/any_config.ts";
import { encode, randomValues } from "../model/random_decoder.ts";

/**
 * Scores two sequences.
 * @returns Their log-probs and entropies, in nats.
 */
export async function decoderScores(commands: Commands): Promise<Float32Array<ArrayBuffer>> {
  const config = anyConfig({
    architecture: "qwen3",
    headWidth: 24,
    hasHeadNorm: true,
    isTied: false,
  });
  const layout = decoderLayout(config);
  const storages = layout.matrices.map(({ isVocabulary }) => isVocabulary ? "bf16" : "f32");
  const weights = await createDecoderWeights(commands, config, { storages });
  commands.write(weights.vectors, new Float32Array(layout.vectorLength).fill(1));
  layout.matrices.forEach(({ rowCount, width, sources: [source] }, matrix) => {
    const shape = [rowCount, width];
    const name = source?.name ?? "";
    const values = randomValues(name, { shape, scale: 1 / Math.sqrt(width), offset: 0 });
    const bytes = encode(values, storages[matrix] === "bf16" ? "BF16" : "F32");
    writeMatrixRows(commands, weights, { matrix, firstRow: 0, bytes });
  });
  const ids_B = [23, 40].map((length, b) =>
    Array.from({ length }, (_, t) => (7919 * (b + 1) * (t + 3) ** 2) % config.vocabSize)
  );
  const { scores_B } = await scoreSequences(commands, weights, { ids_B, temperature: 1 });
  destroyDecoderWeights(weights);
  return Float32Array.from(scores_B.flatMap(({ logp, entropy }) => [...logp, ...entropy]));
}
