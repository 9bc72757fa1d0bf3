// layernorm: sum and 1/σ of one row, shared by every kernel that normalizes so that all get the same bits.
// The kernel defines layernorm_input(c: u32) -> vec4f, columns 4c..4c+3 of its row, and has params.inverse_width = 1/D.
// Partial sums run over ascending c. The mean is a product, so that fma can subtract it: a quotient is rounded in a
// way that depends on whether the compiler knows its divisor.
const LAYERNORM_EPSILON = 1e-5;

// x − mean, of the row's sum.
fn layernorm_centred(x: vec4f, sum: f32) -> vec4f {
  return fma(vec4f(-sum), vec4f(params.inverse_width), x);
}

// (sum, 1/σ) with the biased variance.
fn layernorm_moments(width4: u32) -> vec2f {
  var parts = vec4f(0.0);
  for (var c = 0u; c < width4; c++) {
    parts += layernorm_input(c);
  }
  let sum = sum_of_parts(parts);
  var square = vec4f(0.0);
  for (var c = 0u; c < width4; c++) {
    let centred = layernorm_centred(layernorm_input(c), sum);
    square = fma(centred, centred, square);
  }
  return vec2f(sum, 1.0 / sqrt(fma(sum_of_parts(square), params.inverse_width, LAYERNORM_EPSILON)));
}

fn layernorm_output(x: vec4f, moments: vec2f, gain: vec4f, bias: vec4f) -> vec4f {
  return fma(layernorm_centred(x, moments.x) * moments.y, gain, bias);
}
