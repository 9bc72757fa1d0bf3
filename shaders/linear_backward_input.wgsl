// linear_backward_input: dx = dy W (added to what dx holds when accumulate is 1)
//   dy_NM   [N, M]   in    gradient of y = x Wᵀ + b, padded with zeros to a multiple of 4 columns
//   w       [W]      in    all parameters; W [M, K] at vec4 weight_offset4
//   dx_NK   [N, K]   out   vec4 along K, K a multiple of 16
// One invocation owns a block of rows × columns; every result adds output features in order to its start value.
// Reference: src/reference/linear.ts. Source: the chain rule on linear_forward.
struct Params { row_count: u32, width4: u32, column_count: u32, weight_offset4: u32, dy_width4: u32, accumulate: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var dy_NM: texture_storage_2d<rgba32float, read>;
@group(0) @binding(2) var w: texture_storage_2d<rgba32float, read>;
@group(0) @binding(3) var<storage, read_write> dx_NK: array<vec4f>;

override LANES: u32 = 16;
var<private> column4: u32;

fn load_dy(at: vec2u) -> vec4f { return textureLoad(dy_NM, at); }
fn load_w(at: vec2u) -> vec4f { return textureLoad(w, at); }

fn store_vec4(n: u32, c: u32, sum: vec4f) {
  dx_NK[n * params.width4 + column4 + c] = sum;
}

fn held(n: u32, c: u32) -> vec4f {
  return dx_NK[min(n, params.row_count - 1u) * params.width4 + column4 + c];
}

// The block starts at what dx holds, so that a product cut into pieces of M has the bits of the whole one.
fn load_block(row0: u32) {
  for (var r = 0u; r < BLOCK_ROWS; r++) { // unrolled
    for (var c = 0u; c < BLOCK_COLUMNS4; c++) { // unrolled
      block[BLOCK_COLUMNS4 * r + c] = held(row0 + r, c);
    }
  }
}

@compute @workgroup_size(LANES)
fn linear_backward_input(@builtin(global_invocation_id) id: vec3u) {
  let row0 = BLOCK_ROWS * id.x;
  column4 = BLOCK_COLUMNS4 * id.y;
  if (row0 >= params.row_count) { return; }
  set_rows(row0, params.row_count, params.dy_width4);
  clear_block();
  if (params.accumulate == 1u) { load_block(row0); }
  accumulate_outputs(params.column_count, column4, params.weight_offset4, params.width4);
  store_block(row0, params.row_count);
}
