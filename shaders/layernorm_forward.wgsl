// layernorm_forward: y = (x − mean)·rstd·gain + bias, mean and rstd = 1/√(variance + 1e-5) per row
//   x_ND       [N, D]   in   hidden states
//   w          [W]      in   all parameters; gain at vec4 gain_offset4, bias right behind it
//   y_ND       [N, D]   out  normalized rows, read by a product
//   moments_N2 [N, 2]   out  mean and rstd, for the backward
// One invocation owns one row; columns ascend in four partial sums, added (x + y) + (z + w).
// Reference: src/reference/layernorm.ts. Source: Ba, Kiros and Hinton 2016, equation 4.
struct Params { row_count: u32, width4: u32, gain_offset4: u32, inverse_width: f32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x_ND: array<vec4f>;
@group(0) @binding(2) var w: texture_storage_2d<rgba32float, read>;
@group(0) @binding(3) var y_ND: texture_storage_2d<rgba32float, write>;
@group(0) @binding(4) var<storage, read_write> moments_N2: array<vec2f>;

override LANES: u32 = 32;
var<private> row_start: u32;

fn layernorm_input(c: u32) -> vec4f {
  return x_ND[row_start + c];
}

@compute @workgroup_size(LANES)
fn layernorm_forward(@builtin(global_invocation_id) id: vec3u) {
  let n = id.x;
  if (n >= params.row_count) { return; }
  row_start = n * params.width4;
  let moments = layernorm_moments(params.width4);
  moments_N2[n] = vec2f(moments.x * params.inverse_width, moments.y);
  let y_at = operand_row(n, params.width4);
  for (var c = 0u; c < params.width4; c++) {
    let gain = textureLoad(w, operand_flat(params.gain_offset4 + c));
    let bias = textureLoad(w, operand_flat(params.gain_offset4 + params.width4 + c));
    textureStore(y_ND, y_at + vec2u(c, 0u), layernorm_output(layernorm_input(c), moments, gain, bias));
  }
}
