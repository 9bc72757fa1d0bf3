/** Sampling: the fused decoder of small models, and the last step of the layered decoder of larger ones. */
import attention from "#shaders/attention.wgsl" with { type: "text" };
import gelu from "#shaders/gelu.wgsl" with { type: "text" };
import layernorm from "#shaders/layernorm.wgsl" with { type: "text" };
import onlineSoftmax from "#shaders/online_softmax.wgsl" with { type: "text" };
import productBlock from "#shaders/product_block.wgsl" with { type: "text" };
import productOutputs from "#shaders/product_outputs.wgsl" with { type: "text" };
import productRows from "#shaders/product_rows.wgsl" with { type: "text" };
import random from "#shaders/random.wgsl" with { type: "text" };
import rolloutAdvance from "#shaders/rollout_advance.wgsl" with { type: "text" };
import rolloutDecode from "#shaders/rollout_decode.wgsl" with { type: "text" };
import rolloutSoftmax from "#shaders/rollout_softmax.wgsl" with { type: "text" };
import rotary from "#shaders/rotary.wgsl" with { type: "text" };
import sampling from "#shaders/sampling.wgsl" with { type: "text" };
import slots from "#shaders/slots.wgsl" with { type: "text" };
import sumOfParts from "#shaders/sum_of_parts.wgsl" with { type: "text" };
import { type KernelSpec, loop, type SizeOf } from "../gpu/kernel.ts";
import { headIterations, keyIterations } from "./attention.ts";
import { layernormIterations } from "./layernorm.ts";
import { SEGMENT_ENTRIES, segmentCount } from "./logprob.ts";
import { input, operandInput, output, rowProductIterations } from "./operands.ts";

/** Parameters of the slot machine, shared by both decoders. */
const SLOT_PARAMS = [
  ["key0", "u32"],
  ["key1", "u32"],
  ["resident", "u32"],
  ["max_turns", "u32"],
  ["call_end", "u32"],
  ["max_call_tokens", "u32"],
  ["row_words", "u32"],
  ["prompt_row", "u32"],
  ["call_row", "u32"],
  ["call_count", "u32"],
  ["transition_offset", "u32"],
  ["start_offset", "u32"],
] as const;

export const ROLLOUT_DECODE: KernelSpec = {
  name: "rollout_decode",
  wgsl: rolloutDecode,
  shared: [
    productBlock,
    productRows,
    productOutputs,
    layernorm,
    sumOfParts,
    gelu,
    rotary,
    attention,
    onlineSoftmax,
    random,
    slots,
    sampling,
  ],
  params: [
    ["token_count", "u32"],
    ["episode_count", "u32"],
    ["max_positions", "u32"],
    ["scale", "f32"],
    ["inverse_temperature", "f32"],
    ...SLOT_PARAMS,
    ["head_offset4", "u32"],
    ["norm_offset4", "u32"],
    ["block_offset4", "u32"],
    ["inverse_width", "f32"],
  ],
  bindings: [
    operandInput("w"),
    input("angles_TK"),
    output("cache"),
    output("slots"),
    input("gym"),
    input("episodes"),
    output("queue"),
    output("records"),
  ],
  overrides: [
    "LANES",
    "WIDTH4",
    "FEED4",
    "HEADS",
    "LAYERS",
    "VOCAB",
    "SCRATCH4",
    "MEMORY4",
  ],
  iterations: decodeIterations,
};

/** Of `call_column` in slots.wgsl: valid calls, token by token. */
function callIterations(of: SizeOf): number {
  return loop(of("call_count"), loop(of("max_call_tokens")));
}

/** Of one token of rollout_decode.wgsl in the busiest lane, function by function, times the tokens of a dispatch. */
function decodeIterations(of: SizeOf): number {
  const [lanes, width4, feed4, heads] = [of("LANES"), of("WIDTH4"), of("FEED4"), of("HEADS")];
  const shared = (units: number, inner = 0) => loop(Math.ceil(units / lanes), inner);
  const [slots, blockColumns] = [of("SLOTS"), 4 * of("BLOCK_COLUMNS4")];
  const blocks = Math.ceil(slots / of("BLOCK_ROWS"));
  const product = (columns: number, inner4: number) =>
    shared(blocks * Math.ceil(columns / blockColumns), rowProductIterations(inner4));
  const normalize = shared(slots, layernormIterations(width4));
  const attend = 2 * headIterations(of) + keyIterations(of, of("max_positions"));
  const layer = 2 * normalize + product(12 * width4, width4) +
    shared(slots * heads, attend) + product(4 * width4, width4) +
    product(4 * feed4, width4) + product(4 * width4, feed4);
  const order = shared(slots, loop(slots)) + loop(slots);
  const advance = shared(slots, 2 * loop(of("VOCAB")) + callIterations(of));
  const token = order + shared(slots * width4) + loop(of("LAYERS"), layer) + normalize +
    product(of("VOCAB"), width4) + advance;
  return loop(of("token_count"), token) + 2 * shared(slots);
}

/** The log-sum-exp of each segment of a slot's logits: what ROLLOUT_ADVANCE draws from. */
export const ROLLOUT_SOFTMAX: KernelSpec = {
  name: "rollout_softmax",
  wgsl: rolloutSoftmax,
  shared: [onlineSoftmax, sampling],
  params: [["slot_count", "u32"], ["vocab_size", "u32"], ["inverse_temperature", "f32"]],
  bindings: [input("logits_SV"), output("segments")],
  overrides: ["LANES"],
  iterations: () => loop(SEGMENT_ENTRIES),
};

/** Segments that are scanned in one run, `RUN_SEGMENTS` in rollout_advance.wgsl. */
export const RUN_SEGMENTS = 16;

export const ROLLOUT_ADVANCE: KernelSpec = {
  name: "rollout_advance",
  wgsl: rolloutAdvance,
  shared: [onlineSoftmax, random, slots, sampling],
  params: [
    ["slot_count", "u32"],
    ["vocab_size", "u32"],
    ["start", "u32"],
    ["episode_count", "u32"],
    ["max_positions", "u32"],
    ["inverse_temperature", "f32"],
    ...SLOT_PARAMS,
  ],
  bindings: [
    input("logits_SV"),
    input("segments"),
    output("slots"),
    output("token_S4"),
    input("gym"),
    input("episodes"),
    output("queue"),
    output("records"),
  ],
  overrides: ["LANES"],
  iterations: (of) => {
    const vocabSize = of("vocab_size");
    const segments = segmentCount(vocabSize);
    return loop(segments) + loop(segments / RUN_SEGMENTS + 1, loop(RUN_SEGMENTS)) +
      loop(Math.min(vocabSize, RUN_SEGMENTS * SEGMENT_ENTRIES)) + callIterations(of);
  },
};

/** Episodes that one workgroup of the fused decoder plays at a time at most, `SLOTS` in rollout_decode.wgsl. */
export const WORKGROUP_SLOTS = 8;
/** 32-bit words of one `Slot` in slots.wgsl. */
export const SLOT_WORDS = 9;
/** Where the fields of a slot lie, in words. */
export const SLOT_FIELD = {
  status: 0,
  episode: 1,
  position: 2,
  token: 3,
  row: 4,
  rowIndex: 5,
  turns: 6,
  state: 7,
  callLength: 8,
} as const;
/** Values of a slot's status. */
export const SLOT_STATUS = { empty: 0, running: 1, waiting: 2, done: 3 } as const;
