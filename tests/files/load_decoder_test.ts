/** Tests of reading Hugging Face folders: one sentence for each thing that is not read, and adapters that are merged. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { loadDecoder, openDecoderFiles } from "../../src/files/load_decoder.ts";
import { mergeRows, readLoraAdapter } from "../../src/files/lora_adapter.ts";
import { readModelConfig } from "../../src/files/model_config.ts";
import { destroyDecoderWeights } from "../../src/model/decoder_weights.ts";
import { roundToBf16 } from "../../src/model/weight_values.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import {
  type FileTensor,
  randomValues,
  VARIANTS,
  weightsOf,
  writeDecoder,
  writeWeights,
} from "../model/random_decoder.ts";
import { withFolder } from "./with_folder.ts";

const QWEN2 = VARIANTS.qwen2;

/** The sentence by which a folder is refused. */
function refusal(folder: string, options: { adapter?: string } = {}): string {
  return assertThrows(() => openDecoderFiles(folder, options), UserError).message;
}

/** Writes a model whose config.json says something else. */
function withConfig(folder: string, changes: Readonly<Record<string, unknown>>): string {
  writeDecoder(folder, QWEN2);
  Deno.writeTextFileSync(`${folder}/config.json`, JSON.stringify({ ...QWEN2, ...changes }));
  return folder;
}

Deno.test("openDecoderFiles() refuses what is not computed by its name", () =>
  withFolder((folder) => {
    const cases: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
      [{ model_type: "mistral" }, 'its model_type is "mistral"; llama, qwen2 and qwen3 are read'],
      [{ architectures: ["Qwen2ForSequenceClassification"] }, "of qwen2 Qwen2ForCausalLM is read"],
      [{ rope_scaling: { rope_type: "yarn", factor: 4 } }, 'its rope scaling is "yarn"'],
      ...["dynamic", "longrope", "mrope"].map((type) =>
        [{ rope_scaling: { type, factor: 4 } }, `its rope scaling is "${type}"`] as const
      ),
      [{ rope_scaling: { type: "linear" } }, "its rope scaling linear has no factor"],
      [{ rope_scaling: { type: "default", mrope_section: [1] } }, "default has mrope_section"],
      [{ rope_scaling: { type: "linear", factor: 2, attention_factor: 2 } }, "attention_factor"],
      [
        { rope_parameters: { full_attention: { rope_theta: 1e4 } } },
        "default has full_attention, which is not computed",
      ],
      [{ rope_parameters: { rope_theta: 5 } }, "its rope_theta is said twice, as 1000000 and as 5"],
      [{ rope_parameters: { partial_rotary_factor: 0.5 } }, "its partial_rotary_factor is 0.5"],
      [{ partial_rotary_factor: 0.25 }, "its partial_rotary_factor is 0.25"],
      [{ rope_theta: undefined }, "its rope_theta is missing"],
      [{ mlp_bias: true }, "its mlp_bias is true, which a qwen2 does not have"],
      [{ final_logit_softcapping: 30 }, 'it has "final_logit_softcapping" (30), and whether'],
      [{ use_mrope: true }, 'it has "use_mrope" (true), and whether'],
      [{ auto_map: { AutoModel: "a.B" } }, "its auto_map names code of its own"],
      [{ compression_config: {} }, "its weights are quantised"],
      [{ quantization_config: { bits: 4 } }, "its weights are quantised"],
      [{ hidden_act: "gelu" }, 'its hidden_act is "gelu"; silu is computed'],
      [{ use_sliding_window: true }, "has a sliding window"],
      [{ layer_types: ["full_attention", "sliding_attention"] }, 'has "sliding_attention"'],
      [{ head_dim: 12 }, "head_dim is 12, but must be a multiple of 8"],
      [{ head_dim: 264 }, "head_dim is 264, but at most 256"],
      [{ num_key_value_heads: 3 }, "must be a multiple of num_key_value_heads, 3"],
      [{ vocab_size: "many" }, 'vocab_size is "many", but must be a'],
      [{ rms_norm_eps: undefined }, "rms_norm_eps is missing"],
      [{ intermediate_size: 64 }, 'gate_proj.weight" is [56, 32], but by config.json [64, 32]'],
      [{ num_hidden_layers: 3 }, 'it holds no tensor "model.layers.2.self_attn.q_proj.weight"'],
      [{ num_hidden_layers: 1 }, "for which a qwen2 of its config.json has no place"],
      [{ tie_word_embeddings: false }, 'it holds no tensor "lm_head.weight"'],
    ];
    cases.forEach(([changes, expected], i) => {
      const message = refusal(withConfig(`${folder}/${i}`, changes));
      assert(message.includes(expected), `${message}\nlacks ${expected}`);
      assert(!message.includes("\n"), message);
    });
  }));

