// layernorm_weight_backward: dgain = Σ_n dy·x̂ and dbias = Σ_n dy, over one of 8 chunks of rows
//   dy_ND       [N, D]     in   gradient of the normalized rows
//   x_ND        [N, D]     in   the forward's input
//   moments_N2  [N, 2]     in   the forward's mean and rstd
//   chunk_start [9]        in   where each chunk of rows starts, and the end
//   partials    [8, W']    out  per chunk: gain at vec4 gain_offset4, bias right behind it
// One invocation owns one vec4 of columns and one chunk; rows ascend. The chunks' number is fixed: it decides the bits.
// Reference: src/reference/layernorm.ts. Source: the chain rule on layernorm_forward.
struct Params { width4: u32, gain_offset4: u32, chunk_stride4: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> dy_ND: array<vec4f>;
@group(0) @binding(2) var<storage, read> x_ND: array<vec4f>;
@group(0) @binding(3) var<storage, read> moments_N2: array<vec2f>;
@group(0) @binding(4) var<storage, read> chunk_start: array<u32>;
@group(0) @binding(5) var<storage, read_write> partials: array<vec4f>;

override LANES: u32 = 32;

@compute @workgroup_size(LANES)
fn layernorm_weight_backward(@builtin(global_invocation_id) id: vec3u) {
  let c = id.x;
  let chunk = id.y;
  if (c >= params.width4) { return; }
  var gain_sum = vec4f(0.0);
  var bias_sum = vec4f(0.0);
  let end = chunk_start[chunk + 1u];
  for (var n = chunk_start[chunk]; n < end; n++) {
    let dy = dy_ND[n * params.width4 + c];
    let moments = moments_N2[n];
    let normalized = (x_ND[n * params.width4 + c] - vec4f(moments.x)) * moments.y;
    gain_sum = fma(dy, normalized, gain_sum);
    bias_sum += dy;
  }
  let at = chunk * params.chunk_stride4 + params.gain_offset4 + c;
  partials[at] = gain_sum;
  partials[at + params.width4] = bias_sum;
}
