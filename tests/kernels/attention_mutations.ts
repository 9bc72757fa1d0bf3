/** Mistakes to plant in attention's kernels, as mutations.ts has them for the other ops. */
import * as attention from "../../src/kernels/attention.ts";
import {
  compareAttentionBackward,
  compareAttentionDecode,
  compareAttentionForward,
  compareQkvForward,
} from "./attention.ts";
import type { Mutation } from "./mutations.ts";

const ATTENTION = { lengths: [3, 1, 7], width: 64, headCount: 4 };

/** At least one a kernel. */
export const ATTENTION_MUTATIONS: readonly Mutation[] = [
  {
    mistake: "queries and keys turn the wrong way",
    spec: attention.QKV_FORWARD,
    from: "fma(pairs.y, angles.x, pairs.x * angles.y)",
    to: "fma(pairs.y, angles.x, -(pairs.x * angles.y))",
    compare: compareQkvForward(ATTENTION),
  },
  {
    mistake: "values are turned, too",
    spec: attention.QKV_FORWARD,
    from: "rotate_pairs(value, angles), column < 8u * params.width4",
    to: "rotate_pairs(value, angles), column < 12u * params.width4",
    compare: compareQkvForward(ATTENTION),
  },
  {
    mistake: "an episode sees the one before",
    spec: attention.ATTENTION_FORWARD,
    from: "var j = token_N4[n].z;",
    to: "var j = 0u;",
    compare: compareAttentionForward(ATTENTION),
  },
  {
    mistake: "a token does not see itself",
    spec: attention.ATTENTION_FORWARD,
    from: "j <= n;",
    to: "j < max(n, token_N4[n].z + 1u);",
    compare: compareAttentionForward(ATTENTION),
  },
  {
    mistake: "a token sees the next one",
    spec: attention.ATTENTION_FORWARD,
    from: "j <= n;",
    to: "j < min(n + 2u, token_N4[n].w);",
    compare: compareAttentionForward(ATTENTION),
  },
  {
    mistake: "the sum is not rescaled when the maximum rises",
    spec: attention.ATTENTION_FORWARD,
    from: "score_sum = fma(score_sum, keep, p);",
    to: "score_sum = score_sum + p;",
    compare: compareAttentionForward(ATTENTION),
  },
  {
    mistake: "the cache of the slot before is read",
    spec: attention.ATTENTION_DECODE,
    from: "cache_at = slot * params.max_positions",
    to: "cache_at = (slot / 2u) * params.max_positions",
    compare: compareAttentionDecode({ ...ATTENTION, lengths: [4, 4, 4] }),
  },
  {
    mistake: "the newest key is left out",
    spec: attention.ATTENTION_DECODE,
    from: "j <= position;",
    to: "j < max(position, 1u);",
    compare: compareAttentionDecode({ ...ATTENTION, lengths: [4, 4, 4] }),
  },
  {
    mistake: "the softmax's own derivative is forgotten",
    spec: attention.ATTENTION_BACKWARD_QUERY,
    from: "(sum_of_parts(dp_parts) - delta)",
    to: "sum_of_parts(dp_parts)",
    compare: compareAttentionBackward(ATTENTION),
  },
  {
    mistake: "a query's gradient is turned forward, not back",
    spec: attention.ATTENTION_BACKWARD_QUERY,
    from: "vec4f(1.0, -1.0, 1.0, -1.0)",
    to: "vec4f(1.0)",
    compare: compareAttentionBackward(ATTENTION),
  },
  {
    mistake: "a key's gradient is turned forward, not back",
    spec: attention.ATTENTION_BACKWARD_KEY_VALUE,
    from: "vec4f(1.0, -1.0, 1.0, -1.0)",
    to: "vec4f(1.0)",
    compare: compareAttentionBackward(ATTENTION),
  },
  {
    mistake: "a key hears of queries before it",
    spec: attention.ATTENTION_BACKWARD_KEY_VALUE,
    from: "var n = j;",
    to: "var n = token_N4[j].z;",
    compare: compareAttentionBackward(ATTENTION),
  },
  {
    mistake: "the last query of an episode is forgotten",
    spec: attention.ATTENTION_BACKWARD_KEY_VALUE,
    from: "n < token_N4[j].w;",
    to: "n + 1u < token_N4[j].w;",
    compare: compareAttentionBackward(ATTENTION),
  },
];
