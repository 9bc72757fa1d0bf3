// qkv_forward: [q | k | v] = x Wᵀ, q and k rotated by the angles of their position
//   x_ND         [N, D]     in   normalized hidden states
//   w            [W]        in   all parameters; W [3D, D] at vec4 weight_offset4, rows [q | k | v][head][K]
//   token_N4     [N, 4]     in   (id, position, first, end) of each token
//   angles_TK    [T, K]     in   (cos, sin) of each pair at each position
//   qkv_N3D      [N, 3D]    out  q and k with interleaved pairs (see rotary.wgsl), v in natural order
// One invocation owns a block of rows × columns; every result adds its k terms in ascending order; no bias.
// Reference: src/reference/attention.ts and rotary.ts. Source: Su et al. 2021, equation 34.
struct Params { row_count: u32, width4: u32, weight_offset4: u32, head_width: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var x_ND: texture_storage_2d<rgba32float, read>;
@group(0) @binding(2) var w: texture_storage_2d<rgba32float, read>;
@group(0) @binding(3) var<storage, read> token_N4: array<vec4u>;
@group(0) @binding(4) var<storage, read> angles_TK: array<vec4f>;
@group(0) @binding(5) var qkv_N3D: texture_storage_2d<rgba32float, write>;

override LANES: u32 = 16;
var<private> column0: u32;

fn load_x(at: vec2u) -> vec4f { return textureLoad(x_ND, at); }
fn load_w(at: vec2u) -> vec4f { return textureLoad(w, at); }

// The parameter row behind column c of the result: pairs are interleaved in q and k only.
fn column_address(c: u32) -> u32 {
  let k = params.head_width;
  let row = select(c, (c / k) * k + natural_index(c % k, k), c < 8u * params.width4);
  return params.weight_offset4 + row * params.width4;
}

fn rotated(n: u32, column: u32, value: vec4f) -> vec4f {
  let quads = params.head_width / 4u;
  let angles = angles_TK[token_N4[n].y * quads + (column / 4u) % quads];
  return select(value, rotate_pairs(value, angles), column < 8u * params.width4);
}

fn store_vec4(n: u32, c: u32, sum: vec4f) {
  let at = operand_row(n, 3u * params.width4) + vec2u(column0 / 4u + c, 0u);
  textureStore(qkv_N3D, at, rotated(n, column0 + 4u * c, sum));
}

@compute @workgroup_size(LANES)
fn qkv_forward(@builtin(global_invocation_id) id: vec3u) {
  let row0 = BLOCK_ROWS * id.x;
  column0 = BLOCK_COLUMNS * id.y;
  if (row0 >= params.row_count) { return; }
  set_rows(row0, params.row_count, params.width4);
  for (var c = 0u; c < BLOCK_COLUMNS; c++) { // unrolled
    column_at[c] = column_address(column0 + c);
  }
  clear_block();
  accumulate_rows(params.width4);
  store_block(row0, params.row_count);
}
