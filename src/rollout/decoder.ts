/**
 * Token-by-token decoding on the device: slots play episodes from a queue, consuming forced tokens or sampled ones, each at
 * its own position of a key-value cache. Small models run in one fused kernel, larger ones layer by layer; both give the
 * bits of the training forward. What ends a call and what answers it is in shaders/slots.wgsl.
 */
import type { Commands, Plan } from "../gpu/commands.ts";
import { createTensor, destroy, roundUp, type Tensor } from "../gpu/tensor.ts";
import { rotaryAngles } from "../kernels/attention.ts";
import { addLinearForward } from "../kernels/linear.ts";
import { groupsOf, kernelOf } from "../kernels/operands.ts";
import { ROLLOUT_ADVANCE, ROLLOUT_DECODE, SLOT_WORDS, WORKGROUP_SLOTS } from "../kernels/sample.ts";
import type { ModelConfig } from "../model/config.ts";
import type { Parameters } from "../model/parameters.ts";
import { addDecodeLayers } from "../model/tiny_agent_decode.ts";
import { createWorkspace, destroyWorkspace, type Workspace } from "../model/workspace.ts";

/** How a decoder is laid out. None of it changes a bit of what is sampled. */
export interface DecoderOptions {
  /** Tokens of the longest episode. */
  readonly maxPositions: number;
  /** Episodes played at a time (a multiple of 8; default the adapter's tuning). */
  readonly slotCount?: number;
  /** The fused kernel or one kernel a layer's part; by default fused where the model fits. */
  readonly kind?: "fused" | "layered";
  /** Invocations of a workgroup of the fused kernel (default the adapter's tuning). */
  readonly lanes?: number;
}

/** The tables of a gym, as the slot machine reads them. */
export interface GymTables {
  /** Rows, then transitions, then start states. */
  readonly words: Uint32Array<ArrayBuffer>;
  /** Words of a row: a count and its tokens. */
  readonly rowWords: number;
  /** The first prompt's row; one a task. */
  readonly promptRow: number;
  /** The first valid call's row. */
  readonly callRow: number;
  /** Valid calls. */
  readonly callCount: number;
  /** Words before the transitions [state, calls + 1]. */
  readonly transitionOffset: number;
  /** Words before the start states. */
  readonly startOffset: number;
}

/** What is played, and by which random numbers. */
export interface DecodeRequest {
  /** The gym. */
  readonly tables: GymTables;
  /** True lets the compiled gym answer on the device, false leaves slots waiting for the host. */
  readonly isResident: boolean;
  /** (task, random id) of each episode, u32 [B, 2]. */
  readonly episodes_B2: Uint32Array<ArrayBuffer>;
  /** Key of the random numbers. */
  readonly key: readonly [number, number];
  /** Divides the logits; above 0. */
  readonly temperature: number;
  /** Calls in an episode. */
  readonly maxTurns: number;
  /** The token that ends a call. */
  readonly callEnd: number;
  /** Tokens after which a call ends anyway. */
  readonly maxCallTokens: number;
}

/** The widest model whose 8 slots fit the default 16 KiB of workgroup memory. */
export function fitsFusedDecoder(config: ModelConfig): boolean {
  return memoryVec4(config) * 16 + WORKGROUP_SLOTS * SLOT_WORDS * 4 + 16 <= 16384;
}

function scratchVec4(config: ModelConfig): number {
  const { width, feedForwardWidth, vocabSize } = config;
  return Math.max(3 * width / 4, feedForwardWidth / 4, Math.ceil(vocabSize / 4));
}

function memoryVec4(config: ModelConfig): number {
  return WORKGROUP_SLOTS * (2 * config.width / 4 + scratchVec4(config));
}

/**
 * Loop iterations that one invocation may run in a dispatch. Mesa 22.3 silently ends loops after 65,535 iterations per
 * invocation, counted over all loops of a shader; real GPUs have watchdogs.
 */
