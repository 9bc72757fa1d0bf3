// attention_backward_query: dq[n] = scale·Σ_j p_j·(do[n]·v[j] − δ[n])·k[j], δ[n] = do[n]·o[n], p_j = exp(s_j − lse[n])
//   qkv_N3D    [N, 3D]   in   rotated queries and keys (interleaved pairs), values
//   do_ND      [N, D]    in   gradient of the output
//   o_ND       [N, D]    in   the forward's output
//   lse_NH     [N, H]    in   the forward's log Σ exp
//   token_N4   [N, 4]    in   (id, position, first, end): the episode is tokens first..end-1
//   angles_TK  [T, K]    in   (cos, sin) of each pair at each position
//   delta_NH   [N, H]    out  δ, for the keys' backward
//   dqkv_N3D   [N, 3D]   out  dq, rotated back, in natural order
// One invocation owns one head of one token; keys ascend. Reference: src/reference/attention.ts.
// Source: Dao et al. 2022, algorithm 4.
struct Params { row_count: u32, width4: u32, head_count: u32, scale: f32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var qkv_N3D: texture_storage_2d<rgba32float, read>;
@group(0) @binding(2) var<storage, read> do_ND: array<vec4f>;
@group(0) @binding(3) var o_ND: texture_storage_2d<rgba32float, read>;
@group(0) @binding(4) var<storage, read> lse_NH: array<f32>;
@group(0) @binding(5) var<storage, read> token_N4: array<vec4u>;
@group(0) @binding(6) var<storage, read> angles_TK: array<vec4f>;
@group(0) @binding(7) var<storage, read_write> delta_NH: array<f32>;
@group(0) @binding(8) var dqkv_N3D: texture_storage_2d<rgba32float, write>;

override LANES: u32 = 32;
var<private> head_query: array<vec4f, HEAD_WIDTH4>;
var<private> head_doutput: array<vec4f, HEAD_WIDTH4>;
var<private> head_key: array<vec4f, HEAD_WIDTH4>;
var<private> delta_parts: vec4f;
var<private> query_at: vec2u;
var<private> o_at: vec2u;
var<private> do_at: u32;
var<private> angles_at: u32;

fn load_angles(c: u32) -> vec4f {
  return angles_TK[angles_at + c];
}

fn store_gradient(c: u32, value: vec4f) {
  textureStore(dqkv_N3D, query_at + vec2u(c, 0u), value);
}

fn load_head(c: u32) {
  head_query[c] = textureLoad(qkv_N3D, query_at + vec2u(c, 0u));
  head_doutput[c] = do_ND[do_at + c];
  head_gradient[c] = vec4f(0.0);
  delta_parts = fma(head_doutput[c], textureLoad(o_ND, o_at + vec2u(c, 0u)), delta_parts);
}

fn add_key(key_at: vec2u, lse: f32, delta: f32) {
  let value_at = key_at + vec2u(params.width4, 0u);
  var score_parts = vec4f(0.0);
  var dp_parts = vec4f(0.0);
  for (var c = 0u; c < head_width4(); c++) { // unrolled if HEAD_WIDTH4 == 4
    head_key[c] = textureLoad(qkv_N3D, key_at + vec2u(c, 0u));
    score_parts = fma(head_query[c], head_key[c], score_parts);
    dp_parts = fma(head_doutput[c], textureLoad(qkv_N3D, value_at + vec2u(c, 0u)), dp_parts);
  }
  let dscore = vec4f(pair_gradient(score_parts, dp_parts, lse, delta).y);
  for (var c = 0u; c < head_width4(); c++) { // unrolled if HEAD_WIDTH4 == 4
    head_gradient[c] = fma(dscore, head_key[c], head_gradient[c]);
  }
}

@compute @workgroup_size(LANES)
fn attention_backward_query(@builtin(global_invocation_id) id: vec3u) {
  let i = grid_place(id, LANES);
  let n = i / params.head_count;
  if (n >= params.row_count) { return; }
  let width4 = params.width4;
  let head_column4 = (i % params.head_count) * HEAD_WIDTH4;
  query_at = operand_row(n, 3u * width4) + vec2u(head_column4, 0u);
  o_at = operand_row(n, width4) + vec2u(head_column4, 0u);
  do_at = n * width4 + head_column4;
  delta_parts = vec4f(0.0);
  for (var c = 0u; c < head_width4(); c++) { // unrolled if HEAD_WIDTH4 == 4
    load_head(c);
  }
  let delta = sum_of_parts(delta_parts);
  let lse = lse_NH[i];
  delta_NH[i] = delta;
  for (var j = token_N4[n].z; j <= n; j++) {
    add_key(operand_row(j, 3u * width4) + vec2u(width4 + head_column4, 0u), lse, delta);
  }
  angles_at = token_N4[n].y * HEAD_WIDTH4;
  finish_gradient();
}
