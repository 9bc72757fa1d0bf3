// attention_decode: attention of one new token per slot against the slot's cached keys and values, per head
//   qkv_B3D      [B, 3D]              in      the new tokens' rotated queries and keys, and values
//   token_B4     [B, 4]               in      (id, position, …) of the new token
//   cache        [B, T, 2, D]         in out  keys (rotated, interleaved) and values; the new token is added
//   o_BD         [B, D]               out     heads side by side, read by a product
// One invocation owns one head of one slot; cached keys ascend, the new token is last: the bits of attention_forward.
// Reference: src/reference/attention.ts. Source: Vaswani et al. 2017, equation 1.
struct Params { row_count: u32, width4: u32, head_count: u32, scale: f32, max_positions: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var qkv_B3D: texture_storage_2d<rgba32float, read>;
@group(0) @binding(2) var<storage, read> token_B4: array<vec4u>;
@group(0) @binding(3) var<storage, read_write> cache: array<vec4f>;
@group(0) @binding(4) var o_BD: texture_storage_2d<rgba32float, write>;

override LANES: u32 = 8;
var<private> cache_at: u32;
var<private> query_at: vec2u;
var<private> output_at: vec2u;

// HEAD_WIDTH4, but unknown to the compiler, which would write out loops over wide heads and take a minute for it.
fn head_width4() -> u32 { return min(HEAD_WIDTH4, params.width4); }

fn load_query(c: u32) -> vec4f {
  return textureLoad(qkv_B3D, query_at + vec2u(c, 0u));
}

fn load_key(j: u32, c: u32) -> vec4f {
  return cache[cache_at + 2u * j * params.width4 + c];
}

fn load_value(j: u32, c: u32) -> vec4f {
  return cache[cache_at + (2u * j + 1u) * params.width4 + c];
}

fn store_output(c: u32, value: vec4f) {
  textureStore(o_BD, output_at + vec2u(c, 0u), value);
}

@compute @workgroup_size(LANES)
fn attention_decode(@builtin(global_invocation_id) id: vec3u) {
  let slot = id.x / params.head_count;
  if (slot >= params.row_count) { return; }
  let head_column4 = (id.x % params.head_count) * HEAD_WIDTH4;
  cache_at = slot * params.max_positions * 2u * params.width4 + head_column4;
  query_at = operand_row(slot, 3u * params.width4) + vec2u(head_column4, 0u);
  output_at = operand_row(slot, params.width4) + vec2u(head_column4, 0u);
  let position = token_B4[slot].y;
  let key_at = cache_at + 2u * position * params.width4;
  for (var c = 0u; c < head_width4(); c++) {
    cache[key_at + c] = textureLoad(qkv_B3D, query_at + vec2u(params.width4 + c, 0u));
    cache[key_at + params.width4 + c] = textureLoad(qkv_B3D, query_at + vec2u(2u * params.width4 + c, 0u));
  }
  begin_attention();
  for (var j = 0u; j <= position; j++) {
    attend(j, params.scale);
  }
  finish_attention();
}
