// linear_forward: y = x Wᵀ + b
//   x_NK       [N, K]   in   rows
//   w          [W]      in   all parameters; W [M, K] at vec4 weight_offset4, b [M] right behind it
//   y_NM       [N, M]   out  single floats, so that M need not be a multiple of 4
// One invocation owns a block of rows × columns; every result adds its k terms in ascending order, then the bias.
// Reference: src/reference/linear.ts. Source: PyTorch's Linear.
struct Params { row_count: u32, width4: u32, column_count: u32, weight_offset4: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var x_NK: texture_storage_2d<rgba32float, read>;
@group(0) @binding(2) var w: texture_storage_2d<rgba32float, read>;
@group(0) @binding(3) var<storage, read_write> y_NM: array<f32>;

override LANES: u32 = 16;
var<private> column0: u32;

fn load_x(at: vec2u) -> vec4f { return textureLoad(x_NK, at); }
fn load_w(at: vec2u) -> vec4f { return textureLoad(w, at); }

fn store_vec4(n: u32, c: u32, sum: vec4f) {
  let column = column0 + 4u * c;
  if (column >= params.column_count) { return; }
  let bias_offset4 = params.weight_offset4 + params.column_count * params.width4;
  let y = sum + textureLoad(w, operand_flat(bias_offset4 + column / 4u));
  let y_at = n * params.column_count + column;
  let count = params.column_count - column;
  y_NM[y_at] = y.x;
  if (count > 1u) { y_NM[y_at + 1u] = y.y; }
  if (count > 2u) { y_NM[y_at + 2u] = y.z; }
  if (count > 3u) { y_NM[y_at + 3u] = y.w; }
}

@compute @workgroup_size(LANES)
fn linear_forward(@builtin(global_invocation_id) id: vec3u) {
  let row0 = BLOCK_ROWS * id.x;
  column0 = BLOCK_COLUMNS * id.y;
  if (row0 >= params.row_count) { return; }
  set_rows(row0, params.row_count, params.width4);
  set_columns(column0, params.column_count, params.weight_offset4, params.width4);
  clear_block();
  accumulate_rows(params.width4);
  store_block(row0, params.row_count);
}
