/** Sampling: the fused decoder of small models, and the last step of the layered decoder of larger ones. */
import attention from "#shaders/attention.wgsl" with { type: "text" };
import gelu from "#shaders/gelu.wgsl" with { type: "text" };
import layernorm from "#shaders/layernorm.wgsl" with { type: "text" };
import onlineSoftmax from "#shaders/online_softmax.wgsl" with { type: "text" };
import productBlock from "#shaders/product_block.wgsl" with { type: "text" };
import productRows from "#shaders/product_rows.wgsl" with { type: "text" };
import random from "#shaders/random.wgsl" with { type: "text" };
import rolloutAdvance from "#shaders/rollout_advance.wgsl" with { type: "text" };
import rolloutDecode from "#shaders/rollout_decode.wgsl" with { type: "text" };
import rotary from "#shaders/rotary.wgsl" with { type: "text" };
import sampling from "#shaders/sampling.wgsl" with { type: "text" };
import slots from "#shaders/slots.wgsl" with { type: "text" };
import sumOfParts from "#shaders/sum_of_parts.wgsl" with { type: "text" };
import type { KernelSpec } from "../gpu/kernel.ts";
import { input, operandInput, output } from "./operands.ts";

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
    "HEAD_WIDTH4",
    "LAYERS",
    "VOCAB",
    "SCRATCH4",
    "MEMORY4",
  ],
};

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
    output("slots"),
    output("token_S4"),
    input("gym"),
    input("episodes"),
    output("queue"),
    output("records"),
  ],
  overrides: ["LANES"],
};

/** Episodes that one workgroup of the fused decoder plays at a time, `SLOTS` in rollout_decode.wgsl. */
export const WORKGROUP_SLOTS = 8;
/** 32-bit words of one `Slot` in slots.wgsl. */
export const SLOT_WORDS = 17;
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
  call: 9,
} as const;
/** Values of a slot's status. */
export const SLOT_STATUS = { empty: 0, running: 1, waiting: 2, done: 3 } as const;