Deno.test("readModelConfig() reads the layouts of transformers 4 and 5, and what changes no number", () =>
  withFolder((folder) => {
    const path = `${folder}/config.json`;
    const read = (changes: Readonly<Record<string, unknown>>) => {
      Deno.writeTextFileSync(path, JSON.stringify({ ...QWEN2, ...changes }));
      return readModelConfig(path);
    };
    const old = read({ rope_scaling: { type: "linear", factor: 4 } });
    assertEquals([old.theta, old.scaling], [1e6, { kind: "linear", factor: 4 }]);
    const rope_parameters = { rope_type: "linear", factor: 4, rope_theta: 1e6 };
    assertEquals(read({ rope_theta: undefined, rope_parameters }), old);
    assertEquals(read({ rope_parameters, rope_scaling: null, torch_dtype: "bfloat16" }), old);
    const llama3 = { low_freq_factor: 1, high_freq_factor: 4 };
    const { scaling } = read({
      rope_parameters: {
        ...llama3,
        rope_type: "llama3",
        factor: 8,
        original_max_position_embeddings: 99,
      },
    });
    assertEquals(scaling, {
      kind: "llama3",
      factor: 8,
      lowFactor: 1,
      highFactor: 4,
      originalPositions: 99,
    });
    const plain = read({
      architectures: null,
      head_dim: undefined,
      sliding_window: 32768,
      use_sliding_window: false,
      max_window_layers: 21,
      use_mrope: false,
      layer_types: ["full_attention"],
      dtype: "bfloat16",
      attention_dropout: 0.1,
      eos_token_id: [1, 2],
      logit_scale: null,
    });
    assertEquals(plain, { ...read({}), headWidth: 8 });
    Deno.writeTextFileSync(path, JSON.stringify({ ...VARIANTS.qwen3, head_dim: undefined }));
    assertEquals(readModelConfig(path).headWidth, 128);
    Deno.writeTextFileSync(path, JSON.stringify({ ...VARIANTS.llama, rope_theta: undefined }));
    assertEquals(readModelConfig(path).theta, 1e4);
    Deno.writeTextFileSync(path, JSON.stringify({ ...VARIANTS.llama, sliding_window: 4096 }));
    assertThrows(() => readModelConfig(path), UserError, "its sliding_window is 4096");
  }));

Deno.test("openDecoderFiles() refuses damaged files and shards that are not there", () =>
  withFolder((folder) => {
    const path = `${folder}/model.safetensors`;
    const damaged = (change: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array) => {
      writeDecoder(folder, QWEN2);
      Deno.writeFileSync(path, change(Deno.readFileSync(path)));
      return refusal(folder);
    };
    const replaced = (from: string, to: string) =>
      damaged((bytes) => {
        const text = new TextDecoder("latin1").decode(bytes);
        assertEquals(from.length, to.length);
        return Uint8Array.from(text.replace(from, to), (letter) => letter.charCodeAt(0));
      });
    assert(damaged((bytes) => bytes.subarray(0, -1)).includes("model.safetensors: "));
    assert(damaged((bytes) => bytes.subarray(0, 100)).includes("it is truncated"));
    assert(damaged(() => new Uint8Array()).includes("too few for a safetensors file"));
    assert(replaced('"BF16"', '"I8"  ').includes("needs"));
    assert(replaced('"BF16","shape":[300,32]', '"I16" ,"shape":[300,32]').includes("quantised"));
    assert(replaced("[300,32]", "[32,300]").includes("is [32, 300], but by config.json [300, 32]"));
    Deno.removeSync(path);
    assert(refusal(folder).includes("holds neither model.safetensors nor"));
    writeDecoder(folder, QWEN2, { shards: 2 });
    Deno.removeSync(`${folder}/model-00002-of-00002.safetensors`);
    assert(refusal(folder).includes("the shard model-00002-of-00002.safetensors"));
    const index = `${folder}/model.safetensors.index.json`;
    Deno.writeTextFileSync(index, JSON.stringify({ weight_map: { a: "../../etc/passwd" } }));
    assert(refusal(folder).includes("must be a safetensors file of the same folder"));
    Deno.writeTextFileSync(index, "{");
    assert(refusal(folder).includes("is not valid JSON"));
    assert(refusal(`${folder}/nowhere`).includes("there is no such file"));
  }));

const ADAPTER = { peft_type: "LORA", r: 2, lora_alpha: 6, bias: "none" };
const TARGET = "model.layers.1.mlp.down_proj";

function writeAdapter(
  folder: string,
  changes: Readonly<Record<string, unknown>> = {},
  tensors: Readonly<Record<string, readonly number[]>> = { A: [2, 56], B: [32, 2] },
): string {
  Deno.mkdirSync(folder, { recursive: true });
  Deno.writeTextFileSync(
    `${folder}/adapter_config.json`,
    JSON.stringify({ ...ADAPTER, ...changes }),
  );
  const files = Object.entries(tensors).map(([half, shape]): [string, FileTensor] => [
    `base_model.model.${TARGET}.lora_${half}.weight`,
    { shape, dtype: "F32", values: () => randomValues(half, { shape, scale: 0.2, offset: 0 }) },
  ]);
  writeWeights(`${folder}/adapter_model.safetensors`, new Map(files));
  return folder;
}

