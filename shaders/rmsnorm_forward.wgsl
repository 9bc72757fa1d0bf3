// rmsnorm_forward: y = x / √(mean of x² + ε) · gain, per row
//   x_ND       [N, D]   in   hidden states
//   vectors    [·]      in   gains of the model; this one starts at vec4 gain4
//   y_ND       [N, D]   out  normalized rows, read by a product
// One invocation owns one row; columns ascend in four partial sums, added (x + y) + (z + w).
// Reference: src/reference/rmsnorm.ts. Source: Zhang and Sennrich 2019, equation 4.
struct Params { row_count: u32, width4: u32, gain4: u32, epsilon: f32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x_ND: array<vec4f>;
@group(0) @binding(2) var<storage, read> vectors: array<vec4f>;
@group(0) @binding(3) var y_ND: texture_storage_2d<rgba32float, write>;

override LANES: u32 = 32;
var<private> row_start: u32;

fn rmsnorm_input(c: u32) -> vec4f { return x_ND[row_start + c]; }

@compute @workgroup_size(LANES)
fn rmsnorm_forward(@builtin(global_invocation_id) id: vec3u) {
  let n = id.x;
  if (n >= params.row_count) { return; }
  row_start = n * params.width4;
  let scale = rmsnorm_scale(params.width4, params.epsilon);
  let y_at = operand_row(n, params.width4);
  for (var c = 0u; c < params.width4; c++) {
    textureStore(y_ND, y_at + vec2u(c, 0u), rmsnorm_input(c) * scale * vectors[params.gain4 + c]);
  }
}
