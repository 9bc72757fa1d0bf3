// attention_forward: o[n] = Σ_j softmax_j(q[n]·k[j]·scale)·v[j] over the tokens j ≤ n of the same episode, per head
//   qkv_N3D   [N, 3D]   in   rotated queries and keys (interleaved pairs), values
//   token_N4  [N, 4]    in   (id, position, first, end): the episode is tokens first..end-1
//   o_ND      [N, D]    out  heads side by side, read by a product
//   lse_NH    [N, H]    out  log Σ exp of the scores, for the backward
// One invocation owns one head of one token; keys ascend, the token itself is last.
// Reference: src/reference/attention.ts. Source: Vaswani et al. 2017, equation 1.
struct Params { row_count: u32, width4: u32, head_count: u32, scale: f32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var qkv_N3D: texture_storage_2d<rgba32float, read>;
@group(0) @binding(2) var<storage, read> token_N4: array<vec4u>;
@group(0) @binding(3) var o_ND: texture_storage_2d<rgba32float, write>;
@group(0) @binding(4) var<storage, read_write> lse_NH: array<f32>;

override LANES: u32 = 32;
var<private> query_at: vec2u;
var<private> output_at: vec2u;
var<private> head_column4: u32;
const LN_2 = 0.6931471805599453;

// HEAD_WIDTH4, but unknown to the compiler, which would write out loops over wide heads and take a minute for it.
fn head_width4() -> u32 { return min(HEAD_WIDTH4, params.width4); }

fn load_query(c: u32) -> vec4f {
  return textureLoad(qkv_N3D, query_at + vec2u(c, 0u));
}

fn load_key(j: u32, c: u32) -> vec4f {
  return textureLoad(qkv_N3D, operand_row(j, 3u * params.width4) + vec2u(params.width4 + head_column4 + c, 0u));
}

fn load_value(j: u32, c: u32) -> vec4f {
  return textureLoad(qkv_N3D, operand_row(j, 3u * params.width4) + vec2u(2u * params.width4 + head_column4 + c, 0u));
}

fn store_output(c: u32, value: vec4f) {
  textureStore(o_ND, output_at + vec2u(c, 0u), value);
}

@compute @workgroup_size(LANES)
fn attention_forward(@builtin(global_invocation_id) id: vec3u) {
  let i = grid_place(id, LANES);
  let n = i / params.head_count;
  if (n >= params.row_count) { return; }
  head_column4 = (i % params.head_count) * HEAD_WIDTH4;
  query_at = operand_row(n, 3u * params.width4) + vec2u(head_column4, 0u);
  output_at = operand_row(n, params.width4) + vec2u(head_column4, 0u);
  begin_attention();
  for (var j = token_N4[n].z; j <= n; j++) {
    attend(j, params.scale);
  }
  finish_attention();
  lse_NH[i] = fma(log2(score_sum), LN_2, score_maximum);
}