const ITERATION_BUDGET = 45000;
const MAX_TOKENS_PER_DISPATCH = 16;

/** Tokens that one dispatch of the fused decoder may play within the iteration budget. */
export function tokensPerDispatch(
  config: ModelConfig,
  options: { readonly maxPositions: number; readonly lanes: number },
): number {
  const { width, feedForwardWidth, headCount, layerCount, vocabSize } = config;
  const { maxPositions, lanes } = options;
  const headVec4 = width / headCount / 4;
  const perKey = headVec4 === 4 ? 1 : 1 + 2 * headVec4;
  const product = (columns: number, inner: number) =>
    Math.ceil(2 * Math.ceil(columns / 16) / lanes) * (inner / 4 + 44);
  const layer = product(3 * width, width) + product(width, width) +
    product(feedForwardWidth, width) + product(width, feedForwardWidth) + 2 * 3 * width / 4 +
    Math.ceil(WORKGROUP_SLOTS * headCount / lanes) * (maxPositions * perKey + 3 * headVec4);
  const perToken = layerCount * layer + product(vocabSize, width) + 2 * vocabSize + width + 100;
  return Math.max(1, Math.min(MAX_TOKENS_PER_DISPATCH, Math.floor(ITERATION_BUDGET / perToken)));
}

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

