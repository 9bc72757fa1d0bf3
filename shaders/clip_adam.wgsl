// clip_adam: g = scale·gradient; m = β₁m + (1−β₁)g; v = β₂v + (1−β₂)g²; w −= step_size·m/(√v·correction + ε)
//   gradient   [W]   in      flat gradient before clipping
//   clip_2     [2]   in      (norm, scale) of clip_scale; scale 0 (a norm that is not finite) changes nothing
//   first      [W]   in out  first moment m
//   second     [W]   in out  second moment v
//   weights    [W]   in out  parameters
//   refused    [W/4] in out  of the first step with scale 0, per vec4: bits 0–3 not finite, 4–7 NaN, 31 always
// One invocation owns one vec4; no sums. The host computes step_size = lr/(1−β₁ᵗ), correction = 1/√(1−β₂ᵗ) in float64.
// Reference: src/reference/clip_adam.ts. Source: Kingma and Ba 2015, algorithm 1, as in PyTorch.
struct Params {
  vec4_count: u32, beta1: f32, beta2: f32, epsilon: f32,
  step_size: f32, correction: f32, one_minus_beta1: f32, one_minus_beta2: f32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> gradient: array<vec4f>;
@group(0) @binding(2) var<storage, read> clip_2: array<f32>;
@group(0) @binding(3) var<storage, read_write> first: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> second: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> weights: array<vec4f>;
@group(0) @binding(6) var<storage, read_write> refused: array<u32>;

override LANES: u32 = 64;

// Bit l where lane l is not finite, bit 4 + l where it is NaN, by exponent and mantissa bits.
fn not_finite_bits(bits: vec4u) -> u32 {
  let magnitude = bits & vec4u(0x7fffffffu);
  let bad = select(vec4u(0u), vec4u(1u, 2u, 4u, 8u), magnitude >= vec4u(0x7f800000u));
  let nan = select(vec4u(0u), vec4u(16u, 32u, 64u, 128u), magnitude > vec4u(0x7f800000u));
  let all = bad | nan;
  return (all.x | all.y) | (all.z | all.w);
}

@compute @workgroup_size(LANES)
fn clip_adam(@builtin(global_invocation_id) id: vec3u) {
  let i = grid_place(id, LANES);
  let scale = clip_2[1];
  if (i >= params.vec4_count) { return; }
  if (scale == 0.0) {
    if (refused[i] == 0u) { refused[i] = 0x80000000u | not_finite_bits(bitcast<vec4u>(gradient[i])); }
    return;
  }
  let g = gradient[i] * scale;
  let m = fma(first[i], vec4f(params.beta1), g * params.one_minus_beta1);
  let v = fma(second[i], vec4f(params.beta2), g * g * params.one_minus_beta2);
  first[i] = m;
  second[i] = v;
  let direction = m / fma(sqrt(v), vec4f(params.correction), vec4f(params.epsilon));
  weights[i] = fma(vec4f(-params.step_size), direction, weights[i]);
}