Deno.test("openDecoderFiles() refuses adapters that are not plain LoRA of this model", () =>
  withFolder((folder) => {
    writeDecoder(`${folder}/m`, QWEN2);
    const cases: readonly (readonly [Parameters<typeof writeAdapter>, string])[] = [
      [[`${folder}/0`, { peft_type: "IA3" }], 'its peft_type is "IA3"; LORA is merged'],
      [[`${folder}/1`, { use_dora: true }], "it sets use_dora"],
      [
        [`${folder}/2`, { modules_to_save: ["lm_head"] }],
        "lm_head was trained and saved whole, but",
      ],
      [[`${folder}/3`, { rank_pattern: { down_proj: 4 } }], "but r is 4"],
      [[`${folder}/4`, { r: 3 }], "but r is 3"],
      [[`${folder}/5`, {}, { A: [2, 56] }], "it holds only one of lora_A and lora_B"],
      [
        [`${folder}/6`, {}, { A: [2, 32], B: [32, 2] }],
        "makes [32, 32], but the weight is [32, 56]",
      ],
      [[`${folder}/7`, {}, { magnitude: [2] }], "is no half of a LoRA pair"],
    ];
    for (const [given, expected] of cases) {
      const message = refusal(`${folder}/m`, { adapter: writeAdapter(...given) });
      assert(message.includes(expected), `${message}\nlacks ${expected}`);
    }
  }));

Deno.test("mergeRows() adds scale · B A to the rows of a piece", () =>
  withFolder((folder) => {
    const { deltas } = readLoraAdapter(writeAdapter(folder, { use_rslora: true }));
    const delta = deltas.get(`${TARGET}.weight`)!;
    assertEquals(delta.scale, 6 / Math.sqrt(2));
    const rows = new Float32Array(2 * 56).fill(1);
    mergeRows(rows, { delta, firstRow: 30, width: 56 });
    const { a_RK, b_MR, scale } = delta;
    const sum = b_MR[2 * 31]! * a_RK[5]! + b_MR[2 * 31 + 1]! * a_RK[56 + 5]!;
    assert(Math.abs(rows[56 + 5]! - (1 + scale * sum)) < 1e-6);
  }));

gpuTest(
  "loadDecoder() keeps what is merged in f32, and says what it rounds",
  () =>
    withFolder(async (folder) => {
      writeDecoder(`${folder}/m`, QWEN2);
      const adapter = writeAdapter(`${folder}/a`);
      const commands = new Commands(await testGpu("buffer"));
      const files = openDecoderFiles(`${folder}/m`, { adapter });
      const { weights, isRounded } = await loadDecoder(commands, files);
      const down = weights.layout.layers[1]!.down;
      assertEquals(
        weights.matrices.map(({ storage }, m) => (storage === "f32") === (m === down)),
        weights.matrices.map(() => true),
      );
      assertEquals(isRounded, false);
      const [slice] = weights.matrices[down]!.slices;
      const name = `${TARGET}.weight`;
      const [bytes] = await commands.read([{
        tensor: slice!.words.tensor!,
        offsetBytes: slice!.texel * 16,
        sizeBytes: 32 * 56 * 4,
      }]);
      const expected = randomValues(name, weightsOf(QWEN2).get(name)!);
      mergeRows(expected, { delta: files.adapter!.deltas.get(name)!, firstRow: 0, width: 56 });
      assertEquals(new Float32Array(bytes!), expected);
      destroyDecoderWeights(weights);
      const rounded = await loadDecoder(commands, files, { storage: "bf16" });
      assertEquals(rounded.isRounded, true);
      destroyDecoderWeights(rounded.weights);
    }),
);

gpuTest(
  "loadDecoder() refuses what does not fit, and values that are not finite",
  () =>
    withFolder(async (folder) => {
      const commands = new Commands(await testGpu());
      const message = async (options: { availableBytes?: number }) => {
        try {
          await loadDecoder(commands, openDecoderFiles(folder), options);
        } catch (error) {
          assert(error instanceof UserError);
          return error.message;
        }
        return "";
      };
      writeDecoder(folder, QWEN2);
      const refused = await message({ availableBytes: 1e4 });
      assert(/its weights need [\d.e-]+ GB, but 0.0000100 GB are free/.test(refused), refused);
      const path = `${folder}/model.safetensors`;
      const bytes = Deno.readFileSync(path);
      bytes.set([0x80, 0x7f], bytes.length - 2);
      Deno.writeFileSync(path, bytes);
      assert((await message({})).includes('"model.norm.weight" holds a value that is not finite'));
    }),
);

Deno.test("roundToBf16() rounds to nearest, ties to even", () => {
  const values = Float32Array.of(1, 1 + 2 ** -8, 1 + 3 * 2 ** -8, 1 + 2 ** -8 + 2 ** -20, -3);
  assertEquals([...roundToBf16(values)], [0x3f80, 0x3f80, 0x3f82, 0x3f81, 0xc040]);
});
