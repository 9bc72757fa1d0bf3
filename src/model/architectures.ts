/** One description per architecture: what of it differs, and where each weight of a checkpoint goes. */
import type { ArchitectureName, DecoderConfig } from "./decoder_config.ts";

/** What tells an architecture from the others. */
export interface Architecture {
  /** The class in `architectures` of config.json. */
  readonly className: string;
  /** Whether queries and keys are normalized by head. */
  readonly hasHeadNorm: boolean;
  /** Biases of the products, from what config.json says of them. */
  readonly biases: (
    said: { readonly attention: boolean; readonly feedForward: boolean },
  ) => DecoderConfig["biases"];
}

/** The architectures that are read. TinyAgent has a layout of its own, in config.ts. */
export const ARCHITECTURES = {
  llama: {
    className: "LlamaForCausalLM",
    hasHeadNorm: false,
    biases: ({ attention, feedForward }) => ({
      qkv: attention,
      attentionOutput: attention,
      feedForward,
    }),
  },
  qwen2: {
    className: "Qwen2ForCausalLM",
    hasHeadNorm: false,
    biases: () => ({ qkv: true, attentionOutput: false, feedForward: false }),
  },
  qwen3: {
    className: "Qwen3ForCausalLM",
    hasHeadNorm: true,
    biases: ({ attention }) => ({
      qkv: attention,
      attentionOutput: attention,
      feedForward: false,
    }),
  },
} as const satisfies Record<ArchitectureName, Architecture>;

/** A tensor of the checkpoint as a run of rows of a matrix. */
export interface MatrixSource {
  /** Its name in the checkpoint. */
  readonly name: string;
  /** Rows of it. */
  readonly rowCount: number;
}

/** Matrices that one product reads, stacked: queries, keys and values are one, gates and what they gate are one. */
export interface MatrixLayout {
  /** Its tensors, from the first row on. */
  readonly sources: readonly MatrixSource[];
  /** Rows of all of them. */
  readonly rowCount: number;
  /** Columns. */
  readonly width: number;
  /** Matrices of one group lie together where they fit below the limit of a binding. */
  readonly group: string;
  /** Whether it is cut between whole segments of the vocabulary only. */
  readonly isVocabulary: boolean;
}

/** A gain or bias, in the tensor that holds all of them. */
export interface VectorLayout {
  /** Its name in the checkpoint. */
  readonly name: string;
  /** Floats of it. */
  readonly length: number;
  /** Floats before it, a multiple of 8. */
  readonly offset: number;
}

/** Matrices of a layer by their place in `DecoderLayout.matrices`, and floats before its vectors; undefined where there is none. */
export interface LayerLayout {
  /** Queries, keys and values. */
  readonly qkv: number;
  /** What follows attention. */
  readonly attentionOutput: number;
  /** Gates, then what they let through. */
  readonly gateUp: number;
  /** Back to the width of the model. */
  readonly down: number;
  /** Gain of the norm before attention. */
  readonly attentionGain: number;
  /** Gain of the norm before the gates. */
  readonly feedForwardGain: number;
  /** Gain of the norm of query heads. */
  readonly queryGain: number | undefined;
  /** Gain of the norm of key heads. */
  readonly keyGain: number | undefined;
  /** Bias of `qkv`. */
  readonly qkvBias: number | undefined;
  /** Bias of `attentionOutput`. */
  readonly attentionOutputBias: number | undefined;
  /** Bias of `gateUp`. */
  readonly gateUpBias: number | undefined;
  /** Bias of `down`. */
  readonly downBias: number | undefined;
}

/** Where every weight of a decoder goes. */
export interface DecoderLayout {
  /** In the order in which they lie on the device. */
  readonly matrices: readonly MatrixLayout[];
  /** In the order of their offsets. */
  readonly vectors: readonly VectorLayout[];
  /** Floats of all vectors. */
  readonly vectorLength: number;
  /** From the first to the last. */
  readonly layers: readonly LayerLayout[];
  /** Floats before the gain of the last norm. */
  readonly finalGain: number;
  /** The token table's place in `matrices`. */
  readonly table: number;
  /** The head's, the table's where the model is tied. */
  readonly head: number;
}

