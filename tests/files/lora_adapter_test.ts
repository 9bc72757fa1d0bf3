/** LoRA held to PEFT's definition: W + lora_alpha / r · B A, summed here in float64, and scored by a decoder in float64. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { loadDecoder, openDecoderFiles } from "../../src/files/load_decoder.ts";
import { readLoraAdapter } from "../../src/files/lora_adapter.ts";
import { readLoraConfig } from "../../src/files/lora_config.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { destroyDecoderWeights } from "../../src/model/decoder_weights.ts";
import { scoreSequences } from "../../src/model/score_sequences.ts";
import { makeNoise } from "../diagnose/referee/noise.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { begin64, logProbs64, type Weights64 } from "../model/float64_decoder.ts";
import {
  type FileDtype,
  type FileTensor,
  type RandomConfig,
  randomValues,
  VARIANTS,
  weightsOf,
  writeDecoder,
  writeWeights,
} from "../model/random_decoder.ts";
import { withFolder } from "./with_folder.ts";

type Config = Readonly<Record<string, unknown>>;

/** As PEFT 0.18 writes it. */
const PLAIN: Config = {
  alora_invocation_tokens: null,
  alpha_pattern: {},
  arrow_config: null,
  auto_mapping: null,
  base_model_name_or_path: "base",
  bias: "none",
  corda_config: null,
  ensure_weight_tying: false,
  eva_config: null,
  exclude_modules: null,
  fan_in_fan_out: false,
  inference_mode: true,
  init_lora_weights: true,
  layer_replication: null,
  layers_pattern: null,
  layers_to_transform: null,
  loftq_config: {},
  lora_alpha: 6,
  lora_bias: false,
  lora_dropout: 0.05,
  megatron_config: null,
  megatron_core: "megatron.core",
  modules_to_save: null,
  peft_type: "LORA",
  peft_version: "0.18.0",
  qalora_group_size: 16,
  r: 3,
  rank_pattern: {},
  revision: null,
  target_modules: ["q_proj", "down_proj"],
  target_parameters: null,
  task_type: "CAUSAL_LM",
  trainable_token_indices: null,
  use_dora: false,
  use_qalora: false,
  use_rslora: false,
};

interface Made {
  readonly config?: Config;
  /** By module: rank and factor that PEFT gives it. */
  readonly pairs: Readonly<Record<string, readonly [rank: number, scale: number]>>;
  /** Tensors that stand in for the model's. */
  readonly whole?: readonly string[];
  readonly dtype?: FileDtype;
  /** What follows `lora_A` in names. */
  readonly suffix?: string;
  /** What precedes the last part of a whole tensor's name. */
  readonly wrapper?: string;
}

/** Values whose sums are rounded in no dtype that they are written in. */
const valuesFor = (name: string, shape: readonly number[], scale: number) =>
  randomValues(name, { shape, scale, offset: 0 });

function baseOf(model: RandomConfig): Map<string, Float64Array> {
  return new Map(Array.from(
    weightsOf(model),
    ([name, weight]) => [name, Float64Array.from(randomValues(name, weight))],
  ));
}

/** Writes an adapter, and answers the weights that PEFT would compute with. */
function make(folder: string, model: RandomConfig, made: Made): Weights64 {
  const { config = {}, pairs, whole = [], dtype = "F32", suffix = ".weight", wrapper = "" } = made;
  const shapes = weightsOf(model), merged = baseOf(model);
  const files = new Map<string, FileTensor>();
  const write = (name: string, shape: readonly number[], scale: number) => {
    const values = valuesFor(name, shape, scale);
    files.set(`base_model.model.${name}`, { shape, dtype, values: () => values.slice() });
    return values;
  };
  for (const [module, [rank, scale]] of Object.entries(pairs)) {
    const [rows, width] = shapes.get(`${module}.weight`)!.shape as [number, number];
    const isEmbedding = module.endsWith("embed_tokens");
    const weight = merged.get(`${module}.weight`)!;
    // An embedding's A is [r, V] and its B [D, r]; its table [V, D] gains (B A)ᵀ.
    const [inner, outer] = isEmbedding ? [rows, width] : [width, rows];
    const kind = isEmbedding ? "lora_embedding_" : "lora_";
    const end = isEmbedding ? suffix.replace(".weight", "") : suffix;
    const a = write(`${module}.${kind}A${end}`, [rank, inner], 0.3);
    const b = write(`${module}.${kind}B${end}`, [outer, rank], 0.1);
    for (let o = 0; o < outer; o++) {
      for (let i = 0; i < inner; i++) {
        let sum = 0;
        for (let r = 0; r < rank; r++) sum += b[o * rank + r]! * a[r * inner + i]!;
        weight[isEmbedding ? i * width + o : o * width + i]! += scale * sum;
      }
    }
  }
  for (const name of whole) {
    const { shape, scale, offset } = shapes.get(name)!;
    const values = randomValues(`new/${name}`, { shape, scale, offset });
    const written = name.replace(/\.(weight|bias)$/, `${wrapper}.$1`);
    files.set(`base_model.model.${written}`, { shape, dtype, values: () => values.slice() });
    merged.set(name, Float64Array.from(values));
  }
  Deno.mkdirSync(folder, { recursive: true });
  Deno.writeTextFileSync(
    `${folder}/adapter_config.json`,
    JSON.stringify({ ...PLAIN, ...config }),
  );
  writeWeights(`${folder}/adapter_model.safetensors`, files);
  return merged;
}

