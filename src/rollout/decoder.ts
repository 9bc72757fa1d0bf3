/**
 * Token-by-token decoding on the device: slots play episodes from a queue, consuming forced tokens or sampled ones, each at
 * its own position of a key-value cache. Small models run in one fused kernel, larger ones layer by layer; both give the
 * bits of the training forward. What ends a call and what answers it is in shaders/slots.wgsl.
 */
import { type Commands, iterationsOf, type Plan } from "../gpu/commands.ts";
import { MAX_ITERATIONS } from "../gpu/kernel.ts";
import {
  createTensor,
  destroy,
  OFFSET_ALIGNMENT_BYTES,
  roundUp,
  type Tensor,
} from "../gpu/tensor.ts";
import { rotaryAngles } from "../kernels/attention.ts";
import { addLinear } from "../kernels/linear.ts";
import { segmentCount } from "../kernels/logprob.ts";
import { groupsOf, kernelOf } from "../kernels/operands.ts";
import {
  ROLLOUT_ADVANCE,
  ROLLOUT_DECODE,
  ROLLOUT_SOFTMAX,
  SLOT_WORDS,
  WORKGROUP_SLOTS,
} from "../kernels/sample.ts";
import type { ModelConfig } from "../model/config.ts";
import type { Parameters } from "../model/parameters.ts";
import { canTranspose, TransposedWeights } from "../model/transposed_weights.ts";
import { addDecodeLayers } from "../model/tiny_agent_decode.ts";
import { createWorkspace, destroyWorkspace, type Workspace } from "../model/workspace.ts";
import { type DecodeRequest, slotParams } from "./decode_request.ts";

/** How a decoder is laid out. None of it changes a bit of what is sampled. */
export interface DecoderOptions {
  /** Tokens of the longest episode. */
  readonly maxPositions: number;
  /** Episodes played at a time (rounded up to whole workgroups; default the adapter's tuning). */
  readonly slotCount?: number;
  /** The fused kernel or one kernel a layer's part; by default fused where the model fits. */
  readonly kind?: "fused" | "layered";
  /** Invocations of a workgroup of the fused kernel (default the adapter's tuning). */
  readonly lanes?: number;
}

/** The widest model whose 8 slots fit the default 16 KiB of workgroup memory. */
export function fitsFusedDecoder(config: ModelConfig): boolean {
  return memoryVec4(config, WORKGROUP_SLOTS) * 16 + WORKGROUP_SLOTS * SLOT_WORDS * 4 + 16 <= 16384;
}

function scratchVec4(config: ModelConfig): number {
  const { width, feedForwardWidth, vocabSize } = config;
  return Math.max(3 * width / 4, feedForwardWidth / 4, Math.ceil(vocabSize / 4));
}

function memoryVec4(config: ModelConfig, slots: number): number {
  return slots * (2 * config.width / 4 + scratchVec4(config));
}

/** Tokens that one dispatch of the fused decoder plays at most; fewer where its loops would be too long. */
const MAX_TOKENS_PER_DISPATCH = 16;

interface TokenSize {
  readonly request: DecodeRequest;
  readonly rowCount: number;
  /** Dispatches (fused) of `tokensPerDispatch` tokens each. */
  readonly times: number;
}

interface Buffers {
  readonly slots: Tensor;
  readonly queue: Tensor;
  readonly angles_TK: Tensor;
  readonly caches: readonly Tensor[];
}

/**
 * Token-by-token decoding on the device: slots play episodes from a queue, each at its own position of a key-value cache, with
 * the bits of the training forward. Make one per model; weights are read where `parameters` holds them at each replay.
 */
export class Decoder {
  /** The recorder of its work. */
  readonly commands: Commands;
  /** The weights. */
  readonly parameters: Parameters;
  /** Episodes played at a time. */
  readonly slotCount: number;
  /** Tokens of the longest episode. */
  readonly maxPositions: number;
  /** How it decodes. */
  readonly kind: "fused" | "layered";
  readonly #lanes: number;
  readonly #buffers: Buffers;
  #inputs: { gym: Tensor; episodes: Tensor; records: Tensor } | undefined;
  #plans:
    | { readonly start: Plan<TokenSize> | undefined; readonly token: Plan<TokenSize> }
    | undefined;
  #transposed: TransposedWeights | undefined;
  #layers: { readonly workspace: Workspace; readonly logits: Tensor } | undefined;