/** See the file's head. Make one per model; weights are read where `parameters` holds them at each replay. */
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
  #layers: { readonly workspace: Workspace; readonly logits: Tensor } | undefined;

  /**
   * Allocates slots and caches; the kernels are compiled when the first rollout begins.
   * @throws {RangeError} When a fused decoder is asked for a model that does not fit, or limits are exceeded.
   */
  constructor(commands: Commands, parameters: Parameters, options: DecoderOptions) {
    const { config } = parameters;
    const { tuning } = commands.gpu;
    const { maxPositions, slotCount = tuning.slotCount, lanes = tuning.decoderLanes } = options;
    const fits = fitsFusedDecoder(config);
    this.kind = options.kind ?? (fits ? "fused" : "layered");
    if (this.kind === "fused" && !fits) {
      throw new RangeError(
        `Cannot decode width ${config.width} and vocabulary ${config.vocabSize} in the fused kernel: ` +
          "8 slots exceed 16 KiB of workgroup memory; use the layered decoder",
      );
    }
    this.commands = commands;
    this.parameters = parameters;
    this.slotCount = roundUp(slotCount, WORKGROUP_SLOTS);
    this.maxPositions = maxPositions;
    this.#lanes = lanes;
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

  /** Records the start of a rollout: empty slots, a full queue. */
  begin(request: DecodeRequest): void {
    const { commands } = this;
    const { slots, queue } = this.#buffers;
    const episodeCount = request.episodes_B2.length / 2;
    const inputs = this.#inputsFor({
      gym: request.tables.words.byteLength,
      episodes: request.episodes_B2.byteLength,
      records: episodeCount * (this.maxPositions + 1) * 8,
    });
    commands.submit();
    commands.write(inputs.gym, request.tables.words);
    commands.write(inputs.episodes, request.episodes_B2);
    [slots, queue, inputs.records].forEach((tensor) => commands.clear(tensor));
  }

  /** Records `tokens` tokens of every live slot; rounded up to whole dispatches. */
  play(request: DecodeRequest, tokens: number): void {
    if (!this.#plans) throw new RangeError("Cannot play: no rollout has begun");
    if (this.#plans.start) this.commands.replay(this.#plans.start, this.#size(request, 1));
    if (this.kind === "fused") {
      const times = Math.ceil(tokens / this.#tokensPerDispatch());
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

  #tokensPerDispatch(): number {
    return tokensPerDispatch(this.parameters.config, {
      maxPositions: this.maxPositions,
      lanes: this.#lanes,
    });
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
    const grown = (size: number) => 2 ** Math.ceil(Math.log2(size));
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

  #fusedPlan() {
    const { commands, parameters: { config, layout, operand: w } } = this;
    const { width, feedForwardWidth, headCount, layerCount, vocabSize } = config;
    const [cache] = this.#buffers.caches;
    if (!cache) throw new RangeError("Cannot plan: the decoder has no cache");
    const overrides = {
      LANES: this.#lanes,
      WIDTH4: width / 4,
      FEED4: feedForwardWidth / 4,
      HEADS: headCount,
      HEAD_WIDTH4: width / headCount / 4,
      LAYERS: layerCount,
      VOCAB: vocabSize,
      SCRATCH4: scratchVec4(config),
      MEMORY4: memoryVec4(config),
    };
    const token = commands.plan<TokenSize>();
    token.add(kernelOf(commands.gpu, ROLLOUT_DECODE, overrides), {
      bindings: { w, cache, angles_TK: this.#buffers.angles_TK, ...this.#slotBindings() },
      launch: ({ request, times }) => ({
        params: {
          ...slotParams(request),
          token_count: this.#tokensPerDispatch(),
          max_positions: this.maxPositions,
          scale: 1 / Math.sqrt(width / headCount),
          head_offset4: layout.head / 4,
          norm_offset4: layout.finalNorm / 4,
          block_offset4: (layout.blocks[0]?.ln1 ?? 0) / 4,
        },
        workgroups: [this.slotCount / WORKGROUP_SLOTS],
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
    const start = commands.plan<TokenSize>();
    this.#addAdvance(start, { token_S4: workspace.inputs.token_N4, logits, isStart: true });
    const token = commands.plan<TokenSize>();
    addDecodeLayers(commands, token, {
      parameters: this.parameters,
      workspace,
      caches: this.#buffers.caches,
      maxPositions,
    });
    addLinearForward(commands, token, {
      x_NK: workspace.hidden_RD,
      w,
      y_NM: logits,
      shape: { width: config.width, columnCount: config.vocabSize, weightOffset: layout.head },
    });
    this.#addAdvance(token, { token_S4: workspace.inputs.token_N4, logits, isStart: false });
    return { start, token };
  }

  #addAdvance(
    plan: Plan<TokenSize>,
    options: { readonly token_S4: Tensor; readonly logits: Tensor; readonly isStart: boolean },
  ): void {
    const { token_S4, logits, isStart } = options;
    plan.add(kernelOf(this.commands.gpu, ROLLOUT_ADVANCE), {
      bindings: { logits_SV: logits, token_S4, ...this.#slotBindings() },
      launch: ({ request }) => ({
        params: {
          ...slotParams(request),
          slot_count: this.slotCount,
          vocab_size: this.parameters.config.vocabSize,
          start: Number(isStart),
          max_positions: this.maxPositions,
        },
        workgroups: [groupsOf(this.slotCount, 8)],
      }),
    });
  }

  /** Frees everything but the weights. */
  destroy(): void {
    const { slots, queue, angles_TK, caches } = this.#buffers;
    [slots, queue, angles_TK, ...caches, ...Object.values(this.#inputs ?? {})].forEach(destroy);
    if (this.#layers) {
      destroyWorkspace(this.#layers.workspace);
      destroy(this.#layers.logits);
    }
  }
}

function slotParams(request: DecodeRequest): Record<string, number> {
  const { tables, key, maxTurns, callEnd, maxCallTokens } = request;
  return {
    episode_count: request.episodes_B2.length / 2,
    inverse_temperature: 1 / request.temperature,
    key0: key[0],
    key1: key[1],
    resident: Number(request.isResident),
    max_turns: maxTurns,
    call_end: callEnd,
    max_call_tokens: maxCallTokens,
    row_words: tables.rowWords,
    prompt_row: tables.promptRow,
    call_row: tables.callRow,
    call_count: tables.callCount,
    transition_offset: tables.transitionOffset,
    start_offset: tables.startOffset,
  };
}