const LINEAR = [
  ...["q", "k", "v", "o"].map((letter) => `self_attn.${letter}_proj`),
  ...["gate", "up", "down"].map((name) => `mlp.${name}_proj`),
];
const allOf = (names: readonly string[], how: readonly [number, number], layers = [0, 1]) =>
  Object.fromEntries(
    layers.flatMap((layer) => names.map((name) => [`model.layers.${layer}.${name}`, how])),
  );

/** What an adapter's configuration can say, on models of each architecture. */
const CASES: Readonly<Record<string, readonly [keyof typeof VARIANTS, Made]>> = {
  plain: ["qwen2", { pairs: allOf(["self_attn.q_proj", "mlp.down_proj"], [3, 2]) }],
  "all linear layers by one word, bf16, keys with the adapter's name": ["llama", {
    config: { target_modules: "all-linear", init_lora_weights: "gaussian", fan_in_fan_out: true },
    pairs: allOf(LINEAR, [3, 2]),
    dtype: "BF16",
    suffix: ".default.weight",
  }],
  "rank-stabilized, with patterns": ["qwen3", {
    config: {
      target_modules: ".*\\.(q_proj|o_proj)",
      use_rslora: true,
      rank_pattern: { "layers\\.1\\.self_attn\\.q_proj": 4, o_proj: 2 },
      alpha_pattern: { "^model.layers.0.self_attn.o_proj": 1, q_proj: 8 },
    },
    pairs: {
      "model.layers.0.self_attn.q_proj": [3, 8 / Math.sqrt(3)],
      "model.layers.1.self_attn.q_proj": [4, 8 / 2],
      "model.layers.0.self_attn.o_proj": [2, 1 / Math.sqrt(2)],
      "model.layers.1.self_attn.o_proj": [2, 6 / Math.sqrt(2)],
    },
  }],
  "embedding and head": ["qwen3", {
    config: { target_modules: ["embed_tokens", "lm_head"] },
    pairs: { "model.embed_tokens": [3, 2], lm_head: [3, 2] },
  }],
  "embedding, keys with the adapter's name": ["qwen3", {
    config: { target_modules: ["embed_tokens"] },
    pairs: { "model.embed_tokens": [3, 2] },
    suffix: ".default.weight",
  }],
  "head and norms saved whole": ["qwen3", {
    config: { modules_to_save: ["lm_head", "norm"] },
    pairs: allOf(["self_attn.q_proj"], [3, 2]),
    whole: ["lm_head.weight", "model.norm.weight"],
    wrapper: ".modules_to_save.default",
  }],
  "biases trained": ["qwen2", {
    config: { bias: "all" },
    pairs: allOf(["self_attn.q_proj"], [3, 2]),
    whole: ["q", "k", "v"].map((letter) => `model.layers.1.self_attn.${letter}_proj.bias`),
    wrapper: ".base_layer",
  }],
  "one layer, one module left out": ["llama3_scaled", {
    config: {
      target_modules: ["q_proj", "k_proj", "up_proj"],
      exclude_modules: ["self_attn.k_proj"],
      layers_to_transform: [1],
      layers_pattern: "layers",
    },
    pairs: allOf(["self_attn.q_proj", "mlp.up_proj"], [3, 2], [1]),
  }],
};

