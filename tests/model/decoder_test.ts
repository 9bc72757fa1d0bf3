/**
 * Tests of whole models: log-probs and entropies against float64 numbers of numpy (tests/golden/decoders.json) and of the
 * reference, and the bits that storage, batch, slices and pieces must not change.
 */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { type Gpu, openGpu } from "../../src/gpu/device.ts";
import { maxWordTexels } from "../../src/gpu/tensor.ts";
import { loadDecoder, openDecoderFiles } from "../../src/files/load_decoder.ts";
import { KEY_SEGMENT } from "../../src/kernels/grouped_attention.ts";
import {
  createDecoderWeights,
  destroyDecoderWeights,
  planParts,
  writeMatrixRows,
} from "../../src/model/decoder_weights.ts";
import { decoderLayout } from "../../src/model/architectures.ts";
import { scoreSequences, type SequenceScores } from "../../src/model/score_sequences.ts";
import { decoderForward, type DecoderShape } from "../../src/reference/decoder.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { SMALL_BLOCKS } from "../gpu/layouts.ts";
import { withFolder } from "../files/with_folder.ts";
import { anyConfig } from "./any_config.ts";
import {
  encode,
  randomValues,
  sequencesOf,
  SMALL_VARIANTS,
  VARIANTS,
  weightsOf,
  writeDecoder,
} from "./random_decoder.ts";

/** What the issue of a referee needs; the small variants are ten times closer. */
const TOLERANCE = 1e-4;
const GOLDENS: Record<string, { logp: number[]; entropy: number[] }[]> = JSON.parse(
  Deno.readTextFileSync(new URL("../golden/decoders.json", import.meta.url)),
);

let opened: Promise<Gpu> | undefined;

/** Small blocks compile in half the time. */
async function commandsOf(): Promise<Commands> {
  return new Commands(await (opened ??= openGpu({ tuning: SMALL_BLOCKS })));
}

/** Scores of a folder's model. */
async function scored(
  folder: string,
  options: { storage?: "f32" | "bf16"; ids_B: number[][]; maxRows?: number; temperature?: number },
): Promise<readonly SequenceScores[]> {
  const commands = await commandsOf();
  const { storage, ...rest } = options;
  const { weights } = await loadDecoder(commands, openDecoderFiles(folder), { storage });
  const { scores_B } = await scoreSequences(commands, weights, { temperature: 1, ...rest });
  destroyDecoderWeights(weights);
  return scores_B;
}

function assertNear(found: ArrayLike<number>, expected: ArrayLike<number>): void {
  assertEquals(found.length, expected.length);
  for (let i = 0; i < expected.length; i++) {
    const error = Math.abs(found[i]! - expected[i]!);
    assert(error <= TOLERANCE, `${i}: ${found[i]} is off ${expected[i]} by ${error}`);
  }
}

for (const name of SMALL_VARIANTS) {
  gpuTest(
    `scoreSequences() has numpy's float64 numbers and equal bits: ${name}`,
    () =>
      withFolder(async (folder) => {
        const config = VARIANTS[name];
        const ids_B = sequencesOf(config);
        writeDecoder(`${folder}/bf16`, config, { shards: 2 });
        writeDecoder(`${folder}/f16`, config, { dtype: "F16" });
        writeDecoder(`${folder}/f32`, config, { dtype: "F32" });
        const whole = await scored(`${folder}/bf16`, { ids_B });
        whole.forEach(({ logp, entropy }, b) => {
          assertNear(logp, GOLDENS[name]![b]!.logp);
          assertNear(entropy, GOLDENS[name]![b]!.entropy);
        });
        assertEquals(await scored(`${folder}/f16`, { ids_B }), whole);
        assertEquals(await scored(`${folder}/f32`, { ids_B }), whole);
        assertEquals(await scored(`${folder}/bf16`, { ids_B, maxRows: 7 }), whole);
        const single = await scored(`${folder}/bf16`, { ids_B: [ids_B[3]!] });
        assertEquals(single[0], whole[3]);
      }),
  );
}

Deno.test("decoderForward() has numpy's float64 numbers", () => {
  for (const name of SMALL_VARIANTS) {
    const config = VARIANTS[name];
    const { logp_N, entropy_N } = reference(config, sequencesOf(config)[0]!);
    const golden = GOLDENS[name]![0]!;
    logp_N.forEach((value, i) => assert(Math.abs(value - golden.logp[i]!) < 1e-7));
    entropy_N.forEach((value, i) => assert(Math.abs(value - golden.entropy[i]!) < 1e-7));
  }
});

function reference(
  config: typeof VARIANTS[keyof typeof VARIANTS],
  ids: number[],
  temperature = 1,
) {
  const scaling = "rope_scaling" in config ? config.rope_scaling : undefined;
  const shape: DecoderShape = {
    vocabSize: config.vocab_size,
    width: config.hidden_size,
    headCount: config.num_attention_heads,
    groupCount: config.num_key_value_heads,
    headWidth: config.head_dim,
    feedForwardWidth: config.intermediate_size,
    layerCount: config.num_hidden_layers,
    epsilon: config.rms_norm_eps,
    theta: config.rope_theta,
    scaling: scaling === undefined
      ? { kind: "none" }
      : "type" in scaling
      ? { kind: "linear", factor: scaling.factor }
      : {
        kind: "llama3",
        factor: scaling.factor,
        lowFactor: scaling.low_freq_factor,
        highFactor: scaling.high_freq_factor,
        originalPositions: scaling.original_max_position_embeddings,
      },
  };
  const weights = new Map(
    Array.from(weightsOf(config), ([name, weight]) => [name, randomValues(name, weight)]),
  );
  return decoderForward(ids, { shape, weights, temperature });
}

