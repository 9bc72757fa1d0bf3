// layernorm_backward: dx = dresidual + rstd·(g − mean(g) − x̂·mean(g·x̂)), g = dy·gain, x̂ = (x − mean)·rstd
//   dy_ND        [N, D]   in   gradient of the normalized rows
//   x_ND         [N, D]   in   the forward's input
//   moments_N2   [N, 2]   in   the forward's mean and rstd
//   w            [W]      in   all parameters; gain at vec4 gain_offset4
//   dresidual_ND [N, D]   in   gradient that flows past this block (used when has_residual is 1)
//   dx_ND        [N, D]   out  gradient of the input
// One invocation owns one row; columns ascend in four partial sums, added (x + y) + (z + w).
// Reference: src/reference/layernorm.ts. Source: the chain rule on layernorm_forward.
struct Params { row_count: u32, width4: u32, gain_offset4: u32, has_residual: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy_ND: array<vec4f>;
@group(0) @binding(2) var<storage, read> x_ND: array<vec4f>;
@group(0) @binding(3) var<storage, read> moments_N2: array<vec2f>;
@group(0) @binding(4) var w: texture_storage_2d<rgba32float, read>;
@group(0) @binding(5) var dresidual_ND: texture_storage_2d<rgba32float, read>;
@group(0) @binding(6) var dx_ND: texture_storage_2d<rgba32float, write>;

override LANES: u32 = 32;

@compute @workgroup_size(LANES)
fn layernorm_backward(@builtin(global_invocation_id) id: vec3u) {
  let n = id.x;
  if (n >= params.row_count) { return; }
  let width4 = params.width4;
  let width = f32(4u * width4);
  let moments = moments_N2[n];
  var g_sum = vec4f(0.0);
  var gx_sum = vec4f(0.0);
  for (var c = 0u; c < width4; c++) {
    let dy = dy_ND[n * width4 + c];
    let gain = textureLoad(w, operand_flat(params.gain_offset4 + c));
    let normalized = (x_ND[n * width4 + c] - vec4f(moments.x)) * moments.y;
    g_sum = fma(dy, gain, g_sum);
    gx_sum = fma(dy * gain, normalized, gx_sum);
  }
  let g_mean = sum_of_parts(g_sum) / width;
  let gx_mean = sum_of_parts(gx_sum) / width;
  let row = operand_row(n, width4);
  for (var c = 0u; c < width4; c++) {
    let at = row + vec2u(c, 0u);
    let gain = textureLoad(w, operand_flat(params.gain_offset4 + c));
    let centred = fma(dy_ND[n * width4 + c], gain, vec4f(-g_mean));
    let normalized = (x_ND[n * width4 + c] - vec4f(moments.x)) * moments.y;
    let inner = fma(-normalized, vec4f(gx_mean), centred);
    let past = fma(vec4f(moments.y), inner, textureLoad(dresidual_ND, at));
    textureStore(dx_ND, at, select(moments.y * inner, past, params.has_residual == 1u));
  }
}