gpuTest(
  "openDecoderFiles() merges adapters as PEFT computes them",
  () =>
    withFolder(async (folder) => {
      const commands = new Commands(await testGpu());
      const { uniform } = makeNoise(3);
      for (const [name, [variant, made]] of Object.entries(CASES)) {
        const config: RandomConfig = VARIANTS[variant];
        const [model, adapter] = [`${folder}/${variant}`, `${folder}/${name.replaceAll(" ", "_")}`];
        writeDecoder(model, config);
        const merged = make(adapter, config, made);
        const ids = Array.from({ length: 12 }, () => Math.floor(uniform() * config.vocab_size));
        const { weights } = await loadDecoder(commands, openDecoderFiles(model, { adapter }));
        const { scores_B: [scores] } = await scoreSequences(commands, weights, {
          ids_B: [ids],
          temperature: 1,
        });
        destroyDecoderWeights(weights);
        const expected = logProbs64(ids, begin64(config, merged));
        const base = logProbs64(ids, begin64(config, baseOf(config)));
        const off = Math.max(...expected.map((logp, t) => Math.abs(logp - scores!.logp[t]!)));
        const moved = Math.max(...expected.map((logp, t) => Math.abs(logp - base[t]!)));
        // f32 against float64 at log-probs to −40 (docs/models.md); an adapter left out moves tenths.
        assert(off < 1e-4, `${name}: off by ${off}`);
        assert(moved > 0.02, `${name}: the adapter moves ${moved} only`);
      }
    }),
);

Deno.test("readLoraConfig() refuses by its name every field that would change the result", () =>
  withFolder((folder) => {
    const path = `${folder}/adapter_config.json`;
    const write = (config: Config) =>
      Deno.writeTextFileSync(path, JSON.stringify({ ...PLAIN, ...config }));
    const changes: readonly (readonly [string, unknown])[] = [
      ["peft_type", "LOHA"],
      ["use_dora", true],
      ["use_qalora", true],
      ["lora_bias", true],
      ["bias", "some"],
      ["target_parameters", ["mlp.experts.gate_up_proj"]],
      ["trainable_token_indices", [5, 6]],
      ["layer_replication", [[0, 2], [1, 2]]],
      ["alora_invocation_tokens", [3]],
      ["arrow_config", { top_k: 2 }],
      ["megatron_config", { a: 1 }],
      ["something_new", 3],
      ["init_lora_weights", "pissa_niter_16"],
      ["init_lora_weights", "olora"],
      ["init_lora_weights", "loftq"],
    ];
    for (const [field, value] of changes) {
      write({ [field]: value });
      const { message } = assertThrows(() => readLoraConfig(path), UserError);
      assert(message.includes(field), message);
    }
    for (const harmless of [{ init_lora_weights: "eva" }, { lora_dropout: 0 }, { revision: "a" }]) {
      write(harmless);
      assertEquals(readLoraConfig(path).scaleOf("model.q_proj"), { rank: 3, scale: 2 });
    }
    write({ rank_pattern: { "q_proj(": 2 } });
    const { message } = assertThrows(() => readLoraConfig(path).scaleOf("q_proj"), UserError);
    assert(message.includes('rank_pattern "(?:.*\\\\.)?(?:q_proj()"'), message);
  }));

Deno.test("openDecoderFiles() refuses adapters whose file and configuration disagree", () =>
  withFolder((folder) => {
    const refusal = (variant: keyof typeof VARIANTS, made: Made) => {
      writeDecoder(`${folder}/${variant}`, VARIANTS[variant]);
      make(`${folder}/a`, VARIANTS[variant], made);
      return assertThrows(
        () => openDecoderFiles(`${folder}/${variant}`, { adapter: `${folder}/a` }),
        UserError,
      ).message;
    };
    const q = allOf(["self_attn.q_proj"], [3, 2]);
    const cases: readonly (readonly [keyof typeof VARIANTS, Made, string])[] = [
      ["qwen2", { config: { target_modules: ["v_proj"] }, pairs: q }, "target_modules do not name"],
      ["qwen2", { config: { exclude_modules: ".*q_proj" }, pairs: q }, "exclude_modules name it"],
      ["qwen2", { config: { layers_to_transform: 1 }, pairs: q }, "layers_to_transform leave"],
      [
        "qwen3",
        { config: { target_modules: "all-linear" }, pairs: { lm_head: [3, 2] } },
        "leaves head and embedding out",
      ],
      ["qwen2", {
        config: { target_modules: ["embed_tokens"] },
        pairs: { "model.embed_tokens": [3, 2] },
      }, "head is tied to its table"],
      ["qwen2", { pairs: q, whole: ["model.embed_tokens.weight"] }, "head is tied to its table"],
      ["qwen2", { pairs: q, whole: ["model.norm.weight"] }, "no half of a LoRA pair, nor a module"],
      ["qwen2", { pairs: q, suffix: ".magnitude.bias" }, "no half of a LoRA pair"],
    ];
    for (const [variant, made, expected] of cases) {
      const message = refusal(variant, made);
      assert(message.includes(expected), `${message}\nlacks ${expected}`);
    }
    Deno.renameSync(`${folder}/a/adapter_model.safetensors`, `${folder}/a/adapter_model.bin`);
    const { message } = assertThrows(() => readLoraAdapter(`${folder}/a`), UserError);
    assert(message.includes("safe_serialization"), message);
  }));
