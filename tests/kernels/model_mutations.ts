/** Mistakes to plant in the shaders of checkpoints' models, as those in mutations.ts. */
import { GATED_SILU_FORWARD } from "../../src/kernels/gated_silu.ts";
import { GROUPED_ATTENTION_FORWARD, KEY_SEGMENT } from "../../src/kernels/grouped_attention.ts";
import { HEAD_ROTARY_FORWARD } from "../../src/kernels/head_rotary.ts";
import { RMSNORM_FORWARD } from "../../src/kernels/rmsnorm.ts";
import * as stored from "../../src/kernels/stored_weights.ts";
import { compareGatedSiluForward } from "./gated_silu.ts";
import { compareGroupedAttentionForward } from "./grouped_attention.ts";
import { compareHeadRotaryForward } from "./head_rotary.ts";
import type { Mutation } from "./mutations.ts";
import { compareRmsnormForward } from "./rmsnorm.ts";
import {
  compareStoredEmbeddingForward,
  compareStoredLinearForward,
  compareStoredLogprobForward,
} from "./stored_weights.ts";

const LINEAR = {
  storage: "f16",
  rowCount: 5,
  width: 24,
  sliceRows: [16, 4],
  accumulate: true,
} as const;
const HEADS = {
  headCount: 4,
  groupCount: 2,
  headWidth: 8,
  hasNorm: true,
  scaling: { kind: "none" },
  position_N: [0, 7, 3],
} as const;
const ATTENTION = { headCount: 4, groupCount: 2, headWidth: 8, length_B: [3, 6] };

/** At least one for every kernel. */
export const MODEL_MUTATIONS: readonly Mutation[] = [
  {
    mistake: "epsilon is forgotten",
    spec: RMSNORM_FORWARD,
    from: " + epsilon",
    to: "",
    compare: compareRmsnormForward({ rowCount: 5, width: 24, scale: 0.1 }),
  },
  {
    mistake: "gate and what it lets through are exchanged",
    spec: GATED_SILU_FORWARD,
    from: "let silu = gate / (vec4f(1.0) + exp(min(-gate, vec4f(LARGEST))));",
    to: "let silu = gate / (vec4f(1.0) + exp(min(-up, vec4f(LARGEST))));",
    compare: compareGatedSiluForward({ rowCount: 5, width: 24, scale: 4 }),
  },
  {
    mistake: "neighbouring values are turned instead of halves",
    spec: HEAD_ROTARY_FORWARD,
    from: "let second = fma(b, cosine, a * sine);",
    to: "let second = fma(b, cosine, b * sine);",
    compare: compareHeadRotaryForward(HEADS),
  },
  {
    mistake: "keys take the gain of queries",
    spec: HEAD_ROTARY_FORWARD,
    from: "select(params.key_gain4, params.query_gain4, is_query)",
    to: "params.query_gain4",
    compare: compareHeadRotaryForward(HEADS),
  },
  {
    mistake: "keys go to the row instead of the cache row",
    spec: HEAD_ROTARY_FORWARD,
    from: "operand_row(token.w,",
    to: "operand_row(n,",
    compare: compareHeadRotaryForward(HEADS),
  },
  {
    mistake: "groups alternate by head",
    spec: GROUPED_ATTENTION_FORWARD,
    from: "group * group_heads + head",
    to: "head * params.group_count + group",
    compare: compareGroupedAttentionForward(ATTENTION),
  },
  {
    mistake: "the token itself is not seen",
    spec: GROUPED_ATTENTION_FORWARD,
    from: "token.w + 1u",
    to: "max(token.w, begin + 1u)",
    compare: compareGroupedAttentionForward(ATTENTION),
  },
  {
    mistake: "an earlier segment keeps its weight under a new maximum",
    spec: GROUPED_ATTENTION_FORWARD,
    from: "keep[h] = exp(earlier.x - higher);",
    to: "keep[h] = 1.0;",
    compare: compareGroupedAttentionForward({ ...ATTENTION, length_B: [KEY_SEGMENT + 40] }),
  },
  {
    mistake: "small numbers of f16 are flushed",
    spec: stored.STORED_LINEAR_FORWARD,
    from: "select(normal, small, magnitude < vec4u(0x400u))",
    to: "select(normal, vec4f(0.0) * small, magnitude < vec4u(0x400u))",
    compare: compareStoredLinearForward(LINEAR),
  },
  {
    mistake: "the halves of a bf16 word are exchanged",
    spec: stored.STORED_LINEAR_FORWARD,
    from: "vec4u(low.x, high.x, low.y, high.y)",
    to: "vec4u(high.x, low.x, high.y, low.y)",
    compare: compareStoredLinearForward({ ...LINEAR, storage: "bf16" }),
  },
  {
    mistake: "a slice's results go to the columns of the first",
    spec: stored.STORED_LINEAR_FORWARD,
    from: "params.y_column4 + column / 4u",
    to: "column / 4u",
    compare: compareStoredLinearForward(LINEAR),
  },
  {
    mistake: "every slice begins with the first entry",
    spec: stored.STORED_EMBEDDING_FORWARD,
    from: "(entry - params.first_entry) * row_texels",
    to: "entry % params.entry_count * row_texels",
    compare: compareStoredEmbeddingForward({
      storage: "bf16",
      rowCount: 9,
      width: 24,
      sliceRows: [5, 4],
    }),
  },
  {
    mistake: "the chosen token is looked for in the slice's own count",
    spec: stored.STORED_LOGPROB_FORWARD,
    from: "params.slice_entry + column == targets[r]",
    to: "column == targets[r]",
    compare: compareStoredLogprobForward({
      storage: "f32",
      rowCount: 3,
      width: 8,
      sliceRows: [2048, 9],
      temperature: 0.7,
    }),
  },
];
