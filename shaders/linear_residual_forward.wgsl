// linear_residual_forward: y = residual + (x Wᵀ + b)
//   x_NK          [N, K]   in   rows
//   w             [W]      in   all parameters; W [M, K] at vec4 weight_offset4, b [M] right behind it
//   residual_NM   [N, M]   in   what flows past this block
//   y_NM          [N, M]   out  vec4 along M, M a multiple of 16
// One invocation owns a block of rows × columns; every result adds its k terms in order, then bias, then residual.
// Reference: src/reference/linear.ts. Source: He et al. 2016 (the residual), PyTorch's Linear.
struct Params { row_count: u32, width4: u32, column_count: u32, weight_offset4: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var x_NK: texture_storage_2d<rgba32float, read>;
@group(0) @binding(2) var w: texture_storage_2d<rgba32float, read>;
@group(0) @binding(3) var<storage, read> residual_NM: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> y_NM: array<vec4f>;

override LANES: u32 = 16;
var<private> column4: u32;

fn load_x(at: vec2u) -> vec4f { return textureLoad(x_NK, at); }
fn load_w(at: vec2u) -> vec4f { return textureLoad(w, at); }

fn store_vec4(n: u32, c: u32, sum: vec4f) {
  let bias_offset4 = params.weight_offset4 + params.column_count * params.width4;
  let bias = textureLoad(w, operand_flat(bias_offset4 + column4 + c));
  let y_at = n * (params.column_count / 4u) + column4 + c;
  y_NM[y_at] = residual_NM[y_at] + (sum + bias);
}

@compute @workgroup_size(LANES)
fn linear_residual_forward(@builtin(global_invocation_id) id: vec3u) {
  let row0 = BLOCK_ROWS * id.x;
  column4 = BLOCK_COLUMNS4 * id.y;
  if (row0 >= params.row_count) { return; }
  set_rows(row0, params.row_count, params.width4);
  set_columns(4u * column4, params.column_count, params.weight_offset4, params.width4);
  clear_block();
  accumulate_rows(params.width4);
  store_block(row0, params.row_count);
}
