// attention_backward_key_value: dv[j] = Σ_n p_nj·do[n] and dk[j] = scale·Σ_n p_nj·(do[n]·v[j] − δ[n])·q[n], over n ≥ j
//   qkv_N3D    [N, 3D]   in   rotated queries and keys (interleaved pairs), values
//   do_ND      [N, D]    in   gradient of the output
//   lse_NH     [N, H]    in   the forward's log Σ exp
//   delta_NH   [N, H]    in   δ of attention_backward_query
//   token_N4   [N, 4]    in   (id, position, first, end): the episode is tokens first..end-1
//   angles_TK  [T, K]    in   (cos, sin) of each pair at each position
//   dqkv_N3D   [N, 3D]   out  dk, rotated back, and dv, in natural order
// One invocation owns one head of one key; queries ascend. Reference: src/reference/attention.ts.
// Source: Dao et al. 2022, algorithm 4.
struct Params { row_count: u32, width4: u32, head_count: u32, scale: f32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var qkv_N3D: texture_storage_2d<rgba32float, read>;
@group(0) @binding(2) var<storage, read> do_ND: array<vec4f>;
@group(0) @binding(3) var<storage, read> lse_NH: array<f32>;
@group(0) @binding(4) var<storage, read> delta_NH: array<f32>;
@group(0) @binding(5) var<storage, read> token_N4: array<vec4u>;
@group(0) @binding(6) var<storage, read> angles_TK: array<vec4f>;
@group(0) @binding(7) var dqkv_N3D: texture_storage_2d<rgba32float, write>;

override LANES: u32 = 32;
var<private> head_key: array<vec4f, HEAD_WIDTH4>;
var<private> head_value: array<vec4f, HEAD_WIDTH4>;
var<private> head_dvalue: array<vec4f, HEAD_WIDTH4>;
var<private> head_query: array<vec4f, HEAD_WIDTH4>;
var<private> head_doutput: array<vec4f, HEAD_WIDTH4>;
var<private> key_at: vec2u;
var<private> value_at: vec2u;
var<private> angles_at: u32;

fn load_angles(c: u32) -> vec4f {
  return angles_TK[angles_at + c];
}

fn store_gradient(c: u32, value: vec4f) {
  textureStore(dqkv_N3D, key_at + vec2u(c, 0u), value);
  textureStore(dqkv_N3D, value_at + vec2u(c, 0u), head_dvalue[c]);
}

fn load_head(c: u32) {
  head_key[c] = textureLoad(qkv_N3D, key_at + vec2u(c, 0u));
  head_value[c] = textureLoad(qkv_N3D, value_at + vec2u(c, 0u));
  head_gradient[c] = vec4f(0.0);
  head_dvalue[c] = vec4f(0.0);
}

// One query: its address, the address of its output's gradient, and its place in lse and δ.
fn add_query(query_at: vec2u, do_at: u32, row: u32) {
  var score_parts = vec4f(0.0);
  var dp_parts = vec4f(0.0);
  for (var c = 0u; c < head_width4(); c++) { // unrolled if HEAD_WIDTH4 == 4
    head_query[c] = textureLoad(qkv_N3D, query_at + vec2u(c, 0u));
    head_doutput[c] = do_ND[do_at + c];
    score_parts = fma(head_query[c], head_key[c], score_parts);
    dp_parts = fma(head_doutput[c], head_value[c], dp_parts);
  }
  let pair = pair_gradient(score_parts, dp_parts, lse_NH[row], delta_NH[row]);
  for (var c = 0u; c < head_width4(); c++) { // unrolled if HEAD_WIDTH4 == 4
    head_gradient[c] = fma(vec4f(pair.y), head_query[c], head_gradient[c]);
    head_dvalue[c] = fma(vec4f(pair.x), head_doutput[c], head_dvalue[c]);
  }
}

@compute @workgroup_size(LANES)
fn attention_backward_key_value(@builtin(global_invocation_id) id: vec3u) {
  let i = grid_place(id, LANES);
  let j = i / params.head_count;
  if (j >= params.row_count) { return; }
  let head = i % params.head_count;
  let width4 = params.width4;
  let head_column4 = head * HEAD_WIDTH4;
  key_at = operand_row(j, 3u * width4) + vec2u(width4 + head_column4, 0u);
  value_at = key_at + vec2u(width4, 0u);
  for (var c = 0u; c < head_width4(); c++) { // unrolled if HEAD_WIDTH4 == 4
    load_head(c);
  }
  for (var n = j; n < token_N4[j].w; n++) {
    let query_at = operand_row(n, 3u * width4) + vec2u(head_column4, 0u);
    add_query(query_at, n * width4 + head_column4, n * params.head_count + head);
  }
  angles_at = token_N4[j].y * HEAD_WIDTH4;
  finish_gradient();
}