/** Collects matrices and vectors in order. */
class LayoutBuilder {
  readonly matrices: MatrixLayout[] = [];
  readonly vectors: VectorLayout[] = [];
  vectorLength = 0;

  /** Adds a matrix of one or more tensors. @returns Its place. */
  matrix(
    sources: readonly MatrixSource[],
    rest: { readonly width: number; readonly group: string; readonly isVocabulary?: boolean },
  ): number {
    const rowCount = sources.reduce((sum, source) => sum + source.rowCount, 0);
    return this.matrices.push({ isVocabulary: false, ...rest, sources, rowCount }) - 1;
  }

  /** Adds vectors one behind the other. @returns The floats before the first. */
  vector(...parts: readonly (readonly [name: string, length: number])[]): number {
    const start = this.vectorLength;
    for (const [name, length] of parts) {
      this.vectors.push({ name, length, offset: this.vectorLength });
      this.vectorLength += length;
    }
    return start;
  }
}

function addLayer(builder: LayoutBuilder, config: DecoderConfig, layer: number): LayerLayout {
  const { width, headCount, groupCount, headWidth, feedForwardWidth, biases } = config;
  const group = `model.layers.${layer}`;
  const attention = `${group}.self_attn`, mlp = `${group}.mlp`;
  const queries = headCount * headWidth, keys = groupCount * headWidth;
  const qkv = [
    { name: `${attention}.q_proj`, rowCount: queries },
    { name: `${attention}.k_proj`, rowCount: keys },
    { name: `${attention}.v_proj`, rowCount: keys },
  ];
  const gateUp = [
    { name: `${mlp}.gate_proj`, rowCount: feedForwardWidth },
    { name: `${mlp}.up_proj`, rowCount: feedForwardWidth },
  ];
  const output = [{ name: `${attention}.o_proj`, rowCount: width }];
  const down = [{ name: `${mlp}.down_proj`, rowCount: width }];
  const matrix = (linears: readonly MatrixSource[], inputWidth: number) =>
    builder.matrix(
      linears.map(({ name, rowCount }) => ({ name: `${name}.weight`, rowCount })),
      { width: inputWidth, group },
    );
  const bias = (isThere: boolean, linears: readonly MatrixSource[]) =>
    isThere
      ? builder.vector(
        ...linears.map(({ name, rowCount }) => [`${name}.bias`, rowCount] as const),
      )
      : undefined;
  const gain = (name: string, length: number) => builder.vector([`${name}.weight`, length]);
  return {
    qkv: matrix(qkv, width),
    attentionOutput: matrix(output, queries),
    gateUp: matrix(gateUp, width),
    down: matrix(down, feedForwardWidth),
    attentionGain: gain(`${group}.input_layernorm`, width),
    feedForwardGain: gain(`${group}.post_attention_layernorm`, width),
    queryGain: config.hasHeadNorm ? gain(`${attention}.q_norm`, headWidth) : undefined,
    keyGain: config.hasHeadNorm ? gain(`${attention}.k_norm`, headWidth) : undefined,
    qkvBias: bias(biases.qkv, qkv),
    attentionOutputBias: bias(biases.attentionOutput, output),
    gateUpBias: bias(biases.feedForward, gateUp),
    downBias: bias(biases.feedForward, down),
  };
}

/** Lays out the weights of a decoder, with their names in Hugging Face checkpoints. */
export function decoderLayout(config: DecoderConfig): DecoderLayout {
  const { vocabSize, width, layerCount, isTied } = config;
  const builder = new LayoutBuilder();
  const vocabulary = (name: string) =>
    builder.matrix([{ name, rowCount: vocabSize }], { width, group: name, isVocabulary: true });
  const table = vocabulary("model.embed_tokens.weight");
  const head = isTied ? table : vocabulary("lm_head.weight");
  const layers = Array.from(
    { length: layerCount },
    (_, layer) => addLayer(builder, config, layer),
  );
  const finalGain = builder.vector(["model.norm.weight", width]);
  const { matrices, vectors, vectorLength } = builder;
  return { matrices, vectors, vectorLength, layers, finalGain, table, head };
}
