// linear_gelu_backward_input: dz = (dy W) ⊙ gelu'(z), through y = gelu(z) Wᵀ + b
//   dy_NM   [N, M]   in   gradient of y
//   w       [W]      in   all parameters; W [M, K] at vec4 weight_offset4
//   z_NK    [N, K]   in   what the forward's activation took
//   dz_NK   [N, K]   out  gradient of z, read by the next products; K a multiple of 16
// One invocation owns a block of rows × columns; every result adds its output features in ascending order.
// Reference: src/reference/linear.ts and gelu.ts. Source: the chain rule on linear_gelu_forward.
struct Params { row_count: u32, width4: u32, column_count: u32, weight_offset4: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var dy_NM: texture_storage_2d<rgba32float, read>;
@group(0) @binding(2) var w: texture_storage_2d<rgba32float, read>;
@group(0) @binding(3) var<storage, read> z_NK: array<vec4f>;
@group(0) @binding(4) var dz_NK: texture_storage_2d<rgba32float, write>;

override LANES: u32 = 16;
var<private> column4: u32;

fn load_dy(at: vec2u) -> vec4f { return textureLoad(dy_NM, at); }
fn load_w(at: vec2u) -> vec4f { return textureLoad(w, at); }

fn store_vec4(n: u32, c: u32, sum: vec4f) {
  let z = z_NK[n * params.width4 + column4 + c];
  textureStore(dz_NK, operand_row(n, params.width4) + vec2u(column4 + c, 0u), sum * gelu_derivative(z));
}

@compute @workgroup_size(LANES)
fn linear_gelu_backward_input(@builtin(global_invocation_id) id: vec3u) {
  let row0 = BLOCK_ROWS * id.x;
  column4 = BLOCK_COLUMNS4 * id.y;
  if (row0 >= params.row_count) { return; }
  set_rows(row0, params.row_count, params.column_count / 4u);
  clear_block();
  accumulate_outputs(params.column_count, column4, params.weight_offset4, params.width4);
  store_block(row0, params.row_count);
}
