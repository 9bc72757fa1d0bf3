// head_rotary_forward: heads of queries and keys, normalized where the model does so, turned by their position;
// keys and values go to the cache
//   qkv_NM      [N, M]           in   rows [query heads | key heads | value heads][K], K = 8·half4
//   token_N4    [N, 4]           in   (id, position, first, cache row) of each token
//   angles      [T, 2, K/2]      in   cosines, then sines, of each position
//   vectors     [·]              in   gains of the head norms at vec4 query_gain4 and key_gain4
//   q_NHK       [N, H, K]        out  queries
//   key_cache   [C, G·K]         out  keys of G heads, at the token's cache row; value_cache likewise
// One invocation owns one head of one token; the norm's sum ascends in four parts.
// Reference: src/reference/head_rotary.ts. Source: Su et al. 2021, equation 34; Yang et al. 2025 (Qwen3's norms).
struct Params {
  row_count: u32, head_count: u32, group_count: u32, half4: u32,
  has_norm: u32, query_gain4: u32, key_gain4: u32, epsilon: f32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> qkv_NM: array<vec4f>;
@group(0) @binding(2) var<storage, read> token_N4: array<vec4u>;
@group(0) @binding(3) var<storage, read> angles: array<vec4f>;
@group(0) @binding(4) var<storage, read> vectors: array<vec4f>;
@group(0) @binding(5) var q_NHK: texture_storage_2d<rgba32float, write>;
@group(0) @binding(6) var key_cache: texture_storage_2d<rgba32float, write>;
@group(0) @binding(7) var value_cache: texture_storage_2d<rgba32float, write>;

override LANES: u32 = 32;
var<private> head_start: u32;

fn rmsnorm_input(c: u32) -> vec4f { return qkv_NM[head_start + c]; }

fn normalized(c: u32, scale: f32, gain4: u32) -> vec4f {
  if (params.has_norm == 0u) { return rmsnorm_input(c); }
  return rmsnorm_input(c) * scale * vectors[gain4 + c];
}

@compute @workgroup_size(LANES)
fn head_rotary_forward(@builtin(global_invocation_id) id: vec3u) {
  let i = grid_place(id, LANES);
  let slots = params.head_count + 2u * params.group_count;
  let n = i / slots;
  let slot = i % slots;
  if (n >= params.row_count) { return; }
  let token = token_N4[n];
  let width4 = 2u * params.half4;
  head_start = i * width4;
  let is_query = slot < params.head_count;
  let is_value = slot >= params.head_count + params.group_count;
  let group = (slot - select(params.head_count, params.head_count + params.group_count, is_value));
  let cache_at = operand_row(token.w, params.group_count * width4) + vec2u(group * width4, 0u);
  if (is_value) {
    for (var c = 0u; c < width4; c++) {
      textureStore(value_cache, cache_at + vec2u(c, 0u), rmsnorm_input(c));
    }
    return;
  }
  var scale = 1.0;
  if (params.has_norm != 0u) { scale = rmsnorm_scale(width4, params.epsilon); }
  let gain4 = select(params.key_gain4, params.query_gain4, is_query);
  let query_at = operand_row(n, params.head_count * width4) + vec2u(slot * width4, 0u);
  for (var c = 0u; c < params.half4; c++) {
    let a = normalized(c, scale, gain4);
    let b = normalized(params.half4 + c, scale, gain4);
    let cosine = angles[token.y * width4 + c];
    let sine = angles[token.y * width4 + params.half4 + c];
    let first = fma(a, cosine, -(b * sine));
    let second = fma(b, cosine, a * sine);
    if (is_query) {
      textureStore(q_NHK, query_at + vec2u(c, 0u), first);
      textureStore(q_NHK, query_at + vec2u(params.half4 + c, 0u), second);
    } else {
      textureStore(key_cache, cache_at + vec2u(c, 0u), first);
      textureStore(key_cache, cache_at + vec2u(params.half4 + c, 0u), second);
    }
  }
}