gpuTest(
  "scoreSequences() takes a vocabulary of 151,936 without storing logits",
  () =>
    withFolder(async (folder) => {
      const config = VARIANTS["large-vocabulary"];
      writeDecoder(folder, config);
      const ids = [151_935, 0, 77_000, 5];
      const [found] = await scored(folder, { ids_B: [ids], temperature: 0.7 });
      const { logp_N, entropy_N } = reference(config, ids, 0.7);
      assertNear(found!.logp, logp_N);
      assertNear(found!.entropy, entropy_N);
    }),
);

gpuTest(
  "scoreSequences() has the bits of the whole for long sequences in pieces",
  () =>
    withFolder(async (folder) => {
      const config = {
        ...VARIANTS.qwen3,
        num_hidden_layers: 1,
        hidden_size: 16,
        head_dim: 8,
        num_attention_heads: 2,
        num_key_value_heads: 1,
      };
      writeDecoder(folder, config);
      const long = Array.from({ length: 4097 }, (_, t) => t * t % config.vocab_size);
      assert(long.length > 8 * KEY_SEGMENT);
      const ids_B = [[5, 6, 7], long];
      const whole = await scored(folder, { ids_B, maxRows: 4096 });
      assertEquals(await scored(folder, { ids_B, maxRows: 1000 }), whole);
      // The first rows do not see what comes later.
      const [start] = await scored(folder, { ids_B: [long.slice(0, 600)] });
      assertEquals(start!.logp, whole[1]!.logp.slice(0, 599));
    }),
);

Deno.test("planParts() keeps a layer together, cuts larger ones by matrix, and larger matrices between rows", () => {
  const layout = decoderLayout(anyConfig({ vocabSize: 5000, layerCount: 2 }));
  const storages = layout.matrices.map(() => "bf16" as const);
  // A row of the table has 4 texels; matrices begin at multiples of 1,024.
  const wide = planParts(layout, { storages, maxTexels: 2 ** 20 });
  assertEquals(wide.partTexels.length, 3);
  assertEquals(wide.slices.map((slices) => slices.length), layout.matrices.map(() => 1));
  const narrow = planParts(layout, { storages, maxTexels: 2 ** 13 });
  assertEquals(narrow.slices[0]!.map(({ firstRow, rowCount }) => [firstRow, rowCount]), [
    [0, 2048],
    [2048, 2048],
    [4096, 904],
  ]);
  assert(narrow.partTexels.every((texels) => texels <= 2 ** 13));
  assertThrows(
    () => planParts(layout, { storages, maxTexels: 2 ** 13 - 1 }),
    UserError,
    "2048 of its rows take 131072 bytes",
  );
});

Deno.test("maxWordTexels() is whole rows, below a limit of 2 GiB - 1 too", () => {
  const limits = { maxStorageBufferBindingSize: 2 ** 31 - 1, maxBufferSize: 2 ** 32 };
  assertEquals(maxWordTexels({ limits }, "buffer"), 2 ** 27 - 1024);
  assertEquals(maxWordTexels({ limits }, "texture"), 2 ** 23);
});

gpuTest("scoreSequences() has the same bits however weights are cut into parts", async () => {
  const commands = await commandsOf();
  const given = { ...VARIANTS.llama, vocab_size: 60 };
  const config = anyConfig({
    vocabSize: given.vocab_size,
    groupCount: 1,
    isTied: false,
    feedForwardWidth: given.intermediate_size,
  });
  const layout = decoderLayout(config);
  const found: (readonly SequenceScores[])[] = [];
  for (const maxTexels of [2 ** 20, 2048, 300]) {
    const storages = layout.matrices.map(({ isVocabulary }) => isVocabulary ? "bf16" : "f32");
    const weights = await createDecoderWeights(commands, config, {
      storages: storages as ("bf16" | "f32")[],
      maxTexels,
    });
    const gains = new Float32Array(layout.vectorLength).fill(1);
    commands.write(weights.vectors, gains);
    layout.matrices.forEach(({ rowCount, width, sources }, matrix) => {
      const values = randomValues(sources[0]!.name, {
        shape: [rowCount, width],
        scale: 1 / Math.sqrt(width),
        offset: 0,
      });
      const bytes = encode(values, storages[matrix] === "bf16" ? "BF16" : "F32");
      writeMatrixRows(commands, weights, { matrix, firstRow: 0, bytes });
    });
    const { scores_B } = await scoreSequences(commands, weights, {
      ids_B: sequencesOf(given),
      temperature: 1,
    });
    found.push(scores_B);
    destroyDecoderWeights(weights);
  }
  found.slice(1).forEach((other) => assertEquals(other, found[0]));
  assert(found[0]![0]!.logp.every((value) => value < -0.01));
});
