// stored_linear_forward: y = x Wᵀ + b, or y += x Wᵀ + b, with W as a checkpoint stores it
//   x_NK       [N, K]   in       rows
//   w          texels   in       a slice of W: rows of K values from texel0 on (see stored_weights.wgsl)
//   vectors    [·]      in       biases; that of the slice's first row is vec4 bias4
//   y_NM       [N, M]   in, out  columns 4·y_column4 and on take the slice's results; M = 4·y_width4
// One invocation owns a block of rows × columns; every result adds its k terms in ascending order, then the bias,
// and then what y held.
// Reference: src/reference/stored_weights.ts. Source: PyTorch's Linear.
struct Params {
  row_count: u32, width8: u32, column_count: u32, texel0: u32,
  y_width4: u32, y_column4: u32, has_bias: u32, bias4: u32, accumulate: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var x_NK: texture_storage_2d<rgba32float, read>;
@group(0) @binding(2) var w: texture_storage_2d<rgba32uint, read>;
@group(0) @binding(3) var<storage, read> vectors: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> y_NM: array<vec4f>;

override LANES: u32 = 32;
var<private> column0: u32;

fn load_x(at: vec2u) -> vec4f { return textureLoad(x_NK, at); }
fn load_texel(at: vec2u) -> vec4u { return textureLoad(w, at); }

fn store_vec4(n: u32, c: u32, sum: vec4f) {
  let column = column0 + 4u * c;
  if (column >= params.column_count) { return; }
  let at = n * params.y_width4 + params.y_column4 + column / 4u;
  var y = sum;
  if (params.has_bias != 0u) { y = y + vectors[params.bias4 + column / 4u]; }
  if (params.accumulate != 0u) { y = y_NM[at] + y; }
  y_NM[at] = y;
}

@compute @workgroup_size(LANES)
fn stored_linear_forward(@builtin(global_invocation_id) id: vec3u) {
  let row0 = BLOCK_ROWS * id.x;
  column0 = BLOCK_COLUMNS * id.y;
  if (row0 >= params.row_count) { return; }
  set_rows(row0, params.row_count, 2u * params.width8);
  set_stored_columns(column0, params.column_count, params.texel0, params.width8);
  clear_block();
  accumulate_stored(params.width8);
  store_block(row0, params.row_count);
}