  /**
   * Allocates slots and caches; the kernels are compiled when the first rollout begins.
   * @throws {RangeError} When a fused decoder is asked for a model that does not fit, or limits are exceeded.
   */
  constructor(commands: Commands, parameters: Parameters, options: DecoderOptions) {
    this.commands = commands;
    this.parameters = parameters;
    const { config } = parameters;
    const { tuning } = commands.gpu;
    const { maxPositions, slotCount = tuning.slotCount, lanes = tuning.decoderLanes } = options;
    this.maxPositions = maxPositions;
    this.#lanes = lanes;
    const fits = fitsFusedDecoder(config);
    const isShort = this.#decodeIterations({ token_count: 1, call_count: 0, max_call_tokens: 0 }) <=
      MAX_ITERATIONS;
    this.kind = options.kind ?? (fits && isShort ? "fused" : "layered");
    if (this.kind === "fused" && !fits) {
      throw new RangeError(
        `Cannot decode width ${config.width} and vocabulary ${config.vocabSize} in the fused kernel: ` +
          "8 slots exceed 16 KiB of workgroup memory; use the layered decoder",
      );
    }
    this.slotCount = roundUp(slotCount, tuning.groupSlots);
    this.#buffers = this.#createBuffers();
  }

  #createBuffers(): Buffers {
    const { commands, parameters: { config }, slotCount, maxPositions } = this;
    const { width, headCount, layerCount } = config;
    const tensor = (label: string, sizeBytes: number) =>
      createTensor(commands.gpu.device, { label, sizeBytes });
    const angles = rotaryAngles(width / headCount, maxPositions);
    const angles_TK = tensor("decoder angles", angles.byteLength);
    commands.write(angles_TK, angles);
    const layerBytes = slotCount * maxPositions * 2 * width * 4;
    const caches = this.kind === "fused"
      ? [tensor("cache", layerBytes * layerCount)]
      : Array.from({ length: layerCount }, (_, layer) => tensor(`cache ${layer}`, layerBytes));
    return {
      slots: tensor("slots", slotCount * SLOT_WORDS * 4),
      queue: tensor("queue", 4),
      angles_TK,
      caches,
    };
  }

  /** Episodes that one rollout may hold: their records are one tensor. */
  get maxEpisodes(): number {
    const { maxStorageBufferBindingSize } = this.commands.gpu.device.limits;
    return Math.floor(maxStorageBufferBindingSize / (8 * (this.maxPositions + 1)));
  }

  /** The device's records, [B, maxPositions + 1] of two words; valid until the next `begin`. */
  get records(): Tensor {
    if (!this.#inputs) throw new RangeError("Cannot read records: no rollout has begun");
    return this.#inputs.records;
  }

  /** The slots' memory, for a host that answers calls. */
  get slots(): Tensor {
    return this.#buffers.slots;
  }

  /** The gym's tables on the device, for a host that writes observations. */
  get gym(): Tensor {
    if (!this.#inputs) throw new RangeError("Cannot write observations: no rollout has begun");
    return this.#inputs.gym;
  }

  /**
   * Records the start of a rollout: empty slots, a full queue.
   * @throws {UserError} When the adapter could not run a token's loops to their end.
   */
  begin(request: DecodeRequest): void {
    const { commands } = this;
    const { slots, queue } = this.#buffers;
    const episodeCount = request.episodes_B2.length / 2;
    const inputs = this.#inputsFor({
      gym: request.tables.words.byteLength,
      episodes: request.episodes_B2.byteLength,
      records: episodeCount * (this.maxPositions + 1) * 8,
    });
    if (this.#plans) commands.check(this.#plans.token, this.#size(request, 1));
    commands.submit();
    commands.write(inputs.gym, request.tables.words);
    commands.write(inputs.episodes, request.episodes_B2);
    [slots, queue, inputs.records].forEach((tensor) => commands.clear(tensor));
    this.#transposed?.refresh();
  }

  /** Records `tokens` tokens of every live slot; rounded up to whole dispatches. */
  play(request: DecodeRequest, tokens: number): void {
    if (!this.#plans) throw new RangeError("Cannot play: no rollout has begun");
    if (this.#plans.start) this.commands.replay(this.#plans.start, this.#size(request, 1));
    if (this.kind === "fused") {
      const times = Math.ceil(tokens / this.#tokensPerDispatch(request));
      this.commands.replay(this.#plans.token, this.#size(request, times));
    } else {
      for (let i = 0; i < tokens; i++) {
        this.commands.replay(this.#plans.token, this.#size(request, 1));
      }
    }
  }

  #size(request: DecodeRequest, times: number): TokenSize {
    return { request, times, rowCount: this.slotCount };
  }

  /** Iterations of a dispatch of the fused kernel, from those of its parameters that are given. */
  #decodeIterations(params: Readonly<Record<string, number>>): number {
    const kernel = { spec: ROLLOUT_DECODE, overrides: this.#overrides() };
    return iterationsOf(kernel, { params: { max_positions: this.maxPositions, ...params } });
  }

  #tokensPerDispatch(request: DecodeRequest): number {
    const params = slotParams(request);
    let tokens = MAX_TOKENS_PER_DISPATCH;
    while (
      tokens > 1 && this.#decodeIterations({ ...params, token_count: tokens }) > MAX_ITERATIONS
    ) tokens--;
    return tokens;
  }

  /** Buffers for this rollout; they and the plans over them are made again only when they must grow. */
  #inputsFor(bytes: { gym: number; episodes: number; records: number }) {
    const known = this.#inputs;
    if (
      known && known.gym.sizeBytes >= bytes.gym && known.episodes.sizeBytes >= bytes.episodes &&
      known.records.sizeBytes >= bytes.records
    ) return known;
    const { device } = this.commands.gpu;
    this.commands.submit();
    if (known) Object.values(known).forEach(destroy);
    const { maxStorageBufferBindingSize: limit } = device.limits;
    const grown = (size: number) =>
      Math.max(
        size,
        Math.min(2 ** Math.ceil(Math.log2(size)), limit - limit % OFFSET_ALIGNMENT_BYTES),
      );
    this.#inputs = {
      gym: createTensor(device, { label: "gym", sizeBytes: grown(bytes.gym) }),
      episodes: createTensor(device, { label: "episodes", sizeBytes: grown(bytes.episodes) }),
      records: createTensor(device, { label: "records", sizeBytes: grown(bytes.records) }),
    };
    this.#plans = this.kind === "fused" ? this.#fusedPlan() : this.#layeredPlan();
    return this.#inputs;
  }

  #slotBindings() {
    const inputs = this.#inputs;
    if (!inputs) throw new RangeError("Cannot plan: no rollout has begun");
    const { slots, queue } = this.#buffers;
    return { slots, queue, ...inputs };
  }

  get #isTransposed(): boolean {
    return this.commands.gpu.tuning.transposedWeights && canTranspose(this.parameters.config);
  }

  /** What the fused kernel is compiled with. */
  #overrides(): Readonly<Record<string, number>> {
    const { config } = this.parameters;
    const { width, feedForwardWidth, headCount, layerCount, vocabSize } = config;
    const { groupSlots, decoderRows, decoderColumns } = this.commands.gpu.tuning;
    return {
      LANES: this.#lanes,
      SLOTS: groupSlots,
      BLOCK_ROWS: decoderRows,
      BLOCK_COLUMNS4: decoderColumns / 4,
      WIDTH4: width / 4,
      FEED4: feedForwardWidth / 4,
      HEADS: headCount,
      HEAD_WIDTH4: width / headCount / 4,
      LAYERS: layerCount,
      VOCAB: vocabSize,
      SCRATCH4: scratchVec4(config),
      MEMORY4: memoryVec4(config, groupSlots),
      TRANSPOSED: Number(this.#isTransposed),
    };
  }

  #fusedPlan() {
    const { commands, parameters: { config: { width, headCount }, layout } } = this;
    if (this.#isTransposed) {
      this.#transposed ??= new TransposedWeights(commands, this.parameters);
    }
    const w = this.#transposed?.operand ?? this.parameters.operand;
    const [cache] = this.#buffers.caches;
    if (!cache) throw new RangeError("Cannot plan: the decoder has no cache");
    const token = commands.plan<TokenSize>();
    token.add(kernelOf(commands.gpu, ROLLOUT_DECODE, this.#overrides()), {
      bindings: { w, cache, angles_TK: this.#buffers.angles_TK, ...this.#slotBindings() },
      launch: ({ request, times }) => ({
        params: {
          ...slotParams(request),
          token_count: this.#tokensPerDispatch(request),
          max_positions: this.maxPositions,
          scale: 1 / Math.sqrt(width / headCount),
          head_offset4: layout.head / 4,
          norm_offset4: layout.finalNorm / 4,
          block_offset4: (layout.blocks[0]?.ln1 ?? 0) / 4,
          inverse_width: 1 / width,
        },
        workgroups: [this.slotCount / commands.gpu.tuning.groupSlots],
        times,
      }),
    });
    return { start: undefined, token };
  }

  #layeredPlan() {
    const { commands, parameters: { config, layout, operand: w }, slotCount, maxPositions } = this;
    this.#layers ??= {
      workspace: createWorkspace(commands, config, {
        capacity: slotCount,
        maxPositions,
        isTraining: false,
      }),
      logits: createTensor(commands.gpu.device, {
        label: "decoder logits",
        sizeBytes: slotCount * config.vocabSize * 4,
      }),
    };
    const { workspace, logits } = this.#layers;
    const drawn = { token_S4: workspace.inputs.token_N4, segments: workspace.segments, logits };
    const start = commands.plan<TokenSize>();
    this.#addAdvance(start, { ...drawn, isStart: true });
    const token = commands.plan<TokenSize>();
    addDecodeLayers(commands, token, {
      parameters: this.parameters,
      workspace,
      caches: this.#buffers.caches,
      maxPositions,
    });
    addLinear(commands, token, {
      product: "forward",
      tensors: { x_NK: workspace.hidden_RD, w, y_NM: logits },
      shape: { width: config.width, columnCount: config.vocabSize, weightOffset: layout.head },
    });
    this.#addSoftmax(token, drawn);
    this.#addAdvance(token, { ...drawn, isStart: false });
    return { start, token };
  }

  #addSoftmax(
    plan: Plan<TokenSize>,
    { segments, logits }: { readonly segments: Tensor; readonly logits: Tensor },
  ): void {
    const { slotCount, parameters: { config: { vocabSize } } } = this;
    const { stepLanes } = this.commands.gpu.tuning;
    plan.add(kernelOf(this.commands.gpu, ROLLOUT_SOFTMAX, { LANES: stepLanes }), {
      bindings: { logits_SV: logits, segments },
      launch: ({ request }) => ({
        params: {
          slot_count: slotCount,
          vocab_size: vocabSize,
          inverse_temperature: 1 / request.temperature,
        },
        workgroups: [groupsOf(slotCount, stepLanes), segmentCount(vocabSize)],
      }),
    });
  }

  #addAdvance(
    plan: Plan<TokenSize>,
    options: {
      readonly token_S4: Tensor;
      readonly logits: Tensor;
      readonly segments: Tensor;
      readonly isStart: boolean;
    },
  ): void {
    const { token_S4, logits, segments, isStart } = options;
    const { stepLanes } = this.commands.gpu.tuning;
    plan.add(kernelOf(this.commands.gpu, ROLLOUT_ADVANCE, { LANES: stepLanes }), {
      bindings: { logits_SV: logits, segments, token_S4, ...this.#slotBindings() },
      launch: ({ request }) => ({
        params: {
          ...slotParams(request),
          slot_count: this.slotCount,
          vocab_size: this.parameters.config.vocabSize,
          start: Number(isStart),
          max_positions: this.maxPositions,
        },
        workgroups: [groupsOf(this.slotCount, stepLanes)],
      }),
    });
  }

  /** Frees everything but the weights. */
  destroy(): void {
    const { slots, queue, angles_TK, caches } = this.#buffers;
    [slots, queue, angles_TK, ...caches, ...Object.values(this.#inputs ?? {})].forEach(destroy);
    this.#transposed?.destroy();
    if (this.#layers) {
      destroyWorkspace(this.#layers.workspace);
      destroy(this.#layers.logits);
    }
  }
}
